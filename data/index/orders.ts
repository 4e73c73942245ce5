// Records sorted by one key, and the start of a page. Computed from the order of ids (keys.ts) on first use.
//
// The sort number of a record compares like its value: it is the number itself, or the code of a text or
// boolean (Columns.sortNumber). NaN: the record has no value.
//
//   order  u32   ordinals by (value ascending, id ascending); records without a value at the end, by id
//
// Descending order walks groups of equal values from the end, each group forwards: ties are by id ascending
// in both directions.
import { ranges, type SliceOptions } from '../plan/slices.ts';
import type { Keys } from './keys.ts';

/** Digits of a sort number as a 64-bit integer, and the values of a digit. */
const DIGITS = 4;
const RADIX = 65_536;

/** Sign of a number in the upper half of its bits, and the largest half. */
const SIGN = 0x80000000;
const LARGEST = 0xffffffff;

/**
 * All ordinals sorted by sort number, records without a value last. A radix sort from the order of ids, so that equal
 * numbers stay sorted by id; yields between slices.
 */
export function* orderBy(
  byId: Uint32Array,
  sortNumber: (ordinal: number) => number,
  options: SliceOptions = {},
): Generator<void, Uint32Array> {
  const records = byId.length;
  const numbers = new Float64Array(records);
  const halves = new Uint32Array(numbers.buffer);
  const digits = new Uint16Array(numbers.buffer);
  // Their bits as integers that compare like them: the sign is inverted, and all bits of a negative number.
  yield* ranges(options, records, (from, to) => {
    for (let ordinal = from; ordinal < to; ordinal += 1) {
      // Zero has two forms that are equal.
      numbers[ordinal] = sortNumber(ordinal) + 0;
      const [low, high] = [2 * ordinal, 2 * ordinal + 1];
      if (Number.isNaN(numbers[ordinal])) halves.fill(LARGEST, low, high + 1);
      else if (halves[high]! < SIGN) halves[high]! += SIGN;
      else {
        halves[low]! ^= LARGEST;
        halves[high]! ^= LARGEST;
      }
    }
  });
  let order = byId;
  for (let digit = 0; digit < DIGITS; digit += 1) {
    /** Where the next ordinal with a value of the digit is written. */
    const at = new Uint32Array(RADIX + 1);
    yield* ranges(options, records, (from, to) => {
      for (let ordinal = from; ordinal < to; ordinal += 1) at[digits[DIGITS * ordinal + digit]! + 1]! += 1;
    });
    for (let value = 0; value < RADIX; value += 1) at[value + 1]! += at[value]!;
    const [previous, next] = [order, new Uint32Array(records)];
    yield* ranges(options, records, (from, to) => {
      for (let i = from; i < to; i += 1) next[at[digits[DIGITS * previous[i]! + digit]!]!++] = previous[i]!;
    });
    order = next;
  }
  return order;
}

/** The records of a release in the order of one sort key. */
export class SortOrder {
  readonly #order: Uint32Array;
  readonly #sortNumber: (ordinal: number) => number;
  readonly #keys: Keys;
  /** Number of records with a value; they are first. */
  readonly valued: number;

  /** `order` from `orderBy`; `sortNumber` returns the sort number of an ordinal. */
  constructor(order: Uint32Array, sortNumber: (ordinal: number) => number, keys: Keys) {
    this.#order = order;
    this.#sortNumber = sortNumber;
    this.#keys = keys;
    let low = 0;
    let high = this.#order.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (Number.isNaN(sortNumber(this.#order[middle]!))) high = middle;
      else low = middle + 1;
    }
    this.valued = low;
  }

  /** First position in ascending order with at least this sort number (with `above`: a greater one). */
  #bound(sortNumber: number, above: boolean): number {
    let low = 0;
    let high = this.valued;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const at = this.#sortNumber(this.#order[middle]!);
      if (at < sortNumber || (above && at === sortNumber)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Ordinals with from <= sort number <= to, in ascending order. */
  between(from: number, to: number): Uint32Array {
    return this.#order.subarray(this.#bound(from, false), Math.max(this.#bound(from, false), this.#bound(to, true)));
  }

  /**
   * Ordinals in sorted order after a position, a sort number (null: without a value) and an id; from the
   * start if `after` is null. A lazy generator: the caller stops when its page is full.
   */
  *walk(descending: boolean, after: { sortNumber: number | null; id: string } | null): Generator<number> {
    if (after?.sortNumber !== null) {
      yield* descending ? this.#down(after) : this.#forward(this.#start(after), this.valued);
    }
    const missing = after?.sortNumber === null ? this.#afterId(this.valued, this.#order.length, after.id) : this.valued;
    yield* this.#forward(missing, this.#order.length);
  }

  #start(after: { sortNumber: number | null; id: string } | null): number {
    if (after === null || after.sortNumber === null) return 0;
    return this.#afterId(this.#bound(after.sortNumber, false), this.#bound(after.sortNumber, true), after.id);
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

  *#down(after: { sortNumber: number | null; id: string } | null): Generator<number> {
    let end = this.valued;
    if (after !== null && after.sortNumber !== null) {
      const to = this.#bound(after.sortNumber, true);
      const from = this.#bound(after.sortNumber, false);
      yield* this.#forward(this.#afterId(from, to, after.id), to);
      end = from;
    }
    while (end > 0) {
      const start = this.#bound(this.#sortNumber(this.#order[end - 1]!), false);
      yield* this.#forward(start, end);
      end = start;
    }
  }
}
