// Opens a DuckDB instance of its own for one release: loads the narrow tables, then locks everything.
import { join as path } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import type { Attribute, Pack } from '../../packs/model.ts';
import { column, parts, RELEASE_FILES } from '../layout.ts';
import type { EngineLimits } from './limits.ts';
import { comparedColumn, entriesTable, isText, type Shape, spellingTable } from './shape.ts';
import { join, literal, name, type Sql, sql } from './sql.ts';

/** Everything that could reach out of the process or write is off from the start; the rest is locked after loading. */
const OPTIONS = {
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
  allow_community_extensions: 'false',
  temp_directory: '',
};

/** A text column with at most this many different values, and few of them for its rows, becomes an ENUM. */
const ENUM_VALUES = 5_000;

/** Columns that are not DOUBLE. A list is loaded as a table of its own; its column only tells whether there is one. */
const SQL_TYPES: Partial<Record<Attribute['type'], string>> = {
  boolean: 'BOOLEAN',
  date: 'VARCHAR',
  strings: 'BOOLEAN',
};

export interface Loaded {
  instance: DuckDBInstance;
  shape: Shape;
  /** Where bodies are asked for: the table in memory or the Parquet file. */
  bodies: Sql;
}

/** Loads a release folder; its files are sorted as data/layout.ts says, and the tables keep that order. Throws when a file is missing, damaged or has fewer rows than the manifest says. */
export async function load(folder: string, pack: Pack, rows: number, limits: EngineLimits): Promise<Loaded> {
  const instance = await DuckDBInstance.create(':memory:', OPTIONS);
  try {
    const connection = await instance.connect();
    const run = async (statement: Sql) => (await connection.runAndReadAll(statement.text)).getRows();
    const shape = await loadRecords(run, folder, pack);
    const file = (name: string) => sql`read_parquet(${literal(path(folder, name))})`;
    await run(sql`CREATE TABLE terms AS SELECT term, ord, public FROM ${file(RELEASE_FILES.terms)}`);
    await run(sql`CREATE TABLE refs AS SELECT id AS ref, ord FROM records UNION SELECT slug, ord FROM records`);
    await run(sql`CREATE UNIQUE INDEX refs_by_ref ON refs (ref)`);
    const [[found] = []] = await run(sql`SELECT count(*) FROM records`);
    if (Number(found) !== rows) throw new Error(`the release says ${rows} records and holds ${String(found)}`);
    const bodies = await loadBodies(run, path(folder, RELEASE_FILES.bodies), rows, limits.bodies);
    await lock(connection, folder, limits.working_memory);
    connection.closeSync();
    return { instance, shape, bodies };
  } catch (error) {
    instance.closeSync();
    throw error;
  }
}

type Run = (statement: Sql) => Promise<unknown[][]>;

/** The table `records` and those of its lists and spellings. A column the release lacks, since the attribute is newer, is NULL. */
async function loadRecords(run: Run, folder: string, pack: Pack): Promise<Shape> {
  const file = sql`read_parquet(${literal(path(folder, RELEASE_FILES.engine))})`;
  const present = new Set((await run(sql`DESCRIBE SELECT * FROM ${file}`)).map(([found]) => String(found)));
  const enums = new Map<string, string>();
  const columns = [sql`ord`, sql`id`, sql`slug`, sql`updated`, sql`quality`];
  for (const attribute of pack.attributes) {
    const compared = comparedColumn(attribute);
    const listed = attribute.type === 'strings';
    const source = present.has(compared) ? file : sql`(SELECT ${missing(attribute)})`;
    if ((isText(attribute) || listed) && (await declareEnum(run, foldsOf(attribute, source), compared)))
      enums.set(compared, compared);
    if (listed) await loadEntries(run, source, attribute, enums.has(compared));
    if (attribute.filterable && attribute.type !== 'text' && (isText(attribute) || listed))
      await loadSpellings(run, source, attribute);
    for (const part of parts(attribute)) {
      const own = column(attribute.name, part);
      const spelled = part === 'value' && (isText(attribute) || listed);
      if (!spelled) columns.push(columnOf(attribute, own, present.has(own), enums.has(own)));
    }
  }
  await run(sql`CREATE TABLE records AS SELECT ${join(columns, ', ')} FROM ${file}`);
  return { attributes: new Map(pack.attributes.map((attribute) => [attribute.name, attribute])), enums };
}

/** Columns of an attribute that the release does not have, all NULL, in place of its file. */
function missing(attribute: Attribute): Sql {
  const type: Sql = { text: attribute.type === 'strings' ? 'VARCHAR[]' : 'VARCHAR', values: [] };
  const columns = parts(attribute).map((part) => sql`NULL::${type} AS ${name(column(attribute.name, part))}`);
  return join([sql`NULL::UINTEGER AS ord`, ...columns], ', ');
}

