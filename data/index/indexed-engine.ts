// Engine of an indexed release: the index answers the plans that it is faster at, DuckDB all others. Answers
// from a damaged index also come from DuckDB; the damage is logged once.
import type { Engine, Predicate, QueryOptions } from '../plan/plan.ts';
import { momentOf } from '../plan/predicates.ts';
import { IndexDamaged } from './container.ts';
import type { PackedIndex } from './packed-index.ts';

/** `duckdb` with an open index in front. */
export function withIndex(duckdb: Engine, opened: PackedIndex, log: (message: string) => void): Engine {
  let trusted = true;
  const give = (error: IndexDamaged) => {
    if (!trusted) return;
    trusted = false;
    log(`the packed index is not used, DuckDB answers instead: ${error.message}`);
    opened.close();
  };
  const close = async () => {
    if (trusted) opened.close();
    trusted = false;
    await duckdb.close();
  };
  return { ...pairEngines(duckdb, opened, { trusted: () => trusted, give }), close };
}

/** State that all views of one index share: whether it is usable, and the handler of damage. */
interface Trust {
  trusted(): boolean;
  give(error: IndexDamaged): void;
}

function pairEngines(duckdb: Engine, index: PackedIndex, trust: Trust): Engine {
  const reportDamage = (error: unknown): null => {
    if (!(error instanceof IndexDamaged)) throw error;
    trust.give(error);
    return null;
  };
  /** What the index has in memory; null when it has no answer, or is damaged. */
  const inMemory = <T>(ask: () => T | null): T | null => {
    if (!trust.trusted()) return null;
    try {
      return ask();
    } catch (error) {
      return reportDamage(error);
    }
  };
  type Query<P, T> = (plan: P, options?: QueryOptions) => Promise<T>;
  type IndexQuery<P, T> = (plan: P, options?: QueryOptions) => Promise<T | null> | T | null;
  /** The answer of the index, or of DuckDB when the index returns null or is damaged. */
  const first =
    <P, T>(ask: IndexQuery<P, T>, otherwise: Query<P, T>): Query<P, T> =>
    async (plan, options) => {
      let answer: T | null = null;
      try {
        if (trust.trusted()) answer = await ask(plan, options);
      } catch (error) {
        reportDamage(error);
      }
      return answer ?? otherwise(plan, options);
    };
  /** As `first`; the index has no earlier states. */
  const firstOfNow = <P extends { where: readonly Predicate[] }, T>(ask: IndexQuery<P, T>, otherwise: Query<P, T>) =>
    first<P, T>((plan, options) => (momentOf(plan.where) === null ? ask(plan, options) : null), otherwise);

  return {
    ...duckdb,
    search: firstOfNow((plan, options) => index.search(plan, options), duckdb.search),
    facets: firstOfNow((plan, options) => index.facets(plan, options), duckdb.facets),
    spellings: (plan) => inMemory(() => index.spellings(plan)) ?? [],
    similar: firstOfNow((plan) => index.similar(plan), duckdb.similar),
    resolve: first((refs) => index.resolve(refs), duckdb.resolve),
    matching: first((plan) => index.matching(plan), duckdb.matching),
    bodies: first((ordinals) => index.stored(ordinals), duckdb.bodies),
    heads: first((ordinals) => index.heads(ordinals), duckdb.heads),
    text: (ordinal, now, renderer) => inMemory(() => index.text(ordinal, now, renderer)),
    withOverlay: (overlay) => pairEngines(duckdb.withOverlay(overlay), index.withOverlay(overlay), trust),
    close: () => duckdb.close(),
  };
}
