// Statistics of a number over the matching records, in groups.
//
// The records are visited twice in order of the number: to count the numbers of each group, which gives the
// group's part of one array, and to fill all parts, which are then in ascending order without a sort. Generators
// yield between slices of this work.
import type { Value } from '../../packs/define/model.ts';
import { compareKeyLists } from '../plan/group-key.ts';
import { histogramOf } from '../plan/histogram.ts';
import type { StatsAnswer, StatsGroup, StatsPlan } from '../plan/plan.ts';
import { RECORDS_A_SLICE, ranges, runSlices, type SliceOptions } from '../plan/slices.ts';
import { Bitset } from './bitset.ts';
import type { SideTable } from './changed-records.ts';
import type { Columns } from './columns.ts';
import type { Codes } from './container.ts';
import { figuresOf } from './figures.ts';
import { GroupKeys } from './group-keys.ts';
import { matcherFor, visitSlices } from './matcher.ts';
import type { Numbers } from './numbers.ts';

/** With more records, the arrays of a query need more than some 10 MB; DuckDB answers. */
const MOST_RECORDS = 500_000;

/** Work for one group, as a number of records. */
const GROUP = 200;

/** With more pairs of keys, counting them needs megabytes; DuckDB answers. */
const MOST_PAIRS = 1 << 19;

/** When at most one record in this many matches, their numbers are sorted instead. */
const FEW = 16;

/** The matching records that have a number. */
interface Matches {
  ordinals: Uint32Array;
  /** Whether the ordinals are in ascending order of the number. */
  sorted: boolean;
  numbers: Numbers;
  changed: readonly ChangedNumber[];
}

/** A changed record that matches: its number, and the codes of its keys. */
interface ChangedNumber {
  ordinal: number;
  number: number;
  codes: number[][];
}

/**
 * The groups of one level, by one key or a pair. The place of a group is 1 + its code, where a pair has the code
 * `first × size of the second + second`.
 */
interface Level {
  keys: readonly GroupKeys[];
  /** Place by ordinal, 0: no group. Null when a record may be in several groups, or there are two keys. */
  single: Codes | null;
  /** Number of values by place. */
  counts: Uint32Array;
}

/** Null when DuckDB should answer: too many records or pairs, or keys without codes. */
export function computeStats(
  columns: Columns,
  plan: StatsPlan,
  removed: Bitset | null,
  side: SideTable | null,
  options: SliceOptions = {},
): Promise<StatsAnswer> | null {
  if (columns.size > MOST_RECORDS) return null;
  const keys = plan.by.map((name) => GroupKeys.of(columns, name));
  if (!keys.every((key) => key !== null)) return null;
  const changed = side ? changedNumbers(side, plan, keys) : [];
  if (keys.length === 2 && keys[0]!.size * keys[1]!.size > MOST_PAIRS) return null;
  const query = { columns, plan, removed, keys, changed, options };
  const compute = async () => runSlices(answer(query), options);
  const computed = last.then(compute, compute);
  last = computed;
  return computed;
}

/** The last query of this thread: they are computed one after the other, because they share the arrays below. */
let last: Promise<unknown> = Promise.resolve();

interface Query {
  columns: Columns;
  plan: StatsPlan;
  removed: Bitset | null;
  keys: readonly GroupKeys[];
  changed: readonly ChangedNumber[];
  options: SliceOptions;
}

function* answer(query: Query): Generator<void, StatsAnswer> {
  const { columns, plan, keys } = query;
  const matches = yield* matchesOf(query);
  const levels =
    keys.length === 0 ? [levelOf([], columns.size)] : keys.map((_, i) => levelOf(keys.slice(0, i + 1), columns.size));
  let total = 0;
  for (const level of levels) total += yield* count(level, matches, query);
  if (total > plan.groups) return { groups: [], total };
  const groups: StatsGroup[] = [];
  for (const level of levels) for (const group of yield* groupsOf(level, matches, query)) groups.push(group);
  return { groups, total };
}

function changedNumbers(side: SideTable, plan: StatsPlan, keys: readonly GroupKeys[]): ChangedNumber[] {
  return side.matching(plan.where).flatMap(({ ordinal, record }) => {
    const number = side.sortValue(record, plan.attribute);
    if (number === null) return [];
    return [{ ordinal, number: Number(number), codes: keys.map((key) => key.codesOf(record)) }];
  });
}

