// Sorted distinct strings: UTF-8 bytes in sequence and their ends.
//
//   text  u8   z u r i c h z u g …
//   ends       6 9 …               end of each string (ends.ts)
//
// Sorted by code point, which equals the order of the UTF-8 bytes.
import type { Container, Packed } from './container.ts';
import { Ends, packEnds } from './ends.ts';

/** Packs strings sorted by code point. `name` prefixes the two arrays. */
export function packStrings(name: string, sorted: string[]): Record<string, Packed> {
  const ends = new Uint32Array(sorted.length);
  let end = 0;
  for (const [i, text] of sorted.entries()) ends[i] = end += Buffer.byteLength(text);
  return { [`${name}.text`]: new Uint8Array(Buffer.from(sorted.join(''))), ...packEnds(name, ends) };
}

export class SortedStrings {
  readonly length: number;
  readonly #text: Buffer;
  readonly #ends: Ends;

  constructor(container: Container, name: string) {
    const text = container.get(`${name}.text`, 'u8');
    this.#text = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
    this.#ends = new Ends(container, name);
    this.length = this.#ends.length;
  }

  at(i: number): string {
    return this.#text.toString('utf8', this.#ends.start(i), this.#ends.end(i));
  }

  #compare(i: number, bytes: Buffer): number {
    return this.#text.compare(bytes, 0, bytes.length, this.#ends.start(i), this.#ends.end(i));
  }

  /** Index of the first string not below the bytes. */
  #lower(bytes: Buffer): number {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compare(middle, bytes) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Index of a string; for a missing one its insertion index minus 0.5. */
  rank(text: string): number {
    const bytes = Buffer.from(text);
    const i = this.#lower(bytes);
    return i < this.length && this.#compare(i, bytes) === 0 ? i : i - 0.5;
  }

  /** Index of a string, or -1. */
  find(text: string): number {
    const bytes = Buffer.from(text);
    const i = this.#lower(bytes);
    return i < this.length && this.#compare(i, bytes) === 0 ? i : -1;
  }

  /** [from, to) of strings that begin with a prefix. */
  range(prefix: string): [number, number] {
    const bytes = Buffer.from(prefix);
    // 0xFF does not occur in UTF-8, so it sorts after every continuation of the prefix.
    return [this.#lower(bytes), this.#lower(Buffer.concat([bytes, Buffer.from([0xff])]))];
  }

  /**
   * Indices of strings that share all bytes with a text at their beginning and end together, except at most
   * `apart`, and differ in length by at most as much.
   */
  alike(text: string, apart: number): number[] {
    const bytes = Buffer.from(text);
    const alike: number[] = [];
    for (let i = 0; i < this.length; i += 1) {
      const start = this.#ends.start(i);
      const length = this.#ends.end(i) - start;
      if (Math.abs(length - bytes.length) > apart) continue;
      const shorter = Math.min(length, bytes.length);
      let same = 0;
      while (same < shorter && this.#text[start + same] === bytes[same]) same += 1;
      let ends = 0;
      while (ends < shorter - same && this.#text[start + length - 1 - ends] === bytes[bytes.length - 1 - ends])
        ends += 1;
      if (shorter - same - ends <= apart) alike.push(i);
    }
    return alike;
  }

  /** Indices of strings that contain the needle, ascending, in one pass over the bytes. */
  containing(needle: string): number[] {
    const bytes = Buffer.from(needle);
    if (bytes.length === 0) return [...Array(this.length).keys()];
    const found: number[] = [];
    for (let from = 0; ; ) {
      const hit = this.#text.indexOf(bytes, from);
      if (hit < 0) return found;
      const i = this.#ending(hit);
      // A hit that crosses the end of its string does not count; the next one may begin within it.
      if (hit + bytes.length <= this.#ends.end(i)) {
        found.push(i);
        from = this.#ends.end(i);
      } else from = hit + 1;
    }
  }

  /** Index of the string at a byte position. */
  #ending(position: number): number {
    let low = 0;
    let high = this.length - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#ends.end(middle) <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
