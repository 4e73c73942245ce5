// Values of one attribute that compare as text: string, text, url, enum, date and lists of strings.
//
//   raw     sorted strings        the distinct values
//   folded  sorted strings        the distinct folded values (dates unchanged); absent when all equal raw
//   fold    codes by raw code     folded code of a raw value; absent with folded
//   codes   codes by ordinal      raw code + 1, 0: missing                 (one value per record)
//   codes   postings by ordinal   raw codes, ascending, each once          (lists)
//   by      postings by folded code
//
// Codes take one, two or four bytes, as the largest one needs.
import { byCodePoint } from '../../packs/define/text.ts';
import type { Bitset } from './bitset.ts';
import { type Codes, type Container, narrow, type Packed } from './container.ts';
import { Postings, packPostings } from './postings.ts';
import { packStrings, SortedStrings } from './strings.ts';

/** Distinct strings sorted by code point, with a code for each. */
function dictionary(texts: Iterable<string>): { sorted: string[]; code: Map<string, number> } {
  const code = new Map<string, number>();
  for (const text of texts) code.set(text, 0);
  const sorted = inOrder([...code.keys()]);
  for (let i = 0; i < sorted.length; i += 1) code.set(sorted[i]!, i);
  return { sorted, code };
}

/**
 * Surrogates and the UTF-16 units that sort differently from code points: texts without them sort equally in
 * both orders.
 */
const HIGH = /[\ud800-\uffff]/;

/** Sorts by code point. The native UTF-16 sort is ten times faster and serves all but a few texts. */
function inOrder(texts: readonly string[]): string[] {
  const plain: string[] = [];
  const others: string[] = [];
  for (const text of texts) (HIGH.test(text) ? others : plain).push(text);
  plain.sort();
  if (others.length === 0) return plain;
  others.sort(byCodePoint);
  const sorted: string[] = [];
  let at = 0;
  for (const other of others) {
    const end = firstAfter(plain, other, at);
    while (at < end) sorted.push(plain[at++]!);
    sorted.push(other);
  }
  while (at < plain.length) sorted.push(plain[at++]!);
  return sorted;
}

