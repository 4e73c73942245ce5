// Engine of an indexed release: the index answers the plans that it is faster at, DuckDB all others. Answers
// from a damaged index also come from DuckDB; the damage is logged once.
import type { Awaitable } from '../model/awaitable.ts';
import type { Engine, SearchAnswer } from '../plan/plan.ts';
import { nextTurn } from '../plan/slices.ts';
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
  return { ...both(duckdb, opened, { trusted: () => trusted, give }), close };
}

/** State that all views of one index share: whether it is usable, and the handler of damage. */
interface Trust {
  trusted(): boolean;
  give(error: IndexDamaged): void;
}

function both(duckdb: Engine, index: PackedIndex, trust: Trust): Engine {
  /** The answer of the index, or of DuckDB when the index returns null or is damaged. */
  const first = async <T>(ask: (index: PackedIndex) => T | null, otherwise: () => Promise<T>): Promise<T> =>
    firstNow(ask, otherwise);
  const firstNow = <T>(ask: (index: PackedIndex) => T | null, otherwise: () => Awaitable<T>): Awaitable<T> => {
    if (!trust.trusted()) return otherwise();
    try {
      return ask(index) ?? otherwise();
    } catch (error) {
      if (!(error instanceof IndexDamaged)) throw error;
      trust.give(error);
      return otherwise();
    }
  };

  return {
    ...duckdb,
    search: (plan, options) =>
      first<SearchAnswer>(
        (one) => one.search(plan),
        () => duckdb.search(plan, options),
      ),
    facets: (plan, options) =>
      first(
        (one) => one.facets(plan),
        () => duckdb.facets(plan, options),
      ),
    // One pass over the records in its own turn of the event loop: concurrent requests wait for one of them.
    stats: async (plan, options) => {
      await nextTurn(options);
      return first(
        (one) => one.stats(plan),
        () => duckdb.stats(plan, options),
      );
    },
    spellings: (plan, options) =>
      first(
        (one) => one.spellings(plan),
        () => duckdb.spellings(plan, options),
      ),
    similar: (plan, options) =>
      first(
        (one) => one.similar(plan),
        () => duckdb.similar(plan, options),
      ),
    resolve: (refs, options) =>
      firstNow(
        (one) => one.resolve(refs),
        () => duckdb.resolve(refs, options),
      ),
    bodies: (ordinals, options) =>
      first(
        (one) => one.stored(ordinals),
        () => duckdb.bodies(ordinals, options),
      ),
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
    withOverlay: (overlay) => both(duckdb.withOverlay(overlay), index.withOverlay(overlay), trust),
    close: () => duckdb.close(),
  };
}
