// Opens a DuckDB instance of its own for one release: loads the narrow tables, then locks everything.
import { join as path } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import type { Attribute, Pack } from '../../packs/model.ts';
import { column, parts, RELEASE_FILES } from '../layout.ts';
import { spellingTable } from './facets.ts';
import type { EngineLimits } from './limits.ts';
import { comparedColumn, isText, type Shape } from './shape.ts';
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

const SQL_TYPES: Partial<Record<Attribute['type'], string>> = {
  boolean: 'BOOLEAN',
  date: 'VARCHAR',
  strings: 'VARCHAR[]',
};

export interface Loaded {
  instance: DuckDBInstance;
  shape: Shape;
  /** Where bodies are asked for: the table in memory or the Parquet file. */
  bodies: Sql;
}

/** Loads a release folder. Throws when a file is missing, damaged or has fewer rows than the manifest says. */
export async function load(folder: string, pack: Pack, rows: number, limits: EngineLimits): Promise<Loaded> {
  const instance = await DuckDBInstance.create(':memory:', OPTIONS);
  try {
    const connection = await instance.connect();
    const run = async (statement: Sql) => (await connection.runAndReadAll(statement.text)).getRows();
    const shape = await loadRecords(run, folder, pack);
    const file = (name: string) => sql`read_parquet(${literal(path(folder, name))})`;
    await run(sql`CREATE TABLE terms AS SELECT term, ord, public FROM ${file(RELEASE_FILES.terms)} ORDER BY term, ord`);
    await run(sql`CREATE TABLE refs (ref VARCHAR PRIMARY KEY, ord UINTEGER)`);
    await run(sql`INSERT INTO refs SELECT id, ord FROM records UNION SELECT slug, ord FROM records`);
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

/** The table `records`. A column that this release lacks, since the pack gained the attribute later, is all NULL. */
async function loadRecords(run: Run, folder: string, pack: Pack): Promise<Shape> {
  const file = sql`read_parquet(${literal(path(folder, RELEASE_FILES.engine))})`;
  const present = new Set((await run(sql`DESCRIBE SELECT * FROM ${file}`)).map(([found]) => String(found)));
  const enums = new Map<string, string>();
  const columns = [sql`ord`, sql`id`, sql`slug`, sql`updated`, sql`quality`];
  for (const attribute of pack.attributes) {
    const compared = comparedColumn(attribute);
    if (isText(attribute) && present.has(compared) && (await declareEnum(run, file, compared)))
      enums.set(compared, compared);
    for (const part of parts(attribute)) {
      const own = column(attribute.name, part);
      const spelled = part === 'value' && (isText(attribute) || attribute.type === 'strings');
      if (!spelled) columns.push(columnOf(attribute, own, present.has(own), enums.has(own)));
    }
  }
  await run(sql`CREATE TABLE records AS SELECT ${join(columns, ', ')} FROM ${file} ORDER BY ord`);
  for (const attribute of pack.attributes)
    if (attribute.filterable && attribute.type !== 'text' && (isText(attribute) || attribute.type === 'strings'))
      await loadSpellings(run, file, attribute, present.has(comparedColumn(attribute)));
  return { attributes: new Map(pack.attributes.map((attribute) => [attribute.name, attribute])), enums };
}

function columnOf(attribute: Attribute, own: string, present: boolean, isEnum: boolean): Sql {
  if (isEnum) return sql`${name(own)}::${name(own)} AS ${name(own)}`;
  const plain = isText(attribute) ? 'VARCHAR' : (SQL_TYPES[attribute.type] ?? 'DOUBLE');
  const type: Sql = { text: plain, values: [] };
  if (!present) return sql`NULL::${type} AS ${name(own)}`;
  return attribute.type === 'strings'
    ? sql`list_sort(list_distinct(${name(own)}::${type})) AS ${name(own)}`
    : sql`${name(own)}::${type} AS ${name(own)}`;
}

/** Declares an ENUM named as its column when the column repeats itself enough; members in code point order. */
async function declareEnum(run: Run, file: Sql, column: string): Promise<boolean> {
  const [[distinct, filled] = []] = await run(
    sql`SELECT count(DISTINCT ${name(column)}), count(${name(column)}) FROM ${file}`,
  );
  const many = Number(distinct);
  if (many === 0 || many > ENUM_VALUES || many * 4 > Number(filled)) return false;
  await run(
    sql`CREATE TYPE ${name(column)} AS ENUM (SELECT DISTINCT ${name(column)} FROM ${file} WHERE ${name(column)} IS NOT NULL ORDER BY 1)`,
  );
  return true;
}

/** How folded values are written: the commonest spelling, the first in code point order of equally common ones. */
async function loadSpellings(run: Run, file: Sql, attribute: Attribute, present: boolean): Promise<void> {
  const [value, fold] = [name(column(attribute.name, 'value')), name(column(attribute.name, 'fold'))];
  const table = name(spellingTable(attribute.name));
  if (!present) return void (await run(sql`CREATE TABLE ${table} (fold VARCHAR, value VARCHAR)`));
  const pairs =
    attribute.type === 'strings'
      ? sql`SELECT unnest(${fold}) AS fold, unnest(${value}) AS value FROM ${file}`
      : sql`SELECT ${fold} AS fold, ${value} AS value FROM ${file}`;
  await run(
    sql`CREATE TABLE ${table} AS SELECT fold, value FROM (SELECT fold, value, count(*) AS n FROM (${pairs}) GROUP BY fold, value) WHERE fold IS NOT NULL QUALIFY row_number() OVER (PARTITION BY fold ORDER BY n DESC, value) = 1`,
  );
}

/** Takes the bodies into memory when they fit, as the Parquet file's own uncompressed size says. */
async function loadBodies(run: Run, file: string, rows: number, most: number): Promise<Sql> {
  const [[stored] = []] = await run(sql`SELECT num_rows FROM parquet_file_metadata(${literal(file)})`);
  if (Number(stored) !== rows) throw new Error(`the release says ${rows} records and holds ${String(stored)} bodies`);
  const [[bytes] = []] = await run(sql`SELECT sum(total_uncompressed_size) FROM parquet_metadata(${literal(file)})`);
  const parquet = sql`read_parquet(${literal(file)})`;
  if (Number(bytes) > most) return parquet;
  await run(sql`CREATE TABLE bodies AS SELECT ord, version, body FROM ${parquet} ORDER BY ord`);
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
