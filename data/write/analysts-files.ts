// The files for analysts: Parquet with metadata, the history of all values, and a DuckDB database.
import { mkdir, open, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pack } from '../../packs/define/model.ts';
import { Duck, quotedIdentifier, quotedText, rowGroup } from '../duckdb/duck.ts';
import { UNFINISHED } from '../model/atomic.ts';
import { RELEASE_FILES } from '../model/layout.ts';
import { publicHistoryQuery } from './analysts.ts';
import { recordColumn } from './csv.ts';
import { type Column, dictionary, HISTORY_FILE_COLUMNS, HISTORY_ORDER } from './dictionary.ts';

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

/** Name of a release in `records.parquet` until its content name is known: as many bytes as an id. */
const UNNAMED = 'unnamed_release_';

/** Metadata of `records.parquet` of a draft: licence and meaning of the columns, without the release's name. */
export function recordsNotes(pack: Pack, created_at: string): Record<string, string> {
  return notes(pack, { release: UNNAMED, created_at }, dictionary(pack, 'all'));
}

/**
 * Replaces UNNAMED in `records.parquet` of a draft by the name of the release. Parquet stores metadata as plain
 * bytes with their length, and both names are equally long.
 */
export async function nameRecords(folder: string, release: string): Promise<void> {
  const path = join(folder, RELEASE_FILES.records);
  const file = await open(path, 'r+');
  try {
    const { size } = await file.stat();
    // A Parquet file ends with its metadata, their length, and a mark of four bytes.
    const tail = Buffer.alloc(8);
    await file.read(tail, 0, tail.length, size - tail.length);
    const metadata = Buffer.alloc(tail.readUInt32LE(0));
    const start = size - tail.length - metadata.length;
    await file.read(metadata, 0, metadata.length, start);
    const at = metadata.lastIndexOf(UNNAMED);
    if (at < 0 || metadata.indexOf(UNNAMED) !== at || release.length !== UNNAMED.length)
      throw new Error(`${path} has no place for the name ${release}`);
    await file.write(release, start + at);
  } finally {
    await file.close();
  }
}

/** The storage version that every DuckDB from 1.0 on can read. */
const STORAGE = 'v1.0.0';

/** Names of the public files that DuckDB writes, each after the files that it is made from. */
export const PUBLIC_FILES = ['public.parquet', 'public.duckdb', 'history.parquet'] as const;
export type PublicFile = (typeof PUBLIC_FILES)[number];

/** What the public files are made from. */
export interface PublicSource {
  pack: Pack;
  /** Folder of the release. */
  folder: string;
  info: ReleaseInfo;
  /** Ids of opted-out records of the release, which the files lack. */
  removed: readonly string[];
}

/**
 * Writes one public file: public values only, as in the release's `public.parquet`. `pathOf` has the place of this
 * file, and of those before it in PUBLIC_FILES. DuckDB spills to `spill`. Throws errors of DuckDB.
 */
export async function writeDataFile(
  name: PublicFile,
  source: PublicSource,
  pathOf: (name: PublicFile) => string,
  spill: string,
): Promise<void> {
  // DuckDB mixes row groups when several threads write unnested rows.
  const duck = await Duck.open(spill, 1);
  try {
    await WRITERS[name](duck, source, pathOf);
  } finally {
    duck.close();
  }
}

/** Writes all public files of a release into a new folder below `scratch`, and returns their paths. */
export async function writePublicFiles(source: PublicSource, scratch: string): Promise<Record<PublicFile, string>> {
  const work = join(scratch, `${UNFINISHED}files-${source.pack.id}`);
  await rm(work, { recursive: true, force: true });
  await mkdir(work, { recursive: true });
  const pathOf = (name: PublicFile) => join(work, name);
  const write = (name: PublicFile) => writeDataFile(name, source, pathOf, join(work, `${name}.spill`));
  // Two at a time: each is written by one thread.
  const past = write('history.parquet');
  // Its error is thrown below.
  past.catch(() => {});
  try {
    await write('public.parquet');
    await write('public.duckdb');
    await past;
  } finally {
    // Nothing may write into the folder after an error.
    await past.catch(() => {});
  }
  return Object.fromEntries(PUBLIC_FILES.map((name) => [name, pathOf(name)])) as Record<PublicFile, string>;
}

