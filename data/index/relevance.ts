// The order by relevance on the index: scores (data/plan/relevance.ts), and the best records of a page.
import { derive } from '../../packs/define/derive.ts';
import { nameWords } from '../consolidate/engine-values.ts';
import type { Position, RelevanceSort, SearchPlan } from '../plan/plan.ts';
import { anyScore, bm25, inverseFrequency, NAME_SCORES, nameScore, STEPS, WHOLE_WORD } from '../plan/relevance.ts';
import { Bitset } from './bitset.ts';
import { comparePositions, type SideRecord, type SideTable } from './changed-records.ts';
import { type Columns, NAME_WORDS } from './columns.ts';
import { type RecordMatcher, visit } from './matcher.ts';

/** Scores and positions of records for one query. */
class Relevance {
  readonly #columns: Columns;
  readonly #sort: RelevanceSort;
  readonly #inverse: number[];
  /** Of the record that is scored; one list for all, since every match is scored. */
  readonly #frequencies: number[] = [];
  readonly #words: { range: readonly [number, number]; whole: number }[];
  /** The records with each word, where any of them is enough. */
  readonly #recordsByWord: readonly Bitset[];
  readonly #prominence: (ordinal: number) => number;
  readonly #nameScore: (ordinal: number) => number | null;

  constructor(columns: Columns, sort: RelevanceSort) {
    const { terms, size } = columns;
    this.#columns = columns;
    this.#sort = sort;
    this.#words = sort.words.map((word) => ({ range: terms.range(word), whole: terms.words.find(word) }));
    this.#inverse = this.#words.map(({ range }) => inverseFrequency(size, terms.countIn(range, sort.scope)));
    this.#recordsByWord = sort.any
      ? this.#words.map(({ range }) => Bitset.of(terms.list(range, sort.scope), size))
      : [];
    this.#prominence = sort.prominence === null ? () => Number.NaN : columns.sortNumber(sort.prominence);
    const names = columns.values(NAME_WORDS);
    const phrase = nameWords(sort.text);
    const exact = names.folded.find(phrase);
    const [from, to] = names.folded.range(phrase);
    const others = otherNames(columns, sort);
    this.#nameScore = (ordinal) => {
      const code = names.code(ordinal);
      if (code === exact && exact >= 0) return this.#isProminent(ordinal) ? NAME_SCORES.exact : NAME_SCORES.other;
      if (others?.has(ordinal)) return NAME_SCORES.other;
      return code >= from && code < to ? NAME_SCORES.prefix : null;
    };
  }

  /** `above`: a score that no record without the name reaches if it is over STEPS; null is then returned. */
  score(ordinal: number, above = 0): number | null {
    const named = this.#nameScore(ordinal);
    if (named !== null) return named;
    if (above > STEPS && !this.#sort.any) return null;
    const { terms } = this.#columns;
    for (let i = 0; i < this.#words.length; i += 1) {
      const { range, whole } = this.#words[i]!;
      this.#frequencies[i] = terms.frequency(ordinal, range, whole, this.#sort.scope);
    }
    const score = bm25(this.#inverse, this.#frequencies);
    if (!this.#sort.any) return score;
    return anyScore(this.#recordsByWord.filter((records) => records.has(ordinal)).length, score);
  }

  #isProminent(ordinal: number): boolean {
    return this.#prominence(ordinal) !== 0;
  }

  /** NaN: the record has none. */
  prominence(ordinal: number): number {
    return this.#prominence(ordinal);
  }

  position(ordinal: number): Position {
    const prominence = this.#prominence(ordinal);
    const quality = this.#columns.numbers('quality').at(ordinal);
    const ties = [Number.isNaN(prominence) ? null : prominence, quality];
    return { value: this.score(ordinal), ties, id: this.#columns.keys.id(ordinal) };
  }

  /** Position of a record that an overlay changed. */
  changedPosition(changed: SideRecord, side: SideTable): Position {
    const { scope, text, words, names, prominence } = this.#sort;
    const { record, terms } = changed;
    const weights = [...terms].map(
      ([word, flags]) => [word, flags[scope === 'full' ? 'weight' : 'public_weight']] as const,
    );
    const frequencies = words.map((prefix) =>
      weights
        .filter(([word]) => word.startsWith(prefix))
        .reduce((sum, [word, weight]) => sum + (word === prefix ? weight * WHOLE_WORD : weight), 0),
    );
    const other = names.some((attribute) => side.equal(attribute, [text])(changed));
    const prominent = prominence === null ? null : (side.sortValue(record, prominence) as number | null);
    const matched = words.filter((word) => side.word(word, scope)(changed)).length;
    const share = bm25(this.#inverse, frequencies);
    const score =
      nameScore(nameWords(record.name), nameWords(text), other, prominent !== 0) ??
      (this.#sort.any ? anyScore(matched, share) : share);
    return { value: score, ties: [prominent, record.quality_score], id: record.id };
  }
}

/** Records with the query as a value of a naming attribute; null: none. */
function otherNames(columns: Columns, { names, text }: RelevanceSort): Bitset | null {
  let others: Bitset | null = null;
  for (const name of names) {
    const values = columns.values(name);
    const code = values.folded.find(text);
    if (code < 0) continue;
    others ??= new Bitset(columns.size);
    for (const ordinal of values.by.of(code)) others.add(ordinal);
  }
  return others;
}

/** The order of a sort; the page and the position after it share one. */
export function relevanceOf(columns: Columns, sort: RelevanceSort): Relevance {
  return derive(sort, 'relevance', () => new Relevance(columns, sort));
}

interface Ranked {
  ordinal: number;
  score: number;
  prominence: number;
}

/** The best matches after the plan's position, one more than the page. */
export function byRelevance(columns: Columns, plan: SearchPlan, sort: RelevanceSort, chosen: RecordMatcher): number[] {
  const relevance = relevanceOf(columns, sort);
  const { after, limit } = plan;
  const best: Ranked[] = [];
  visit(columns, chosen, (ordinal) => {
    const last = best.length > limit ? best[limit]! : null;
    const score = relevance.score(ordinal, last?.score);
    if (score === null) return;
    if (after !== null) {
      if (score > Number(after.value)) return;
      if (score === after.value && comparePositions(plan.sort, relevance.position(ordinal), after) <= 0) return;
    }
    if (last !== null && score < last.score) return;
    const entry = { ordinal, score, prominence: relevance.prominence(ordinal) };
    if (last !== null && !isBefore(entry, last)) return;
    insert(best, entry);
    if (best.length > limit + 1) best.pop();
  });
  return best.map(({ ordinal }) => ordinal);
}

/** Ordinals are the order by quality, and then by id. */
function isBefore(a: Ranked, b: Ranked): boolean {
  if (a.score !== b.score) return a.score > b.score;
  if (a.prominence !== b.prominence && !(Number.isNaN(a.prominence) && Number.isNaN(b.prominence)))
    return Number.isNaN(b.prominence) || a.prominence > b.prominence;
  return a.ordinal < b.ordinal;
}

function insert(best: Ranked[], entry: Ranked): void {
  let low = 0;
  let high = best.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(entry, best[middle]!)) high = middle;
    else low = middle + 1;
  }
  best.splice(low, 0, entry);
}
