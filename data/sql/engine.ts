// Runs statements over read-only databases that contain exactly the columns of a tier, in DuckDB without access to files,
// settings or extensions. Used by the process of statements alone (data/sql/host.ts).
import { existsSync } from 'node:fs';
import {
  BIGINT,
  DOUBLE,
  DuckDBInstance,
  DuckDBListValue,
  type DuckDBPreparedStatement,
  type DuckDBType,
  HUGEINT,
  LIST,
  VARCHAR,
} from '@duckdb/node-api';
import { quotedIdentifier, quotedText } from '../duckdb/duck.ts';
import { closestNames } from '../input/suggester.ts';
import { DataError } from '../model/errors.ts';
import { EARTH_KM } from '../model/geography.ts';
import { writtenName } from '../write/sql-names.ts';
import { checkStatement, invalidSql } from './check.ts';
import { ROW_FORMS, type SqlForm } from './rows.ts';
import { type SqlSource, TABLE_KINDS, TABLES, type Tier } from './tables.ts';

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
  /** Seconds after its arrival in which it has to be answered. */
  seconds: number;
  /** The datasets that it may read. */
  sources: readonly SqlSource[];
}

/** A statement as the process gets it. */
export interface SqlRun {
  query: Omit<SqlQuery, 'sources'>;
  /** Milliseconds that are left of its time. */
  left: number;
  /** The datasets that it may read; without a path those whose tables cannot be read now. */
  tables: readonly RunTables[];
}

/** The names and columns of a dataset, and the file of its tables. */
export type RunTables = Pick<SqlSource, 'dataset' | 'table' | 'columns' | 'past'> & { path: string | null };

/** The answer, or the datasets whose tables it lacks. */
export type SqlRunAnswer = { answer: SqlAnswer } | { lacks: string[] };

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

/** An answer, and the releases of the tables that were read, by dataset. */
export type SqlReply = SqlAnswer & { releases: Record<string, string> };

/**
 * Milliseconds of processor time after which a statement that was interrupted cannot be: one without processor time
 * may just wait for it.
 */
const STUCK = 800;
/** Milliseconds between two looks at that. */
const LOOK_AT_STUCK = 100;

/** Most bytes of the rows of an answer. */
const ANSWER_BYTES = 8 * 2 ** 20;

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

/** Of the arguments, `least` would ignore one that is missing. */
const DISTANCE = `CREATE MACRO distance_km(lat1, lng1, lat2, lng2) AS CASE WHEN lat1 IS NOT NULL AND lng1 IS NOT NULL AND lat2 IS NOT NULL AND lng2 IS NOT NULL THEN 2 * ${EARTH_KM} * asin(sqrt(least(1, sin(radians(lat2 - lat1) / 2) ** 2 + cos(radians(lat1)) * cos(radians(lat2)) * sin(radians(lng2 - lng1) / 2) ** 2))) END`;

/** An instance with the databases of some datasets, by name of the dataset. */
interface Database {
  instance: DuckDBInstance;
  tables: ReadonlyMap<string, OpenTables>;
  /** Statements that run on it. */
  users: number;
}

type OpenTables = RunTables & { path: string };

/**
 * @example
 * ```ts
 * const statements = await SqlStatements.open(512 * 2 ** 20);
 * const answer = await statements.run(run, new AbortController().signal, () => {});
 * ```
 */
export class SqlStatements {
  readonly #memory: number;
  readonly #parser: DuckDBInstance;
  readonly #systemViews: ReadonlySet<string>;
  readonly #databases = new Map<Tier, Database>();
  /** Instances are opened one after the other. */
  #opening: Promise<unknown> = Promise.resolve();

  private constructor(memory: number, parser: DuckDBInstance, systemViews: ReadonlySet<string>) {
    this.#memory = memory;
    this.#parser = parser;
    this.#systemViews = systemViews;
  }

  /** `memory` is the limit of DuckDB in bytes. */
  static async open(memory: number): Promise<SqlStatements> {
    const parser = await DuckDBInstance.create(':memory:', { ...SETTINGS, memory_limit: '64MiB' });
    const views = await rowsOf(parser, 'SELECT DISTINCT lower(view_name) FROM duckdb_views()');
    await rowsOf(parser, LOCK);
    return new SqlStatements(memory, parser, new Set(views.map(([name]) => String(name))));
  }

