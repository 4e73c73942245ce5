// DuckDB in a worker of this page, over one database file fetched from this host. It can reach nothing else.
import * as duckdb from '@duckdb/duckdb-wasm';
import workerUrl from '@duckdb/duckdb-wasm/dist/duckdb-browser-eh.worker.js?url';
import wasmUrl from '@duckdb/duckdb-wasm/dist/duckdb-eh.wasm?url';
import { printCell } from './cells.ts';

/** Told how far a file is: bytes so far, and in all (0: unknown). */
type Told = (what: 'engine' | 'data', done: number, of: number) => void;

export interface Answer {
  columns: { name: string; type: string }[];
  /** What each cell prints; null is no value. */
  rows: (string | null)[][];
  /** There were more rows than were asked for. */
  more: boolean;
}

export interface Engine {
  version: string;
  /** Runs statements; rows of the last one, at most so many. Throws what DuckDB says. */
  ask(sql: string, most: number): Promise<Answer>;
  /** Ends the query that runs, if one does. */
  stop(): Promise<void>;
}

/** A page of the file may be asked for by nobody but this table, and no statement may change that. */
const LOCKED = [
  "ATTACH 'public.duckdb' AS register (READ_ONLY)",
  'USE register',
  'SET autoinstall_known_extensions = false',
  'SET autoload_known_extensions = false',
  'SET enable_external_access = false',
  'SET lock_configuration = true',
];

/** Fetches the engine and the file, and opens it. Throws where one of them cannot be had. */
export async function openEngine(file: string, told: Told): Promise<Engine> {
  const worker = new Worker(new URL(workerUrl, location.href));
  const db = new duckdb.AsyncDuckDB(new duckdb.VoidLogger(), worker);
  const [bytes] = await Promise.all([
    fetched(file, (done, of) => told('data', done, of)),
    db.instantiate(new URL(wasmUrl, location.href).href, null, ({ bytesLoaded, bytesTotal }) =>
      told('engine', bytesLoaded, bytesTotal),
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
      const rows: Answer['rows'] = [];
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

async function fetched(url: string, told: (done: number, of: number) => void): Promise<Uint8Array> {
  const response = await fetch(url);
  if (!response.ok || response.body === null) throw new Error(`the data answered ${response.status}`);
  const of = response.headers.has('content-encoding') ? 0 : Number(response.headers.get('content-length') ?? 0);
  const pieces: Uint8Array[] = [];
  let done = 0;
  for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
    pieces.push(piece);
    done += piece.length;
    told(done, of);
  }
  const bytes = new Uint8Array(done);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
