// The words of the searchable attributes: which records have a word that begins with a prefix, and which words a record has.
//
//   words    sorted strings            distinct folded words
//   by       postings by word          ordinal | PUBLIC where a public attribute has the word
//   of       postings by ordinal       word codes, ascending (for `similar`)
import { Bitset } from './bitset.ts';
import type { Container, Packed } from './container.ts';
import { Postings, packPostings } from './postings.ts';
import { packStrings, SortedStrings } from './strings.ts';

/** Top bit of a posting; ordinals stay below 2^31. */
const PUBLIC = 0x80000000;

/** One row of terms.parquet, sorted by term, then ordinal. */
export interface TermRows {
  term: string[];
  ordinal: Uint32Array;
  public: Uint8Array;
}

/** Packs the rows of terms.parquet. */
export function packTerms(rows: TermRows, records: number): Record<string, Packed> {
  const sorted: string[] = [];
  const key = new Uint32Array(rows.term.length);
  const tagged = new Uint32Array(rows.term.length);
  for (const [i, term] of rows.term.entries()) {
    if (sorted.at(-1) !== term) sorted.push(term);
    key[i] = sorted.length - 1;
    tagged[i] = (rows.ordinal[i]! | (rows.public[i] ? PUBLIC : 0)) >>> 0;
  }
  return {
    ...packStrings('words', sorted),
    ...packPostings('words.by', sorted.length, { key, ordinal: tagged }),
    ...packPostings('words.of', records, turned(key, rows.ordinal, records)),
  };
}

/** The same pairs by ordinal: a counting sort keeps the word codes ascending. */
function turned(word: Uint32Array, ordinal: Uint32Array, records: number): { key: Uint32Array; ordinal: Uint32Array } {
  const at = new Uint32Array(records + 1);
  for (const o of ordinal) at[o + 1]! += 1;
  for (let o = 0; o < records; o += 1) at[o + 1]! += at[o]!;
  const key = new Uint32Array(word.length);
  const list = new Uint32Array(word.length);
  for (const [i, code] of word.entries()) {
    const o = ordinal[i]!;
    const slot = at[o]!;
    at[o]! += 1;
    key[slot] = o;
    list[slot] = code;
  }
  return { key, ordinal: list };
}

export class Terms {
  readonly words: SortedStrings;
  readonly by: Postings;
  readonly of: Postings;
  readonly #records: number;

  constructor(container: Container, records: number) {
    this.words = new SortedStrings(container, 'words');
    this.by = new Postings(container, 'words.by');
    this.of = new Postings(container, 'words.of');
    this.#records = records;
  }

  /** Postings under a prefix, repeats included: an upper bound of how many records match. */
  count(prefix: string): number {
    const [from, to] = this.words.range(prefix);
    return from === to ? 0 : this.by.end(to - 1) - this.by.start(from);
  }

  /** Records that have a word with the prefix; in public scope only words that a public attribute has count. */
  matching(prefix: string, scope: 'public' | 'full'): Bitset {
    const found = new Bitset(this.#records);
    const [from, to] = this.words.range(prefix);
    if (from === to) return found;
    const list = this.by.list;
    const end = this.by.end(to - 1);
    for (let i = this.by.start(from); i < end; i += 1) {
      const entry = list[i]!;
      if (scope === 'full' || entry >= PUBLIC) found.add(entry & 0x7fffffff);
    }
    return found;
  }

  /** The same as a sorted list, cheaper than a bitset where few records match. */
  list(prefix: string, scope: 'public' | 'full'): Uint32Array {
    const [from, to] = this.words.range(prefix);
    if (from === to) return new Uint32Array(0);
    const part = this.by.list.subarray(this.by.start(from), this.by.end(to - 1));
    const kept = (scope === 'full' ? part : part.filter((entry) => entry >= PUBLIC)).map((entry) => entry & 0x7fffffff);
    // One word's postings are sorted and distinct already.
    return to - from === 1 ? kept : distinct(kept.sort());
  }
}

/** Drops repeats of a sorted list in place. */
function distinct(sorted: Uint32Array): Uint32Array {
  let at = 0;
  for (const value of sorted) if (at === 0 || sorted[at - 1] !== value) sorted[at++] = value;
  return sorted.subarray(0, at);
}
