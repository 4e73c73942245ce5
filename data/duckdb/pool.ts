// Runs statements on one locked instance: a few connections, prepared statements, a time limit, abort.

import {
  BIGINT,
  BOOLEAN,
  DOUBLE,
  type DuckDBConnection,
  type DuckDBInstance,
  type DuckDBPreparedStatement,
  type DuckDBType,
  VARCHAR,
} from '@duckdb/node-api';
import { BoundedCache } from '../model/bounded-cache.ts';
import { DataError } from '../model/errors.ts';
import type { QueryOptions } from '../plan/plan.ts';
import { abortedError, type QueryQueue } from '../plan/query-queue.ts';
import { nextTurn } from '../plan/slices.ts';
import type { Sql, SqlValue } from '../plan/sql.ts';

export type ResultRows = unknown[][];

/** Prepared statements cached per connection. */
const PREPARED = 64;

interface Seat {
  connection: DuckDBConnection;
  prepared: BoundedCache<string, DuckDBPreparedStatement>;
}

function typeOf(value: SqlValue): DuckDBType {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BIGINT : DOUBLE;
  return typeof value === 'boolean' ? BOOLEAN : VARCHAR;
}

/** Rows converted in one turn of the event loop: about 2 ms. */
const ROWS_A_SLICE = 500;

/** All rows of a statement. */
async function rowsOf(prepared: DuckDBPreparedStatement): Promise<ResultRows> {
  const result = await prepared.run();
  const rows: ResultRows = [];
  for (let chunk = await result.fetchChunk(); chunk && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
    for (let row = 0; row < chunk.rowCount; row += 1) {
      if (rows.length > 0 && rows.length % ROWS_A_SLICE === 0) await nextTurn();
      rows.push(chunk.getRowValues(row));
    }
  }
  return rows;
}

/** Runs the statements of queries on an instance. */
export class Pool {
  readonly #instance: DuckDBInstance;
  readonly #queue: QueryQueue;
  readonly #milliseconds: number;
  readonly #connect: () => Promise<DuckDBConnection>;
  readonly #free: Seat[] = [];
  readonly #busy = new Set<Seat>();
  /** Running statements, for `close` to wait for. */
  readonly #running = new Set<Promise<unknown>>();
  #closed = false;

  /** `milliseconds` limits each statement, the queue how many run in parallel; `connect` opens its connections. */
  constructor(instance: DuckDBInstance, queue: QueryQueue, milliseconds: number, connect = () => instance.connect()) {
    this.#instance = instance;
    this.#queue = queue;
    this.#milliseconds = milliseconds;
    this.#connect = connect;
  }

  /** All rows of one statement. Throws `query_timeout` and `unavailable`; other errors are bugs. */
  ask(statement: Sql, options: QueryOptions = {}): Promise<ResultRows> {
    return this.#closed ? Promise.reject(abortedError()) : this.#noted(this.#run(statement, options));
  }

  /** Runs a statement that creates or drops tables for queries, without queue and time limit. */
  alter(statement: Sql): Promise<ResultRows> {
    return this.#closed ? Promise.reject(abortedError()) : this.#noted(this.#alter(statement));
  }

  /** Interrupts running statements, waits for them, and frees the instance. Later queries throw `unavailable`. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { connection } of this.#busy) connection.interrupt();
    await Promise.all(this.#running);
    for (const { connection, prepared } of this.#free.splice(0)) {
      prepared.clear();
      connection.closeSync();
    }
    this.#instance.closeSync();
  }

  #noted(answer: Promise<ResultRows>): Promise<ResultRows> {
    const settled = answer.then(
      () => {},
      () => {},
    );
    this.#running.add(settled);
    void settled.then(() => this.#running.delete(settled));
    return answer;
  }

  async #run(statement: Sql, { signal, visibility, holder }: QueryOptions): Promise<ResultRows> {
    const leave = await this.#queue.enter(signal, { preferred: visibility !== 'public', holder });
    let seat: Seat | null = null;
    let late = false;
    const interrupt = () => seat?.connection.interrupt();
    const timer = setTimeout(() => {
      late = true;
      interrupt();
    }, this.#milliseconds);
    signal?.addEventListener('abort', interrupt, { once: true });
    try {
      if (this.#closed) throw abortedError();
      seat = await this.#take();
      const prepared = await prepare(seat, statement.text);
      prepared.bind([...statement.values], statement.values.map(typeOf));
      if (signal?.aborted || this.#closed) throw abortedError();
      if (late) throw tooLong();
      return await rowsOf(prepared);
    } catch (error) {
      throw explain(error, late, signal?.aborted === true || this.#closed);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', interrupt);
      if (seat) this.#give(seat);
      leave();
    }
  }

  async #alter(statement: Sql): Promise<ResultRows> {
    const seat = await this.#take();
    try {
      if (this.#closed) throw abortedError();
      const prepared = await seat.connection.prepare(statement.text);
      prepared.bind([...statement.values], statement.values.map(typeOf));
      const rows = (await prepared.runAndReadAll()).getRows();
      prepared.destroySync();
      return rows;
    } catch (error) {
      throw explain(error, false, this.#closed);
    } finally {
      this.#give(seat);
    }
  }

  async #take(): Promise<Seat> {
    const seat = this.#free.pop() ?? { connection: await this.#connect(), prepared: newPrepared() };
    this.#busy.add(seat);
    return seat;
  }

  #give(seat: Seat): void {
    this.#busy.delete(seat);
    this.#free.push(seat);
  }
}

const newPrepared = () =>
  new BoundedCache<string, DuckDBPreparedStatement>('prepared statements', {
    most: PREPARED,
    dropped: (statement) => statement.destroySync(),
  });

/** A statement prepared on a connection, which keeps the most recent ones. */
async function prepare({ connection, prepared }: Seat, text: string): Promise<DuckDBPreparedStatement> {
  const existing = prepared.get(text);
  if (existing !== undefined) return existing;
  const statement = await connection.prepare(text);
  prepared.set(text, statement);
  return statement;
}

/** The error for the client; texts of DuckDB are never part of it. */
function explain(error: unknown, late: boolean, abandoned: boolean): unknown {
  const text = error instanceof Error ? error.message : '';
  if (error instanceof DataError) return error;
  if (text.startsWith('INTERRUPT') && late) return tooLong();
  if (text.startsWith('INTERRUPT') && abandoned) return abortedError();
  if (text.startsWith('Out of Memory'))
    return new DataError('unavailable', 'The query needs more memory than one query may use. Narrow it with filters.');
  if (text.startsWith('IO Error') || text.startsWith('Permission Error'))
    return new DataError('unavailable', 'The release of this query was replaced; retry.');
  return error;
}

function tooLong(): DataError {
  return new DataError('query_timeout', 'The query took too long. Narrow it with filters and retry.');
}
