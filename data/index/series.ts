// Statistics of a number at the end of several days, over the records that match now.
//
// The points at which an interval of a matching record begins or ends are the marks: between two of them nothing
// changes. From one mark to the next, the numbers that begin are merged into the sorted ones, without those that
// end, and the figures are computed again.
import type { Value } from '../../packs/define/model.ts';
import { dayNumber, OPEN_INTERVAL_END } from '../duckdb/steps.ts';
import { compareKeys } from '../plan/group-key.ts';
import type { QueryOptions, SeriesAnswer, SeriesPlan, SeriesSpan } from '../plan/plan.ts';
import { nextTurn } from '../plan/slices.ts';
import type { Bitset } from './bitset.ts';
import type { SideRecord, SideTable } from './changed-records.ts';
import type { Columns } from './columns.ts';
import { quantile, sumAndMean } from './figures.ts';
import { GroupKeys } from './group-keys.ts';
import type { Intervals } from './intervals.ts';
import { matcherFor, visit } from './matcher.ts';

/** Intervals that are read, and numbers that are merged, in one turn of the event loop: about 2 ms. */
const NUMBERS_A_SLICE = 8_000;

/** The matching records: those of the index, and changed ones. */
interface Matches {
  /** Number of all; above the limit of the plan not all are in `ordinals`. */
  matched: number;
  ordinals: number[];
  changed: SideRecord[];
}

/** Numbers of one group that begin and end at each mark. */
class Group {
  readonly key: Value | null;
  readonly #begin = new Map<number, number[]>();
  readonly #end = new Map<number, number[]>();
  /** The valid numbers, ascending. */
  #numbers = new Float64Array(0);

  constructor(key: Value | null) {
    this.key = key;
  }

