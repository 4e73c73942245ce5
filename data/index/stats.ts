// Statistics of a number over the matching records, in groups.
//
// The records are visited twice in order of the number: to count the numbers of each group, which gives the
// group's part of one array, and to fill all parts, which are then in ascending order without a sort. Generators
// yield between slices of this work.
import type { Value } from '../../packs/define/model.ts';
import type { QueryOptions, StatsAnswer, StatsGroup, StatsPlan } from '../plan/plan.ts';
import { runSlices } from '../plan/slices.ts';
import { Bitset } from './bitset.ts';
import type { SideTable } from './changed-records.ts';
import type { Columns } from './columns.ts';
import type { Codes } from './container.ts';
import { figuresOf } from './figures.ts';
import { compareKeys, GroupKeys } from './group-keys.ts';
import { candidates, matcherFor, visit } from './matcher.ts';
import type { Numbers } from './numbers.ts';

/** With more records, the arrays of a query need more than some 10 MB; DuckDB answers. */
const MOST_RECORDS = 500_000;

/** Records that are visited, or numbers whose figures are computed, in one turn of the event loop: about 0.5 ms. */
const A_SLICE = 131_072;

/** Work for one group, as a number of records. */
const GROUP = 200;

/** With more pairs of keys, counting them needs megabytes; DuckDB answers. */
const MOST_PAIRS = 1 << 19;

/** When at most one record in this many matches, their numbers are sorted instead. */
const FEW = 16;

export interface StatsOptions extends QueryOptions {
  /** A_SLICE; tests use less. */
  slice?: number;
}

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
  options: StatsOptions = {},
): Promise<StatsAnswer> | null {
  if (columns.size > MOST_RECORDS) return null;
  const keys = plan.by.map((name) => GroupKeys.of(columns, name));
  if (!keys.every((each) => each !== null)) return null;
  const changed = side ? changedNumbers(side, plan, keys) : [];
  if (keys.length === 2 && keys[0]!.size * keys[1]!.size > MOST_PAIRS) return null;
  const query = { columns, plan, removed, keys, changed, slice: options.slice ?? A_SLICE };
  const compute = () => runSlices(answer(query), options);
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
  /** Records in a slice. */
  slice: number;
}

function* answer(query: Query): Generator<void, StatsAnswer> {
  const { columns, plan, keys, slice } = query;
  const matches = yield* matchesOf(query);
  const levels =
    keys.length === 0 ? [levelOf([], columns.size)] : keys.map((_, i) => levelOf(keys.slice(0, i + 1), columns.size));
  let total = 0;
  for (const level of levels) total += yield* count(level, matches, slice);
  if (total > plan.groups) return { groups: [], total };
  const groups: StatsGroup[] = [];
  for (const level of levels) for (const group of yield* groupsOf(level, matches, slice)) groups.push(group);
  return { groups, total };
}

/** Calls `work` with ranges of `length` items, with a `yield` before each. */
function* ranges(slice: number, length: number, work: (from: number, to: number) => void): Generator<void, void> {
  for (let from = 0; from < length; from += slice) {
    yield;
    work(from, Math.min(from + slice, length));
  }
}

function changedNumbers(side: SideTable, plan: StatsPlan, keys: readonly GroupKeys[]): ChangedNumber[] {
  return side.matching(plan.where).flatMap(({ record }) => {
    const number = side.sortValue(record, plan.attribute);
    if (number === null) return [];
    return [{ number: Number(number), codes: keys.map((key) => key.codesOf(record)) }];
  });
}

/** Ordinals of one query. */
let ordinalBuffer = new Uint32Array(0);
/** The numbers of its groups. */
let numberBuffer = new Float64Array(0);

