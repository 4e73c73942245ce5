// Kysely over PostgreSQL: connections that never wait without end, and are never used again in an unknown state.
import { PostgresDialect, type PostgresPoolClient } from 'kysely';
import pg from 'pg';
import { type StoreHealth, StoreUnavailable } from './failures.ts';

// PostgreSQL returns bigint as text; micro-euros and milliseconds stay far below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, (text) => {
  const number = Number(text);
  if (!Number.isSafeInteger(number)) throw new RangeError(`${text} is not an exact integer in JavaScript`);
  return number;
});

/** Milliseconds until a connection must be open, or one of the pool free: for a call, and for a start or a command. */
const CONNECT = { call: 3_000, other: 15_000 };
/** Milliseconds after which the server ends a transaction whose client is silent, with its locks. */
const IDLE_TRANSACTION = 60_000;
/** The server's own time limit as a share of ours: it ends the statement and leaves the connection usable. */
const SERVER_SHARE = 0.9;

/**
 * The dialect of a database. A commit waits for the disk, whatever the server's default. A statement that is not
 * answered within `limit` milliseconds (absent: no limit) fails with StoreUnavailable.
 */
export function postgresDialect(
  url: string,
  { schema, limit, health }: { schema?: string | undefined; limit?: number | undefined; health: StoreHealth },
): PostgresDialect {
  const path = schema ? ` -c search_path=${schema}` : '';
  const pool = new pg.Pool({
    connectionString: url,
    max: 10,
    options: `-c synchronous_commit=on${path}`,
    keepAlive: true,
    connectionTimeoutMillis: limit === undefined ? CONNECT.other : CONNECT.call,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION,
    ...(limit === undefined ? {} : { query_timeout: limit, statement_timeout: Math.ceil(limit * SERVER_SHARE) }),
  });
  // The server may end connections at any time; unheard, the error event would end this process. Idle
  // connections emit it on the pool, others on themselves. The running query fails; the pool reconnects.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return new PostgresDialect({
    pool: { connect: () => connect(pool, health), end: () => pool.end(), options: pool.options },
  });
}

/** Names of statements in their results: those that change rows, and those that begin a transaction. */
const WRITES: ReadonlySet<string> = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);
const BEGINNINGS: ReadonlySet<string> = new Set(['BEGIN', 'START']);

/** A connection of the pool. It is closed, not returned, after an error that the server did not send. */
async function connect(pool: pg.Pool, health: StoreHealth): Promise<PostgresPoolClient> {
  const client = await pool.connect().catch((error: unknown) => {
    throw health.failed(unanswered(error));
  });
  let broken: StoreUnavailable | null = null;
  let inTransaction = false;
  let hasWritten = false;
  /** Notes a statement that succeeded. A change shows that the database can be written when it is committed. */
  const note = ({ command, rowCount }: pg.QueryResult) => {
    const changed = WRITES.has(command) && (rowCount ?? 0) > 0;
    if (BEGINNINGS.has(command)) [inTransaction, hasWritten] = [true, false];
    else if (inTransaction) hasWritten ||= changed;
    const ends = command === 'COMMIT' || command === 'ROLLBACK';
    if (ends) inTransaction = false;
    health.worked(ends ? command === 'COMMIT' && hasWritten : changed && !inTransaction);
  };
  const query = async (text: string, values: readonly unknown[]) => {
    // A timed-out statement may still run, so that whatever follows it, such as a rollback, is never sent.
    if (broken !== null) throw broken;
    try {
      const result = await client.query(text, [...values]);
      note(result);
      return result;
    } catch (error) {
      const failure = unanswered(error);
      if (failure instanceof StoreUnavailable) broken = failure;
      throw health.failed(failure);
    }
  };
  const release = (discard?: boolean | Error) => client.release(broken ?? discard);
  return { query, release } as unknown as PostgresPoolClient;
}

/** StoreUnavailable for an error of the connection; other errors are unchanged. */
function unanswered(error: unknown): unknown {
  // The server sent it, or a value of the statement or its result is wrong.
  if (error instanceof pg.DatabaseError || error instanceof TypeError || error instanceof RangeError) return error;
  // A host with several addresses fails with one error per address and without its own message.
  const [first] = error instanceof AggregateError ? (error.errors as unknown[]) : [error];
  return new StoreUnavailable(`PostgreSQL does not answer (${(first as Error).message})`, false, first);
}
