// A process that the API starts after an opt-out or a restore: builds the release of a dataset and the static
// files again. Reads the settings as JSON from stdin. Exit codes: 0 done, 75 another run is in progress, 1
// failed.

import { text } from 'node:stream/consumers';
import type { RewriteInput } from '../../api/rewrite.ts';
import { EXIT_BUSY, LockedError } from '../../data/model/lock.ts';
import { createPrivateFiles } from '../../data/model/permissions.ts';
import { realEffects } from '../effects/effects.ts';
import { runNight } from './run.ts';

async function main(): Promise<number> {
  const { config, dataset } = JSON.parse(await text(process.stdin)) as RewriteInput;
  try {
    const { BASE_URL: base_url, DATABASE_URL: database_url } = config;
    const effects = realEffects(config.SOURCE_DATE_EPOCH, { base_url, database_url, environment: {} });
    const { failures } = await runNight(config, effects, { only: [dataset], accept: false, rewrite: true });
    return failures.length === 0 ? 0 : 1;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof LockedError ? EXIT_BUSY : 1;
  }
}

if (import.meta.main) {
  createPrivateFiles();
  process.exitCode = await main();
}
