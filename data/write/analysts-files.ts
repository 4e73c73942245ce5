// The files for analysts: Parquet with metadata, and a DuckDB database that browsers can open.
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pack } from '../../packs/define/model.ts';
import { Duck, quotedIdentifier, quotedText } from '../duckdb/duck.ts';
import { UNFINISHED } from '../model/atomic.ts';
import { RELEASE_FILES } from '../model/layout.ts';
import type { StoredRecord } from '../model/record.ts';
import { publicQuery, recordsQuery } from './analysts.ts';
import { type Column, dictionary } from './dictionary.ts';

/** The release of a file. */
export interface ReleaseInfo {
  release: string;
  created_at: string;
}

/** Metadata of a file: texts by key, `columns` as JSON. */
function notes(pack: Pack, { release, created_at }: ReleaseInfo, columns: readonly Column[]): Record<string, string> {
  const described = columns.map(({ name, type, unit, description, attribute }) => ({
    name,
    type,
    unit,
    description,
    attribute,
  }));
  return {
    dataset: pack.id,
    title: pack.title,
    description: pack.description,
    release,
    created_at,
    license: pack.license.name,
    license_url: pack.license.url,
    attribution: pack.attribution,
    ...(pack.notice === undefined ? {} : { notice: pack.notice }),
    columns: JSON.stringify(described),
  };
}

/** Writes name of the release, licence and meaning of the columns into `records.parquet` of a draft. */
export async function writeRecordsMetadata(pack: Pack, folder: string, telling: ReleaseInfo): Promise<void> {
  const path = join(folder, RELEASE_FILES.records);
  const spill = join(folder, '..', 'spill-analysts');
  await mkdir(spill, { recursive: true });
  const duck = await Duck.open(spill);
  try {
    const temporary = `${path}.temporary`;
    await duck.parquet(
      `SELECT * FROM read_parquet(${quotedText(path)})`,
      temporary,
      undefined,
      notes(pack, telling, dictionary(pack, 'all')),
    );
    await rename(temporary, path);
  } finally {
    duck.close();
  }
}

/** Differences between an older release and its overlay: ids of removed and of changed records. */
export interface OverlayDifferences {
  without: readonly string[];
  instead: readonly StoredRecord[];
}

/**
 * The newest storage version that DuckDB in browsers can read (@duckdb/duckdb-wasm 1.32.0 is DuckDB 1.4.3).
 */
const STORAGE = 'v1.0.0';

export interface PublicFiles {
  parquet: string;
  database: string;
}

/**
 * Writes both public files of a release into `scratch`: public values only, as in the release's
 * `public.parquet`. Throws errors of DuckDB.
 */
export async function writePublicFiles(
  pack: Pack,
  folder: string,
  telling: ReleaseInfo,
  { without, instead }: OverlayDifferences,
  scratch: string,
): Promise<PublicFiles> {
  const work = join(scratch, `${UNFINISHED}files-${pack.id}`);
  await rm(work, { recursive: true, force: true });
  await mkdir(work, { recursive: true });
  const [parquet, database] = [join(work, 'public.parquet'), join(work, 'public.duckdb')];
  const duck = await Duck.open(work);
  try {
    const rows = await publicRows(duck, pack, folder, { without, instead }, work);
    const columns = dictionary(pack, 'public');
    await duck.parquet(rows, parquet, undefined, notes(pack, telling, columns));
    await duck.run(`ATTACH ${quotedText(database)} AS made (STORAGE_VERSION ${quotedText(STORAGE)})`);
    const flat = dictionary(pack, 'public', false);
    const names = flat.map(({ name }) => quotedIdentifier(name)).join(', ');
    await duck.run(`CREATE TABLE made.records AS SELECT ${names} FROM read_parquet(${quotedText(parquet)})`);
    const values = (each: readonly (string | null)[]) =>
      `(${each.map((text) => (text === null ? 'NULL' : quotedText(text))).join(', ')})`;
    const descriptions = flat.map(({ name, type, unit, description, attribute }) =>
      values([name, type, unit, description, attribute]),
    );
    await duck.run(
      `CREATE TABLE made.columns AS SELECT * FROM (VALUES ${descriptions.join(', ')}) AS t(name, type, unit, description, attribute)`,
    );
    const { columns: _, ...about } = notes(pack, telling, []);
    await duck.run(
      `CREATE TABLE made.release AS SELECT * FROM (VALUES ${Object.entries(about).map(values).join(', ')}) AS t(key, value)`,
    );
    await duck.run('CHECKPOINT made');
    await duck.run('DETACH made');
    return { parquet, database };
  } finally {
    duck.close();
  }
}

/** Rows of the public file with the changes of an overlay. */
async function publicRows(
  duck: Duck,
  pack: Pack,
  folder: string,
  { without, instead }: OverlayDifferences,
  work: string,
): Promise<string> {
  const whole = `SELECT * FROM read_parquet(${quotedText(join(folder, RELEASE_FILES.public))})`;
  const other = [...without, ...instead.map(({ id }) => id)];
  if (other.length === 0) return whole;
  const rest = `${whole} WHERE id NOT IN (${other.map(quotedText).join(', ')})`;
  if (instead.length === 0) return rest;
  const [lines, flat] = [join(work, 'instead.jsonl'), join(work, 'instead.parquet')];
  await writeFile(lines, instead.map((record) => `${JSON.stringify(record)}\n`).join(''));
  await duck.parquet(recordsQuery(pack, lines), flat);
  return `${rest} UNION ALL BY NAME ${publicQuery(pack, flat)}`;
}