/** Index of the first text, from `low` on, that is greater than another. */
function firstAfter(sorted: readonly string[], text: string, low: number): number {
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (byCodePoint(sorted[middle]!, text) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Parts that single values and lists share: distinct values, raw and folded, and the code of each raw value.
 */
function packDistinct(
  name: string,
  texts: Iterable<string>,
  fold: (text: string) => string,
): { packed: Record<string, Packed>; code: Map<string, number>; toFold: Uint32Array; folds: number } {
  const raw = dictionary(texts);
  const packed: Record<string, Packed> = packStrings(`${name}.raw`, raw.sorted);
  const compared = raw.sorted.map(fold);
  if (compared.every((text, i) => text === raw.sorted[i])) {
    const same = Uint32Array.from(compared.keys());
    return { packed, code: raw.code, toFold: same, folds: compared.length };
  }
  const folded = dictionary(compared);
  const toFold = Uint32Array.from(compared, (text) => folded.code.get(text)!);
  Object.assign(packed, packStrings(`${name}.folded`, folded.sorted), { [`${name}.fold`]: narrow(toFold) });
  return { packed, code: raw.code, toFold, folds: folded.sorted.length };
}

/** Packs one value per record, by ordinal (null: missing). `fold` returns the compared form. */
export function packValues(
  name: string,
  values: readonly (string | null)[],
  fold: (text: string) => string,
): Record<string, Packed> {
  const present = values.filter((value) => value !== null);
  const { packed, code, toFold, folds } = packDistinct(name, present, fold);
  const codes = Uint32Array.from(values, (value) => (value === null ? 0 : code.get(value)! + 1));
  const ordinals = new Uint32Array(present.length);
  const keys = new Uint32Array(present.length);
  let at = 0;
  for (const [ordinal, number] of codes.entries()) {
    if (number === 0) continue;
    ordinals[at] = ordinal;
    keys[at++] = toFold[number - 1]!;
  }
  return {
    ...packed,
    [`${name}.codes`]: narrow(codes),
    ...packPostings(`${name}.by`, folds, inverted(keys, ordinals, folds)),
  };
}

/** Packs lists of values by ordinal (empty: missing). */
export function packLists(
  name: string,
  lists: readonly (readonly string[])[],
  fold: (text: string) => string,
): Record<string, Packed> {
  const { packed, code, toFold, folds } = packDistinct(name, lists.flat(), fold);
  const codeLists = lists.map((list) => [...new Set(list.map((text) => code.get(text)!))].sort((a, b) => a - b));
  const compared = codeLists.map((codes) => [...new Set(codes.map((number) => toFold[number]!))]);
  const { key, ordinal } = pairs(compared);
  return {
    ...packed,
    ...packPostings(`${name}.codes`, codeLists.length, swapped(pairs(codeLists))),
    ...packPostings(`${name}.by`, folds, inverted(key, ordinal, folds)),
  };
}

interface Pairs {
  key: Uint32Array;
  ordinal: Uint32Array;
}

/** (code, ordinal) pairs, ordinal by ordinal. */
function pairs(lists: readonly number[][]): Pairs {
  const key = Uint32Array.from(lists.flat());
  const ordinal = new Uint32Array(key.length);
  let at = 0;
  for (const [o, codes] of lists.entries()) {
    ordinal.fill(o, at, at + codes.length);
    at += codes.length;
  }
  return { key, ordinal };
}

/** The pairs with ordinal and code exchanged, to list codes by ordinal. */
const swapped = ({ key, ordinal }: Pairs): Pairs => ({ key: ordinal, ordinal: key });

/** The pairs sorted by code. A counting sort, so that the ordinals of each list stay ascending. */
function inverted(codes: Uint32Array, ordinals: Uint32Array, keys: number): Pairs {
  const at = new Uint32Array(keys + 1);
  for (const code of codes) at[code + 1]! += 1;
  for (let k = 0; k < keys; k += 1) at[k + 1]! += at[k]!;
  const key = new Uint32Array(codes.length);
  const ordinal = new Uint32Array(codes.length);
  for (const [i, code] of codes.entries()) {
    const slot = at[code]!;
    at[code]! += 1;
    key[slot] = code;
    ordinal[slot] = ordinals[i]!;
  }
  return { key, ordinal };
}

export class Values {
  readonly raw: SortedStrings;
  readonly folded: SortedStrings;
  /** Folded code of each raw code; null when they are equal. */
  readonly #fold: Codes | null;
  /** Ordinals by folded code. */
  readonly by: Postings;
  /** Raw code + 1 by ordinal for single values; null for lists. */
  readonly single: Codes | null;
  /** Raw codes by ordinal, for lists; null for single values. */
  readonly lists: Postings | null;

  constructor(container: Container, name: string) {
    this.raw = new SortedStrings(container, `${name}.raw`);
    this.#fold = container.has(`${name}.fold`) ? container.codes(`${name}.fold`) : null;
    this.folded = this.#fold ? new SortedStrings(container, `${name}.folded`) : this.raw;
    this.by = new Postings(container, `${name}.by`);
    const list = container.has(`${name}.codes.list`);
    this.single = list ? null : container.codes(`${name}.codes`);
    this.lists = list ? new Postings(container, `${name}.codes`) : null;
  }

  has(ordinal: number): boolean {
    return this.single ? this.single[ordinal] !== 0 : (this.lists as Postings).count(ordinal) > 0;
  }

  /** Raw codes of a record. */
  codesAt(ordinal: number): number[] {
    if (this.single) return this.single[ordinal] === 0 ? [] : [this.single[ordinal]! - 1];
    const lists = this.lists as Postings;
    return Array.from(lists.list.subarray(lists.start(ordinal), lists.end(ordinal)));
  }

  /** A test of whether some text of a record passes, which reads each distinct text once; null without a text. */
  someText(passes: (text: string) => boolean): (ordinal: number) => boolean | null {
    /** By raw code: 0 not read yet, 1 no, 2 yes. */
    const verdicts = new Uint8Array(this.raw.length);
    const passing = (code: number) => {
      if (verdicts[code] === 0) verdicts[code] = passes(this.raw.at(code)) ? 2 : 1;
      return verdicts[code] === 2;
    };
    const { single } = this;
    if (single) return (ordinal) => (single[ordinal] === 0 ? null : passing(single[ordinal]! - 1));
    return (ordinal) => {
      const codes = this.codesAt(ordinal);
      return codes.length === 0 ? null : codes.some(passing);
    };
  }

  /** Folded code of a raw code. */
  foldOf(raw: number): number {
    return this.#fold ? this.#fold[raw]! : raw;
  }

  /** Folded code of a record's single value; -1: missing. */
  code(ordinal: number): number {
    const code = this.single![ordinal]!;
    return code === 0 ? -1 : this.foldOf(code - 1);
  }

  /** Returns a test for records with one of the folded codes. */
  tester(codes: readonly number[]): (ordinal: number) => boolean {
    const [only] = codes;
    if (only === undefined) return () => false;
    if (this.single && codes.length === 1) return (ordinal) => this.code(ordinal) === only;
    let flags: Uint8Array | null = null;
    return (ordinal) => {
      flags ??= this.#flags(codes);
      return this.#flagged(ordinal, flags);
    };
  }

  #flags(codes: readonly number[]): Uint8Array {
    const flags = new Uint8Array(this.folded.length);
    for (const code of codes) flags[code] = 1;
    return flags;
  }

  #flagged(ordinal: number, flags: Uint8Array): boolean {
    if (this.single) {
      const code = this.code(ordinal);
      return code >= 0 && flags[code] === 1;
    }
    const lists = this.lists as Postings;
    for (let i = lists.start(ordinal); i < lists.end(ordinal); i += 1)
      if (flags[this.foldOf(lists.list[i]!)] === 1) return true;
    return false;
  }

  /** Distinct folded codes of texts; texts that do not occur are skipped. */
  codesOf(texts: readonly string[]): number[] {
    return [...new Set(texts.map((text) => this.folded.find(text)))].filter((code) => code >= 0);
  }

  /** Folded codes of values that contain the text. Values of `removed` records alone are not read. */
  codesLike(needle: string, removed: Bitset | null): number[] {
    const unread = new Set<number>();
    removed?.each((ordinal) => {
      for (const code of this.codesAt(ordinal).map((raw) => this.foldOf(raw)))
        if (this.by.of(code).every((other) => removed.has(other))) unread.add(code);
    });
    return this.folded.containing(
      needle,
      [...unread].sort((a, b) => a - b),
    );
  }
}