  /**
   * Runs one statement. Throws `invalid_sql` and `query_timeout`. Other errors mean that the process must not go on: DuckDB
   * may be damaged, or memory is used up. `stuck` is called when the statement goes on after its interruption.
   */
  async run({ query, tables, left }: SqlRun, signal: AbortSignal, stuck: () => void): Promise<SqlRunAnswer> {
    const end = performance.now() + left;
    const datasets = await this.#check(query.sql, tables);
    const named = tables.filter(({ dataset }) => datasets.has(dataset));
    const read = named.filter((one): one is OpenTables => one.path !== null && existsSync(one.path));
    if (read.length < named.length)
      return { lacks: named.flatMap((one) => (read.includes(one as OpenTables) ? [] : one.dataset)) };
    const opened = this.#opening.then(() => this.#open(query.tier, read));
    this.#opening = opened.catch(() => {});
    const database = await opened.catch((error: Error) => {
      // Removed while it waited or was opened, so that it is not damaged.
      if (read.every(({ path }) => existsSync(path))) throw error;
      return null;
    });
    if (database === null) return { lacks: read.flatMap(({ dataset, path }) => (existsSync(path) ? [] : dataset)) };
    database.users += 1;
    try {
      const answer = await execute(database.instance, query, end - performance.now(), signal, stuck);
      return { answer: { ...answer, datasets: [...datasets] } };
    } catch (error) {
      throw failureOf(error, query, read, this.#memory);
    } finally {
      database.users -= 1;
      this.#closeUnused(database);
    }
  }

  async #check(sql: string, tables: readonly RunTables[]): Promise<Set<string>> {
    const names = (ends: readonly string[]) =>
      new Map(tables.flatMap(({ table, dataset }) => ends.map((end) => [table + end, dataset] as const)));
    const allowed = { tables: names(Object.values(TABLES)), macros: names(['_as_of']), system: this.#systemViews };
    const [[serialized] = []] = await rowsOf(this.#parser, 'SELECT json_serialize_sql($1::VARCHAR)::VARCHAR', [
      sql,
    ]).catch(() => {
      throw invalidSql('The statement cannot be parsed.', sql);
    });
    return checkStatement(sql, String(serialized), allowed);
  }

