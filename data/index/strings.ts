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

/** The strings [from, to) that share their first `depth` bytes. */
interface Node {
  from: number;
  to: number;
  depth: number;
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

  /** Index of the first string not below the bytes. */
  #lower(bytes: Buffer): number {
    return this.#lowerIn({ from: 0, to: this.length, depth: 0 }, bytes);
  }

  /** Index of a string; for a missing one its insertion index minus 0.5. */
  rank(text: string): number {
    const bytes = Buffer.from(text);
    const i = this.#lower(bytes);
    return i < this.length && this.#compareIn(i, 0, bytes) === 0 ? i : i - 0.5;
  }

  /** Index of a string, or -1. */
  find(text: string): number {
    const bytes = Buffer.from(text);
    const i = this.#lower(bytes);
    return i < this.length && this.#compareIn(i, 0, bytes) === 0 ? i : -1;
  }

  /** [from, to) of strings that begin with a prefix. */
  range(prefix: string): [number, number] {
    const bytes = Buffer.from(prefix);
    // 0xFF does not occur in UTF-8, so it sorts after every continuation of the prefix.
    return [this.#lower(bytes), this.#lower(Buffer.concat([bytes, Buffer.from([0xff])]))];
  }

  /**
   * Indices of the strings that differ from a text by one edit: a letter inserted, left out or replaced, or two
   * neighbours exchanged. Follows the text from letter to letter through the sorted strings, so that it reads
   * only strings that agree with the text up to the edit.
   */
  oneEdit(text: string): Set<number> {
    const letters = [...text];
    const rest = (i: number) => Buffer.from(letters.slice(i).join(''));
    const codes = new Set<number>();
    const add = (node: Node, ending: Buffer) => {
      const i = this.#lowerIn(node, ending);
      if (i < node.to && this.#compareIn(i, node.depth, ending) === 0) codes.add(i);
    };
    let next: Node | null = { from: 0, to: this.length, depth: 0 };
    for (let i = 0; next !== null && i <= letters.length; i += 1) {
      const node: Node = next;
      const [typed, following] = [Buffer.from(letters[i] ?? ''), Buffer.from(letters[i + 1] ?? '')];
      const [all, others] = [rest(i), rest(i + 1)];
      const exchanged = Buffer.concat([typed, rest(i + 2)]);
      next = null;
      if (typed.length > 0) add(node, others);
      for (const child of this.#children(node)) {
        add(child, all);
        if (typed.length === 0) continue;
        if (child.letter.equals(typed)) next = child;
        else add(child, others);
        if (child.letter.equals(following) && !child.letter.equals(typed)) add(child, exchanged);
      }
    }
    return codes;
  }

  /** Indices of the strings that begin with the first letter of a text and are at most two edits from it. */
  twoEdits(text: string): Set<number> {
    const letters = [...text];
    const codes = new Set<number>();
    // `row` has the distances of the node's prefix from the beginnings of the text.
    const walk = (node: Node, row: readonly number[]): void => {
      const length = this.#ends.end(node.from) - this.#ends.start(node.from);
      if (length === node.depth && row.at(-1)! <= 2) codes.add(node.from);
      for (const child of this.#children(node)) {
        const letter = child.letter.toString();
        const next = [row[0]! + 1];
        for (let i = 1; i <= letters.length; i += 1)
          next.push(Math.min(row[i]! + 1, next[i - 1]! + 1, row[i - 1]! + Number(letters[i - 1] !== letter)));
        if (Math.min(...next) <= 2) walk(child, next);
      }
    };
    const first = Buffer.from(letters[0] ?? '');
    const [from, to] = this.range(letters[0] ?? '');
    if (from < to) walk({ from, to, depth: first.length }, [1, ...letters.keys()]);
    return codes;
  }

  /** The strings of a node by their next letter. */
  *#children({ from, to, depth }: Node): Generator<Node & { letter: Buffer }> {
    let at = from;
    while (at < to) {
      const start = this.#ends.start(at) + depth;
      const lead = this.#text[start]!;
      if (start === this.#ends.end(at)) {
        at += 1;
        continue;
      }
      const letter = this.#text.subarray(start, start + (lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4));
      const end = this.#lowerIn({ from: at, to, depth }, Buffer.concat([letter, Buffer.from([0xff])]));
      yield { from: at, to: end, depth: depth + letter.length, letter };
      at = end;
    }
  }

  /** Index of the first string of a node whose bytes after the node's prefix are not below `bytes`. */
  #lowerIn({ from, to, depth }: Node, bytes: Buffer): number {
    let [low, high] = [from, to];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compareIn(middle, depth, bytes) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #compareIn(i: number, depth: number, bytes: Buffer): number {
    const start = this.#ends.start(i) + depth;
    const length = this.#ends.end(i) - start;
    for (let at = 0; at < length && at < bytes.length; at += 1)
      if (this.#text[start + at] !== bytes[at]) return this.#text[start + at]! - bytes[at]!;
    return length - bytes.length;
  }

  /** Indices of strings that contain the needle, ascending. Those of `unread`, ascending too, are not read. */
  containing(needle: string, unread: readonly number[] = []): number[] {
    const bytes = Buffer.from(needle);
    if (bytes.length === 0) return [...Array(this.length).keys()].filter((i) => !unread.includes(i));
    const indices: number[] = [];
    let first = 0;
    for (const end of [...unread, this.length]) {
      if (first < end) this.#addContaining(bytes, first, end, indices);
      first = end + 1;
    }
    return indices;
  }

  /** Adds the indices of strings of [first, end) that contain the bytes, in one pass. */
  #addContaining(bytes: Buffer, first: number, end: number, indices: number[]): void {
    const text = this.#text.subarray(0, this.#ends.end(end - 1));
    for (let from = this.#ends.start(first); ; ) {
      const hit = text.indexOf(bytes, from);
      if (hit < 0) return;
      const i = this.#ending(hit, Math.max(first, (indices.at(-1) ?? -1) + 1));
      // A hit that crosses the end of its string does not count; the next one may begin within it.
      if (hit + bytes.length <= this.#ends.end(i)) {
        indices.push(i);
        from = this.#ends.end(i);
      } else from = hit + 1;
    }
  }

  /** Index of the string at a byte position; `low` is at most that. */
  #ending(position: number, low: number): number {
    // Hits of a frequent needle follow each other closely.
    let step = 1;
    while (low + step < this.length && this.#ends.end(low + step - 1) <= position) step *= 2;
    let high = Math.min(low + step, this.length - 1);
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#ends.end(middle) <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
