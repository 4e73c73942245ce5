// A nightly run of the fictional packs, made once in a test run, and its files for analysts.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { runNight } from '../../build/night/run.ts';
import { paths, RELEASE_FILES } from '../../data/model/layout.ts';
import { currentRelease } from '../../data/model/manifest.ts';
import type { StoredRecord } from '../../data/model/record.ts';
import { scratchOfAll, still } from './night-pack.ts';
import { nightConfig, wholeNight } from './whole-night.ts';

export const NAMES = [
  ...['croissant.jsonld', 'dictionary.json', 'dictionary.md'],
  ...['history.parquet', 'public.duckdb', 'public.geojson', 'public.parquet'],
];
export const IDS = ['harbours', 'tools'];

/** Folders for a nightly run, filled by `open` and removed after the tests. */
export function analystsStage() {
  const folder = scratchOfAll();
  const config = nightConfig(folder);
  const released: Record<string, string> = {};
  return {
    folder,
    config,
    /** The current release of each dataset. */
    released,
    file: (dataset: string, name: string) => join(config.DIST_DIR, 'files', dataset, name),
    /** Runs another night. */
    night: () => runNight(config, still(), { only: null, accept: false }),
    records: (dataset: string): StoredRecord[] =>
      readFileSync(join(paths.release(config.DATA_DIR, dataset, released[dataset]!), RELEASE_FILES.jsonl), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as StoredRecord),
    async open(): Promise<void> {
      await wholeNight(folder);
      for (const id of IDS) released[id] = (await currentRelease(config.DATA_DIR, id)) ?? '';
    },
  };
}

/** A new DuckDB, to be closed by the caller. */
export async function openDuckdb(): Promise<{ rows: (sql: string) => Promise<unknown[][]>; close: () => void }> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  return {
    rows: async (sql) => (await connection.runAndReadAll(sql)).getRows(),
    close: () => {
      connection.closeSync();
      instance.closeSync();
    },
  };
}
