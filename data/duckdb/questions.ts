// Questions about what records are now: each plan becomes one statement on the tables of a shape, and its rows an answer.
import type { Engine } from '../plan/plan.ts';
import { facetAnswer, facetStatement } from './facets.ts';
import { bodiesAnswer, bodiesStatement, resolveAnswer, resolveStatement } from './lookup.ts';
import type { Pool } from './pool.ts';
import { searchAnswer, searchStatement } from './select.ts';
import type { Shape } from './shape.ts';
import { similarAnswer, similarStatement } from './similar.ts';
import { spreadAnswer, spreadStatement } from './spread.ts';
import type { Sql } from './sql.ts';
import { statsAnswer, statsStatement } from './stats.ts';
import { seriesAnswer, seriesStatement } from './timeseries.ts';

type TableQuestions = Pick<
  Engine,
  'search' | 'facets' | 'similar' | 'stats' | 'timeseries' | 'spread' | 'resolve' | 'bodies'
>;

/** The questions over `shape`, which is waited for; `bodies` is where bodies are asked for. */
export function tableQuestions(pool: Pool, bodies: Sql, shape: () => Promise<Shape>): TableQuestions {
  return {
    search: async (plan, asking) => searchAnswer(plan, await pool.ask(searchStatement(plan, await shape()), asking)),
    facets: async (plan, asking) => facetAnswer(await pool.ask(facetStatement(plan, await shape()), asking)),
    similar: async (plan, asking) => similarAnswer(await pool.ask(similarStatement(plan, await shape()), asking)),
    stats: async (plan, asking) => statsAnswer(plan, await pool.ask(statsStatement(plan, await shape()), asking)),
    timeseries: async (plan, asking) => seriesAnswer(await pool.ask(seriesStatement(plan, await shape()), asking)),
    spread: async (plan, asking) => spreadAnswer(plan, await pool.ask(spreadStatement(plan, await shape()), asking)),
    resolve: async (refs, asking) =>
      refs.length === 0 ? [] : resolveAnswer(refs, await pool.ask(resolveStatement(refs, await shape()), asking)),
    bodies: async (ordinals, asking) =>
      ordinals.length === 0 ? [] : bodiesAnswer(ordinals, await pool.ask(bodiesStatement(ordinals, bodies), asking)),
  };
}
