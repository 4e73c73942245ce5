// Inverted index of the words of searchable attributes: records with a word that begins with a prefix, and
// words of a record. A word code is the index of a word in `words`.
//
//   words           sorted strings        distinct folded words
//   words.by        postings by word      ordinal | PUBLIC when a public attribute has the word
//   words.of        postings by ordinal   word codes, ascending
//   words.compared  postings by ordinal   word codes of the pack's `similar_by` attributes, ascending
import { Bitset } from './bitset.ts';
import type { Container, Packed } from './container.ts';
import { Postings, packPostings } from './postings.ts';
import { packStrings, SortedStrings } from './strings.ts';

/** Top bit of a posting; ordinals stay below 2^31. */
const PUBLIC = 0x80000000;
const ORDINAL = 0x7fffffff;

/**
 * Up to this many postings of several words are sorted; more are collected in a bitset, which sorts them too.
 */
const FEW = 64;

/** [from, to) of word codes. */
type Range = readonly [from: number, to: number];

/** The columns of terms.parquet; all have the same length, rows sorted by term, then ordinal. */
export interface TermRows {
  term: string[];
  ordinal: Uint32Array;
  /** 1: a public attribute has the word, else 0. */
  public: Uint8Array;
  /** 1: a `similar_by` attribute has the word, else 0. */
  compared: Uint8Array;
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
  const counted = (list: Uint32Array) => list.filter((_, i) => rows.compared[i] === 1);
  return {
    ...packStrings('words', sorted),
    ...packPostings('words.by', sorted.length, { key, ordinal: tagged }),
    ...packPostings('words.of', records, turned(key, rows.ordinal, records)),
    ...packPostings('words.compared', records, turned(counted(key), counted(rows.ordinal), records)),
  };
}

/** The pairs by ordinal: a counting sort keeps word codes ascending. */
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

/** The words of an open index. */
export class Terms {
  readonly words: SortedStrings;
  readonly recordsByWord: Postings;
  readonly wordsByRecord: Postings;
  readonly comparedByRecord: Postings;
  readonly #records: number;
  #publicCounts: Uint32Array | null = null;

  constructor(container: Container, records: number) {
    this.words = new SortedStrings(container, 'words');
    this.recordsByWord = new Postings(container, 'words.by');
    this.wordsByRecord = new Postings(container, 'words.of');
    this.comparedByRecord = new Postings(container, 'words.compared');
    this.#records = records;
  }

  /** [from, to) of words that begin with a prefix. */
  range(prefix: string): Range {
    return this.words.range(prefix);
  }

  /** Number of postings of words, with repeats: an upper bound for the number of records. */
  count([from, to]: Range): number {
    return from === to ? 0 : this.recordsByWord.end(to - 1) - this.recordsByWord.start(from);
  }

  /** Whether a record has a word of the range. */
  within(ordinal: number, [from, to]: Range): boolean {
    const { list } = this.wordsByRecord;
    const end = this.wordsByRecord.end(ordinal);
    for (let i = this.wordsByRecord.start(ordinal); i < end; i += 1) if (list[i]! >= from) return list[i]! < to;
    return false;
  }

  /** Records with a word of the range, ascending; in public scope only words of public attributes count. */
  list(range: Range, scope: 'public' | 'full'): Uint32Array {
    const [from, to] = range;
    if (from === to) return new Uint32Array(0);
    const part = this.recordsByWord.list.subarray(this.recordsByWord.start(from), this.recordsByWord.end(to - 1));
    if (to - from > 1 && part.length > FEW) return this.#marked(part, scope).toArray();
    const kept = (scope === 'full' ? part : part.filter((entry) => entry >= PUBLIC)).map((entry) => entry & ORDINAL);
    // Postings of one word are sorted and distinct.
    return to - from === 1 ? kept : distinct(kept.sort());
  }

  /** Records with the word in a public text, ascending. */
  *publicRecords(word: number): Generator<number> {
    const end = this.recordsByWord.end(word);
    for (let i = this.recordsByWord.start(word); i < end; i += 1) {
      const entry = this.recordsByWord.list[i]!;
      if (entry >= PUBLIC) yield entry & ORDINAL;
    }
  }

  /** Codes of the words in a record's public texts, ascending. */
  publicWords(record: number): number[] {
    return [...this.wordsByRecord.of(record)].filter((word) => {
      for (const ordinal of this.publicRecords(word)) if (ordinal >= record) return ordinal === record;
      return false;
    });
  }

  /** Number of words in public texts by record; computed once. */
  publicCounts(): Uint32Array {
    if (this.#publicCounts === null) {
      const counts = new Uint32Array(this.#records);
      for (const entry of this.recordsByWord.list) if (entry >= PUBLIC) counts[entry & ORDINAL]! += 1;
      this.#publicCounts = counts;
    }
    return this.#publicCounts;
  }

  #marked(part: Uint32Array, scope: 'public' | 'full'): Bitset {
    const found = new Bitset(this.#records);
    for (let i = 0; i < part.length; i += 1) {
      const entry = part[i]!;
      if (scope === 'full' || entry >= PUBLIC) found.add(entry & ORDINAL);
    }
    return found;
  }
}

/** Removes repeats from a sorted array in place. */
function distinct(sorted: Uint32Array): Uint32Array {
  let at = 0;
  for (const value of sorted) if (at === 0 || sorted[at - 1] !== value) sorted[at++] = value;
  return sorted.subarray(0, at);
}
