// Records sorted by one key, and the start of a page. Computed from the order of ids (keys.ts) on first use.
//
//   order  u32   ordinals by (value ascending, id ascending); records without a value at the end, by id
//
// Descending order walks groups of equal values from the end, each group forwards: ties are by id ascending
// in both directions.
import type { Keys } from './keys.ts';
import { distinct } from './numbers.ts';

/**
 * Values of a sort key as integers by ordinal: 0: missing, else 1 + index in the `count` distinct values,
 * ascending.
 */
export interface DenseRanks {
  count: number;
  of(ordinal: number): number;
}

/** Places of numeric ranks by ordinal; NaN: missing. */
export function denseRanks(records: number, rank: (ordinal: number) => number): DenseRanks {
  const ranks = Float64Array.from({ length: records }, (_, ordinal) => rank(ordinal));
  const known = distinct(ranks);
  const place = new Map(Array.from(known, (value, i) => [value, i + 1]));
  return { count: known.length, of: (ordinal) => place.get(ranks[ordinal]!) ?? 0 };
}

/**
 * Ordinals sorted by place. A counting sort from the order of ids, so that equal places stay sorted by id.
 */
export function orderBy(byId: Uint32Array, { count, of }: DenseRanks): Uint32Array {
  // Records without a value are last.
  const slot = (ordinal: number) => (of(ordinal) || count + 1) - 1;
  const at = new Uint32Array(count + 2);
  for (const ordinal of byId) at[slot(ordinal) + 1]! += 1;
  for (let i = 0; i <= count; i += 1) at[i + 1]! += at[i]!;
  const order = new Uint32Array(byId.length);
  for (const ordinal of byId) order[at[slot(ordinal)]!++] = ordinal;
  return order;
}

export class SortOrder {
  readonly #order: Uint32Array;
  readonly #rank: (ordinal: number) => number;
  readonly #keys: Keys;
  /** Number of records with a value; they are first. */
  readonly valued: number;

  /** `rank` of an ordinal: NaN without a value. */
  constructor(order: Uint32Array, rank: (ordinal: number) => number, keys: Keys) {
    this.#order = order;
    this.#rank = rank;
    this.#keys = keys;
    let low = 0;
    let high = this.#order.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (Number.isNaN(rank(this.#order[middle]!))) high = middle;
      else low = middle + 1;
    }
    this.valued = low;
  }

  /** First position in ascending order with a rank of at least `rank` (with `above`: greater). */
  #bound(rank: number, above: boolean): number {
    let low = 0;
    let high = this.valued;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const at = this.#rank(this.#order[middle]!);
      if (at < rank || (above && at === rank)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Ordinals with from <= rank <= to, in this order. */
  between(from: number, to: number): Uint32Array {
    return this.#order.subarray(this.#bound(from, false), Math.max(this.#bound(from, false), this.#bound(to, true)));
  }

  /**
   * Ordinals in sorted order after a position; `rank` null is a record without a value. A lazy generator: the
   * caller stops when its page is full.
   */
  *walk(descending: boolean, after: { rank: number | null; id: string } | null): Generator<number> {
    if (after?.rank !== null) {
      yield* descending ? this.#down(after) : this.#forward(this.#start(after), this.valued);
    }
    const missing = after?.rank === null ? this.#afterId(this.valued, this.#order.length, after.id) : this.valued;
    yield* this.#forward(missing, this.#order.length);
  }

  #start(after: { rank: number | null; id: string } | null): number {
    if (after === null || after.rank === null) return 0;
    return this.#afterId(this.#bound(after.rank, false), this.#bound(after.rank, true), after.id);
  }

  /** First position in [from, to), a run of equal values, with a greater id. */
  #afterId(from: number, to: number, id: string): number {
    let low = from;
    let high = to;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#keys.compareId(this.#order[middle]!, id) <= 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  *#forward(from: number, to: number): Generator<number> {
    for (let i = from; i < to; i += 1) yield this.#order[i]!;
  }

  *#down(after: { rank: number | null; id: string } | null): Generator<number> {
    let end = this.valued;
    if (after !== null && after.rank !== null) {
      const to = this.#bound(after.rank, true);
      const from = this.#bound(after.rank, false);
      yield* this.#forward(this.#afterId(from, to, after.id), to);
      end = from;
    }
    while (end > 0) {
      const start = this.#bound(this.#rank(this.#order[end - 1]!), false);
      yield* this.#forward(start, end);
      end = start;
    }
  }
}
