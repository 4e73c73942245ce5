// The files for analysts: Parquet with metadata, the history of all values, and a DuckDB database that
// browsers can open.
import { hash } from 'node:crypto';
import { copyFile, mkdir, open, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pack } from '../../packs/define/model.ts';
import { Duck, quotedIdentifier, quotedText, rowGroup } from '../duckdb/duck.ts';
import { UNFINISHED } from '../model/atomic.ts';
import { RELEASE_FILES } from '../model/layout.ts';
import { publicQuery, recordsQuery } from './analysts.ts';
import { recordColumn } from './csv.ts';
import { type Column, dictionary, HISTORY_FILE_COLUMNS, HISTORY_ORDER } from './dictionary.ts';
import { type OverlayDifferences, writeHistory } from './history-file.ts';
import { cellOrOther, OTHER, ROW, replacement } from './replaced-rows.ts';
import { historyTableQuery, provenanceTableQuery } from './sql-tables.ts';

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

/**
 * The newest storage version that DuckDB in browsers can read (@duckdb/duckdb-wasm 1.32.0 is DuckDB 1.4.3).
 */
const STORAGE = 'v1.0.0';

/** Paths of the written files. */
export interface PublicFiles {
  parquet: string;
  database: string;
  history: string;
  /** Databases of the SQL console, whose rows refer to the records of `database`. */
  historyDatabase: string;
  provenanceDatabase: string;
}

/** Files of the same release in which no other records differ than in the new ones: only their rows are replaced. */
export type OldFiles = Omit<PublicFiles, 'parquet'>;

/**
 * Writes the public files of a release into `scratch`: public values only, as in the release's
 * `public.parquet`. `old`: files from which rows of unchanged records are copied. Throws errors of DuckDB.
 */
export async function writePublicFiles(
  pack: Pack,
  folder: string,
  telling: ReleaseInfo,
  differences: OverlayDifferences,
  scratch: string,
  old: OldFiles | null = null,
): Promise<PublicFiles> {
  const work = join(scratch, `${UNFINISHED}files-${pack.id}`);
  await rm(work, { recursive: true, force: true });
  await mkdir(work, { recursive: true });
  const files: PublicFiles = {
    parquet: join(work, 'public.parquet'),
    database: join(work, 'public.duckdb'),
    history: join(work, 'history.parquet'),
    historyDatabase: join(work, 'history.duckdb'),
    provenanceDatabase: join(work, 'provenance.duckdb'),
  };
  const { parquet, history } = files;
  const duck = await Duck.open(work, 1);
  const place = { work, old: old?.history ?? null, path: history, notes: historyNotes(pack, telling) };
  const past = writeHistory(pack, folder, differences, place);
  // Its error is thrown below.
  past.catch(() => {});
  try {
    const rows = await publicRows(duck, pack, folder, differences, work);
    const columns = dictionary(pack, 'public');
    const { size } = await stat(join(folder, RELEASE_FILES.jsonl));
    const group = rowGroup(size, await duck.count(`SELECT count(*) FROM (${rows})`));
    await duck.parquet(rows, parquet, group, notes(pack, telling, columns));
    const version = hash('sha256', JSON.stringify([telling, differences]), 'hex').slice(0, 16);
    const changed = differences.instead.length > 0;
    await (old !== null && canUpdate(pack)
      ? patchDatabase(
          duck,
          { before: old.database, changes: changed ? [updateRecords(pack)] : [] },
          version,
          files.database,
        )
      : writeDatabase(duck, { pack, telling, parquet, version }, files.database));
    await past;
    const edited = old !== null && changed ? `r.record IN (SELECT ${ROW} FROM instead)` : 'true';
    const tables = [
      [historyTableQuery(pack, parquet, history, edited), files.historyDatabase, old?.historyDatabase],
      [provenanceTableQuery(pack, parquet), files.provenanceDatabase, old?.provenanceDatabase],
    ] as const;
    for (const [query, database, before] of tables)
      await (before === undefined
        ? writeTable(duck, query, version, database)
        : patchDatabase(duck, { before, changes: changed ? replaceRows(query) : [] }, version, database));
    return files;
  } finally {
    duck.close();
    // Nothing may write into the folder after an error.
    await past.catch(() => {});
  }
}

/** Writes the database from the Parquet file. */
async function writeDatabase(
  duck: Duck,
  { pack, telling, parquet, version }: { pack: Pack; telling: ReleaseInfo; parquet: string; version: string },
  database: string,
): Promise<void> {
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
  const { columns: _, ...described } = notes(pack, telling, []);
  const about = { ...described, rows: version };
  await duck.run(
    `CREATE TABLE made.release AS SELECT * FROM (VALUES ${Object.entries(about).map(values).join(', ')}) AS t(key, value)`,
  );
  await duck.run('CHECKPOINT made');
  await duck.run('DETACH made');
}

