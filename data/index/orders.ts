// Records in the order of one sort key, and where a page goes on.
//
//   order  u32   ordinals by (value ascending, id ascending); records without a value come last, by id
//
// Descending is walked group by group from the back, each group of equal values forwards: ties go by id ascending either way.
import type { Container, Packed } from './container.ts';
import type { Keys } from './keys.ts';

/** Ordinals in the order of their ids. */
export function idOrder(ids: readonly string[]): Uint32Array {
  return Uint32Array.from(ids.keys()).sort((a, b) => (ids[a]! < ids[b]! ? -1 : 1));
}

/** Packs the order of numeric ranks by ordinal, given the order of ids; NaN means no value. */
export function packOrder(name: string, ranks: Float64Array | Uint32Array, byId: Uint32Array): Record<string, Packed> {
  const last = Float64Array.from(ranks, (rank) => (Number.isNaN(rank) ? Number.POSITIVE_INFINITY : rank));
  // Sorting is stable: equal ranks stay in the order of ids.
  const order = byId.slice().sort((a, b) => {
    const [x, y] = [last[a]!, last[b]!];
    return x < y ? -1 : Number(x > y);
  });
  return { [`${name}.order`]: order };
}

/** What an order compares: a rank by ordinal (NaN: none), and a cursor's value as a rank. */
export interface Ranks {
  of: (ordinal: number) => number;
}

export class Order {
  readonly #order: Uint32Array;
  readonly #ranks: Ranks;
  readonly #keys: Keys;
  /** Records that have a value come first. */
  readonly valued: number;

  constructor(container: Container, name: string, ranks: Ranks, keys: Keys) {
    this.#order = container.get(`${name}.order`, 'u32');
    this.#ranks = ranks;
    this.#keys = keys;
    let low = 0;
    let high = this.#order.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (Number.isNaN(ranks.of(this.#order[middle]!))) high = middle;
      else low = middle + 1;
    }
    this.valued = low;
  }

  /** First position in ascending order whose rank is at least (or, with `above`, more than) a value. */
  #bound(rank: number, above: boolean): number {
    let low = 0;
    let high = this.valued;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const at = this.#ranks.of(this.#order[middle]!);
      if (at < rank || (above && at === rank)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Ordinals with from <= rank <= to, in the order of this sort. */
  between(from: number, to: number): Uint32Array {
    return this.#order.subarray(this.#bound(from, false), Math.max(this.#bound(from, false), this.#bound(to, true)));
  }

  /**
   * Ordinals in sorted order, beginning after a position: `rank` null stands for a record without a value.
   * Nothing is copied; the caller stops when its page is full.
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

  /** First position of [from, to), a run of equal values, whose id comes after the given one. */
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
      const start = this.#bound(this.#ranks.of(this.#order[end - 1]!), false);
      yield* this.#forward(start, end);
      end = start;
    }
  }
}
