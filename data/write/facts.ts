// Facts of a dataset on disk: append-only Parquet, two files per run. The name of the readings file says whether a release
// contains the run: `<run>.pending.parquet` becomes `<run>.readings.parquet` by one rename.
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pin } from '../../packs/define/model.ts';
import { byCodePoint } from '../../packs/define/text.ts';
import { type ColumnTypes, type Duck, fromParquet } from '../duckdb/duck.ts';
import { putInPlace, UNFINISHED } from '../model/atomic.ts';
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

/** Columns of the readings of a run. `since` is null for a reading that a later one replaced before it was published. */
export const READING_COLUMNS: ColumnTypes = {
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

/** A run with complete files. */
export interface RunFiles {
  run: string;
  /** Paths of its files. */
  facts: string;
  readings: string;
}

/** Ends of the names of readings files: of runs that a release contains, and of those that none contains yet. */
const READINGS = { published: '.readings.parquet', pending: '.pending.parquet' } as const;

async function runsThatAre(state: keyof typeof READINGS, dataDir: string, dataset: string): Promise<RunFiles[]> {
  const folder = paths.facts(dataDir, dataset);
  const names = await readdir(folder).catch(() => [] as string[]);
  const suffix = READINGS[state];
  return names
    .filter((name) => name.endsWith(suffix) && !name.startsWith('.'))
    .map((name) => name.slice(0, -suffix.length))
    .sort(byCodePoint)
    .map((run) => ({ run, facts: join(folder, `${run}.facts.parquet`), readings: join(folder, `${run}${suffix}`) }));
}

/**
 * The runs that a release contains, oldest first (run ids sort by time), and the pending run with this id.
 *
 * @example
 * ```ts
 * const runs = await listRuns('data/var', 'airports'); // oldest first
 * ```
 */
export async function listRuns(dataDir: string, dataset: string, pending?: string): Promise<RunFiles[]> {
  const published = await runsThatAre('published', dataDir, dataset);
  if (pending === undefined) return published;
  return [...published, ...(await pendingRuns(dataDir, dataset)).filter(({ run }) => run === pending)];
}

/** Runs that no release contains: the last one was refused, failed or was killed before its release was current. */
export const pendingRuns = (dataDir: string, dataset: string): Promise<RunFiles[]> =>
  runsThatAre('pending', dataDir, dataset);

/** Where `publishRun` moves the readings of a pending run. */
export const publishedReadings = (path: string): string => path.replace(/\.pending\.parquet$/, READINGS.published);

/** Path of the readings of a run that no release contains yet. */
export const pendingReadings = (dataDir: string, dataset: string, run: string): string =>
  join(paths.facts(dataDir, dataset), `${run}${READINGS.pending}`);

/** Makes a run part of the history, after a release that contains it is current. A published run stays. */
export async function publishRun(dataDir: string, dataset: string, published: string | undefined): Promise<void> {
  for (const { run, readings } of await pendingRuns(dataDir, dataset))
    if (run === published) await putInPlace(readings, publishedReadings(readings));
}

/** Removes the pending runs but one, which replaces them. */
export async function removePending(dataDir: string, dataset: string, except: string): Promise<void> {
  for (const { run, facts, readings } of await pendingRuns(dataDir, dataset)) {
    if (run === except) continue;
    // Facts without readings do not count.
    for (const path of [readings, facts, rejectedValues(dataDir, dataset, run)]) await rm(path, { force: true });
  }
}

/** Path of the rejected values of a run. */
export const rejectedValues = (dataDir: string, dataset: string, run: string): string =>
  join(paths.facts(dataDir, dataset), `${run}.rejected.jsonl`);

/** Removes files of a killed run: unfinished ones, and facts without readings. */
export async function clearUnfinished(dataDir: string, dataset: string): Promise<void> {
  const folder = paths.facts(dataDir, dataset);
  const runs = [...(await listRuns(dataDir, dataset)), ...(await pendingRuns(dataDir, dataset))];
  const whole = new Set(runs.map(({ facts }) => facts));
  for (const name of await readdir(folder).catch(() => [] as string[])) {
    const path = join(folder, name);
    const orphan = name.endsWith('.facts.parquet') && !whole.has(path);
    if (orphan || name.startsWith(UNFINISHED)) await rm(path, { recursive: true, force: true });
  }
}

/** All readings that count, oldest run first, then by time. `pending`: see `listRuns`. */
export async function allReadings(
  duck: Duck,
  dataDir: string,
  dataset: string,
  pending?: string,
): Promise<ReadingRow[]> {
  return (await readRuns(duck, await listRuns(dataDir, dataset, pending))).readings;
}

/** The readings of runs, oldest run first, then by time; and those that they dropped. */
export async function readRuns(
  duck: Duck,
  runs: readonly RunFiles[],
): Promise<{ readings: ReadingRow[]; dropped: ReadingRow[] }> {
  const rows = await readingRows(duck, runs);
  return { readings: rows.filter(({ isDropped }) => !isDropped), dropped: rows.filter(({ isDropped }) => isDropped) };
}

async function readingRows(duck: Duck, runs: readonly RunFiles[]): Promise<(ReadingRow & { isDropped: boolean })[]> {
  if (runs.length === 0) return [];
  const files = runs.map(({ readings }) => readings);
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
    isDropped: row[8] === null,
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
