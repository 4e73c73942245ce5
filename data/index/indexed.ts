// The engine of a release that has an index: the index answers what it wins at, DuckDB everything else. What the index
// cannot be trusted with is asked of DuckDB too, and said once.
import type { Engine, SearchAnswer } from '../plan.ts';
import { IndexDamaged } from './container.ts';
import type { PackedIndex } from './engine.ts';

/** `duckdb` with an open index in front. */
export function withIndex(duckdb: Engine, opened: PackedIndex, log: (message: string) => void): Engine {
  let index: PackedIndex | null = opened;
  const give = (error: IndexDamaged) => {
    log(`the packed index is not used: ${error.message}`);
    index?.close();
    index = null;
  };

  /** The index's answer, or DuckDB's where there is none. */
  const first = async <T>(ask: (index: PackedIndex) => T | null, otherwise: () => Promise<T>): Promise<T> => {
    if (index === null) return otherwise();
    try {
      return ask(index) ?? (await otherwise());
    } catch (error) {
      if (!(error instanceof IndexDamaged)) throw error;
      give(error);
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
        (one) => one.similar(plan.subject, plan.where, plan.differBy, plan.limit),
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
    pieces: (ordinal) => {
      if (index === null) return null;
      try {
        return index.pieces(ordinal);
      } catch (error) {
        if (!(error instanceof IndexDamaged)) throw error;
        give(error);
        return null;
      }
    },
    close: async () => {
      index?.close();
      index = null;
      await duckdb.close();
    },
  };
}
