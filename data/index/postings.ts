// For each key (a term, a value, a cell) its ordinals, ascending, in sequence.
//
//   ends       2 5 …          end of the list of each key (ends.ts)
//   list  u32  0 7 | 1 7 9 | …
import type { Container, Packed } from './container.ts';
import { Ends, packEnds } from './ends.ts';

/** Packs (key, ordinal) pairs sorted by key, then ordinal. */
export function packPostings(
  name: string,
  keys: number,
  pairs: { key: Uint32Array; ordinal: Uint32Array },
): Record<string, Packed> {
  const ends = new Uint32Array(keys);
  for (const key of pairs.key) ends[key]! += 1;
  for (let k = 1; k < keys; k += 1) ends[k]! += ends[k - 1]!;
  return { ...packEnds(name, ends), [`${name}.list`]: pairs.ordinal };
}

export class Postings {
  readonly list: Uint32Array;
  readonly #ends: Ends;

  constructor(container: Container, name: string) {
    this.#ends = new Ends(container, name);
    this.list = container.get(`${name}.list`, 'u32');
  }

  get keys(): number {
    return this.#ends.length;
  }

  start(key: number): number {
    return this.#ends.start(key);
  }

  end(key: number): number {
    return this.#ends.end(key);
  }

  of(key: number): Uint32Array {
    return this.list.subarray(this.start(key), this.end(key));
  }

  count(key: number): number {
    return this.end(key) - this.start(key);
  }
}