  /** An instance with these tables. */
  async #open(tier: Tier, read: readonly OpenTables[]): Promise<Database> {
    const current = this.#databases.get(tier);
    if (current && read.every(({ dataset, path }) => current.tables.get(dataset)?.path === path)) return current;
    // A file that is gone has rows that were removed.
    const kept = [...(current?.tables.values() ?? [])].filter(({ path }) => existsSync(path));
    const tables = new Map([...kept, ...read].map((one) => [one.dataset, one]));
    // The memory of the process is that of one instance.
    for (const [other, database] of this.#databases)
      if (other !== tier && database.users === 0) {
        this.#databases.delete(other);
        database.instance.closeSync();
      }
    const instance = await DuckDBInstance.create(':memory:', { ...SETTINGS, memory_limit: bytes(this.#memory) });
    try {
      await rowsOf(instance, DISTANCE);
      for (const one of tables.values()) await attach(instance, one);
      await rowsOf(instance, LOCK);
    } catch (error) {
      instance.closeSync();
      throw error;
    }
    const database = { instance, tables, users: 0 };
    this.#databases.set(tier, database);
    if (current) this.#closeUnused(current);
    return database;
  }

  #closeUnused(database: Database): void {
    if (database.users === 0 && ![...this.#databases.values()].includes(database)) database.instance.closeSync();
  }
}

const bytes = (memory: number) => `${Math.floor(memory / 1024)}KiB`;

/** Runs a statement, which is interrupted after its time or by `signal`. */
async function execute(
  instance: DuckDBInstance,
  query: SqlRun['query'],
  milliseconds: number,
  signal: AbortSignal,
  stuck: () => void,
): Promise<Omit<SqlAnswer, 'datasets'>> {
  const connection = await instance.connect();
  let late = false;
  let watch: NodeJS.Timeout | undefined;
  const interrupt = () => {
    connection.interrupt();
    const from = process.cpuUsage();
    watch ??= setInterval(() => {
      const { user, system } = process.cpuUsage(from);
      if (user + system > STUCK * 1000) stuck();
    }, LOOK_AT_STUCK);
  };
  const timer = setTimeout(() => {
    late = true;
    interrupt();
  }, milliseconds);
  signal.addEventListener('abort', interrupt, { once: true });
  try {
    if (signal.aborted) throw new Error('aborted while it waited');
    const statement = await connection.prepare(query.sql);
    bind(statement, query);
    return await readRows(statement, query);
  } catch (error) {
    if (signal.aborted) throw new DataError('unavailable', 'The statement was cancelled.');
    throw late ? timeoutError(query.seconds) : error;
  } finally {
    clearTimeout(timer);
    clearInterval(watch);
    signal.removeEventListener('abort', interrupt);
    connection.closeSync();
  }
}

/** Attaches the database of a dataset, and creates its views and its macro. */
async function attach(instance: DuckDBInstance, { path, table, past }: OpenTables): Promise<void> {
  const file = quotedIdentifier(`file_${table}`);
  await rowsOf(instance, `ATTACH ${quotedText(path)} AS ${file} (READ_ONLY)`);
  for (const kind of TABLE_KINDS)
    await rowsOf(instance, `CREATE VIEW ${quotedIdentifier(table + TABLES[kind])} AS SELECT * FROM ${file}.${kind}`);
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

function bind(statement: DuckDBPreparedStatement, { sql, parameters }: SqlRun['query']): void {
  const names = Array.from({ length: statement.parameterCount }, (_, i) => statement.parameterName(i + 1));
  const values = new Map<string, SqlParameter>(
    Array.isArray(parameters)
      ? parameters.map((value: SqlParameter, i) => [String(i + 1), value])
      : Object.entries(parameters),
  );
  for (const name of values.keys())
    if (!names.includes(name)) {
      const count = `the statement has ${names.length === 1 ? '1 parameter' : `${names.length} parameters`}`;
      throw invalidSql(`There is no parameter ${name.slice(0, 40)}: ${count}. Send a value for each.`, sql);
    }
  for (const [i, name] of names.entries()) {
    const [place, value] = [i + 1, values.get(name)];
    if (value === undefined) throw invalidSql(`The parameter ${name.slice(0, 40)} has no value.`, sql);
    if (value === null) statement.bindNull(place);
    else if (typeof value === 'object') {
      const type = itemType(value);
      const items = value.map((item) => (isIntegerType(type) && item !== null ? BigInt(item) : item));
      statement.bindList(place, new DuckDBListValue(items), LIST(type));
    } else if (typeof value !== 'number') statement.bindValue(place, value);
    else if (Math.abs(value) < 2 ** 31 || !isIntegerType(itemType([value]))) statement.bindValue(place, value);
    else if (itemType([value]) === BIGINT) statement.bindBigInt(place, BigInt(value));
    else statement.bindHugeInt(place, BigInt(value));
  }
}

const isIntegerType = (type: DuckDBType) => type === BIGINT || type === HUGEINT;

/** The type that holds all numbers exactly: a double above 2^53 is an integer, if it is not too large for every type. */
function itemType(items: readonly Scalar[]): DuckDBType {
  const numbers = items.filter((item) => typeof item === 'number');
  if (numbers.length === 0) return VARCHAR;
  const below = (bound: number) => numbers.every((number) => Number.isInteger(number) && Math.abs(number) < bound);
  return below(2 ** 63) ? BIGINT : below(2 ** 127) ? HUGEINT : DOUBLE;
}

async function readRows(
  statement: DuckDBPreparedStatement,
  query: SqlRun['query'],
): Promise<Omit<SqlAnswer, 'datasets'>> {
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
function failureOf(error: unknown, { sql }: SqlRun['query'], read: readonly RunTables[], memory: number): unknown {
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
    const names = [
      ...new Set(read.flatMap(({ columns }) => TABLE_KINDS.flatMap((kind) => Object.keys(columns[kind])))),
    ];
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
