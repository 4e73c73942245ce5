// Failures of the database that pass: it does not answer, its disk is full, it accepts no writes. Calls that need
// it answer 503 until it works again.
import { DataError } from '../model/errors.ts';

/** Retry-After in seconds: a database that restarts needs a few. */
const RETRY_AFTER = 5;

/** A database that cannot be used now. */
export class StoreUnavailable extends DataError {
  /** The problem as a clause, for operators. */
  readonly problem: string;
  /** Only writes fail. */
  readonly writes: boolean;

  constructor(problem: string, writes: boolean, cause?: unknown) {
    super('unavailable', 'The accounts database cannot be used now; repeat the call later.', undefined, RETRY_AFTER);
    this.problem = problem;
    this.writes = writes;
    this.cause = cause;
  }
}

/** Primary result codes of SQLite (sqlite.org/rescode.html), and whether only writes fail. */
const SQLITE_CODES: ReadonlyMap<number, boolean> = new Map([
  [5, true], // SQLITE_BUSY
  [8, true], // SQLITE_READONLY
  [10, false], // SQLITE_IOERR
  [13, true], // SQLITE_FULL
  [14, false], // SQLITE_CANTOPEN
]);

/** SQLSTATEs of PostgreSQL: no connection, no resources, stopped or cancelled, a fault of the system. */
const SQLSTATES = /^(08|53|57|58)/;
/** No room on the disk, and a server that only reads, such as a standby. */
const SQLSTATES_OF_WRITES: ReadonlySet<string> = new Set(['53100', '25006']);

/** Members of the errors of node:sqlite and pg. */
interface DatabaseFault {
  code?: unknown;
  errcode?: number;
  severity?: string;
  message?: string;
}

/** An error of the database as StoreUnavailable, if it is such a failure; null for any other error. */
export function storeFailure(error: unknown): StoreUnavailable | null {
  if (error instanceof StoreUnavailable) return error;
  const { code, errcode, severity, message = '' } = (error ?? {}) as DatabaseFault;
  if (code === 'ERR_SQLITE_ERROR') {
    // The low byte of an extended code is the primary one.
    const writes = SQLITE_CODES.get((errcode ?? 0) & 0xff);
    return writes === undefined ? null : new StoreUnavailable(message, writes, error);
  }
  // Only PostgreSQL sends a severity.
  if (severity === undefined || typeof code !== 'string') return null;
  const writes = SQLSTATES_OF_WRITES.has(code);
  return writes || SQLSTATES.test(code) ? new StoreUnavailable(message, writes, error) : null;
}

/** Whether the database works, as its users find it. The log has one line when it fails and one when it works again. */
export class StoreHealth {
  #failure: StoreUnavailable | null = null;
  readonly #log: (line: string) => void;

  constructor(log: (line: string) => void = () => {}) {
    this.#log = log;
  }

  /** The problem as a clause; null while the database works. */
  get problem(): string | null {
    return this.#failure?.problem ?? null;
  }

  /** Notes an error of a statement; returns the error to throw. */
  failed(error: unknown): unknown {
    const failure = storeFailure(error);
    if (failure === null) return error;
    if (this.#failure === null)
      this.#log(`the accounts database cannot be used: ${failure.problem}; calls that need it answer 503`);
    this.#failure = failure;
    return failure;
  }

  /** Notes a statement that succeeded; `wrote`: it was committed and may have changed something. */
  worked(wrote: boolean): void {
    if (this.#failure === null || (this.#failure.writes && !wrote)) return;
    this.#failure = null;
    this.#log('the accounts database can be used again');
  }
}
