// A process that the API starts when a record is opted out or comes back: makes the release of a dataset and the static files again.
// It reads the settings as JSON from its standard input. Exit code 0: done. 75: another run is under way. 1: it could not be done.

import { text } from 'node:stream/consumers';
import type { Config } from '../../config.ts';
import { createPrivateFiles } from '../../data/model/permissions.ts';
import { realEffects } from '../effects/effects.ts';
import { Busy } from '../effects/lock.ts';
import { runNight } from './run.ts';

/** What has to be made again. */
export interface Rewriting {
  config: Config;
  dataset: string;
}

/** As sysexits.h has it: a temporary failure. */
export const BUSY = 75;

async function main(): Promise<number> {
  const { config, dataset } = JSON.parse(await text(process.stdin)) as Rewriting;
  try {
    const { BASE_URL: base_url, DATABASE_URL: database_url } = config;
    const effects = realEffects(config.SOURCE_DATE_EPOCH, { base_url, database_url });
    const { failures } = await runNight(config, effects, { only: [dataset], accept: false, rewrite: true });
    for (const failure of failures) process.stderr.write(`${failure}\n`);
    return failures.length === 0 ? 0 : 1;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof Busy ? BUSY : 1;
  }
}

if (import.meta.main) {
  createPrivateFiles();
  process.exitCode = await main();
}
