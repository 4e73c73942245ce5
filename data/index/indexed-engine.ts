// Engine of an indexed release: the index answers the plans that it is faster at, DuckDB all others. Answers
// from a damaged index also come from DuckDB; the damage is logged once.
import type { Awaitable } from '../model/awaitable.ts';
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
  /** The answer of the index, or of DuckDB when the index returns null or is damaged. */
  const firstNow = <T>(ask: (index: PackedIndex) => Awaitable<T> | null, otherwise: () => Awaitable<T>) => {
    if (!trust.trusted()) return otherwise();
    const recover = (error: unknown) => {
      if (!(error instanceof IndexDamaged)) throw error;
      trust.give(error);
      return otherwise();
    };
    try {
      const answer = ask(index);
      return answer instanceof Promise ? answer.catch(recover) : (answer ?? otherwise());
    } catch (error) {
      return recover(error);
    }
  };
  type Query<P, T> = (plan: P, options?: QueryOptions) => Promise<T>;
  type IndexQuery<P, T> = (index: PackedIndex, plan: P, options?: QueryOptions) => Awaitable<T> | null;
  /** Without a promise where the index needs none. */
  const atOnce =
    <P, T>(ask: IndexQuery<P, T>, otherwise: (plan: P, options?: QueryOptions) => Awaitable<T>) =>
    (plan: P, options?: QueryOptions): Awaitable<T> =>
      firstNow(
        (index) => ask(index, plan, options),
        () => otherwise(plan, options),
      );
  const first = <P, T>(ask: IndexQuery<P, T>, otherwise: Query<P, T>): Query<P, T> => {
    const query = atOnce(ask, otherwise);
    return async (plan, options) => query(plan, options);
  };
  /** As `first`; the index has no earlier states. */
  const firstOfNow = <P extends { where: readonly Predicate[] }, T>(ask: IndexQuery<P, T>, otherwise: Query<P, T>) =>
    first<P, T>(
      (index, plan, options) => (momentOf(plan.where) === null ? ask(index, plan, options) : null),
      otherwise,
    );

  return {
    ...duckdb,
    search: firstOfNow((index, plan, options) => index.search(plan, options), duckdb.search),
    facets: firstOfNow((index, plan, options) => index.facets(plan, options), duckdb.facets),
    // Both are synchronous.
    spellings: (plan) =>
      firstNow(
        (index) => index.spellings(plan),
        () => [],
      ) as string[],
    similar: firstOfNow((index, plan) => index.similar(plan), duckdb.similar),
    resolve: atOnce((index, refs) => index.resolve(refs), duckdb.resolve),
    matching: atOnce((index, plan) => index.matching(plan), duckdb.matching),
    bodies: first((index, ordinals) => index.stored(ordinals), duckdb.bodies),
    heads: first((index, ordinals) => index.heads(ordinals), duckdb.heads),
    text: (ordinal, now, renderer) => {
      if (!trust.trusted()) return null;
      try {
        return index.text(ordinal, now, renderer);
      } catch (error) {
        if (!(error instanceof IndexDamaged)) throw error;
        trust.give(error);
        return null;
      }
    },
    withOverlay: (overlay) => pairEngines(duckdb.withOverlay(overlay), index.withOverlay(overlay), trust),
    close: () => duckdb.close(),
  };
}
