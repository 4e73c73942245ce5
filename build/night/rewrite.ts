// A process that the API starts when a release lacks changes of its overlay: writes the files that contain a removed
// record, then builds the release and all static files. Reads the settings as JSON from stdin. Exit codes: 0 done, 75
// another run is in progress, 1 failed.

import { text } from 'node:stream/consumers';
import type { RewriteInput } from '../../api/rewrite.ts';
import type { Config } from '../../config.ts';
import { EXIT_BUSY, LockedError } from '../../data/model/lock.ts';
import { createPrivateFiles } from '../../data/model/permissions.ts';
import { storedOverlays } from '../../data/releases/overlay-source.ts';
import { openStore } from '../../data/state/store.ts';
import { errorLine } from '../collect/report.ts';
import { type Effects, realEffects } from '../effects/effects.ts';
import { rewriteFiles } from '../static/removals.ts';
import { goodPacks } from './packs.ts';

/**
 * Writes the files of datasets without removed records, also while a night runs, and then builds the datasets again.
 * Returns the failures. Throws LockedError when a night runs.
 */
export async function rewriteDatasets(
  config: Config,
  effects: Effects,
  datasets: readonly string[],
): Promise<string[]> {
  const { DATA_DIR: dataDir, DATABASE_URL: databaseUrl, DATABASE_WAIT_SECONDS: seconds } = config;
  const { progress } = effects;
  const store = await openStore({ dataDir, databaseUrl, wait: { seconds, report: progress.note } });
  const failures: string[] = [];
  try {
    const packs = await goodPacks(config.PACK_DIRS);
    for (const pack of packs.filter(({ id }) => datasets.includes(id)))
      await rewriteFiles({ config, pack, packs, overlays: storedOverlays(store), progress }).catch((error) => {
        // The build below writes the same files.
        failures.push(`${pack.id}: files were not written without removed records: ${errorLine(error)}`);
      });
  } finally {
    await store.close();
  }
  // Its modules take longer to load than the first files take.
  const { runNight } = await import('./run.ts');
  const night = await runNight(config, effects, { only: datasets, accept: false, rewrite: true });
  return night.failures.length === 0 ? [] : [...failures, ...night.failures];
}

async function main(): Promise<number> {
  const { config, dataset } = JSON.parse(await text(process.stdin)) as RewriteInput;
  try {
    const { BASE_URL: base_url, DATABASE_URL: database_url } = config;
    const effects = realEffects(config.SOURCE_DATE_EPOCH, { base_url, database_url, environment: {} });
    return (await rewriteDatasets(config, effects, [dataset])).length === 0 ? 0 : 1;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof LockedError ? EXIT_BUSY : 1;
  }
}

if (import.meta.main) {
  createPrivateFiles();
  process.exitCode = await main();
}
