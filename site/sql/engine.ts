// DuckDB in a worker, with one database file from this host. It cannot access anything else.
import * as duckdb from '@duckdb/duckdb-wasm';
import workerUrl from '@duckdb/duckdb-wasm/dist/duckdb-browser-eh.worker.js?url';
import wasmUrl from '@duckdb/duckdb-wasm/dist/duckdb-eh.wasm?url';
import { printCell } from './cells.ts';

/** Download progress: bytes so far, and in total (0: unknown). */
type OnProgress = (what: 'engine' | 'data', done: number, of: number) => void;

export interface QueryResult {
  columns: { name: string; type: string }[];
  /** Printed cells; null: no value. */
  rows: (string | null)[][];
  /** Whether there are more rows than requested. */
  more: boolean;
}

export interface SqlEngine {
  version: string;
  /** Runs statements; returns at most `most` rows of the last one. Throws the error of DuckDB. */
  ask(sql: string, most: number): Promise<QueryResult>;
  /** Cancels the running query, if there is one. */
  stop(): Promise<void>;
}

/** Locks DuckDB, so that no statement can access other files or change the settings. */
const LOCKED = [
  "ATTACH 'public.duckdb' AS register (READ_ONLY)",
  'USE register',
  'SET autoinstall_known_extensions = false',
  'SET autoload_known_extensions = false',
  'SET enable_external_access = false',
  'SET lock_configuration = true',
];

/** Downloads the engine and the file, and opens the file. Throws when a download fails. */
export async function openDatabase(file: string, onProgress: OnProgress): Promise<SqlEngine> {
  const worker = new Worker(new URL(workerUrl, location.href));
  const db = new duckdb.AsyncDuckDB(new duckdb.VoidLogger(), worker);
  const [bytes] = await Promise.all([
    download(file, (done, of) => onProgress('data', done, of)),
    db.instantiate(new URL(wasmUrl, location.href).href, null, ({ bytesLoaded, bytesTotal }) =>
      onProgress('engine', bytesLoaded, bytesTotal),
    ),
  ]);
  await db.open({ path: ':memory:', query: { castDecimalToDouble: true, castBigIntToDouble: false } });
  await db.registerFileBuffer('public.duckdb', bytes);
  const connection = await db.connect();
  for (const statement of LOCKED) await connection.query(statement);
  return {
    version: await db.getVersion(),
    async ask(sql, most) {
      const reader = await connection.send(sql, true);
      await reader.open();
      const { fields } = reader.schema;
      const rows: QueryResult['rows'] = [];
      let more = false;
      for await (const batch of reader) {
        const columns = fields.map((_, at) => batch.getChildAt(at));
        for (let row = 0; row < batch.numRows && !more; row++) {
          if (rows.length === most) more = true;
          else rows.push(columns.map((column, at) => printCell(column?.get(row), fields[at]!.type)));
        }
        if (more) break;
      }
      if (more) await connection.cancelSent();
      return { columns: fields.map(({ name, type }) => ({ name, type: String(type) })), rows, more };
    },
    async stop() {
      await connection.cancelSent();
    },
  };
}

async function download(url: string, onProgress: (done: number, of: number) => void): Promise<Uint8Array> {
  const response = await fetch(url);
  if (!response.ok || response.body === null) throw new Error(`the data answered ${response.status}`);
  const of = response.headers.has('content-encoding') ? 0 : Number(response.headers.get('content-length') ?? 0);
  const pieces: Uint8Array[] = [];
  let done = 0;
  for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
    pieces.push(piece);
    done += piece.length;
    onProgress(done, of);
  }
  const bytes = new Uint8Array(done);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
