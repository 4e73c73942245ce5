// Runs statements over read-only databases that contain exactly the columns of a tier, in DuckDB without access to files,
// settings or extensions. Used by the SQL process alone (data/sql/child.ts).
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  BIGINT,
  DOUBLE,
  DuckDBInstance,
  DuckDBListValue,
  type DuckDBPreparedStatement,
  type DuckDBType,
  LIST,
  VARCHAR,
} from '@duckdb/node-api';
import { fromJsonRows, quotedIdentifier, quotedText } from '../duckdb/duck.ts';
import { closestNames } from '../input/suggester.ts';
import { temporaryPath, UNFINISHED } from '../model/atomic.ts';
import { DataError } from '../model/errors.ts';
import { EARTH_KM } from '../model/geography.ts';
import { createQueryQueue } from '../plan/query-queue.ts';
import { writtenName } from '../write/sql-names.ts';
import { checkStatement, invalidSql } from './check.ts';
import { ROW_FORMS, type SqlForm } from './rows.ts';
import { AT_A_TIME, type SqlSource, TABLES, type TableKind, type Tier } from './tables.ts';

/** A scalar or a list of scalars for a parameter of a statement. */
type Scalar = string | number | boolean | null;
export type SqlParameter = Scalar | readonly Scalar[];

export interface SqlQuery {
  sql: string;
  /** For `?` and `$1` by position, for `$name` by name. */
  parameters: readonly SqlParameter[] | Readonly<Record<string, SqlParameter>>;
  /** Most rows of the answer. */
  max_rows: number;
  form: SqlForm;
  tier: Tier;
  /** Seconds after which the statement is interrupted. */
  seconds: number;
  /** The datasets that it may read. */
  sources: readonly SqlSource[];
}

export interface SqlAnswer {
  columns: { name: string; type: string }[];
  /** The rows in the form of the query: for JSON a list of lists. */
  rows: Uint8Array<ArrayBuffer>;
  row_count: number;
  /** Whether there are more rows. */
  truncated: boolean;
  /** The datasets that the statement read. */
  datasets: string[];
}

/** Most bytes of the rows of an answer. */
const ANSWER_BYTES = 8 * 2 ** 20;
/** Milliseconds after which an unfinished file belongs to a process that has ended. */
const ABANDONED = 3_600_000;
/** Seconds after which a client retries while the database of a dataset is made. */
const MAKING_RETRY = 5;

/** Settings of every instance: no extension is loaded, errors name their position, nothing is written to disk. */
const SETTINGS = {
  threads: '1',
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
  errors_as_json: 'true',
  temp_directory: '',
};
/** Ends the access to files, and changes of settings, for the life of an instance. */
const LOCK = 'SET enable_external_access = false; SET lock_configuration = true';

const DISTANCE = `CREATE MACRO distance_km(lat1, lng1, lat2, lng2) AS 2 * ${EARTH_KM} * asin(sqrt(least(1, sin(radians(lat2 - lat1) / 2) ** 2 + cos(radians(lat1)) * cos(radians(lat2)) * sin(radians(lng2 - lng1) / 2) ** 2)))`;

/** An instance with the databases of some datasets. */
interface Database {
  instance: DuckDBInstance;
  sources: ReadonlyMap<string, SqlSource>;
  /** Statements that run on it. */
  users: number;
}

type Log = (line: string) => void;

const KINDS = Object.keys(TABLES) as TableKind[];

/**
 * @example
 * ```ts
 * const engine = await SqlDatabases.open('var/sql', 512 * 2 ** 20, console.error);
 * const answer = await engine.run(query, new AbortController().signal, () => {});
 * ```
 */
export class SqlDatabases {
  readonly #folder: string;
  readonly #memory: number;
  readonly #log: Log;
  readonly #parser: DuckDBInstance;
  readonly #systemViews: ReadonlySet<string>;
  readonly #databases = new Map<Tier, Database>();
  readonly #cores = createQueryQueue({ running: AT_A_TIME, waiting: 1000, patience: 600_000 });
  /** Files that are being made, by path. */
  readonly #making = new Map<string, Promise<void>>();
  /** Instances are opened one after the other. */
  #opening: Promise<unknown> = Promise.resolve();

