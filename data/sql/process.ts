// The SQL process: a child of low priority with its own memory, which runs statements of callers. It starts with the
// first statement, and again after it ended.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { DataError, type DataErrorCode } from '../model/errors.ts';
import { LOADER_OPTIONS, modulePath } from '../model/program.ts';
import { createQueryQueue } from '../plan/query-queue.ts';
import type { SqlAnswer, SqlQuery } from './engine.ts';
import { AT_A_TIME, type SqlSource } from './tables.ts';

/** A statement of a caller. `alone`: the caller's statements run one after the other. */
export interface SqlCall {
  query: SqlQuery;
  caller: string;
  alone: boolean;
}

/** The members of a DataError. */
interface SqlError {
  code: DataErrorCode;
  message: string;
  detail: unknown;
  retry_after_seconds: number | undefined;
}

/** The answer of a statement or its error, and the milliseconds that it ran. */
export type SqlOutcome = { ms: number } & ({ answer: SqlAnswer } | { error: SqlError });

export type ParentMessage = { id: number; query: SqlQuery } | { cancel: number } | { prepare: readonly SqlSource[] };
export type ChildMessage =
  | { log: string }
  /** `last`: the process ends after this error. */
  | ({ id: number } & ({ started: true } | { answer: SqlAnswer } | { error: SqlError; last: boolean }));

/** What runs statements: the process itself, or a thread's calls to the thread that owns it. */
export interface SqlRunner {
  run(call: SqlCall, signal: AbortSignal): Promise<SqlOutcome>;
  /** Makes the public tables of these releases in the background, unless they exist. */
  prepare(sources: readonly SqlSource[]): void;
}

/** Statements that wait. */
const WAITING = 8;
/** Milliseconds that a statement waits, and after which one that does not react to its interruption is killed. */
const [PATIENCE, GRACE] = [20_000, 1_500];
/**
 * Memory that the process may reserve besides that of DuckDB, in bytes. Node reserves 640 MB and uses a sixth of it; the
 * rest is for texts that DuckDB does not count.
 */
const OVERHEAD = 2 ** 30;

/** Starts a program with a limit of its memory in kB ($0) and the lowest priority, 19, whatever that of this process is. */
const START = 'ulimit -d "$0" 2>/dev/null; exec nice -n 39 "$@"';

interface Waiting {
  settle(outcome: { answer: SqlAnswer } | { error: SqlError }): void;
  started(): void;
}

export class SqlProcess implements SqlRunner {
  readonly #folder: string;
  readonly #memory: number;
  readonly #log: (line: string) => void;
  readonly #queue = createQueryQueue({
    running: AT_A_TIME,
    waiting: WAITING,
    patience: PATIENCE,
  });
  readonly #callers = new Set<string>();
  readonly #waiting = new Map<number, Waiting>();
  #child: ChildProcess | null = null;
  #next = 0;

  /** `folder` caches the databases of the current releases; `memory` is the limit of DuckDB in bytes. */
  constructor(folder: string, memory: number, log: (line: string) => void) {
    this.#log = log;
    this.#folder = folder;
    this.#memory = memory;
  }

  /** Runs a statement when it is its turn. Never rejects. */
  async run({ query, caller, alone }: SqlCall, signal: AbortSignal): Promise<SqlOutcome> {
    if (alone && this.#callers.has(caller))
      return failed(
        new DataError('rate_limited', 'One statement at a time: another one of yours is running.', undefined, 1),
      );
    if (alone) this.#callers.add(caller);
    try {
      const leave = await this.#queue.enter(signal);
      try {
        return await this.#ask(query, signal);
      } finally {
        leave();
      }
    } catch (error) {
      const { code, message } = error as DataError;
      return failed(new DataError(code, message, undefined, 2));
    } finally {
      if (alone) this.#callers.delete(caller);
    }
  }

  prepare(sources: readonly SqlSource[]): void {
    this.#start().send({ prepare: sources } satisfies ParentMessage, () => {});
  }

  close(): void {
    this.#child?.kill('SIGKILL');
  }

  #ask(query: SqlQuery, signal: AbortSignal): Promise<SqlOutcome> {
    const child = this.#start();
    const id = this.#next++;
    const { promise, resolve } = Promise.withResolvers<SqlOutcome>();
    const cancel = () => child.connected && child.send({ cancel: id } satisfies ParentMessage);
    let began: number | undefined;
    let deadline: NodeJS.Timeout | undefined;
    this.#waiting.set(id, {
      started: () => {
        began = performance.now();
        deadline = setTimeout(() => child.kill('SIGKILL'), query.seconds * 1000 + GRACE);
      },
      settle: (outcome) => {
        clearTimeout(deadline);
        signal.removeEventListener('abort', cancel);
        this.#waiting.delete(id);
        resolve({ ms: began === undefined ? 0 : performance.now() - began, ...outcome });
      },
    });
    signal.addEventListener('abort', cancel, { once: true });
    // The exit of the child settles a message that could not be sent.
    child.send({ id, query } satisfies ParentMessage, () => {});
    if (signal.aborted) cancel();
    return promise;
  }

  #start(): ChildProcess {
    if (this.#child !== null) return this.#child;
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const settings = JSON.stringify({ folder: this.#folder, memory: this.#memory });
    const program = [process.execPath, '--max-old-space-size=256', ...LOADER_OPTIONS, modulePath('data/sql/child.ts')];
    const limit = String(Math.floor((this.#memory + OVERHEAD) / 1024));
    // No other variable: statements must not find secrets in the memory of the process.
    const child = spawn('sh', ['-c', START, limit, ...program, settings], {
      env: { PATH: process.env['PATH'], TZ: 'UTC' },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      serialization: 'advanced',
    });
    child.on('message', (message: ChildMessage) => {
      if ('log' in message) {
        this.#log(`SQL: ${message.log}`);
        return;
      }
      const waiting = this.#waiting.get(message.id);
      if ('started' in message) waiting?.started();
      else waiting?.settle('answer' in message ? { answer: message.answer } : { error: message.error });
      if ('last' in message && message.last) ended();
    });
    const ended = () => {
      if (this.#child !== child) return;
      this.#child = null;
      for (const { settle } of [...this.#waiting.values()])
        settle({
          error: errorOf(new DataError('unavailable', 'The process that ran the statement ended.', undefined, 1)),
        });
    };
    child.once('exit', ended);
    child.once('error', ended);
    // Neither the process nor its channel keeps this one alive.
    child.unref();
    child.channel?.unref();
    this.#child = child;
    return child;
  }
}

const errorOf = ({ code, message, detail, retry_after_seconds }: DataError): SqlError => ({
  code,
  message,
  detail,
  retry_after_seconds,
});

const failed = (error: DataError): SqlOutcome => ({ ms: 0, error: errorOf(error) });
