// Reads the rows of a query from PostgreSQL by a cursor, in a read-only transaction.
import { createHash } from 'node:crypto';
import pg from 'pg';
import { parseJson } from '../../packs/define/digits.ts';
import { nearestName } from '../../packs/define/mistakes.ts';
import type { DeclaredAs } from '../../packs/define/sources.ts';
import { type ColumnPath, finiteOrText, numberOrText, pathsOf, valueAt } from './json-values.ts';
import type { Mark, RawRow, SourceContext, SourceVersion } from './reader.ts';

type Parse = (text: string) => unknown;

/** The elements of an array's text, as texts. */
const elements = pg.types.getTypeParser(1009 as never, 'text') as (text: string) => unknown[];

/** Parses an array's text; null elements stay null. */
const listOf =
  (parse: Parse): Parse =>
  (text) =>
    elements(text).map((element) => (typeof element === 'string' ? parse(element) : element));

const asText: Parse = (text) => text;
const float: Parse = (text) => finiteOrText(Number(text));
/** `2026-01-02 03:04:05.678+00`: the time zone of the session is UTC. */
const isoTimestamp: Parse = (text) => text.replace(' ', 'T').replace(/\+00$/, 'Z');
const special =
  (parse: Parse): Parse =>
  (text) =>
    /infinity|BC/.test(text) ? text : parse(text);
const timestamp = special(isoTimestamp);

/** Parsers by object id (`pg_type.oid`); the ids of built-in types never change. Others are texts. */
const PARSERS: ReadonlyMap<number, Parse> = new Map<number, Parse>([
  [16, (text) => text === 't'], // boolean
  [17, (text) => Uint8Array.from(Buffer.from(text.slice(2), 'hex'))], // bytea: \x and hex digits
  [20, numberOrText], // int8
  [21, Number], // int2
  [23, Number], // int4
  [26, Number], // oid
  [114, parseJson], // json
  [700, float], // float4
  [701, float], // float8
  [1114, timestamp],
  [1184, timestamp], // timestamp with time zone
  [1700, numberOrText], // numeric
  [3802, parseJson], // jsonb
  [1000, listOf((text) => text === 't')],
  [1002, listOf(asText)], // char
  [1003, listOf(asText)], // name
  [1005, listOf(Number)],
  [1007, listOf(Number)],
  [1009, listOf(asText)], // text
  [1014, listOf(asText)], // bpchar
  [1015, listOf(asText)], // varchar
  [1016, listOf(numberOrText)],
  [1021, listOf(float)],
  [1022, listOf(float)],
  [1115, listOf(timestamp)],
  [1182, listOf(asText)], // date
  [1185, listOf(timestamp)],
  [1231, listOf(numberOrText)],
  [2951, listOf(asText)], // uuid
]);

/** Parsers of one connection; those of `pg` are shared by the process and depend on its time zone. */
const cellTypes: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number) => PARSERS.get(oid) ?? asText) as pg.CustomTypesConfig['getTypeParser'],
};

type Declared = DeclaredAs<'postgres'>;

/** Rows of one round trip. */
const BATCH = 5_000;
/** Milliseconds until a connection must be open. */
const CONNECT = 15_000;

/**
 * The version of a query: its rows now. With `cursor`, those with a greater value than in the last run with the
 * same query, and no version when there are none. A row that is committed late with a smaller value is not found.
 */
export async function* readPostgres(declared: Declared, context: SourceContext): AsyncGenerator<SourceVersion> {
  const session = await Session.open(declared, context);
  try {
    const observed_at = await session.begin();
    const columns = await session.columns();
    const reading = new CursorReading(declared, columns, context, session);
    const first = await reading.open();
    if (first.length === 0 && reading.last !== null) return;
    const names = columns.map(({ name }) => name);
    const paths = pathsOf(names, context.wanted);
    yield {
      name: 'query',
      observed_at,
      columns: [...names, ...paths.map(({ path }) => path)],
      rows: reading.rows(first, paths),
      mark: () => reading.mark(observed_at),
    };
  } finally {
    await session.close();
  }
}

