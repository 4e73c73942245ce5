// DuckDB in a worker, with the database files of one dataset from this host. It cannot access anything else.
import * as duckdb from '@duckdb/duckdb-wasm';
import workerUrl from '@duckdb/duckdb-wasm/dist/duckdb-browser-eh.worker.js?url';
import wasmUrl from '@duckdb/duckdb-wasm/dist/duckdb-eh.wasm?url';
import { writtenName as identifier, writtenText as literal } from '../../data/write/sql-names.ts';
import type { Value } from '../../packs/define/model.ts';
import { type Edits, editedCells, fetchEdits } from '../viewer/edits.ts';
import { cellOf, type ResultColumn, type ResultRow, resultColumn } from './cells.ts';

/** Download progress: the name of the download, bytes so far, and in total (0: unknown). */
export type OnProgress = (what: string, done: number, of: number) => void;

/** A database file, and the view over it that queries use. */
export interface TableFile {
  name: string;
  /** Path of the file, and its size. */
  file: string;
  bytes: number;
  /** The query of the view. */
  view: string;
}

export interface QueryResult {
  columns: ResultColumn[];
  rows: ResultRow[];
  /** Whether there are more rows than requested. */
  more: boolean;
}

/** A result that is read batch by batch. */
export interface ResultStream {
  columns: ResultColumn[];
  batches: AsyncIterable<ResultRow[]>;
}

export interface SqlEngine {
  version: string;
  /** Downloads the files of the tables that a query names, unless it has them. */
  attach(sql: string): Promise<void>;
  /** Runs statements; returns at most `most` rows of the last one. Throws the error of DuckDB. */
  run(sql: string, most: number): Promise<QueryResult>;
  /** Runs statements; all rows of the last one. */
  stream(sql: string): Promise<ResultStream>;
  /** The number of rows of a query; null when it cannot be counted, such as that of several statements. */
  count(sql: string): Promise<number | null>;
  /** Slugs by id or slug, of those texts that are one. */
  slugs(texts: readonly string[]): Promise<Map<string, string>>;
  /** Cancels the running query, if there is one. */
  stop(): Promise<void>;
}

const baseName = (path: string) => path.slice(path.lastIndexOf('/') + 1);

/** Downloads the engine and the first file, and opens the file. Throws when a download fails. */
export async function openDatabase(
  tables: readonly TableFile[],
  keys: { id: string; slug: string },
  onProgress: OnProgress,
  engineBytes: number,
): Promise<SqlEngine> {
  const [records, ...others] = tables as [TableFile, ...TableFile[]];
  onProgress('engine', 0, engineBytes);
  onProgress('data', 0, records.bytes);
  const worker = new Worker(new URL(workerUrl, location.href));
  const db = new duckdb.AsyncDuckDB(new duckdb.VoidLogger(), worker);
  const edits = await fetchEdits(new URL(records.file, location.href).href);
  const [bytes] = await Promise.all([
    download(records, (done, of) => onProgress('data', done, of)),
    // Its total is that of the compressed file.
    db.instantiate(new URL(wasmUrl, location.href).href, null, ({ bytesLoaded }) =>
      onProgress('engine', bytesLoaded, engineBytes),
    ),
  ]);
  await db.open({ path: ':memory:', query: { castDecimalToDouble: true, castBigIntToDouble: false } });
  await db.registerFileBuffer(baseName(records.file), bytes);
  const connection = await db.connect();
  for (const statement of lockedTo(records, others)) await connection.query(statement);
  const [side, version] = [await db.connect(), await db.getVersion()];
  const rows = edits === null ? records.view : editedRows(edits, keys.id, await columnsOf(side));
  // Links to queries of earlier versions name the table `records`.
  for (const name of [records.name, 'records'])
    await connection.query(`CREATE TEMP VIEW ${identifier(name)} AS ${rows}`);
  return new BrowserEngine({ db, connection, side, version, others, keys, edits, onProgress });
}

