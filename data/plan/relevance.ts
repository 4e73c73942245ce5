// Score of a record for the words of `q`: exact name, then another name or code that is `q`, then name prefix, then
// BM25 over its indexed words (docs/decisions/0033-relevance.md).
//
// BM25 with k1 = 1.2 and b = 0 in integers, so that all engines compute equal scores. Lengths do not count: the
// longest records are the well-known ones, with names in many languages. The frequency of a word is weighted
// by text (data/consolidate/engine-values.ts). The frequencies of words are those of the release: an overlay
// does not change them.

/**
 * Scores of records by name; every BM25 score is lower. The name of a record whose prominence is 0 counts as another
 * name: an airfield called San Francisco comes after the airports of San Francisco.
 */
export const NAME_SCORES = { exact: 3_000_000, other: 2_000_000, prefix: 1_000_000 } as const;

/** Search weight of attributes whose values are names of the record, such as codes. */
export const NAMING_WEIGHT = 10;

/** Factor of a whole word, compared with a word that begins with the query's word. */
export const WHOLE_WORD = 2;

/** A BM25 score is a share of the highest possible one, in so many steps; prominence decides within a step. */
export const STEPS = 20;

/** k1 in tenths. A word of weighted frequency f adds idf f / (f + k1) to the sum. */
export const SATURATION = 12;

/** Inverse document frequency in thousandths; `count`: postings of words that begin with the query's word. */
export function inverseFrequency(records: number, count: number): number {
  const hits = Math.min(count, records);
  return Math.round(1000 * Math.log(1 + (records - hits + 0.5) / (hits + 0.5)));
}

/** BM25 of a record, 0 to STEPS. `frequencies` and `inverse` are by word of the query. */
export function bm25(inverse: readonly number[], frequencies: readonly number[]): number {
  let sum = 0;
  let highest = 0;
  for (let i = 0; i < inverse.length; i += 1) {
    const frequency = frequencies[i]!;
    sum += Math.floor((inverse[i]! * frequency * 10) / (frequency * 10 + SATURATION));
    highest += inverse[i]!;
  }
  return highest === 0 ? 0 : Math.floor((sum * STEPS) / highest);
}

/** Score of a record with so many of the words, where any of them is enough: more words come first. */
export const anyScore = (matched: number, score: number): number => matched * (STEPS + 1) + score;

/**
 * Score of a record by its names: `words` are those of its displayed name, `phrase` those of the query,
 * separated by spaces; `other`: a naming attribute has the query as a value; `prominent`: its prominence is not
 * 0. Null: none of them.
 */
export function nameScore(words: string, phrase: string, other: boolean, prominent = true): number | null {
  if (words === phrase) return prominent ? NAME_SCORES.exact : NAME_SCORES.other;
  if (other) return NAME_SCORES.other;
  return words.startsWith(phrase) ? NAME_SCORES.prefix : null;
}
