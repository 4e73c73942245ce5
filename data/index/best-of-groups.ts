// The first records of each group of a search, from the matches in any order.
import { compareKeys } from '../plan/group-key.ts';
import type { Position, SearchAnswer, SearchPlan, Sort } from '../plan/plan.ts';
import { ranges, type SliceOptions } from '../plan/slices.ts';
import type { Bitset } from './bitset.ts';
import { comparePositions, type SideTable } from './changed-records.ts';
import type { Columns } from './columns.ts';
import type { GroupKeys } from './group-keys.ts';
import { matcherFor, visitSlices } from './matcher.ts';
import { relevanceOf } from './relevance.ts';
import { changedPositionsOf, metresOf, positionsOf } from './select.ts';

/** The order of a search over stored and changed records, which are compared by ordinal once they are noted. */
class Ranking {
  readonly position: (ordinal: number) => Position;
  readonly #columns: Columns;
  readonly #sort: Sort;
  /** The sort value of a stored record, and those that decide between equal ones; NaN is last. */
  readonly #read: ((ordinal: number) => number)[];
  /** What was read, by ordinal. */
  readonly #numbers: Float64Array[];
  readonly #changed = new Map<number, Position>();

  constructor(columns: Columns, sort: Sort) {
    const stored = positionsOf(columns, sort);
    this.position = (ordinal) => this.#changed.get(ordinal) ?? stored(ordinal);
    this.#columns = columns;
    this.#sort = sort;
    if (sort.relevance) {
      const order = relevanceOf(columns, sort.relevance);
      const quality = columns.numbers('quality');
      this.#read = [(at) => order.score(at) ?? 0, (at) => order.prominence(at), (at) => quality.at(at)];
    } else this.#read = [sort.distance ? metresOf(columns, sort.distance) : columns.sortNumber(sort.key)];
    this.#numbers = this.#read.map(() => new Float64Array(columns.size));
  }

  note(ordinal: number): void {
    for (let i = 0; i < this.#read.length; i += 1) this.#numbers[i]![ordinal] = this.#read[i]!(ordinal);
  }

  noteChanged(ordinal: number, position: Position): void {
    this.#changed.set(ordinal, position);
    const values = [this.#number(position.value), ...(position.ties ?? [])];
    for (const [i, numbers] of this.#numbers.entries()) numbers[ordinal] = values[i] ?? Number.NaN;
  }

  compare(a: number, b: number): number {
    for (const numbers of this.#numbers) {
      const order = this.#compareNumbers(numbers[a]!, numbers[b]!);
      if (order !== 0) return order;
    }
    const [changed, other] = [this.#changed.get(a), this.#changed.get(b)];
    // Different texts that only changed records have may be between the same two texts of the index.
    return changed && other ? comparePositions(this.#sort, changed, other) : this.#columns.keys.compare(a, b);
  }

  compareTo(ordinal: number, position: Position): number {
    const order = this.#compareNumbers(this.#numbers[0]![ordinal]!, this.#number(position.value));
    return order || comparePositions(this.#sort, this.position(ordinal), position);
  }

  #number(value: Position['value']): number {
    if (value === null) return Number.NaN;
    return typeof value === 'number' ? value : this.#columns.sortNumberOf(this.#sort.key, value);
  }

  #compareNumbers(a: number, b: number): number {
    if (a === b) return 0;
    if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
    return a < b === this.#sort.descending ? 1 : -1;
  }
}

/**
 * Answers a plan with groups, whose values `keys` contains. All matches are visited, since the first record of a group
 * decides its place. Yields between slices.
 */
export function* bestOfGroups(
  columns: Columns,
  keys: GroupKeys,
  plan: SearchPlan,
  removed: Bitset | null,
  side: SideTable | null,
  options: SliceOptions,
): Generator<void, SearchAnswer> {
  const { sort, where, after, limit, group } = plan;
  const ranking = new Ranking(columns, sort);
  /** By code, at most as many ordinals as a group has, in order. */
  const best = new Array<number[] | undefined>(keys.size);
  const add = (ordinal: number, code: number) => {
    best[code] ??= [];
    const members = best[code];
    let at = members.length;
    if (at === group!.limit && ranking.compare(ordinal, members[at - 1]!) > 0) return;
    while (at > 0 && ranking.compare(ordinal, members[at - 1]!) < 0) at -= 1;
    members.splice(at, 0, ordinal);
    if (members.length > group!.limit) members.pop();
  };
  // One closure for all records, of which there are many.
  let visited = 0;
  const addVisited = (code: number) => add(visited, code);
  const visit = (ordinal: number) => {
    visited = ordinal;
    ranking.note(ordinal);
    keys.each(ordinal, addVisited);
  };
  yield* visitSlices(columns, matcherFor(columns, where, removed), visit, options);
  for (const changed of side?.matching(where) ?? []) {
    ranking.noteChanged(changed.ordinal, changedPositionsOf(columns, side!, sort)(changed));
    for (const code of keys.codesOf(changed.record)) add(changed.ordinal, code);
  }
  const first = (code: number) => best[code]![0]!;
  const compare = (a: number, b: number) =>
    ranking.compare(first(a), first(b)) || compareKeys(keys.value(a), keys.value(b));
  const isLater = (code: number) =>
    after === null || (ranking.compareTo(first(code), after) || compareKeys(keys.value(code), after.group!)) > 0;
  let [total, codes, worst]: [number, number[], number | null] = [0, [], null];
  yield* ranges(options, best.length, (from, to) => {
    for (let code = from; code < to; code += 1) {
      if (best[code] === undefined) continue;
      total += 1;
      if ((worst === null || compare(code, worst) < 0) && isLater(code)) codes.push(code);
      // Sorted a few pages at a time, so that the work is linear in the number of groups.
      if (codes.length <= 4 * (limit + 1)) continue;
      codes = codes.sort(compare).slice(0, limit + 1);
      worst = codes.at(-1)!;
    }
  });
  const page = codes.sort(compare).slice(0, limit);
  const last = page.at(-1);
  const ordinals = page.flatMap((code) => best[code]!);
  return {
    ordinals,
    groups: page.flatMap((code) => best[code]!.map(() => keys.value(code))),
    next:
      codes.length > limit && last !== undefined ? { ...ranking.position(first(last)), group: keys.value(last) } : null,
    total: plan.total ? total : null,
    ...(sort.distance ? { metres: ordinals.map((ordinal) => Number(ranking.position(ordinal).value)) } : {}),
  };
}
