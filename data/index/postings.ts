// For each key (a term, a value, a cell) the ordinals that have it, ascending, end to end.
//
//   ends  u32  2 5 …          key k has list[ends[k-1] … ends[k]]
//   list  u32  0 7 | 1 7 9 | …
import type { Container, Packed } from './container.ts';

/** Packs (key, ordinal) pairs that are sorted by key, then ordinal. */
export function packPostings(
  name: string,
  keys: number,
  pairs: { key: Uint32Array; ordinal: Uint32Array },
): Record<string, Packed> {
  const ends = new Uint32Array(keys);
  for (const key of pairs.key) ends[key]! += 1;
  for (let k = 1; k < keys; k += 1) ends[k]! += ends[k - 1]!;
  return { [`${name}.ends`]: ends, [`${name}.list`]: pairs.ordinal };
}

export class Postings {
  readonly list: Uint32Array;
  readonly #ends: Uint32Array;

  constructor(container: Container, name: string) {
    this.#ends = container.get(`${name}.ends`, 'u32');
    this.list = container.get(`${name}.list`, 'u32');
  }

  get keys(): number {
    return this.#ends.length;
  }

  start(key: number): number {
    return key === 0 ? 0 : this.#ends[key - 1]!;
  }

  end(key: number): number {
    return this.#ends[key]!;
  }

  of(key: number): Uint32Array {
    return this.list.subarray(this.start(key), this.end(key));
  }

  count(key: number): number {
    return this.end(key) - this.start(key);
  }
}
