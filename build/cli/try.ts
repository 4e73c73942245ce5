// `npm run pack -- try <folder>`: runs the collector on a few rows in a scratch folder, and shows what was rejected,
// the records, where the values of one are from, and the balance of cells.
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { printValue } from '../../api/render/print.ts';
import { Duck, quotedText } from '../../data/duckdb/duck.ts';
import { paths, RELEASE_FILES } from '../../data/model/layout.ts';
import { readManifest } from '../../data/model/manifest.ts';
import { commandLine } from '../../data/model/program.ts';
import type { StoredRecord } from '../../data/model/record.ts';
import type { Pack } from '../../packs/define/model.ts';
import { errorLine } from '../collect/report.ts';
import type { Effects } from '../effects/effects.ts';
import { DatasetStopped, datasetNight } from '../night/dataset.ts';

/** What to try. */
export interface TryOptions {
  /** Most rows of each reading. */
  rows: number;
  /** Only this source; null: all. */
  source: string | null;
  /** DATA_DIR: packages that were fetched before are read from there. */
  dataDir: string;
}

/** Records in the table. */
const SHOWN = 3;

/**
 * Runs the collector and prints what the nightly run would report about these rows, and the records. Returns the
 * exit code: 0 when the nightly run would publish a record, else 1.
 */
export async function tryPack(
  pack: Pack,
  { rows, source, dataDir }: TryOptions,
  effects: Effects,
  log: (line: string) => void,
): Promise<number> {
  const unknown = source !== null && !pack.sources.some(({ id }) => id === source);
  if (unknown) {
    log(`there is no source '${source}'; the pack has ${pack.sources.map(({ id }) => id).join(', ')}`);
    return 2;
  }
  const limited = limitedPack(pack, source);
  const scratch = await mkdtemp(join(tmpdir(), 'dataset-register-try-'));
  try {
    await linkPackages(limited, dataDir, scratch);
    const night = await datasetNight(limited, scratch, { ...effects, row_limit: rows }, OPTIONS);
    log(`Read at most ${rows} rows of ${limited.sources.map(({ id }) => id).join(', ')}. Nothing was published.`);
    show(night.messages, scratch, log);
    if (night.ignored > 0) log('With these rows, the nightly run would stop: correct the mistakes above.');
    if (night.release !== null) await showRecords(limited, { scratch, release: night.release }, log);
    for (const line of night.balance ?? []) log(line);
    return night.records > 0 && night.ignored === 0 ? 0 : 1;
  } catch (error) {
    const stopped = error instanceof DatasetStopped ? error.sentences : null;
    show(stopped ?? [errorLine(error)], scratch, log);
    return 1;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** The first reading has no other to be compared with, and mistakes are shown with the records. */
const OPTIONS = { accept: true, ignoreMistakes: true };

/** Prints sentences of the run, without the files of the scratch folder, which is removed. */
function show(lines: readonly string[], scratch: string, log: (line: string) => void): void {
  for (const line of lines) {
    const [shown = ''] = line.split(/\.? See (?=\/)|Rows left out: see (?=\/)/);
    // A count alone repeats the sentences about the values.
    if (shown !== '' && !/^[\d,]+ values? rejected$/.test(shown)) log(`! ${shown.replaceAll(scratch, '<scratch>')}`);
  }
}

/** The pack with the newest reading of each source only. */
function limitedPack(pack: Pack, only: string | null): Pack {
  const sources = pack.sources.filter(({ id }) => only === null || id === only);
  return {
    ...pack,
    sources: sources.map((source) => ({
      ...source,
      pins: source.pins.toSorted((a, b) => Date.parse(a.observed_at) - Date.parse(b.observed_at)).slice(-1),
      newest: source.pins.length > 0 ? null : source.newest,
      complete: false,
    })),
    tests: [],
  };
}

/** Links the versions that DATA_DIR has, so that a try needs no network. Others are fetched into `scratch`. */
async function linkPackages(pack: Pack, dataDir: string, scratch: string): Promise<void> {
  for (const { package: pkg, version } of pack.sources.flatMap(({ pins }) => pins)) {
    const from = join(paths.sources(dataDir), ...pkg.split('/'), version);
    const to = join(paths.sources(scratch), ...pkg.split('/'), version);
    if (!existsSync(from) || !existsSync(`${from}.integrity`)) continue;
    await mkdir(dirname(to), { recursive: true });
    await symlink(from, to);
    await copyFile(`${from}.integrity`, `${to}.integrity`);
  }
}

/** The first records as a table, and where the values of one are from. */
async function showRecords(
  pack: Pack,
  { scratch, release: id }: { scratch: string; release: string },
  log: (line: string) => void,
): Promise<void> {
  const { records: count } = await readManifest(paths.release(scratch, pack.id, id));
  const records = await firstRecords(paths.release(scratch, pack.id, id), scratch);
  log(`\nRecords: ${count}${count > records.length ? `, of which ${records.length} are shown` : ''}\n`);
  const [first] = records;
  if (first === undefined) return;
  log(recordsTable(records, pack).join('\n'));
  log(`\nWhere the values of ${first.slug} are from:`);
  for (const [origin, names] of originsOf(first)) log(`  ${names.join(', ')}: ${origin}`);
  log(`\n\`${commandLine('dev')}\` shows the pages of records.`);
}

async function firstRecords(folder: string, scratch: string): Promise<StoredRecord[]> {
  const duck = await Duck.open(join(scratch, 'spill'));
  try {
    const file = quotedText(join(folder, RELEASE_FILES.bodies));
    const rows = await duck.rows(`SELECT body FROM read_parquet(${file}) ORDER BY ord LIMIT ${SHOWN}`);
    return rows.map(([body]) => JSON.parse(String(body)) as StoredRecord);
  } finally {
    duck.close();
  }
}

/** Characters of a value in the table. */
const CELL = 32;

/** A row for each attribute and a column for each record. */
function recordsTable(records: readonly StoredRecord[], pack: Pack): string[] {
  const rows = pack.attributes
    .filter(({ name }) => records.some(({ attributes }) => name in attributes))
    .map(({ name, unit }) => [
      unit === null ? name : `${name} (${unit})`,
      ...records.map(({ attributes }) => {
        const value = attributes[name];
        const text = (value === undefined ? '' : printValue(value)).replace(/\s+/g, ' ');
        return text.length > CELL ? `${text.slice(0, CELL - 1).toWellFormed()}…` : text;
      }),
    ]);
  const table = [['attribute', ...records.map(({ slug }) => slug)], ...rows];
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)));
  return table.map((row) => `  ${row.map((text, column) => text.padEnd(widths[column]!)).join('  ')}`.trimEnd());
}

/** Attributes by where and when their values were found. */
function originsOf({ provenance }: StoredRecord): Map<string, string[]> {
  const origins = Map.groupBy(
    Object.entries(provenance),
    ([, { source_url, observed_at, confidence, evidence }]) =>
      `${evidence === '' ? '' : `${evidence}, `}${source_url}, ${observed_at.slice(0, 10)}, confidence ${confidence}`,
  );
  return new Map([...origins].map(([origin, values]) => [origin, values.map(([name]) => name)]));
}