/**
 * Writes the rows of a query into the table `rows` of a database for browsers. `version` is that of the
 * records whose row numbers the rows contain.
 */
async function writeTable(duck: Duck, query: string, version: string, database: string): Promise<void> {
  await duck.run(`ATTACH ${quotedText(database)} AS made (STORAGE_VERSION ${quotedText(STORAGE)})`);
  await duck.run(`CREATE TABLE made.rows AS ${query}`);
  await duck.run(`CREATE TABLE made.release AS SELECT 'rows' AS key, ${quotedText(version)} AS value`);
  await duck.run('CHECKPOINT made');
  await duck.run('DETACH made');
}

/** Writes a database from an older one, which the statements `changes` change. */
async function patchDatabase(
  duck: Duck,
  { before, changes }: { before: string; changes: readonly string[] },
  version: string,
  database: string,
): Promise<void> {
  await copyFile(before, database);
  await duck.run(`ATTACH ${quotedText(database)} AS made (STORAGE_VERSION ${quotedText(STORAGE)})`);
  for (const statement of changes) await duck.run(statement);
  await duck.run(`UPDATE made.release SET value = ${quotedText(version)} WHERE key = 'rows'`);
  await duck.run('CHECKPOINT made');
  await duck.run('DETACH made');
}

/** Replaces the rows of the records in `instead` by those of a query. */
function replaceRows(query: string): string[] {
  const records = `record IN (SELECT ${ROW} FROM instead)`;
  return [`DELETE FROM made.rows WHERE ${records}`, `INSERT INTO made.rows SELECT * FROM (${query}) WHERE ${records}`];
}

/**
 * Whether an update leaves records at their row numbers, to which other databases refer. DuckDB deletes and
 * inserts a row whose list it updates.
 */
function canUpdate(pack: Pack): boolean {
  return dictionary(pack, 'public', false).every(({ type }) => !type.endsWith('[]'));
}

/** Sets the values of the records in `instead`. */
function updateRecords(pack: Pack): string {
  const names = dictionary(pack, 'public', false).map(({ name }) => quotedIdentifier(name));
  const cells = names.map((name) => `${name} = ${OTHER}.${name}`);
  return `UPDATE made.records SET ${cells.join(', ')} FROM instead ${OTHER} WHERE records.rowid = ${OTHER}.${ROW}`;
}

/** Metadata of `history.parquet`: also the order of its rows, and the attributes that they name. */
function historyNotes(pack: Pack, telling: ReleaseInfo): Record<string, string> {
  const attributes = pack.attributes
    .filter((each) => each.public)
    .map(({ name, type, unit, currency, description }) => ({ name, type, unit, currency, description }));
  return {
    ...notes(pack, telling, HISTORY_FILE_COLUMNS),
    attributes: JSON.stringify(attributes),
    sorted_by: HISTORY_ORDER.join(', '),
  };
}

/** Rows of the public file with the changes of an overlay, in the order of the release. */
async function publicRows(
  duck: Duck,
  pack: Pack,
  folder: string,
  { without, instead }: OverlayDifferences,
  work: string,
): Promise<string> {
  const stored = `read_parquet(${quotedText(join(folder, RELEASE_FILES.public))}, file_row_number = true)`;
  const id = quotedIdentifier(recordColumn(pack, 'id'));
  const gone = without.length === 0 ? '' : ` WHERE ${id} NOT IN (${without.map(quotedText).join(', ')})`;
  if (instead.length === 0) return `SELECT * EXCLUDE (file_row_number) FROM ${stored}${gone}`;
  const [lines, flat] = [join(work, 'instead.jsonl'), join(work, 'instead.parquet')];
  await writeFile(lines, instead.map((record) => `${JSON.stringify(record)}\n`).join(''));
  await duck.parquet(recordsQuery(pack, lines), flat);
  // A record keeps its place, to which other files refer by its number.
  await duck.run(
    `CREATE TABLE instead AS SELECT * FROM (${publicQuery(pack, flat)}) ` +
      `JOIN (SELECT ${id}, file_row_number AS ${ROW} FROM ${stored}) USING (${id})`,
  );
  const names = dictionary(pack, 'public').map(({ name }) => quotedIdentifier(name));
  const changed = (await duck.rows(`SELECT ${ROW} FROM instead`)).map(([row]) => row);
  // A join would change the order of the rows, and sorting them takes as long as the rest. The variable belongs
  // to the connection, which statements share that run one after the other.
  await duck.run(`SET VARIABLE instead = (SELECT map(list(${ROW}), list(${OTHER})) FROM instead ${OTHER})`);
  const cells = names.map(cellOrOther);
  return `SELECT ${cells.join(', ')} FROM (SELECT *, ${replacement('instead', changed)} AS ${OTHER} FROM ${stored}${gone})`;
}