/** A column of the result: its name and the object id of its type. */
interface Column {
  name: string;
  type: number;
}

/** A connection whose errors contain no secret. */
class Session {
  readonly #client: pg.Client;
  readonly #declared: Declared;
  readonly #hide: (text: string) => string;
  /** The query without a semicolon at its end. */
  readonly query: string;

  private constructor(client: pg.Client, declared: Declared, hide: (text: string) => string) {
    this.#client = client;
    this.#declared = declared;
    this.#hide = hide;
    this.query = declared.query.replace(/[\s;]+$/, '');
    // A lost connection also fails the statement that waits for it.
    client.on('error', () => {});
  }

  static async open(declared: Declared, { environment, timeout }: SourceContext): Promise<Session> {
    const { url_env } = declared;
    const address = environment(url_env, 'url_env');
    const url = URL.parse(address);
    if (url === null || !/^postgres(ql)?:$/.test(url.protocol))
      throw new Error(`${url_env} must be an address like postgres://user:password@host:5432/database`);
    const hide = withoutSecrets(url);
    let client: pg.Client;
    try {
      const application_name = 'dataset-register';
      client = new pg.Client({
        connectionString: address,
        types: cellTypes,
        connectionTimeoutMillis: CONNECT,
        keepAlive: true,
        ...(timeout === undefined ? {} : { query_timeout: timeout }),
        application_name,
      });
      await client.connect();
    } catch (error) {
      throw new Error(`PostgreSQL at ${url_env} (${url.host}) cannot be reached: ${hide(messageOf(error))}`);
    }
    return new Session(client, declared, hide);
  }

  /** Begins a transaction that sees one state of the database; returns its time. */
  async begin(): Promise<Date> {
    await this.run(
      "SET timezone = 'UTC'; SET datestyle = 'ISO, YMD'; SET intervalstyle = 'iso_8601'; SET bytea_output = 'hex'",
    );
    await this.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const { rows } = await this.run('SELECT now()');
    return new Date(String(rows[0]![0]));
  }

  /** The columns of the query, which is not run for this. */
  async columns(): Promise<Column[]> {
    const { fields } = await this.run(`SELECT * FROM (${this.query}\n) AS source LIMIT 0`);
    const columns = fields.map(({ name, dataTypeID }) => ({ name, type: dataTypeID }));
    const repeated = columns.find(({ name }, i) => columns.findIndex((column) => column.name === name) < i);
    if (repeated !== undefined) throw new Error(`the query returns two columns '${repeated.name}'; rename one with AS`);
    return columns;
  }

  /** Runs a statement. Throws with the position in the declared query, if the error is there. */
  async run(text: string, values: unknown[] = []): Promise<pg.QueryArrayResult<unknown[]>> {
    try {
      return await this.#client.query({ text, values, rowMode: 'array' });
    } catch (error) {
      const { code, hint, position } = error as pg.DatabaseError;
      const details = [code === undefined ? '' : ` (${code})`, hint ? `; ${hint}` : ''].join('');
      throw new Error(this.#hide(`${this.#place(text, Number(position))}${messageOf(error)}${details}`));
    }
  }

  /** `query line 2, column 5: ` for a position in the text of a statement that contains the query. */
  #place(text: string, position: number): string {
    const { url_env } = this.#declared;
    const offset = position - 1 - text.indexOf(this.query);
    if (!(offset >= 0 && offset <= this.query.length)) return `PostgreSQL at ${url_env}: `;
    const lines = this.query.slice(0, offset).split('\n');
    return `query line ${lines.length}, column ${lines.at(-1)!.length + 1}: `;
  }

  /** Ends the connection; the transaction is rolled back. */
  async close(): Promise<void> {
    await this.#client.end().catch(() => {});
  }
}

