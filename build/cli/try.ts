// `npm run pack -- try <folder>`: runs the collector on a few rows in a scratch folder, and shows the records,
// where their values are from, what was rejected, and what the API and the page would show.
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { prerenderContext } from '../../api/discovery/prerender-context.ts';
import { entity_get } from '../../api/operations/record/entity_get.ts';
import { OPERATIONS } from '../../api/operations/table.ts';
import { recordPage } from '../../api/pages/record-markdown.ts';
import { Duck, quotedText } from '../../data/duckdb/duck.ts';
import { paths, RELEASE_FILES } from '../../data/model/layout.ts';
import type { StoredRecord } from '../../data/model/record.ts';
import { openRelease } from '../../data/releases/release.ts';
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
  base_url: string;
}

/** Records that are shown with all their values. */
const SHOWN = 3;

/**
 * Runs the collector and prints what the nightly run would report about these rows, and the records. Returns the
 * exit code: 0 when the nightly run would publish a record, else 1.
 */
export async function tryPack(
  pack: Pack,
  { rows, source, dataDir, base_url }: TryOptions,
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
    show(night.told, scratch, log);
    if (night.ignored > 0) log('With these rows, the nightly run would stop: correct the mistakes above.');
    if (night.release === null) return 1;
    await showRecords(limited, { scratch, release: night.release, base_url }, log);
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

/** The records of a release, the first ones with all their values, then one as the API and the page show it. */
async function showRecords(
  pack: Pack,
  { scratch, release: id, base_url }: { scratch: string; release: string; base_url: string },
  log: (line: string) => void,
): Promise<void> {
  const release = await openRelease(scratch, pack, id);
  try {
    const records = await firstRecords(release.folder, scratch);
    log(`\nRecords: ${release.manifest.records}`);
    for (const record of records) log(recordLines(record, pack).join('\n'));
    const [first] = records;
    if (first === undefined) return;
    const path = `/v1/${pack.id}/entities/${first.slug}`;
    const about = { releases: [release], operations: OPERATIONS, base_url, eur_usd: 1 };
    const context = { ...prerenderContext(about, { release, path, format: 'json' }), visibility: 'full' as const };
    const { body } = await entity_get.run({ entity_id: first.slug, fields: null, as_of: null }, context);
    log(`\nGET ${path} answers:\n${jsonLines(body as object)}`);
    log(`\nThe page of the record, with public values, by record.md:\n${recordPage(first, pack, base_url)}`);
  } finally {
    await release.engine.close();
  }
}

/** JSON with a line for each member of the answer and of its objects; deeper ones are in the line. */
function jsonLines(body: object): string {
  const isObject = (value: unknown): value is object =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  const block = (value: object, indent: string, deeper: boolean): string => {
    const lines = Object.entries(value).map(([name, each]) => {
      const text = deeper && isObject(each) ? block(each, `${indent}  `, false) : JSON.stringify(each);
      return `${indent}  ${JSON.stringify(name)}: ${text}`;
    });
    return lines.length === 0 ? '{}' : `{\n${lines.join(',\n')}\n${indent}}`;
  };
  return block(body, '', true);
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

/** A record as lines: attribute, value, then source, time, confidence and evidence. */
function recordLines({ name, slug, attributes, provenance }: StoredRecord, pack: Pack): string[] {
  const names = pack.attributes.filter((attribute) => attribute.name in attributes);
  const width = Math.max(...names.map((attribute) => attribute.name.length));
  return [
    `\n  ${name} (${slug})`,
    ...names.map(({ name: attribute, unit }) => {
      const { source_url, observed_at, confidence, evidence } = provenance[attribute]!;
      const value = `${JSON.stringify(attributes[attribute])}${unit === null ? '' : ` ${unit}`}`;
      return `    ${attribute.padEnd(width)}  ${value}   (${observed_at.slice(0, 10)}, confidence ${confidence}, ${evidence}, ${source_url})`;
    }),
  ];
}