/** Ordinals of one query. */
let ordinalBuffer = new Uint32Array(0);
/** The numbers of its groups. */
let numberBuffer = new Float64Array(0);

function* matchesOf({ columns, plan, removed, changed, options }: Query): Generator<void, Matches> {
  const { where, attribute } = plan;
  const numbers = columns.sortNumbers(attribute);
  const matches = new Bitset(columns.size);
  const matcher = matcherFor(columns, where, removed);
  yield* visitSlices(columns, matcher, (ordinal) => matches.add(ordinal), options);
  const matched = matches.count();
  const sorted = matched * FEW > columns.size;
  const order = (yield* columns.order(attribute, options)).valuedOrdinals;
  if (sorted && matched === columns.size) return { ordinals: order, sorted, numbers, changed };
  if (ordinalBuffer.length < columns.size) ordinalBuffer = new Uint32Array(columns.size);
  const ordinals = ordinalBuffer;
  let length = 0;
  if (sorted) {
    yield* ranges(options, order.length, (from, to) => {
      for (let i = from; i < to; i += 1) if (matches.has(order[i]!)) ordinals[length++] = order[i]!;
    });
  } else {
    matches.each((ordinal) => {
      if (!Number.isNaN(numbers.at(ordinal))) ordinals[length++] = ordinal;
    });
  }
  return { ordinals: ordinals.subarray(0, length), sorted, numbers, changed };
}

function levelOf(keys: readonly GroupKeys[], records: number): Level {
  const groups = keys.reduce((all, { size }) => all * size, 1);
  const single = keys.length === 0 ? new Uint8Array(records).fill(1) : keys.length === 1 ? keys[0]!.single : null;
  return { keys, single, counts: new Uint32Array(groups + 1) };
}

/** Visits the places of a record in a level without `single`. */
function eachPlace({ keys: [first, second] }: Level, ordinal: number, visit: (place: number) => void): void {
  if (!second) first!.each(ordinal, (code) => visit(code + 1));
  else
    first!.each(ordinal, (outer) =>
      second.each(ordinal, (inner) => {
        visit(outer * second.size + inner + 1);
      }),
    );
}

/** The places of a changed record on a level. */
function changedPlaces({ keys }: Level, { codes: [first, second] }: ChangedNumber): number[] {
  if (keys.length === 0) return [1];
  if (keys.length === 1) return first!.map((code) => code + 1);
  const width = keys[1]!.size;
  return first!.flatMap((outer) => second!.map((inner) => outer * width + inner + 1));
}

/** Counts the numbers of each group; returns the number of groups that the plan keeps. */
function* count(
  level: Level,
  { ordinals, changed }: Matches,
  { plan: { minCount = 1 }, options }: Query,
): Generator<void, number> {
  const { single, counts } = level;
  const add = (place: number) => {
    counts[place]! += 1;
  };
  yield* ranges(options, ordinals.length, (from, to) => {
    if (single) for (let i = from; i < to; i += 1) counts[single[ordinals[i]!]!]! += 1;
    else for (let i = from; i < to; i += 1) eachPlace(level, ordinals[i]!, add);
  });
  for (const one of changed) changedPlaces(level, one).forEach(add);
  counts[0] = 0;
  let groups = 0;
  for (let place = 1; place < counts.length; place += 1) if (counts[place]! >= minCount) groups += 1;
  return groups;
}

