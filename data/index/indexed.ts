// The engine of a release that has an index: the index answers what it wins at, DuckDB everything else. What the index
// cannot be trusted with is asked of DuckDB too, and said once.
import type { Engine, SearchAnswer } from '../plan/plan.ts';
import { IndexDamaged } from './container.ts';
import type { PackedIndex } from './engine.ts';

/** `duckdb` with an open index in front. */
export function withIndex(duckdb: Engine, opened: PackedIndex, log: (message: string) => void): Engine {
  let trusted = true;
  const give = (error: IndexDamaged) => {
    if (!trusted) return;
    trusted = false;
    log(`the packed index is not used: ${error.message}`);
    opened.close();
  };
  const close = async () => {
    if (trusted) opened.close();
    trusted = false;
    await duckdb.close();
  };
  return { ...both(duckdb, opened, { trusted: () => trusted, give }), close };
}

/** What all views of one index share: whether it can be trusted, and what becomes of it when it cannot. */
interface Trust {
  trusted(): boolean;
  give(error: IndexDamaged): void;
}

function both(duckdb: Engine, index: PackedIndex, trust: Trust): Engine {
  /** The index's answer, or DuckDB's where there is none. */
  const first = async <T>(ask: (index: PackedIndex) => T | null, otherwise: () => Promise<T>): Promise<T> => {
    if (!trust.trusted()) return otherwise();
    try {
      return ask(index) ?? (await otherwise());
    } catch (error) {
      if (!(error instanceof IndexDamaged)) throw error;
      trust.give(error);
      return otherwise();
    }
  };

  return {
    ...duckdb,
    search: (plan, asking) =>
      first<SearchAnswer>(
        (one) => one.search(plan),
        () => duckdb.search(plan, asking),
      ),
    facets: (plan, asking) =>
      first(
        (one) => one.facets(plan),
        () => duckdb.facets(plan, asking),
      ),
    similar: (plan, asking) =>
      first(
        (one) => one.similar(plan),
        () => duckdb.similar(plan, asking),
      ),
    resolve: (refs, asking) =>
      first(
        (one) => one.resolve(refs),
        () => duckdb.resolve(refs, asking),
      ),
    bodies: (ordinals, asking) =>
      first(
        (one) => one.stored(ordinals),
        () => duckdb.bodies(ordinals, asking),
      ),
    text: (ordinal, now, dress) => {
      if (!trust.trusted()) return null;
      try {
        return index.text(ordinal, now, dress);
      } catch (error) {
        if (!(error instanceof IndexDamaged)) throw error;
        trust.give(error);
        return null;
      }
    },
    under: (overlay) => both(duckdb.under(overlay), index.under(overlay), trust),
    close: () => duckdb.close(),
  };
}