  /** Adds a number that is valid at the points from `from` to `until`, exclusive. */
  add(number: number, from: number, until: number): void {
    listAt(this.#begin, from).push(number);
    listAt(this.#end, until).push(number);
  }

  get marks(): number[] {
    return [...this.#begin.keys(), ...this.#end.keys()];
  }

  get size(): number {
    return this.#numbers.length;
  }

  /** Continues at the next mark; returns whether it is a mark of this group. */
  step(mark: number): boolean {
    const [begin, end] = [this.#begin.get(mark), this.#end.get(mark)];
    if (begin === undefined && end === undefined) return false;
    this.#numbers = merged(this.#numbers, Float64Array.from(end ?? []).sort(), Float64Array.from(begin ?? []).sort());
    return true;
  }

  /** Null without numbers. */
  figures(): SeriesSpan['figures'] | null {
    const numbers = this.#numbers;
    if (numbers.length === 0) return null;
    const [min, max] = [numbers[0]!, numbers[numbers.length - 1]!];
    return { count: numbers.length, min, median: quantile(numbers, 0.5), max, mean: sumAndMean(numbers).mean };
  }
}

function listAt(lists: Map<number, number[]>, mark: number): number[] {
  const entry = lists.get(mark);
  if (entry) return entry;
  const list: number[] = [];
  lists.set(mark, list);
  return list;
}

/** Sorted numbers without some of them and with others, which are sorted too. */
function merged(numbers: Float64Array, without: Float64Array, added: Float64Array): Float64Array<ArrayBuffer> {
  const out = new Float64Array(numbers.length - without.length + added.length);
  let [at, gone, next] = [0, 0, 0];
  for (let i = 0; i < numbers.length; i += 1) {
    const number = numbers[i]!;
    if (gone < without.length && without[gone] === number) {
      gone += 1;
      continue;
    }
    while (next < added.length && added[next]! < number) out[at++] = added[next++]!;
    out[at++] = number;
  }
  while (next < added.length) out[at++] = added[next++]!;
  return out;
}

/** Null when DuckDB should answer: keys without codes, or no intervals in the index. */
export function computeSeries(
  columns: Columns,
  plan: SeriesPlan,
  removed: Bitset | null,
  side: SideTable | null,
  options?: QueryOptions,
): Promise<SeriesAnswer> | null {
  const keys = plan.by === null ? null : GroupKeys.of(columns, plan.by);
  const intervals = columns.intervals(plan.attribute);
  if ((plan.by !== null && keys === null) || intervals === null) return null;
  const matches = matchesOf(columns, plan, removed, side, keys);
  const { matched, codes } = matches;
  const answer = { matched, groups: codes.size };
  if (matched > plan.records || codes.size > plan.groups) return Promise.resolve({ ...answer, spans: [] });
  const spans = groupsOf(plan, matches, keys, intervals, options).then((groups) => spansOf(groups, options));
  return spans.then((list) => ({ ...answer, spans: list }));
}

/** The matching records, and the codes of all their keys. */
function matchesOf(
  columns: Columns,
  { where, records }: SeriesPlan,
  removed: Bitset | null,
  side: SideTable | null,
  keys: GroupKeys | null,
): Matches & { codes: ReadonlySet<number> } {
  const changed = side?.matching(where) ?? [];
  const codes = new Set<number>();
  const ordinals: number[] = [];
  let matched = changed.length;
  const add = (code: number) => codes.add(code);
  visit(columns, matcherFor(columns, where, removed), (ordinal) => {
    matched += 1;
    if (matched <= records) ordinals.push(ordinal);
    keys?.each(ordinal, add);
  });
  if (keys) for (const { record } of changed) keys.codesOf(record).forEach(add);
  return { matched, ordinals, changed, codes };
}

/** The groups with a number at one point at least, by key; in slices. */
async function groupsOf(
  plan: SeriesPlan,
  { ordinals, changed }: Matches,
  keys: GroupKeys | null,
  intervals: Intervals,
  options?: QueryOptions,
): Promise<Group[]> {
  const { attribute, first, step, points } = plan;
  const groups = new Map<number, Group>();
  const pointOf = (day: number) => Math.floor((Math.max(day, first) - first + step - 1) / step);
  const add = (code: number, number: number, since: number, until: number) => {
    const [from, end] = [pointOf(since), Math.min(pointOf(until), points)];
    if (from >= end) return;
    const group = groups.get(code) ?? new Group(keys?.value(code) ?? null);
    groups.set(code, group);
    group.add(number, from, end);
  };
  const { value, since, until } = intervals;
  let work = 0;
  for (const ordinal of ordinals) {
    const end = intervals.end(ordinal);
    work += end - intervals.start(ordinal);
    if (work > NUMBERS_A_SLICE) {
      await nextTurn(options);
      work = 0;
    }
    for (let i = intervals.start(ordinal); i < end; i += 1) {
      if (keys) keys.each(ordinal, (code) => add(code, value.at(i), since.at(i), until.at(i)));
      else add(0, value.at(i), since.at(i), until.at(i));
    }
  }
  for (const one of changed) {
    const codes = keys ? keys.codesOf(one.record) : [0];
    for (const { number, since, until } of changedIntervals(one, attribute))
      for (const code of codes) add(code, number, since, until);
  }
  return [...groups.values()].sort((a, b) => (a.key === null || b.key === null ? 0 : compareKeys(a.key, b.key)));
}

/** The intervals of a changed record, as packed for the others. */
function changedIntervals({ history }: SideRecord, attribute: string) {
  return history.flatMap(({ attribute: name, cells: [, , number, , from, to] }) => {
    if (name !== attribute || number === null) return [];
    const [since, until] = [dayNumber(from), to === null ? OPEN_INTERVAL_END : dayNumber(to)];
    return since < until ? [{ number, since, until }] : [];
  });
}

/** Figures of all groups between neighbouring marks, by key, then by point; in slices. */
async function spansOf(groups: readonly Group[], options?: QueryOptions): Promise<SeriesSpan[]> {
  const marks = [...new Set(groups.flatMap((group) => group.marks))].sort((a, b) => a - b);
  const spans: SeriesSpan[] = [];
  let work = 0;
  for (const group of groups) {
    let figures: SeriesSpan['figures'] | null = null;
    for (const [i, from] of marks.slice(0, -1).entries()) {
      if (work > NUMBERS_A_SLICE) {
        await nextTurn(options);
        work = 0;
      }
      if (group.step(from)) {
        figures = group.figures();
        work += group.size;
      }
      if (figures !== null) spans.push({ key: group.key, from, until: marks[i + 1]!, figures });
    }
  }
  return spans;
}