function* groupsOf(level: Level, matches: Matches, { plan, options }: Query): Generator<void, StatsGroup[]> {
  const { keys, counts } = level;
  const { buckets, minCount = 1 } = plan;
  const places: number[] = [];
  /** Where the next number of a group is written; in the end, the end of each group. */
  const next = new Uint32Array(counts.length);
  let length = 0;
  for (let place = 1; place < counts.length; place += 1) {
    next[place] = length;
    length += counts[place]!;
    if (counts[place]! >= minCount) places.push(place);
  }
  // Numbers of records without a group are written after all groups.
  next[0] = length;
  const most = length + matches.ordinals.length;
  if (numberBuffer.length < most) numberBuffer = new Float64Array(most);
  const out = numberBuffer;
  const extremes = new Extremes(counts.length);
  yield* ranges(options, matches.ordinals.length, (from, to) =>
    fill(level, matches, { next, out, extremes, from, to }),
  );
  /** Numbers of changed records by place. */
  const added = new Map<number, number>();
  for (const one of matches.changed)
    for (const place of changedPlaces(level, one)) {
      out[next[place]!++] = one.number;
      extremes.add(place, one.ordinal, one.number);
      added.set(place, (added.get(place) ?? 0) + 1);
    }
  const groups: StatsGroup[] = [];
  const { slice = RECORDS_A_SLICE } = options;
  let work = slice;
  for (const place of places) {
    if (work >= slice) {
      yield;
      work = 0;
    }
    const numbers = out.subarray(next[place]! - counts[place]!, next[place]);
    if (!matches.sorted) numbers.sort();
    else if (added.has(place)) mergeLast(numbers, added.get(place)!);
    const histogram = buckets === undefined ? {} : { histogram: histogramOf(numbers, buckets) };
    groups.push({
      ...{ keys: valuesOf(keys, place - 1), figures: figuresOf(numbers) },
      ...{ lowest: extremes.lowest[place]!, highest: extremes.highest[place]!, ...histogram },
    });
    work += numbers.length + GROUP;
  }
  return groups.sort((a, b) => b.figures.count - a.figures.count || compareKeyLists(a.keys, b.keys));
}

/** Sorts numbers of which only the last `count` are not in their place. */
function mergeLast(numbers: Float64Array, count: number): void {
  let from = numbers.length - count;
  const last = numbers.slice(from).sort();
  for (let i = count, to = numbers.length; i > 0; to -= 1) {
    const earlier = from > 0 && numbers[from - 1]! > last[i - 1]!;
    numbers[to - 1] = earlier ? numbers[--from]! : last[--i]!;
  }
}

/** The ordinals of the smallest and the largest number by place; of equal numbers the lowest ordinal. */
class Extremes {
  readonly lowest: Uint32Array;
  readonly highest: Uint32Array;
  readonly #min: Float64Array;
  readonly #max: Float64Array;

  constructor(places: number) {
    this.lowest = new Uint32Array(places);
    this.highest = new Uint32Array(places);
    this.#min = new Float64Array(places).fill(Number.POSITIVE_INFINITY);
    this.#max = new Float64Array(places).fill(Number.NEGATIVE_INFINITY);
  }

  add(place: number, ordinal: number, number: number): void {
    const min = this.#min[place]!;
    const max = this.#max[place]!;
    if (number < min || (number === min && ordinal < this.lowest[place]!)) {
      this.#min[place] = number;
      this.lowest[place] = ordinal;
    }
    if (number > max || (number === max && ordinal < this.highest[place]!)) {
      this.#max[place] = number;
      this.highest[place] = ordinal;
    }
  }
}

/** Where numbers are written, and the range of records of one slice. */
interface Filling {
  next: Uint32Array;
  out: Float64Array;
  extremes: Extremes;
  from: number;
  to: number;
}

/** Writes the numbers of the stored records to their groups. */
function fill(level: Level, { ordinals, numbers }: Matches, { next, out, extremes, from, to }: Filling): void {
  const { single } = level;
  if (single) {
    for (let i = from; i < to; i += 1) {
      const place = single[ordinals[i]!]!;
      const number = numbers.at(ordinals[i]!);
      out[next[place]!] = number;
      next[place]! += 1;
      extremes.add(place, ordinals[i]!, number);
    }
    return;
  }
  let [ordinal, number] = [0, 0];
  const put = (place: number) => {
    out[next[place]!] = number;
    next[place]! += 1;
    extremes.add(place, ordinal, number);
  };
  for (let i = from; i < to; i += 1) {
    ordinal = ordinals[i]!;
    number = numbers.at(ordinal);
    eachPlace(level, ordinal, put);
  }
}

function valuesOf([first, second]: readonly GroupKeys[], code: number): Value[] {
  if (!first) return [];
  if (!second) return [first.value(code)];
  return [first.value(Math.floor(code / second.size)), second.value(code % second.size)];
}