/** Reads all rows, or those beyond the last value of the cursor column. */
class CursorReading {
  readonly #declared: Declared;
  readonly #columns: readonly Column[];
  readonly #context: SourceContext;
  readonly #session: Session;
  /** Position of the cursor column; -1: none is declared. */
  readonly #at: number;
  /** The greatest value that earlier runs read, or null. */
  readonly last: string | null;
  #greatest: string | null;

  constructor(declared: Declared, columns: readonly Column[], context: SourceContext, session: Session) {
    this.#declared = declared;
    this.#columns = columns;
    this.#context = context;
    this.#session = session;
    const { cursor } = declared;
    const names = columns.map(({ name }) => name);
    this.#at = cursor === undefined ? -1 : names.indexOf(cursor);
    if (cursor !== undefined && this.#at < 0) {
      const near = nearestName(cursor, names);
      const hint = near === undefined ? '' : `; nearest: ${near}`;
      throw new Error(`the query returns no column ${cursor} (cursor): its columns are ${names.join(', ')}${hint}`);
    }
    const id = queryId(declared);
    const last = context.marks.findLast((mark) => mark['query'] === id && mark['column'] === cursor);
    this.last = typeof last?.['cursor'] === 'string' ? last['cursor'] : null;
    this.#greatest = this.last;
  }

  /** Opens the cursor of the database and returns the first rows. */
  async open(): Promise<unknown[][]> {
    await this.#declareCursor();
    return this.#fetch();
  }

  async #declareCursor(): Promise<void> {
    const declare = 'DECLARE source_rows NO SCROLL CURSOR FOR ';
    const { query } = this.#session;
    if (this.#at < 0) return void (await this.#session.run(`${declare}${query}`));
    const { name, type } = this.#columns[this.#at]!;
    const column = `source.${pg.escapeIdentifier(name)}`;
    const all = `SELECT * FROM (${query}\n) AS source`;
    if (this.last === null) return void (await this.#session.run(`${declare}${all} ORDER BY ${column}`));
    const { rows } = await this.#session.run('SELECT format_type($1, NULL)', [type]);
    const value = `${pg.escapeLiteral(this.last)}::${String(rows[0]![0])}`;
    await this.#session.run(`${declare}${all} WHERE ${column} > ${value} ORDER BY ${column}`);
  }

  async #fetch(): Promise<unknown[][]> {
    return (await this.#session.run(`FETCH ${BATCH} FROM source_rows`)).rows;
  }

  async *rows(first: unknown[][], paths: readonly ColumnPath[]): AsyncGenerator<RawRow> {
    let line = 0;
    for (let batch = first; batch.length > 0; batch = batch.length < BATCH ? [] : await this.#fetch()) {
      for (const cells of batch) {
        // Rows are in the order of the cursor column; rows without a value are last.
        const value = this.#at < 0 ? null : cells[this.#at];
        if (value !== null) this.#greatest = String(value);
        // A jsonb column is an object, of which the pack reads members.
        for (const { column, member } of paths) cells.push(valueAt(cells[column], member));
        yield { line: ++line, cells };
      }
      this.#context.progress(line, null, 'rows of the query');
    }
  }

  mark(read_at: Date): Mark {
    const { cursor } = this.#declared;
    if (cursor === undefined) return { read_at: read_at.toISOString() };
    return { query: queryId(this.#declared), column: cursor, cursor: this.#greatest };
  }
}

/** A changed query has other rows: it is read from the start. */
const queryId = ({ query }: Declared) => createHash('sha256').update(query).digest('hex').slice(0, 16);

/** Removes the password of an address from messages. */
function withoutSecrets({ password, searchParams }: URL): (text: string) => string {
  const secrets = [password, decode(password), searchParams.get('password') ?? ''].filter((secret) => secret !== '');
  return (text) => secrets.reduce((cleaned, secret) => cleaned.replaceAll(secret, '***'), text);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A message; several addresses of a host fail as an AggregateError without one. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ');
  return (error as Error).message;
}