  private constructor(
    folder: string,
    memory: number,
    log: Log,
    parser: DuckDBInstance,
    systemViews: ReadonlySet<string>,
  ) {
    this.#log = log;
    this.#folder = folder;
    this.#memory = memory;
    this.#parser = parser;
    this.#systemViews = systemViews;
  }

  /** `folder` caches the databases of the current releases; `memory` is the limit of DuckDB in bytes. */
  static async open(folder: string, memory: number, log: Log): Promise<SqlDatabases> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    for (const name of await readdir(folder)) {
      const path = join(folder, name);
      // A newer one may be that of another process.
      if (name.startsWith(UNFINISHED) && (await stat(path)).mtimeMs < Date.now() - ABANDONED)
        await rm(path, { recursive: true, force: true });
    }
    const parser = await DuckDBInstance.create(':memory:', { ...SETTINGS, memory_limit: '64MiB' });
    const views = await rowsOf(parser, 'SELECT DISTINCT lower(view_name) FROM duckdb_views()');
    await rowsOf(parser, LOCK);
    return new SqlDatabases(folder, memory, log, parser, new Set(views.map(([name]) => String(name))));
  }

  /**
   * Runs one statement; `started` is called when it begins. Throws `invalid_sql`, `query_timeout`, and `unavailable` while
   * a database is made. Other errors mean that the process must not go on: DuckDB may be damaged, or memory is used up.
   */
  async run(query: SqlQuery, signal: AbortSignal, started: () => void): Promise<SqlAnswer> {
    const { sql, sources, tier, seconds } = query;
    const datasets = await this.#check(sql, sources);
    const read = sources.filter(({ dataset }) => datasets.has(dataset));
    const names = [...datasets].join(', ');
    const database = await this.#database(tier, read, seconds).catch((error: Error) => {
      if (error instanceof DataError) throw error;
      this.#log(`the tables of ${names} cannot be made: ${error.message}`);
      if (isAllocationFailure(error)) throw error;
      throw new DataError('unavailable', `The tables of ${names} cannot be read now.`);
    });
    database.users += 1;
    try {
      const answer = await this.#onCore(() => execute(database.instance, query, signal, started));
      return { ...answer, datasets: [...datasets] };
    } catch (error) {
      throw failureOf(error, query, read, this.#memory);
    } finally {
      database.users -= 1;
      this.#closeUnused(database);
    }
  }

  /** Does work that takes one core when one is free for it. */
  async #onCore<T>(work: () => Promise<T>): Promise<T> {
    const leave = await this.#cores.enter();
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** Makes the databases of these datasets, one after the other, so that their first statements need not wait. */
  async prepare(tier: Tier, sources: readonly SqlSource[]): Promise<void> {
    for (const source of sources)
      await this.#fileOf(tier, source).catch((error: Error) =>
        this.#log(`the tables of ${source.dataset} cannot be made: ${error.message}`),
      );
  }

  async #check(sql: string, sources: readonly SqlSource[]): Promise<Set<string>> {
    const names = (ends: readonly string[]) =>
      new Map(sources.flatMap(({ table, dataset }) => ends.map((end) => [table + end, dataset] as const)));
    const allowed = { tables: names(Object.values(TABLES)), macros: names(['_as_of']), system: this.#systemViews };
    const [[serialized] = []] = await rowsOf(this.#parser, 'SELECT json_serialize_sql($1::VARCHAR)::VARCHAR', [
      sql,
    ]).catch(() => {
      throw invalidSql('The statement cannot be parsed.', sql);
    });
    return checkStatement(sql, String(serialized), allowed);
  }

  /** An instance with the databases of these datasets. */
  async #database(tier: Tier, read: readonly SqlSource[], seconds: number): Promise<Database> {
    const ready = Promise.all(read.map((source) => this.#fileOf(tier, source)));
    const waiting = new AbortController();
    const made = await Promise.race([
      ready.then(() => true),
      sleep(seconds * 1000, false, { signal: waiting.signal }).catch(() => false),
    ]).finally(() => waiting.abort());
    if (!made) {
      ready.catch(() => {});
      const names = read.map(({ dataset }) => dataset).join(', ');
      throw new DataError('unavailable', `The tables of ${names} are being made.`, undefined, MAKING_RETRY);
    }
    const opened = this.#opening.then(() => this.#open(tier, read));
    this.#opening = opened.catch(() => {});
    return opened;
  }

  async #open(tier: Tier, read: readonly SqlSource[]): Promise<Database> {
    const current = this.#databases.get(tier);
    if (current && read.every((source) => isSame(current.sources.get(source.dataset), source))) return current;
    const kept = [...(current?.sources.values() ?? [])].filter((source) => existsSync(this.#pathOf(tier, source)));
    const sources = new Map([...kept, ...read].map((source) => [source.dataset, source]));
    // The memory of the process is that of one instance.
    for (const [other, database] of this.#databases)
      if (other !== tier && database.users === 0) {
        this.#databases.delete(other);
        database.instance.closeSync();
      }
    const instance = await DuckDBInstance.create(':memory:', { ...SETTINGS, memory_limit: bytes(this.#memory) });
    await rowsOf(instance, `CREATE SCHEMA internal; ${DISTANCE}`);
    for (const source of sources.values()) await attach(instance, this.#pathOf(tier, source), source);
    await rowsOf(instance, LOCK);
    const database = { instance, sources, users: 0 };
    this.#databases.set(tier, database);
    if (current) this.#closeUnused(current);
    return database;
  }

  #closeUnused(database: Database): void {
    if (database.users === 0 && ![...this.#databases.values()].includes(database)) database.instance.closeSync();
  }

  #pathOf(tier: Tier, source: SqlSource): string {
    const content = hash('sha256', JSON.stringify([source.columns, source.queries]), 'hex').slice(0, 8);
    return join(this.#folder, `${tier}-${source.dataset}-${source.release}-${content}.duckdb`);
  }

  /** Makes the database of a release if it does not exist. */
  #fileOf(tier: Tier, source: SqlSource): Promise<void> {
    const path = this.#pathOf(tier, source);
    if (existsSync(path)) return Promise.resolve();
    let making = this.#making.get(path);
    if (making === undefined) {
      making = this.#make(path, tier, source).finally(() => this.#making.delete(path));
      this.#making.set(path, making);
    }
    return making;
  }

  async #make(path: string, tier: Tier, source: SqlSource): Promise<void> {
    const unfinished = temporaryPath(path);
    const settings = { ...SETTINGS, memory_limit: bytes(this.#memory), temp_directory: `${unfinished}.spill` };
    try {
      await this.#onCore(() => writeTables(unfinished, settings, source));
      await rename(unfinished, path);
    } finally {
      for (const end of ['', '.wal', '.spill']) await rm(unfinished + end, { recursive: true, force: true });
    }
    await this.#removeOld(new RegExp(`^${tier}-${source.dataset}-[0-9a-f]{16}-[0-9a-f]{8}\\.duckdb$`));
  }

  /** Removes all but the newest two files of a dataset: threads switch to a new release one after the other. */
  async #removeOld(name: RegExp): Promise<void> {
    const files = (await readdir(this.#folder))
      .filter((file) => name.test(file))
      .map((file) => join(this.#folder, file));
    const dated = await Promise.all(files.map(async (path) => ({ path, at: (await stat(path)).mtimeMs })));
    for (const { path } of dated.sort((a, b) => b.at - a.at).slice(2)) await rm(path, { force: true });
  }

  close(): void {
    for (const { instance } of this.#databases.values()) instance.closeSync();
    this.#parser.closeSync();
  }
}

const bytes = (memory: number) => `${Math.floor(memory / 1024)}KiB`;

const isSame = (attached: SqlSource | undefined, source: SqlSource) =>
  attached !== undefined &&
  attached.tag === source.tag &&
  JSON.stringify([attached.columns, attached.queries]) === JSON.stringify([source.columns, source.queries]);

/** Runs a statement, which is interrupted after its time or by `signal`. */
async function execute(
  instance: DuckDBInstance,
  query: SqlQuery,
  signal: AbortSignal,
  started: () => void,
): Promise<Omit<SqlAnswer, 'datasets'>> {
  const connection = await instance.connect();
  let late = false;
  const interrupt = () => connection.interrupt();
  const timer = setTimeout(() => {
    late = true;
    interrupt();
  }, query.seconds * 1000);
  signal.addEventListener('abort', interrupt, { once: true });
  try {
    started();
    if (signal.aborted) throw new Error('aborted while it waited');
    const statement = await connection.prepare(query.sql);
    bind(statement, query);
    return await readRows(statement, query);
  } catch (error) {
    if (signal.aborted) throw new DataError('unavailable', 'The statement was cancelled.');
    throw late ? timeoutError(query.seconds) : error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', interrupt);
    connection.closeSync();
  }
}

/** Writes the database of a release to a file. */
async function writeTables(
  path: string,
  settings: Record<string, string>,
  { columns, queries }: SqlSource,
): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:', settings);
  try {
    await rowsOf(instance, `ATTACH ${quotedText(path)} AS made`);
    for (const kind of KINDS) {
      const names = Object.keys(columns[kind]).map(quotedIdentifier);
      const types = Object.entries(columns[kind]).map(([name, type]) => `NULL::${type} AS ${quotedIdentifier(name)}`);
      // Releases of earlier versions of a pack lack columns.
      const rows = `(${queries[kind]}) UNION ALL BY NAME SELECT ${types.join(', ')} WHERE false`;
      await rowsOf(instance, `CREATE TABLE made.${kind} AS SELECT ${names.join(', ')} FROM (${rows})`);
    }
    await rowsOf(instance, 'CHECKPOINT made; DETACH made');
  } finally {
    instance.closeSync();
  }
}

/** Attaches the database of a dataset and creates its views, without the records that the overlay removed or changed. */
async function attach(
  instance: DuckDBInstance,
  path: string,
  { table, columns, past, overlay }: SqlSource,
): Promise<void> {
  const file = quotedIdentifier(`file_${table}`);
  await rowsOf(instance, `ATTACH ${quotedText(path)} AS ${file} (READ_ONLY)`);
  const hidden = `internal.${quotedIdentifier(`${table}_hidden`)}`;
  if (overlay !== null)
    await rowsOf(instance, `CREATE TABLE ${hidden} AS SELECT unnest(from_json($1, '["VARCHAR"]')) AS id`, [
      overlay.hidden,
    ]);
  for (const kind of KINDS) {
    const [id = ''] = Object.keys(columns[kind]);
    const view = quotedIdentifier(table + TABLES[kind]);
    if (overlay === null) {
      await rowsOf(instance, `CREATE VIEW ${view} AS SELECT * FROM ${file}.${kind}`);
      continue;
    }
    const changed = `internal.${quotedIdentifier(`${table}_${kind}`)}`;
    const rows = fromJsonRows('$1', columns[kind]);
    await rowsOf(instance, `CREATE TABLE ${changed} AS ${rows}`, [overlay.rows[kind]]);
    await rowsOf(
      instance,
      `CREATE VIEW ${view} AS SELECT * FROM ${file}.${kind} WHERE ${quotedIdentifier(id)} NOT IN (SELECT id FROM ${hidden}) UNION ALL BY NAME SELECT * FROM ${changed}`,
    );
  }
  await rowsOf(instance, `CREATE MACRO ${quotedIdentifier(`${table}_as_of`)}("time") AS TABLE ${past}`);
}

async function rowsOf(instance: DuckDBInstance, sql: string, values?: string[]): Promise<unknown[][]> {
  const connection = await instance.connect();
  try {
    return (await connection.runAndReadAll(sql, values)).getRows();
  } finally {
    connection.closeSync();
  }
}

function bind(statement: DuckDBPreparedStatement, { sql, parameters }: SqlQuery): void {
  for (let place = 1; place <= statement.parameterCount; place += 1) {
    const name = statement.parameterName(place);
    const value = Array.isArray(parameters)
      ? (parameters[Number(name) - 1] as SqlParameter | undefined)
      : (parameters as Record<string, SqlParameter>)[name];
    if (value === undefined) throw invalidSql(`The parameter ${name.slice(0, 40)} has no value.`, sql);
    if (value === null) statement.bindNull(place);
    else if (typeof value === 'object') {
      const type = itemType(value);
      const items = value.map((item) => (type === BIGINT && item !== null ? BigInt(item) : item));
      statement.bindList(place, new DuckDBListValue(items), LIST(type));
    } else if (Number.isSafeInteger(value) && Math.abs(value as number) >= 2 ** 31)
      statement.bindBigInt(place, BigInt(value as number));
    else statement.bindValue(place, value);
  }
}

function itemType(items: readonly Scalar[]): DuckDBType {
  const numbers = items.filter((item) => typeof item === 'number');
  if (numbers.length === 0) return VARCHAR;
  return numbers.every(Number.isSafeInteger) ? BIGINT : DOUBLE;
}

async function readRows(statement: DuckDBPreparedStatement, query: SqlQuery): Promise<Omit<SqlAnswer, 'datasets'>> {
  const { sql, max_rows, form } = query;
  const result = await statement.stream();
  const names = result.deduplicatedColumnNames();
  const columns = result.columnTypes().map((type, i) => ({ name: names[i]!, type: String(type) }));
  const lines: string[] = [];
  let size = 0;
  let truncated = false;
  for (
    let chunk = await result.fetchChunk();
    chunk && chunk.rowCount > 0 && !truncated;
    chunk = await result.fetchChunk()
  )
    for (let row = 0; row < chunk.rowCount; row += 1) {
      truncated = lines.length === max_rows;
      if (truncated) break;
      const line = ROW_FORMS[form].row(names, chunk.getRowValues(row));
      size += line.length;
      if (size > ANSWER_BYTES)
        throw invalidSql(`The answer is longer than ${ANSWER_BYTES / 2 ** 20} MB; select fewer columns or rows.`, sql);
      lines.push(line);
    }
  const rows = Buffer.from(ROW_FORMS[form].whole(names, lines));
  return { columns, rows, row_count: lines.length, truncated };
}

/** Whether the allocator failed; over its own limit, DuckDB fails with other messages. */
const isAllocationFailure = (error: unknown) => /Allocation failure|bad.?alloc/.test((error as Error).message);

const timeoutError = (seconds: number) =>
  new DataError(
    'query_timeout',
    `The statement took longer than ${seconds} s. Filter earlier, join on equal keys, or read fewer rows.`,
  );

/** Details of an error of DuckDB with `errors_as_json`. */
interface DuckError {
  exception_type?: string;
  exception_message?: string;
  error_subtype?: string;
  position?: string;
  name?: string;
}

/** Types of errors about values, whose messages contain them. */
const OF_VALUES = [
  'Conversion',
  'Out of Range',
  'Invalid Input',
  'Mismatch Type',
  'Decimal',
  'Divide by Zero',
  'Constraint',
];
/** Types of errors about names and types in the statement. */
const OF_STATEMENT = [
  'Binder',
  'Catalog',
  'Parser',
  'Syntax',
  'Expression',
  'Not implemented',
  'Parameter Not Resolved',
];

/** The error of a statement in our own words, since messages of DuckDB contain values and paths. */
function failureOf(error: unknown, { sql }: SqlQuery, read: readonly SqlSource[], memory: number): unknown {
  if (error instanceof DataError) return error;
  const { exception_type: type = '', exception_message = '', error_subtype, position, name = '' } = parseError(error);
  const fail = (message: string, nearest?: string) => invalidSql(message, sql, position, nearest);
  if (type === 'Out of Memory' || isAllocationFailure(error))
    return fail(
      `The statement needs more than ${memory / 2 ** 20} MB; select fewer columns, or group and limit earlier.`,
    );
  if (OF_VALUES.includes(type))
    return fail('A value has the wrong form or is out of range; TRY_CAST returns NULL for it.');
  if (error_subtype === 'COLUMN_NOT_FOUND') {
    const names = [...new Set(read.flatMap(({ columns }) => KINDS.flatMap((kind) => Object.keys(columns[kind]))))];
    const [nearest] = closestNames(name, names);
    return fail('There is no such column.', nearest && writtenName(nearest));
  }
  if (error_subtype === 'NO_MATCHING_FUNCTION')
    return fail('The function does not take these types; CAST its arguments.');
  if (exception_message.includes('GROUP BY')) return fail('A column outside of aggregates must be in GROUP BY.');
  if (exception_message.includes('mbiguous')) return fail('Several tables have this column: write <table>.<column>.');
  if (OF_STATEMENT.includes(type)) return fail('The names or types here do not fit together.');
  if (type === 'INTERNAL' || type === 'FATAL') return error;
  return fail('The statement cannot be run.');
}

function parseError(error: unknown): DuckError {
  const text = error instanceof Error ? error.message : String(error);
  try {
    return JSON.parse(text.slice(text.indexOf('{'))) as DuckError;
  } catch {
    return {};
  }
}
