// Facts of a dataset on disk: append-only Parquet, two files per run, valid once the readings file exists.
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pin } from '../../packs/define/model.ts';
import { byCodePoint } from '../../packs/define/text.ts';
import { type ColumnTypes, type Duck, fromParquet } from '../duckdb/duck.ts';
import { UNFINISHED } from '../model/atomic.ts';
import { paths } from '../model/layout.ts';

/**
 * Columns of `<run>.facts.parquet`. A value is JSON text; null: withdrawn. Attributes with `@` are our own.
 */
export const FACT_COLUMNS: ColumnTypes = {
  entity: 'VARCHAR',
  attribute: 'VARCHAR',
  value: 'VARCHAR',
  unit: 'VARCHAR',
  source: 'VARCHAR',
  source_url: 'VARCHAR',
  observed_at: 'TIMESTAMP',
  confidence: 'DOUBLE',
  evidence: 'VARCHAR',
  source_kind: 'VARCHAR',
  run: 'VARCHAR',
};

/** Columns of `<run>.readings.parquet`: the confirmations of contract section 5. */
const READING_COLUMNS: ColumnTypes = {
  source: 'VARCHAR',
  package: 'VARCHAR',
  version: 'VARCHAR',
  integrity: 'VARCHAR',
  revision: 'INTEGER',
  confirmed_at: 'TIMESTAMP',
  date_source: 'VARCHAR',
  run: 'VARCHAR',
  since: 'VARCHAR',
};

/** One reading of one source. */
export interface ReadingRow {
  source: string;
  package: string;
  version: string;
  integrity: string;
  /** Revision of the pack that read it. */
  revision: number;
  /** Milliseconds since 1970: the time that the reading describes. */
  confirmed_at: number;
  date_source: Pin['date_source'];
  run: string;
  /** Run in which the current facts of the source began; its older facts no longer count. */
  since: string;
}

/** Attributes of the register itself, stored as facts. */
export const REGISTER_ATTRIBUTES = { identity: '@identity', slug: '@slug', listed: '@listed' } as const;

/**
 * Runs with complete files, oldest first (run ids sort by time), with the paths of their files.
 *
 * @example
 * ```ts
 * const runs = await listRuns('data/var', 'airports'); // oldest first
 * ```
 */
export async function listRuns(
  dataDir: string,
  dataset: string,
): Promise<{ run: string; facts: string; readings: string }[]> {
  const folder = paths.facts(dataDir, dataset);
  const names = await readdir(folder).catch(() => [] as string[]);
  const suffix = '.readings.parquet';
  return names
    .filter((name) => name.endsWith(suffix) && !name.startsWith('.'))
    .map((name) => name.slice(0, -suffix.length))
    .sort(byCodePoint)
    .map((run) => ({ run, facts: join(folder, `${run}.facts.parquet`), readings: join(folder, `${run}${suffix}`) }));
}

/** Removes files of a killed run: unfinished ones, and facts without readings. */
export async function clearUnfinished(dataDir: string, dataset: string): Promise<void> {
  const folder = paths.facts(dataDir, dataset);
  const whole = new Set((await listRuns(dataDir, dataset)).map(({ facts }) => facts));
  for (const name of await readdir(folder).catch(() => [] as string[])) {
    const path = join(folder, name);
    const orphan = name.endsWith('.facts.parquet') && !whole.has(path);
    if (orphan || name.startsWith(UNFINISHED)) await rm(path, { recursive: true, force: true });
  }
}

/** All readings, oldest run first, then by time. */
export async function allReadings(duck: Duck, dataDir: string, dataset: string): Promise<ReadingRow[]> {
  const files = (await listRuns(dataDir, dataset)).map(({ readings }) => readings);
  if (files.length === 0) return [];
  const columns = Object.keys(READING_COLUMNS).map((name) =>
    name === 'confirmed_at' ? 'epoch_ms(confirmed_at)' : name,
  );
  const rows = await duck.rows(
    `SELECT ${columns.join(', ')} FROM ${fromParquet(files, READING_COLUMNS)} ORDER BY run, confirmed_at, source, package, version`,
  );
  return rows.map((row) => ({
    source: String(row[0]),
    package: String(row[1]),
    version: String(row[2]),
    integrity: String(row[3]),
    revision: Number(row[4]),
    confirmed_at: Number(row[5]),
    date_source: String(row[6]) as Pin['date_source'],
    run: String(row[7]),
    since: String(row[8]),
  }));
}

/** The valid readings: for each source those since its current run. */
export function validReadings(readings: readonly ReadingRow[]): ReadingRow[] {
  const since = new Map<string, string>();
  for (const { source, since: began } of readings) {
    const time = since.get(source);
    if (time === undefined || began > time) since.set(source, began);
  }
  return readings.filter((reading) => reading.since === since.get(reading.source));
}

/** SQL condition for valid facts: those of valid readings, the owners' and our own. */
export function validFactsCondition(readings: readonly ReadingRow[]): string {
  const all = new Set(readings.map(({ source, run }) => `${source}\t${run}`));
  const standing = new Set(validReadings(readings).map(({ source, run }) => `${source}\t${run}`));
  const gone = [...all].filter((pair) => !standing.has(pair)).map((pair) => pair.split('\t'));
  if (gone.length === 0) return 'true';
  const pairs = gone.map(([source = '', run = '']) => `('${source.replaceAll("'", "''")}', '${run}')`);
  const isRegister = `attribute IN ('${REGISTER_ATTRIBUTES.identity}', '${REGISTER_ATTRIBUTES.slug}')`;
  return `((source, run) NOT IN (${pairs.join(', ')}) OR source_kind = 'owner' OR ${isRegister})`;
}
