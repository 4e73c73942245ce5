// Score of a record for the words of `q`: exact name, then name prefix, then BM25 over its indexed words.
//
// BM25 with k1 = 1.2 and b = 0.3 in integers, so that all engines compute equal scores. The frequency of a
// word is weighted by text (data/consolidate/engine-values.ts); a word that only begins with the query's word
// counts half. Frequencies and lengths are those of the release: an overlay changes no corpus statistics.

/** Scores of records by name; every BM25 score is lower. */
export const NAME_SCORES = { exact: 2_000_000, prefix: 1_000_000 } as const;

/** Factor of a whole word, compared with a word that begins with the query's word. */
export const WHOLE_WORD = 2;

/** Scores that differ by less than a step are ties, which prominence decides. */
export const STEP = 1_000;

/**
 * k1 (1 - b) and k1 b in units of 1/SCALE, and k1 + 1. A word of frequency f adds
 * idf f (k1 + 1) / (f + k1 (1 - b + b length / average length)).
 */
export const SCALE = 10_000;
export const FIXED_LENGTH = 8_400;
export const LENGTH_FACTOR = 3_600;
export const GROWTH = 22_000;

/** Statistics of all records: their number, and the sum of the weights of their words. */
export interface Corpus {
  records: number;
  weight: number;
}

/** Inverse document frequency in thousandths; `count`: postings of words that begin with the query's word. */
export function inverseFrequency({ records }: Corpus, count: number): number {
  const known = Math.min(count, records);
  return Math.round(1000 * Math.log(1 + (records - known + 0.5) / (known + 0.5)));
}

/**
 * BM25 of a record. `frequencies` and `inverse` are by word of the query; `length` is the sum of the weights
 * of the record's words.
 */
export function bm25(
  corpus: Corpus,
  inverse: readonly number[],
  frequencies: readonly number[],
  length: number,
): number {
  const relative = Math.floor((LENGTH_FACTOR * length * corpus.records) / corpus.weight);
  let score = 0;
  for (const [i, frequency] of frequencies.entries()) {
    const rate = frequency * SCALE + FIXED_LENGTH + relative;
    score += Math.floor((inverse[i]! * frequency * GROWTH) / rate);
  }
  return Math.floor(score / STEP);
}

/** Score of a record by its name: `names` are the words of the name, separated by spaces. Null: neither. */
export function nameScore(names: string, phrase: string): number | null {
  if (names === phrase) return NAME_SCORES.exact;
  return names.startsWith(phrase) ? NAME_SCORES.prefix : null;
}