async function columnsOf(connection: duckdb.AsyncDuckDBConnection): Promise<Map<string, string>> {
  const described = await connection.query('DESCRIBE register.records');
  const rows = described.toArray() as { column_name: string; column_type: string }[];
  return new Map(rows.map(({ column_name, column_type }) => [column_name, column_type]));
}

const listOf = (texts: readonly string[]) => texts.map(literal).join(', ');

/** A condition on ids that leaves out removed records. */
const notRemoved = ({ removed }: Edits, id: string) =>
  removed.length === 0 ? '' : ` WHERE ${identifier(id)} NOT IN (${listOf(removed)})`;

/**
 * The table of records with edited values and without removed records. `types`: the types of the table's columns by name.
 */
function editedRows(edits: Edits, id: string, types: ReadonlyMap<string, string>): string {
  const named = types.has('record.name') ? 'record.name' : 'name';
  const cells = new Map<string, string[]>();
  for (const { id: record, name, values } of edits.records) {
    const flat = Object.entries(values).flatMap(([attribute, value]) => {
      const parts = ['min', 'max', 'lat', 'lng']
        .map((part) => `${attribute}.${part}`)
        .filter((part) => types.has(part));
      return editedCells(attribute, value, types.has(attribute) ? [attribute] : parts);
    });
    if (name !== undefined) flat.push([named, name]);
    for (const [column, value] of flat)
      cells.set(column, [...(cells.get(column) ?? []), `WHEN ${literal(record)} THEN ${sqlValue(value)}`]);
  }
  const replaced = [...cells].map(([column, cases]) => {
    const name = identifier(column);
    return `CAST(CASE ${identifier(id)} ${cases.join(' ')} ELSE ${name} END AS ${types.get(column)}) AS ${name}`;
  });
  const columns = replaced.length === 0 ? '*' : `* REPLACE (${replaced.join(', ')})`;
  return `SELECT ${columns} FROM register.records${notRemoved(edits, id)}`;
}

function sqlValue(value: Value | null): string {
  if (value === null) return 'NULL';
  if (Array.isArray(value)) return `[${listOf(value.map(String))}]`;
  return typeof value === 'string' ? literal(value) : String(value);
}

/** Locks DuckDB, so that no statement can access other files or change the settings. */
function lockedTo(records: TableFile, others: readonly TableFile[]): string[] {
  return [
    `ATTACH ${literal(baseName(records.file))} AS register (READ_ONLY)`,
    'USE register',
    'SET autoinstall_known_extensions = false',
    'SET autoload_known_extensions = false',
    // DuckDB also looks for a log of changes next to a file.
    `SET allowed_paths = [${others
      .flatMap(({ file }) => [file, `${file}.wal`])
      .map((path) => literal(baseName(path)))
      .join(', ')}]`,
    'SET enable_external_access = false',
    'SET lock_configuration = true',
  ];
}

interface EngineParts {
  db: duckdb.AsyncDuckDB;
  connection: duckdb.AsyncDuckDBConnection;
  /** For small queries of the page, while a result is read. */
  side: duckdb.AsyncDuckDBConnection;
  version: string;
  others: readonly TableFile[];
  keys: { id: string; slug: string };
  /** What the files lack; null: nothing. */
  edits: Edits | null;
  onProgress: OnProgress;
}

class BrowserEngine implements SqlEngine {
  readonly version: string;
  readonly #parts: EngineParts;
  readonly #attached = new Map<string, Promise<void>>();

  constructor(parts: EngineParts) {
    this.#parts = parts;
    this.version = parts.version;
  }

