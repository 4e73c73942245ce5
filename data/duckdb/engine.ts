// DuckDB engine of one release: every plan is one statement on tables in memory. The reference for other
// engines.
import type { Pack } from '../../packs/define/model.ts';
import type { Manifest } from '../model/layout.ts';
import { DEFAULT_LIMITS, type EngineLimits } from '../plan/limits.ts';
import type { Engine } from '../plan/plan.ts';
import { createQueryQueue, type QueryQueue } from '../plan/query-queue.ts';
import { historyQuestions } from './history.ts';
import { load } from './load.ts';
import { overlayEngine } from './overlay-engine.ts';
import { createPool } from './pool.ts';
import { tableQuestions } from './questions.ts';

/**
 * Opens the release in `folder`. With `indexed`, the release has a packed index and fewer tables are loaded.
 * Engines of a process should share a queue. Throws when the release is damaged. Queries throw DataError
 * `query_timeout` or `unavailable` (contract section 4).
 */
export async function openEngine(
  folder: string,
  pack: Pack,
  manifest: Manifest,
  limits: Partial<EngineLimits> = {},
  queue?: QueryQueue,
  indexed = false,
): Promise<Engine> {
  const all = { ...DEFAULT_LIMITS, ...limits };
  const { instance, connect, shape, bodies } = await load(folder, pack, manifest.records, all, indexed);
  const pool = createPool(instance, queue ?? createQueryQueue(all), all.statement, connect);
  const opened = { pool, pack, folder, shape, bodies };
  return {
    ...tableQuestions(pool, bodies, async () => shape),
    ...historyQuestions(pool, pack.id, folder, async () => shape),
    withOverlay: (overlay) => overlayEngine(opened, overlay),
    close: () => pool.close(),
  };
}
