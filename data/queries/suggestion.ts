// Other words for a search that matches no record: spelling, glued and split words, dropped words (contract section 9).
import { words } from '../../packs/define/text.ts';
import type { WorkBudget } from '../plan/budget.ts';
import type { Predicate, QueryOptions } from '../plan/plan.ts';
import type { Release } from '../releases/release.ts';

/** A typed word, or two neighbours, and what is searched instead; without `use` it is left out. */
export interface WordChange {
  word: string;
  use?: string;
}

/** A search that matches `total` records in public text. */
export interface Suggestion {
  q: string;
  total: number;
  changes: WordChange[];
}

/** Letters of the shortest word that is corrected: by one edit, and by two. */
const SHORTEST = { 1: 5, 2: 7 } as const;
/** Spellings to try for each word, and letters of the shorter part of a split word. */
const [SPELLINGS, PART] = [3, 3];

const QUALITY = { key: 'quality', descending: true };

/** Typed words that belong together, and the words to search instead; empty: they are left out. */
interface Part {
  typed: string;
  use: string[];
}

/**
 * Words that match records under the conditions, nearest to the text that was typed; null: none within the budget. Only
 * public text counts, so that every caller gets the same.
 */
export async function suggestWords(
  release: Pick<Release, 'engine'>,
  text: string,
  where: readonly Predicate[],
  budget: WorkBudget,
  options: QueryOptions,
): Promise<Suggestion | null> {
  return new WordSuggester(release, where, budget, options).suggest([...new Set(words(text))]);
}

class WordSuggester {
  readonly #engine: Release['engine'];
  readonly #where: readonly Predicate[];
  readonly #budget: WorkBudget;
  readonly #options: QueryOptions;

  constructor(
    { engine }: Pick<Release, 'engine'>,
    where: readonly Predicate[],
    budget: WorkBudget,
    options: QueryOptions,
  ) {
    this.#engine = engine;
    this.#where = where;
    this.#budget = budget;
    this.#options = options;
  }

  async suggest(typed: readonly string[]): Promise<Suggestion | null> {
    const counts = new Map<string, number>();
    for (const word of typed) {
      if (this.#budget.spent) return null;
      counts.set(word, await this.#count([word]));
    }
    const parts = await this.#glued(typed, counts);
    const words = parts.filter(({ use }) => use.every((word) => counts.get(word) !== 0)).flatMap(({ use }) => use);
    for (const part of parts) if (counts.get(part.typed) === 0) part.use = await this.#replacement(part.typed, words);
    await this.#dropCommon(parts, counts);
    const dropped = parts.filter(({ use }) => use.length === 0).map(({ typed: word }) => word);
    const unknown = dropped.filter((word) => counts.get(word) === 0);
    // A search for other things than those that were meant is no help.
    if (dropped.length * 2 > typed.length || unknown.length > 1) return null;
    const kept = parts.flatMap(({ use }) => use);
    const total = kept.length === 0 || this.#budget.spent ? 0 : await this.#count(kept);
    if (total === 0) return null;
    const changes = parts
      .filter(({ typed: word, use }) => use.join(' ') !== word)
      .map(({ typed: word, use }) => ({ word, ...(use.length > 0 ? { use: use.join(' ') } : {}) }));
    return changes.length === 0 ? null : { q: kept.join(' '), total, changes };
  }

  /** The words, with neighbours as one where that matches together with the other known words: `air port`. */
  async #glued(typed: readonly string[], counts: ReadonlyMap<string, number>): Promise<Part[]> {
    const parts: Part[] = [];
    for (let i = 0; i < typed.length; i += 1) {
      const [word, next] = [typed[i]!, typed[i + 1]];
      const others = typed.filter((other) => other !== word && other !== next && counts.get(other) !== 0);
      if (next !== undefined && !this.#budget.spent && (await this.#count([word + next, ...others])) > 0) {
        parts.push({ typed: `${word} ${next}`, use: [word + next] });
        i += 1;
      } else parts.push({ typed: word, use: [word] });
    }
    return parts;
  }

  /** Words in place of one that no record has, which match together with the known ones; empty: none. */
  async #replacement(word: string, words: readonly string[]): Promise<string[]> {
    for (const use of this.#candidates(word)) {
      if (this.#budget.spent) break;
      if ((await this.#count([...words, ...use])) > 0) return use;
    }
    return [];
  }

  /** Splits between letters and digits, spellings with one edit, other splits, spellings with two edits. */
  *#candidates(word: string): Generator<string[]> {
    const pieces = word.match(/\p{N}+|[^\p{N}]+/gu) ?? [];
    if (pieces.length > 1) yield pieces;
    const letters = [...word];
    const spellings = (edits: 1 | 2) =>
      letters.length < SHORTEST[edits]
        ? []
        : (this.#engine.spellings?.({ word, scope: 'public', limit: SPELLINGS, edits }) ?? []);
    for (const spelling of spellings(1)) yield [spelling];
    for (let at = PART; at <= letters.length - PART; at += 1)
      yield [letters.slice(0, at).join(''), letters.slice(at).join('')];
    for (const spelling of spellings(2)) yield [spelling];
  }

  /** Leaves out the commonest words until the rest matches, and then takes back those that also match. */
  async #dropCommon(parts: Part[], counts: ReadonlyMap<string, number>): Promise<void> {
    const usedWords = () => parts.flatMap(({ use }) => use);
    if (parts.every(({ use }) => use.length === 0) || (await this.#count(usedWords())) > 0) return;
    const commonest: { part: Part; use: string[]; count: number }[] = [];
    for (const part of parts) {
      const { typed, use } = part;
      if (use.length === 0 || this.#budget.spent) continue;
      commonest.push({ part, use, count: use[0] === typed ? counts.get(typed)! : await this.#count(use) });
    }
    commonest.sort((a, b) => b.count - a.count);
    const dropped: typeof commonest = [];
    while (commonest.length > 1 && !this.#budget.spent && (await this.#count(usedWords())) === 0) {
      const next = commonest.shift()!;
      next.part.use = [];
      dropped.push(next);
    }
    for (const { part, use } of dropped.reverse()) {
      if (this.#budget.spent) break;
      part.use = use;
      if ((await this.#count(usedWords())) === 0) part.use = [];
    }
  }

  /** Number of records with all words in public text, under the conditions. */
  async #count(list: readonly string[]): Promise<number> {
    const where: Predicate[] = [...this.#where, { kind: 'words', words: [...new Set(list)].sort(), scope: 'public' }];
    const plan = { where, sort: QUALITY, after: null, limit: 1, total: true };
    return (await this.#budget.run(() => this.#engine.search(plan, this.#options))).total ?? 0;
  }
}
