// Values of one attribute that are compared as text: string, text, url, enum, date and lists of strings.
//
//   raw     sorted strings        the distinct values as written
//   folded  sorted strings        the distinct values as compared; dates are compared as written
//   fold    u32 by raw code       folded code of a raw value
//   codes   u32 by ordinal        raw code + 1, 0 where missing            (one value a record)
//   codes   postings by ordinal   raw codes, ascending, each once          (lists)
//   by      postings by folded code
import { byCodePoint } from '../../packs/text.ts';
import type { Container, Packed } from './container.ts';
import { Postings, packPostings } from './postings.ts';
import { packStrings, SortedStrings } from './strings.ts';

/** Distinct strings sorted by code point, with the code of each. */
function dictionary(texts: Iterable<string>): { sorted: string[]; code: Map<string, number> } {
  const distinct = [...new Set(texts)];
  // UTF-16 order is code point order unless a surrogate occurs; comparing bytes is an order of magnitude slower.
  const sorted = distinct.some((text) => /[\ud800-\udfff]/.test(text)) ? distinct.sort(byCodePoint) : distinct.sort();
  return { sorted, code: new Map(sorted.map((text, i) => [text, i])) };
}

/** Packs values by ordinal (empty: missing). `fold` makes the compared form. */
export function packValues(
  name: string,
  values: string[][],
  list: boolean,
  fold: (text: string) => string,
): Record<string, Packed> {
  const raw = dictionary(values.flat());
  const foldOf = new Map(raw.sorted.map((text) => [text, fold(text)]));
  const folded = dictionary(foldOf.values());
  const toFold = Uint32Array.from(raw.sorted, (text) => folded.code.get(foldOf.get(text) as string) as number);
  const own = values.map((of) => [...new Set(of.map((text) => raw.code.get(text) as number))].sort((a, b) => a - b));
  return {
    ...packStrings(`${name}.raw`, raw.sorted),
    ...packStrings(`${name}.folded`, folded.sorted),
    [`${name}.fold`]: toFold,
    ...(list
      ? packPostings(`${name}.codes`, own.length, pairs(own.map((codes, ordinal) => [ordinal, codes])))
      : { [`${name}.codes`]: Uint32Array.from(own, (codes) => (codes.length === 0 ? 0 : codes[0]! + 1)) }),
    ...packPostings(`${name}.by`, folded.sorted.length, inverted(own, toFold, folded.sorted.length)),
  };
}

function pairs(rows: [number, number[]][]): { key: Uint32Array; ordinal: Uint32Array } {
  const key = Uint32Array.from(rows.flatMap(([k, list]) => list.map(() => k)));
  return { key, ordinal: Uint32Array.from(rows.flatMap(([, list]) => list)) };
}

/** (folded code, ordinal) pairs by counting sort: ordinals arrive ascending, so each list stays ascending. */
function inverted(own: number[][], toFold: Uint32Array, keys: number): { key: Uint32Array; ordinal: Uint32Array } {
  const folds = own.map((codes) => [...new Set(codes.map((code) => toFold[code]!))]);
  const at = new Uint32Array(keys + 1);
  for (const of of folds) for (const code of of) at[code + 1]! += 1;
  for (let k = 0; k < keys; k += 1) at[k + 1]! += at[k]!;
  const key = new Uint32Array(at[keys]!);
  const ordinal = new Uint32Array(at[keys]!);
  for (const [o, of] of folds.entries()) {
    for (const code of of) {
      const slot = at[code]!;
      at[code]! += 1;
      key[slot] = code;
      ordinal[slot] = o;
    }
  }
  return { key, ordinal };
}

export class Values {
  readonly raw: SortedStrings;
  readonly folded: SortedStrings;
  /** Folded code of each raw code. */
  readonly fold: Uint32Array;
  /** Ordinals by folded code. */
  readonly by: Postings;
  /** Raw code + 1 by ordinal, for single values; null for lists. */
  readonly single: Uint32Array | null;
  /** Raw codes by ordinal, for lists; null for single values. */
  readonly lists: Postings | null;

  constructor(container: Container, name: string) {
    this.raw = new SortedStrings(container, `${name}.raw`);
    this.folded = new SortedStrings(container, `${name}.folded`);
    this.fold = container.get(`${name}.fold`, 'u32');
    this.by = new Postings(container, `${name}.by`);
    const list = container.has(`${name}.codes.ends`);
    this.single = list ? null : container.get(`${name}.codes`, 'u32');
    this.lists = list ? new Postings(container, `${name}.codes`) : null;
  }

  has(ordinal: number): boolean {
    return this.single ? this.single[ordinal] !== 0 : (this.lists as Postings).count(ordinal) > 0;
  }

  /** Whether a record has a value whose folded code is flagged. */
  flagged(ordinal: number, flags: Uint8Array): boolean {
    if (this.single) {
      const code = this.single[ordinal]!;
      return code !== 0 && flags[this.fold[code - 1]!] === 1;
    }
    const lists = this.lists as Postings;
    for (let i = lists.start(ordinal); i < lists.end(ordinal); i += 1)
      if (flags[this.fold[lists.list[i]!]!] === 1) return true;
    return false;
  }

  /** Flags of the folded values that are listed. Values nobody has flag nothing. */
  flagsOf(texts: string[]): Uint8Array {
    const flags = new Uint8Array(this.folded.length);
    for (const text of texts) {
      const code = this.folded.find(text);
      if (code >= 0) flags[code] = 1;
    }
    return flags;
  }

  /** Flags of the folded values that contain a text. */
  flagsLike(needle: string): Uint8Array {
    return this.folded.containing(needle);
  }
}
