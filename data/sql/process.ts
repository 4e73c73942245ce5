// Statements of callers: they run in a child of low priority with its own memory, each until its deadline, over the tables
// that are current. The child starts with the first statement, and again after it ended.
import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ChildCalls } from '../model/child-calls.ts';
import { DataError, type DataErrorCode } from '../model/errors.ts';
import { CallsEnded } from '../model/thread-calls.ts';
import { createQueryQueue } from '../plan/query-queue.ts';
import { invalidSql } from './check.ts';
import { CurrentTables, type ReadyTables, type TablesOptions } from './current-tables.ts';
import type { RunTables, SqlAnswer, SqlQuery, SqlRun, SqlRunAnswer } from './engine.ts';
import type { HostSettings } from './host.ts';
import { AT_A_TIME, type SqlSource, type Tier } from './tables.ts';

/** A statement of a caller. */
export interface SqlCall {
  query: SqlQuery;
  caller: string;
  /** The caller's statements run one after the other. */
  alone: boolean;
  /** A caller with a key goes before others, and has a place that is kept. */
  keyed: boolean;
}

/** The members of a DataError. */
interface SqlError {
  code: DataErrorCode;
  message: string;
  detail: unknown;
  retry_after_seconds?: number | undefined;
}

/** The answer of a statement or its error, and the milliseconds that it ran. */
export type SqlOutcome = { ms: number } & (
  | { answer: SqlAnswer; releases: Record<string, string> }
  /** `ended`: the statement ended the process. */
  | { error: SqlError; ended?: true }
);

/** What runs statements: the process itself, or a thread's calls to the thread that owns it. */
export interface SqlRunner {
  run(call: SqlCall, signal: AbortSignal): Promise<SqlOutcome>;
  /** Notes the releases and overlays that datasets have now. The public tables are made if they do not exist. */
  follow(tier: Tier, sources: readonly SqlSource[]): void;
}

/** Statements that wait, and places among them for callers with a key. */
export const [WAITING, KEPT] = [8, 1];
/** Milliseconds after the time of a statement in which the process has to answer, also on a busy machine. */
const PATIENCE = 5_000;
/**
 * Memory that the process may reserve besides that of DuckDB, in bytes. Node reserves 640 MB and uses a sixth of it; the
 * rest is for texts that DuckDB does not count.
 */
const OVERHEAD = 2 ** 30;
/** Milliseconds for which a statement that ended the process is refused. */
const REFUSED = 60_000;
/** Seconds after which a caller retries while tables are made for the first time. */
const MAKING_RETRY = 5;

/** What the process answers; `ended`: the statement went on after its interruption. */
type RunOutcome = { ms: number } & (SqlRunAnswer | { error: SqlError } | { ended: true });

/** A statement that the process runs. */
interface Running {
  name: string;
  /** It ended the process. */
  ended: boolean;
}

/** What is known about a statement that ran when the process ended: alone (2), or with others (1 each time). */
interface Suspicion {
  weight: number;
  until: number;
}

/**
 * @example
 * ```ts
 * const statements = new SqlProcess({ folder, memory: 512 * 2 ** 20, make: makeTables, log: console.error });
 * const outcome = await statements.run({ query, caller: 'a test', alone: false, keyed: true }, signal);
 * ```
 */
export class SqlProcess implements SqlRunner {
  readonly #tables: CurrentTables;
  readonly #child: ChildCalls;
  readonly #log: (line: string) => void;
  readonly #queue = createQueryQueue({ running: AT_A_TIME, waiting: WAITING, patience: 0, kept: KEPT });
  readonly #callers = new Set<string>();
  readonly #running = new Set<Running>();
  readonly #suspicions = new Map<string, Suspicion>();
  /** Whether this process ends the child, which then did not end by itself. */
  #isKilled = false;

