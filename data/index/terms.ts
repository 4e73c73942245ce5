// Inverted index of the words of searchable attributes: records with a word that begins with a prefix, and
// words of a record. A word code is the index of a word in `words`.
//
//   words           sorted strings        distinct folded words
//   words.by        postings by word      ordinal | PUBLIC when a public attribute has the word
//   words.of        postings by ordinal   word codes, ascending
//   words.weight    u8 by posting of words.of    weighted frequency of the word in the record
//   words.public    u8 by posting of words.of    the same in public texts
//   words.compared  postings by ordinal   word codes of the pack's `similar_by` attributes, ascending
import { byCodePoint } from '../../packs/define/text.ts';
import type { SpellingPlan, Visibility } from '../plan/plan.ts';
import { WHOLE_WORD } from '../plan/relevance.ts';
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

/**
 * The columns of terms.parquet, rows sorted by term, then ordinal. Instead of the term of each row, the distinct words with
 * the number of their rows.
 */
export interface TermRows {
  words: string[];
  counts: number[];
  ordinal: Uint32Array;
  /** 1: a public attribute has the word, else 0. */
  public: Uint8Array;
  /** 1: a `similar_by` attribute has the word, else 0. */
  compared: Uint8Array;
  /** Weighted frequency of the word in all texts of the record, and in public ones. */
  weight: Uint8Array;
  public_weight: Uint8Array;
}

/** Packs the rows of terms.parquet. */
export function packTerms(rows: TermRows, records: number): Record<string, Packed> {
  const { words, counts } = rows;
  const key = new Uint32Array(rows.ordinal.length);
  let at = 0;
  for (const [word, count] of counts.entries()) {
    key.fill(word, at, at + count);
    at += count;
  }
  const tagged = rows.ordinal.map((ordinal, i) => ordinal | (rows.public[i] ? PUBLIC : 0));
  const counted = (list: Uint32Array) => list.filter((_, i) => rows.compared[i] === 1);
  const byRecord = turned(key, rows.ordinal, records);
  return {
    ...packStrings('words', words),
    ...packPostings('words.by', words.length, { key, ordinal: tagged }),
    ...packPostings('words.of', records, byRecord),
    'words.weight': Uint8Array.from(byRecord.rows, (row) => rows.weight[row]!),
    'words.public': Uint8Array.from(byRecord.rows, (row) => rows.public_weight[row]!),
    ...packPostings('words.compared', records, turned(counted(key), counted(rows.ordinal), records)),
  };
}

interface TurnedPairs {
  key: Uint32Array;
  ordinal: Uint32Array;
  /** Index of each pair before. */
  rows: Uint32Array;
}

/** The pairs by ordinal: a counting sort keeps word codes ascending. */
function turned(word: Uint32Array, ordinal: Uint32Array, records: number): TurnedPairs {
  const at = new Uint32Array(records + 1);
  for (const o of ordinal) at[o + 1]! += 1;
  for (let o = 0; o < records; o += 1) at[o + 1]! += at[o]!;
  const key = new Uint32Array(word.length);
  const list = new Uint32Array(word.length);
  const rows = new Uint32Array(word.length);
  for (const [i, code] of word.entries()) {
    const o = ordinal[i]!;
    const slot = at[o]!;
    at[o]! += 1;
    key[slot] = o;
    list[slot] = code;
    rows[slot] = i;
  }
  return { key, ordinal: list, rows };
}

/** The words of an open index. */
export class Terms {
  readonly words: SortedStrings;
  readonly recordsByWord: Postings;
  readonly wordsByRecord: Postings;
  readonly comparedByRecord: Postings;
  readonly #records: number;
  /** By posting of `wordsByRecord`: the weighted frequency, in all and in public texts. */
  readonly #weights: Record<Visibility, Uint8Array>;
  #publicCounts: Uint32Array | null = null;

  constructor(container: Container, records: number) {
    this.words = new SortedStrings(container, 'words');
    this.recordsByWord = new Postings(container, 'words.by');
    this.wordsByRecord = new Postings(container, 'words.of');
    this.comparedByRecord = new Postings(container, 'words.compared');
    this.#weights = { full: container.get('words.weight', 'u8'), public: container.get('words.public', 'u8') };
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

  /** Number of postings of words in the texts of a scope, with repeats. */
  countIn([from, to]: Range, scope: Visibility): number {
    if (from === to || scope === 'full') return this.count([from, to]);
    const end = this.recordsByWord.end(to - 1);
    let count = 0;
    for (let i = this.recordsByWord.start(from); i < end; i += 1) if (this.recordsByWord.list[i]! >= PUBLIC) count += 1;
    return count;
  }

  /** Weighted frequency of the words of a range in a record; `whole`: the code of a word that counts more. */
  frequency(ordinal: number, [from, to]: Range, whole: number, scope: Visibility): number {
    const { list } = this.wordsByRecord;
    const weights = this.#weights[scope];
    const end = this.wordsByRecord.end(ordinal);
    let sum = 0;
    for (let i = this.wordsByRecord.start(ordinal); i < end; i += 1) {
      const code = list[i]!;
      if (code >= to) break;
      if (code >= from) sum += code === whole ? weights[i]! * WHOLE_WORD : weights[i]!;
    }
    return sum;
  }

  /** Words within one or two edits of a word, those of most records first. */
  spellings({ word, scope, limit, edits }: SpellingPlan): string[] {
    return [...(edits === 2 ? this.words.twoEdits(word) : this.words.oneEdit(word))]
      .map((code) => ({ term: this.words.at(code), count: this.countIn([code, code + 1], scope) }))
      .filter(({ count }) => count > 0)
      .sort((a, b) => b.count - a.count || byCodePoint(a.term, b.term))
      .slice(0, limit)
      .map(({ term }) => term);
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
    const records = new Bitset(this.#records);
    for (let i = 0; i < part.length; i += 1) {
      const entry = part[i]!;
      if (scope === 'full' || entry >= PUBLIC) records.add(entry & ORDINAL);
    }
    return records;
  }
}

/** Removes repeats from a sorted array in place. */
function distinct(sorted: Uint32Array): Uint32Array {
  let at = 0;
  for (const value of sorted) if (at === 0 || sorted[at - 1] !== value) sorted[at++] = value;
  return sorted.subarray(0, at);
}
