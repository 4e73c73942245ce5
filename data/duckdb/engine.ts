// The engine over one release: every plan is one statement on tables in memory. The reference for any other engine.
import type { Pack } from '../../packs/model.ts';
import type { Manifest } from '../layout.ts';
import type { Engine } from '../plan.ts';
import { facetAnswer, facetStatement } from './facets.ts';
import { createGate, type Gate } from './gate.ts';
import { historyQuestions } from './history.ts';
import { DEFAULT_LIMITS, type EngineLimits } from './limits.ts';
import { load } from './load.ts';
import { bodiesAnswer, bodiesStatement, resolveAnswer, resolveStatement } from './lookup.ts';
import { createPool } from './pool.ts';
import { searchAnswer, searchStatement } from './select.ts';
import { similarAnswer, similarStatement } from './similar.ts';
import { statsAnswer, statsStatement } from './stats.ts';
import { seriesAnswer, seriesStatement } from './timeseries.ts';

/**
 * Opens the release in `folder`. Engines that share a process should share a gate. Throws when the release is damaged.
 * Questions throw DataError `query_timeout` or `unavailable` (contract section 4).
 */
export async function openEngine(
  folder: string,
  pack: Pack,
  manifest: Manifest,
  limits: Partial<EngineLimits> = {},
  gate?: Gate,
): Promise<Engine> {
  const all = { ...DEFAULT_LIMITS, ...limits };
  const { instance, shape, bodies } = await load(folder, pack, manifest.records, all);
  const pool = createPool(instance, gate ?? createGate(all), all.statement);
  return {
    search: async (plan, asking) => searchAnswer(plan, await pool.ask(searchStatement(plan, shape), asking)),
    facets: async (plan, asking) => facetAnswer(await pool.ask(facetStatement(plan, shape), asking)),
    similar: async (plan, asking) => similarAnswer(await pool.ask(similarStatement(plan, shape), asking)),
    stats: async (plan, asking) => statsAnswer(plan, await pool.ask(statsStatement(plan, shape), asking)),
    timeseries: async (plan, asking) => seriesAnswer(await pool.ask(seriesStatement(plan, shape), asking)),
    resolve: async (refs, asking) =>
      refs.length === 0 ? [] : resolveAnswer(refs, await pool.ask(resolveStatement(refs), asking)),
    bodies: async (ordinals, asking) =>
      ordinals.length === 0 ? [] : bodiesAnswer(ordinals, await pool.ask(bodiesStatement(ordinals, bodies), asking)),
    ...historyQuestions(pool, folder),
    close: () => pool.close(),
  };
}