  async attach(sql: string): Promise<void> {
    const needed = this.#parts.others.filter(({ name }) => new RegExp(`\\b${name}\\b`, 'i').test(sql));
    await Promise.all(
      needed.map((table) => {
        let attached = this.#attached.get(table.name);
        if (attached === undefined) {
          attached = this.#attach(table).catch((error: unknown) => {
            this.#attached.delete(table.name);
            throw error;
          });
          this.#attached.set(table.name, attached);
        }
        return attached;
      }),
    );
  }

  async #attach({ name, file, bytes: size, view }: TableFile): Promise<void> {
    const path = baseName(file);
    const bytes = await download({ file, bytes: size }, (done, of) => this.#parts.onProgress(name, done, of));
    await this.#parts.db.registerFileBuffer(path, bytes);
    const database = identifier(path.replace(/\..*$/, ''));
    await this.#parts.side.query(`ATTACH IF NOT EXISTS ${literal(path)} AS ${database} (READ_ONLY)`);
    // Rows refer to records by their number in a file of the same night.
    const same = await this.#parts.side.query(
      `SELECT value = (SELECT value FROM ${database}.release WHERE key = 'rows') AS same FROM register.release WHERE key = 'rows'`,
    );
    if (same.getChild('same')?.get(0) !== true)
      throw new Error('The dataset was updated after this page had loaded its records. Reload the page to query both.');
    const { edits, connection } = this.#parts;
    const rows = edits === null ? view : `SELECT * FROM (${view})${notRemoved(edits, 'id')}`;
    await connection.query(`CREATE TEMP VIEW ${identifier(name)} AS ${rows}`);
  }

  async run(sql: string, most: number): Promise<QueryResult> {
    const { columns, batches } = await this.stream(sql);
    const rows: ResultRow[] = [];
    for await (const batch of batches) {
      rows.push(...batch.slice(0, most + 1 - rows.length));
      if (rows.length > most) break;
    }
    const more = rows.length > most;
    if (more) await this.stop();
    return { columns, rows: rows.slice(0, most), more };
  }

  async stream(sql: string): Promise<ResultStream> {
    const reader = await this.#parts.connection.send(sql, true);
    await reader.open();
    const { fields } = reader.schema;
    async function* batches(): AsyncGenerator<ResultRow[]> {
      for await (const batch of reader) {
        const vectors = fields.map((_, at) => batch.getChildAt(at));
        yield Array.from({ length: batch.numRows }, (_, row) =>
          vectors.map((vector, at) => cellOf(vector?.get(row), fields[at]!.type)),
        );
      }
    }
    return { columns: fields.map(resultColumn), batches: batches() };
  }

  async count(sql: string): Promise<number | null> {
    try {
      const counted = await this.#parts.connection.query(
        `SELECT count(*) AS n FROM (\n${sql.replace(/[\s;]+$/, '')}\n)`,
      );
      return Number(counted.getChild('n')?.get(0));
    } catch {
      return null;
    }
  }

  async slugs(texts: readonly string[]): Promise<Map<string, string>> {
    const [id, slug] = [identifier(this.#parts.keys.id), identifier(this.#parts.keys.slug)];
    const list = texts.map(literal).join(', ');
    const answer = await this.#parts.side.query(
      `SELECT ${id} AS id, ${slug} AS slug FROM register.records WHERE ${id} IN (${list}) OR ${slug} IN (${list})`,
    );
    const rows = answer.toArray() as { id: string; slug: string }[];
    return new Map(rows.flatMap(({ id, slug }) => [[id, slug] as const, [slug, slug] as const]));
  }

  async stop(): Promise<void> {
    await this.#parts.connection.cancelSent();
  }
}

/** Downloads a file; `onProgress` receives its unpacked bytes so far, and in total. */
async function download(
  { file: url, bytes: of }: Pick<TableFile, 'file' | 'bytes'>,
  onProgress: (done: number, of: number) => void,
): Promise<Uint8Array> {
  const response = await fetch(url).catch(() => null);
  if (response?.status === 503)
    throw new Error(
      `A record was removed, and ${baseName(url)} is being written again without it. Run the query again in about ${response.headers.get('retry-after') ?? 30} seconds.`,
    );
  if (!response?.ok || response.body === null)
    throw new Error(`${baseName(url)} could not be downloaded. Check the connection, then run the query again.`);
  const pieces: Uint8Array[] = [];
  let done = 0;
  for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
    pieces.push(piece);
    done += piece.length;
    // A file that was written again after a removal has another size than the page says.
    onProgress(done, Math.max(done, of));
  }
  const bytes = new Uint8Array(done);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