  constructor({ folder, memory, make, log, times }: TablesOptions) {
    this.#log = log;
    this.#tables = new CurrentTables({ folder, memory, make, log, ...(times && { times }) });
    this.#child = new ChildCalls({
      program: 'data/sql/host.ts',
      settings: { serves: 'statements', memory } satisfies HostSettings,
      limited: memory + OVERHEAD,
      log,
      ended: () => this.#judge(),
    });
  }

  /** Runs a statement when it is its turn. Never rejects. */
  async run(call: SqlCall, signal: AbortSignal): Promise<SqlOutcome> {
    const { query, caller, alone } = call;
    if (this.#isRefused(nameOf(query))) return endedBy(query, 0);
    if (alone && this.#callers.has(caller))
      return failed(
        new DataError('rate_limited', 'One statement at a time: another one of yours is running.', undefined, 1),
      );
    if (alone) this.#callers.add(caller);
    try {
      return await this.#runUntil(performance.now() + query.seconds * 1000, call, signal);
    } catch (error) {
      if (!(error instanceof DataError)) throw error;
      const { code, message, detail, retry_after_seconds = 2 } = error;
      return failed(new DataError(code, message, detail, retry_after_seconds));
    } finally {
      if (alone) this.#callers.delete(caller);
    }
  }

  follow(tier: Tier, sources: readonly SqlSource[]): void {
    for (const source of sources) this.#tables.follow(tier, source);
    this.#child.call('ready', []).catch(() => {});
  }

  close(): void {
    this.#tables.close();
    this.#child.kill();
  }

  /** Runs a statement; when its tables are made for the first time, again afterwards. */
  async #runUntil(deadline: number, { query, caller, keyed }: SqlCall, signal: AbortSignal): Promise<SqlOutcome> {
    const left = () => deadline - performance.now();
    for (;;) {
      const leave = await this.#queue.enter(signal, { patience: left(), preferred: keyed, holder: caller });
      let lacking: string[];
      try {
        const outcome = await this.#ask(query, left(), signal);
        if (!('lacks' in outcome)) return outcome;
        lacking = outcome.lacks;
      } finally {
        leave();
      }
      const states = query.sources
        .filter(({ dataset }) => lacking.includes(dataset))
        .map((source) => this.#tables.state(query.tier, source));
      for (const state of states) if ('error' in state) throw state.error;
      const making = states.flatMap((state) => ('making' in state ? state.making : []));
      const made = Promise.allSettled(making).then(() => true);
      if (await Promise.race([made, sleep(Math.max(0, left()), false, { ref: false, signal }).catch(() => false)]))
        continue;
      const message = `The tables of ${lacking.join(', ')} are being made.`;
      throw new DataError('unavailable', message, undefined, MAKING_RETRY);
    }
  }

  async #ask(
    { sources, ...query }: SqlQuery,
    left: number,
    signal: AbortSignal,
  ): Promise<SqlOutcome | { lacks: string[] }> {
    const end = performance.now() + left;
    const states = new Map(sources.map((source) => [source.dataset, this.#tables.state(query.tier, source)]));
    const ready = new Map(
      [...states].flatMap(([dataset, state]) => ('path' in state ? [[dataset, state] as const] : [])),
    );
    const running: Running = { name: nameOf(query), ended: false };
    this.#running.add(running);
    let timer: NodeJS.Timeout | undefined;
    try {
      // A process that just starts, or gets no time, is not stopped by the statement.
      await this.#isReady(left, signal);
      timer = setTimeout(() => this.#end(), end - performance.now() + PATIENCE);
      const tables = sources.map((source) => tablesOf(source, ready.get(source.dataset)));
      const run: SqlRun = { query, left: end - performance.now(), tables };
      const outcome = await this.#child.call<RunOutcome>('run', [run], signal);
      if ('ended' in outcome) {
        this.#suspect(running, 2);
        this.#end();
        return endedBy(query, query.seconds * 1000);
      }
      if (!('answer' in outcome)) return outcome;
      // A record may have been removed while the statement ran.
      for (const source of sources.filter(({ dataset }) => outcome.answer.datasets.includes(dataset))) {
        const state = this.#tables.state(query.tier, source);
        if ('error' in state) throw state.error;
      }
      const releases = outcome.answer.datasets.map((dataset) => [dataset, ready.get(dataset)!.source.release]);
      return { ...outcome, releases: Object.fromEntries(releases) as Record<string, string> };
    } catch (error) {
      // Its time counts as used up: a caller has few of such statements in a minute.
      if (error instanceof CallsEnded && running.ended) return endedBy(query, query.seconds * 1000);
      throw error;
    } finally {
      clearTimeout(timer);
      this.#running.delete(running);
    }
  }

  async #isReady(left: number, signal: AbortSignal): Promise<void> {
    const ready = this.#child.call('ready', []).then(() => true);
    if (await Promise.race([ready, sleep(Math.max(0, left), false, { ref: false, signal }).catch(() => false)])) return;
    ready.catch(() => {});
    throw new DataError('unavailable', 'The process of statements is starting, or this machine is busy.');
  }

  #isRefused(name: string): boolean {
    const { weight, until } = this.#suspicions.get(name) ?? { weight: 0, until: 0 };
    return weight >= 2 && performance.now() < until;
  }

  /** Ends the process; the next statement starts another one. */
  #end(): void {
    this.#isKilled = true;
    this.#child.kill();
  }

  /** The process ended: notes which statement did it, or those that may have done it. */
  #judge(): void {
    const suspects = this.#isKilled ? [] : [...this.#running];
    this.#isKilled = false;
    for (const suspect of suspects) this.#suspect(suspect, suspects.length === 1 ? 2 : 1);
  }

  #suspect(suspect: Running, weight: number): void {
    const now = performance.now();
    for (const [name, { until }] of this.#suspicions) if (until <= now) this.#suspicions.delete(name);
    const sum = (this.#suspicions.get(suspect.name)?.weight ?? 0) + weight;
    this.#suspicions.set(suspect.name, { weight: sum, until: now + REFUSED });
    suspect.ended = sum >= 2;
    this.#log(`SQL: the process ended while it ran ${suspect.name}; another one starts`);
  }
}

/** The names of a dataset with the file that is read, whose columns may be those of an earlier release. */
function tablesOf(source: SqlSource, ready: ReadyTables | undefined): RunTables {
  const { dataset, table, columns, past } = ready?.source ?? source;
  return { dataset, table, columns, past, path: ready?.path ?? null };
}

/** Names a statement with its parameters in the log, and among those that are refused. */
const nameOf = ({ sql, parameters }: Pick<SqlQuery, 'sql' | 'parameters'>) =>
  hash('sha256', JSON.stringify([sql, parameters]), 'hex').slice(0, 16);

const endedBy = ({ sql }: Pick<SqlQuery, 'sql'>, ms: number): SqlOutcome => ({
  ...failed(
    invalidSql('The statement ended the process that runs statements, so it is refused for a minute.', sql),
    ms,
  ),
  ended: true,
});

const failed = ({ code, message, detail, retry_after_seconds }: DataError, ms = 0) => ({
  ms,
  error: { code, message, detail, retry_after_seconds } satisfies SqlError,
});