type Writer = (duck: Duck, source: PublicSource, pathOf: (name: PublicFile) => string) => Promise<unknown>;

const WRITERS: Record<PublicFile, Writer> = {
  'public.parquet': async (duck, { pack, folder, info, removed }, pathOf) => {
    const id = quotedIdentifier(recordColumn(pack, 'id'));
    const rows = `SELECT * FROM read_parquet(${quotedText(join(folder, RELEASE_FILES.public))})${without(id, removed)}`;
    const { size } = await stat(join(folder, RELEASE_FILES.jsonl));
    const group = rowGroup(size, await duck.count(`SELECT count(*) FROM (${rows})`));
    return duck.parquet(rows, pathOf('public.parquet'), group, notes(pack, info, dictionary(pack, 'public')));
  },
  'public.duckdb': (duck, source, pathOf) =>
    writeDatabase(duck, source, pathOf('public.parquet'), pathOf('public.duckdb')),
  'history.parquet': (duck, { pack, folder, info, removed }, pathOf) => {
    const rows = `SELECT * FROM (${storedHistory(pack, folder)})${without('id', removed)} ORDER BY ${HISTORY_ORDER.join(', ')}`;
    return duck.parquet(rows, pathOf('history.parquet'), undefined, historyNotes(pack, info));
  },
};

/** A condition that leaves out records. */
const without = (id: string, removed: readonly string[]) =>
  removed.length === 0 ? '' : ` WHERE ${id} NOT IN (${removed.map(quotedText).join(', ')})`;

/** Rows of `history.parquet` as in the release, not sorted; `all`: of every attribute. */
export function storedHistory(pack: Pack, folder: string, only: 'all' | 'public' = 'public'): string {
  const records = `SELECT ord, slug, name FROM read_parquet(${quotedText(join(folder, RELEASE_FILES.engine))})`;
  const stored = `SELECT * FROM read_parquet(${quotedText(join(folder, RELEASE_FILES.history))}) JOIN (${records}) USING (ord)`;
  return publicHistoryQuery(pack, stored, only);
}

/** Writes the database from the Parquet file. */
async function writeDatabase(
  duck: Duck,
  { pack, info }: PublicSource,
  parquet: string,
  database: string,
): Promise<void> {
  await duck.run(`ATTACH ${quotedText(database)} AS made (STORAGE_VERSION ${quotedText(STORAGE)})`);
  const flat = dictionary(pack, 'public', false);
  const names = flat.map(({ name }) => quotedIdentifier(name)).join(', ');
  await duck.run(`CREATE TABLE made.records AS SELECT ${names} FROM read_parquet(${quotedText(parquet)})`);
  const values = (texts: readonly (string | null)[]) =>
    `(${texts.map((text) => (text === null ? 'NULL' : quotedText(text))).join(', ')})`;
  const descriptions = flat.map(({ name, type, unit, description, attribute }) =>
    values([name, type, unit, description, attribute]),
  );
  await duck.run(
    `CREATE TABLE made.columns AS SELECT * FROM (VALUES ${descriptions.join(', ')}) AS t(name, type, unit, description, attribute)`,
  );
  const { columns: _, ...about } = notes(pack, info, []);
  await duck.run(
    `CREATE TABLE made.release AS SELECT * FROM (VALUES ${Object.entries(about).map(values).join(', ')}) AS t(key, value)`,
  );
  await duck.run('CHECKPOINT made');
  await duck.run('DETACH made');
}

/** Metadata of `history.parquet`: also the order of its rows, and the attributes that they name. */
function historyNotes(pack: Pack, info: ReleaseInfo): Record<string, string> {
  const attributes = pack.attributes
    .filter((attribute) => attribute.public)
    .map(({ name, type, unit, currency, description }) => ({ name, type, unit, currency, description }));
  return {
    ...notes(pack, info, HISTORY_FILE_COLUMNS),
    attributes: JSON.stringify(attributes),
    sorted_by: HISTORY_ORDER.join(', '),
  };
}