function columnOf(attribute: Attribute, own: string, present: boolean, isEnum: boolean): Sql {
  const type: Sql = { text: isText(attribute) ? 'VARCHAR' : (SQL_TYPES[attribute.type] ?? 'DOUBLE'), values: [] };
  if (!present) return sql`NULL::${type} AS ${name(own)}`;
  if (attribute.type === 'strings') return sql`CASE WHEN ${name(own)} IS NOT NULL THEN true END AS ${name(own)}`;
  return isEnum ? sql`${name(own)}::${name(own)} AS ${name(own)}` : sql`${name(own)}::${type} AS ${name(own)}`;
}

/** Rows `[fold, value, ord]` of a text or list attribute, a row for each entry. */
function foldsOf(attribute: Attribute, source: Sql): Sql {
  const [fold, value] = [name(column(attribute.name, 'fold')), name(column(attribute.name, 'value'))];
  const rows =
    attribute.type === 'strings'
      ? sql`SELECT unnest(${fold}) AS fold, unnest(${value}) AS value, ord FROM ${source}`
      : sql`SELECT ${fold} AS fold, ${value} AS value, ord FROM ${source}`;
  return sql`(SELECT * FROM (${rows}) WHERE fold IS NOT NULL)`;
}

/** Declares an ENUM named as its column when the column repeats itself enough; members in code point order. */
async function declareEnum(run: Run, folds: Sql, column: string): Promise<boolean> {
  const [[distinct, filled] = []] = await run(sql`SELECT count(DISTINCT fold), count(*) FROM ${folds}`);
  const many = Number(distinct);
  if (many === 0 || many > ENUM_VALUES || many * 4 > Number(filled)) return false;
  await run(sql`CREATE TYPE ${name(column)} AS ENUM (SELECT DISTINCT fold FROM ${folds} ORDER BY fold)`);
  return true;
}

async function loadEntries(run: Run, source: Sql, attribute: Attribute, isEnum: boolean): Promise<void> {
  const fold = isEnum ? sql`fold::${name(comparedColumn(attribute))} AS fold` : sql`fold`;
  await run(
    sql`CREATE TABLE ${name(entriesTable(attribute.name))} AS SELECT DISTINCT ${fold}, ord FROM ${foldsOf(attribute, source)} ORDER BY ALL`,
  );
}

/** How folded values are written: the commonest spelling, the first in code point order of equally common ones. */
async function loadSpellings(run: Run, source: Sql, attribute: Attribute): Promise<void> {
  const counts = sql`SELECT fold, value, count(*) AS n FROM ${foldsOf(attribute, source)} GROUP BY fold, value`;
  await run(
    sql`CREATE TABLE ${name(spellingTable(attribute.name))} AS SELECT fold, value FROM (${counts}) QUALIFY row_number() OVER (PARTITION BY fold ORDER BY n DESC, value) = 1`,
  );
}

/** Takes the bodies into memory when they fit, as the Parquet file's own uncompressed size says. */
async function loadBodies(run: Run, file: string, rows: number, most: number): Promise<Sql> {
  const [[stored] = []] = await run(sql`SELECT num_rows FROM parquet_file_metadata(${literal(file)})`);
  if (Number(stored) !== rows) throw new Error(`the release says ${rows} records and holds ${String(stored)} bodies`);
  const [[bytes] = []] = await run(sql`SELECT sum(total_uncompressed_size) FROM parquet_metadata(${literal(file)})`);
  const parquet = sql`read_parquet(${literal(file)})`;
  if (Number(bytes) > most) return parquet;
  await run(sql`CREATE TABLE bodies AS SELECT ord, version, body FROM ${parquet}`);
  return sql`bodies`;
}

/** From here on the instance reads the release folder and nothing else, and no setting changes any more. */
async function lock(connection: DuckDBConnection, folder: string, working: number): Promise<void> {
  const run = (statement: Sql) => connection.runAndReadAll(statement.text);
  const [[used] = []] = (await run(sql`SELECT sum(memory_usage_bytes)::BIGINT FROM duckdb_memory()`)).getRows();
  const bytes = literal(`${Math.ceil((Number(used) + working) / 1024)}KiB`);
  await run(sql`SET memory_limit = ${bytes}`);
  await run(sql`SET threads = 1`);
  await run(sql`SET allowed_directories = [${literal(`${folder}/`)}]`);
  await run(sql`SET enable_external_access = false`);
  await run(sql`SET lock_configuration = true`);
}