function* matchesOf({ columns, plan, removed, changed, slice }: Query): Generator<void, Matches> {
  const { where, attribute } = plan;
  const numbers = columns.sortNumbers(attribute);
  const found = new Bitset(columns.size);
  const matcher = matcherFor(columns, where, removed);
  const add = (ordinal: number) => found.add(ordinal);
  yield* ranges(slice, candidates(columns, matcher), (from, to) => visit(columns, matcher, add, from, to));
  const matched = found.count();
  const sorted = matched * FEW > columns.size;
  const order = columns.order(attribute).valuedOrdinals;
  if (sorted && matched === columns.size) return { ordinals: order, sorted, numbers, changed };
  if (ordinalBuffer.length < columns.size) ordinalBuffer = new Uint32Array(columns.size);
  const ordinals = ordinalBuffer;
  let length = 0;
  if (sorted) {
    yield* ranges(slice, order.length, (from, to) => {
      for (let i = from; i < to; i += 1) if (found.has(order[i]!)) ordinals[length++] = order[i]!;
    });
  } else {
    found.each((ordinal) => {
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

/** Counts the numbers of each group; returns the number of groups. */
function* count(level: Level, { ordinals, changed }: Matches, slice: number): Generator<void, number> {
  const { single, counts } = level;
  const add = (place: number) => {
    counts[place]! += 1;
  };
  yield* ranges(slice, ordinals.length, (from, to) => {
    if (single) for (let i = from; i < to; i += 1) counts[single[ordinals[i]!]!]! += 1;
    else for (let i = from; i < to; i += 1) eachPlace(level, ordinals[i]!, add);
  });
  for (const one of changed) changedPlaces(level, one).forEach(add);
  counts[0] = 0;
  let groups = 0;
  for (let place = 1; place < counts.length; place += 1) if (counts[place] !== 0) groups += 1;
  return groups;
}

function* groupsOf(level: Level, matches: Matches, slice: number): Generator<void, StatsGroup[]> {
  const { keys, counts } = level;
  const places: number[] = [];
  /** Where the next number of a group is written; in the end, the end of each group. */
  const next = new Uint32Array(counts.length);
  let length = 0;
  for (let place = 1; place < counts.length; place += 1) {
    next[place] = length;
    length += counts[place]!;
    if (counts[place] !== 0) places.push(place);
  }
  // Numbers of records without a group are written after all groups.
  next[0] = length;
  const most = length + matches.ordinals.length;
  if (numberBuffer.length < most) numberBuffer = new Float64Array(most);
  const out = numberBuffer;
  yield* ranges(slice, matches.ordinals.length, (from, to) => fill(level, matches, { next, out, from, to }));
  /** Numbers of changed records by place. */
  const added = new Map<number, number>();
  for (const one of matches.changed)
    for (const place of changedPlaces(level, one)) {
      out[next[place]!++] = one.number;
      added.set(place, (added.get(place) ?? 0) + 1);
    }
  const groups: StatsGroup[] = [];
  let work = slice;
  for (const place of places) {
    if (work >= slice) {
      yield;
      work = 0;
    }
    const numbers = out.subarray(next[place]! - counts[place]!, next[place]);
    if (!matches.sorted) numbers.sort();
    else if (added.has(place)) mergeLast(numbers, added.get(place)!);
    groups.push({ keys: valuesOf(keys, place - 1), figures: figuresOf(numbers) });
    work += numbers.length + GROUP;
  }
  return groups.sort((a, b) => b.figures.count - a.figures.count || compareAll(a.keys, b.keys));
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

/** Where numbers are written, and the range of records of one slice. */
interface Filling {
  next: Uint32Array;
  out: Float64Array;
  from: number;
  to: number;
}

/** Writes the numbers of the stored records to their groups. */
function fill(level: Level, { ordinals, numbers }: Matches, { next, out, from, to }: Filling): void {
  const { single } = level;
  if (single) {
    for (let i = from; i < to; i += 1) {
      const place = single[ordinals[i]!]!;
      out[next[place]!] = numbers.at(ordinals[i]!);
      next[place]! += 1;
    }
    return;
  }
  let number = 0;
  const put = (place: number) => {
    out[next[place]!] = number;
    next[place]! += 1;
  };
  for (let i = from; i < to; i += 1) {
    number = numbers.at(ordinals[i]!);
    eachPlace(level, ordinals[i]!, put);
  }
}

function valuesOf([first, second]: readonly GroupKeys[], code: number): Value[] {
  if (!first) return [];
  if (!second) return [first.value(code)];
  return [first.value(Math.floor(code / second.size)), second.value(code % second.size)];
}

function compareAll(a: readonly Value[], b: readonly Value[]): number {
  for (const [i, key] of a.entries()) {
    const order = compareKeys(key, b[i]!);
    if (order !== 0) return order;
  }
  return 0;
}
