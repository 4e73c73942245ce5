// The store for everything that outlives a process: SQLite in DATA_DIR, or PostgreSQL shared by several
// processes.
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads';
import { Kysely, type LogEvent, type PostgresDialect, type SqliteDialect, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { FORMAT, paths } from '../model/layout.ts';
import { waitForLock } from '../model/lock.ts';
import { startThread } from '../model/program.ts';
import { tracing } from '../model/tracing.ts';
import { StoreHealth, StoreUnavailable, storeFailure } from './failures.ts';
import { postgresDialect } from './postgres.ts';
import { openSqlite, openSqliteReader, sqliteDialect } from './sqlite.ts';
import type { Dialect } from './tables/columns.ts';
import { BREAKING, migrations } from './tables/migrations.ts';
import type { Tables } from './tables/schema.ts';
import type { Job, JobInput, JobKind, JobResult } from './writer-jobs.ts';

export interface Store {
  db: Kysely<Tables>;
  /** Reads what is committed, without waiting for a transaction of `db`. On PostgreSQL the same as `db`. */
  reader: Kysely<Tables>;
  dialect: Dialect;
  /** SQLite file, or null on PostgreSQL. */
  file: string | null;
  /** The database for messages: the file, or the address without credentials. */
  place: string;
  /** Whether the database works now. */
  health: StoreHealth;
  /** The thread that writes charges; null on PostgreSQL and for readers. */
  writer: Writer | null;
  close: () => Promise<void>;
}

export interface StoreOptions {
  dataDir: string;
  /** `postgres://…`; absent: SQLite in DATA_DIR. */
  databaseUrl?: string | undefined;
  /** PostgreSQL schema, for tests that share a database. */
  schema?: string;
  /**
   * Opens only an existing register's database: no tables are created or changed, no call is charged, and a
   * missing one throws StoreError.
   */
  existing?: boolean;
  /** How long to wait for a PostgreSQL that does not answer yet; absent: not at all. */
  wait?: { seconds: number; report: (line: string) => void };
  /** Milliseconds that a statement on PostgreSQL may take, unless it migrates; absent: no limit. */
  statement_limit?: number | undefined;
  /** Receives a line when the database fails, and one when it works again; absent: none. */
  log?: (line: string) => void;
  /** Port to the writer of another thread of this process (`Writer.connect`); absent: this one starts it. */
  writerPort?: MessagePort;
  /** The migrations of another version of this program, for tests. */
  migrations?: Record<string, Migration>;
}

/** An unusable database, as one line that begins with the name of the setting. */
export class StoreError extends Error {}

/**
 * Opens the store and, without `existing`, migrates its tables; several processes may do so at once. Throws
 * StoreError without a usable database, and when DATA_DIR or the store have another format.
 *
 * @example
 * ```ts
 * const store = await openStore({ dataDir: 'data/var' }); // SQLite; with databaseUrl: PostgreSQL
 * await store.close();
 * ```
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { databaseUrl, schema, existing = false, statement_limit: limit, log } = options;
  checkDataDir(options.dataDir, existing);
  const file = databaseUrl ? null : sqliteFile(options.dataDir, existing);
  const place = file ?? withoutCredentials(databaseUrl as string);
  const dialect: Dialect = file ? 'sqlite' : 'postgres';
  const health = new StoreHealth(log);
  const over = (kyselyDialect: SqliteDialect | PostgresDialect) =>
    new Kysely<Tables>({
      dialect: kyselyDialect,
      ...(tracing() === null ? {} : { log: (event: LogEvent) => traceStatement(dialect, event) }),
    });
  const connect = (settings: { limit?: number; health: StoreHealth }) =>
    over(file ? sqliteDialect(open(file), health) : postgresDialect(databaseUrl as string, { schema, ...settings }));
  // A migration may take longer than a call may wait; `reach` reports a database that is not there yet.
  let db = connect({ health: new StoreHealth() });
  // Kysely locks the migrations of PostgreSQL, and none of SQLite.
  const unlock = file === null || existing ? null : await waitForLock(dirname(file), MIGRATIONS_LOCK);
  try {
    if (file === null) await reach(db, place, options.wait);
    // A reader must not change the tables of a running process with an older schema.
    if (existing) await holdsRegister(db, file, place);
    else await migrate(db, place, options.migrations ?? migrations(dialect), schema);
  } catch (error) {
    await db.destroy();
    throw error;
  } finally {
    unlock?.();
  }
  if (file === null) {
    await db.destroy();
    db = connect({ ...(limit === undefined ? {} : { limit }), health });
  }
  const writer =
    file === null || existing
      ? null
      : options.writerPort
        ? joinWriter(options.writerPort, health)
        : openWriter(file, health, log);
  const reader = file === null ? db : over(sqliteDialect(() => openSqliteReader(file), health));
  const close = async () => {
    await writer?.close();
    if (reader !== db) await reader.destroy();
    await db.destroy();
  };
  return { db, reader, dialect, file, place, health, writer, close };
}

/** Adds a span for a statement of a request. Its text has placeholders; values are bound. */
function traceStatement(dialect: Dialect, { query, queryDurationMillis }: LogEvent): void {
  const system = dialect === 'postgres' ? 'postgresql' : 'sqlite';
  const operation = /\w+/.exec(query.sql)?.[0] ?? 'statement';
  const attributes = { 'db.system.name': system, 'db.operation.name': operation, 'db.query.text': query.sql };
  const ended = Date.now();
  tracing()?.add(`${operation} ${system}`, attributes, ended - queryDurationMillis, ended);
}

/**
 * Runs the missing migrations; a lock of the database admits one process. During a rolling update the database
 * may have migrations of a newer version: they only add, so this version runs on it, unless one is breaking.
 */
async function migrate(
  db: Kysely<Tables>,
  place: string,
  ownMigrations: Record<string, Migration>,
  schema?: string,
): Promise<void> {
  if (schema) await sql`create schema if not exists ${sql.id(schema)}`.execute(db);
  const names = await executed(db);
  if (names.length > 0) await checkStore(db, place);
  const newer = names.filter((name) => !(name in ownMigrations));
  const [breaking] = newer.filter((name) => name.endsWith(BREAKING));
  if (breaking !== undefined)
    throw new StoreError(
      `${place} has the migration ${breaking}, with which this version of the program cannot work; start the newer version`,
    );
  if (newer.length > 0) return;
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => ownMigrations },
    ...(schema ? { migrationTableSchema: schema } : {}),
  });
  for (let attempt = 1; ; attempt++) {
    const { error } = await migrator.migrateToLatest();
    if (!error) return;
    // Kysely lists the tables of all schemas of the database, and fails when one of them is dropped at that
    // moment.
    if (DROPPED.has((error as { code?: string }).code ?? '') && attempt < ATTEMPTS) continue;
    // A newer version may have migrated since `executed`.
    if ((await executed(db)).some((name) => !(name in ownMigrations)) && attempt < ATTEMPTS)
      return migrate(db, place, ownMigrations, schema);
    throw error;
  }
}

const otherFormat = (place: string, format: string) =>
  new StoreError(
    `${place} has ${format === '' ? 'no format' : `the format ${format}`}, expected ${FORMAT}: ` +
      'start the version of the program that wrote it, or use another one',
  );

/** Throws when DATA_DIR has another format; notes the format of a new one. */
function checkDataDir(dataDir: string, existing: boolean): void {
  const path = paths.format(dataDir);
  const format = existsSync(path) ? readFileSync(path, 'utf8').trim() : '';
  if (format !== '' && format !== String(FORMAT)) throw otherFormat(`DATA_DIR: ${dataDir}`, format);
  if (format !== '' || existing) return;
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(path, `${FORMAT}\n`);
}

/** Throws when a store has another format. */
async function checkStore(db: Kysely<Tables>, place: string): Promise<void> {
  const rows = await db
    .selectFrom('formats')
    .select('format')
    .execute()
    .catch(() => []);
  if (rows[0]?.format !== FORMAT) throw otherFormat(place, String(rows[0]?.format ?? ''));
}

/** Names of the executed migrations; none in a new database. */
async function executed(db: Kysely<Tables>): Promise<string[]> {
  try {
    const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
    return rows.map(({ name }) => name);
  } catch {
    return [];
  }
}

/** SQLSTATE of PostgreSQL for a schema or a table that does not exist any more. */
const DROPPED: ReadonlySet<string> = new Set(['3F000', '42P01']);
/** How often a migration is tried in view of it. */
const ATTEMPTS = 5;

/** Name of the lock of migrations, next to an SQLite database. */
const MIGRATIONS_LOCK = 'migrations';

function sqliteFile(dataDir: string, existing: boolean): string {
  const folder = paths.state(dataDir);
  const file = join(folder, 'register.db');
  if (existing && !existsSync(file))
    throw new StoreError(`DATA_DIR: no database at ${file}; start the service once to create it`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // SQLite gives the -wal and -shm files the permissions of the database.
  for (const path of [file, join(folder, `${MIGRATIONS_LOCK}.lock`)]) closeSync(openSync(path, 'a', 0o600));
  return file;
}

/** Commits are on disk when they return. SQLite reads the file here and may find that it is no database. */
function open(file: string): DatabaseSync {
  try {
    return openSqlite(file, 'FULL');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw code === 'ERR_SQLITE_ERROR' ? new StoreError(`DATA_DIR: ${file} cannot be used: ${message}`) : error;
  }
}

/** `postgres://host:5432/name`: an address without credentials. */
function withoutCredentials(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

/** Milliseconds between two tries. */
const RETRY = 1_000;

/** Opens one connection, so that a connection problem is reported first. Waits while the database starts. */
async function reach(db: Kysely<Tables>, place: string, wait: StoreOptions['wait']): Promise<void> {
  const until = performance.now() + (wait?.seconds ?? 0) * 1000;
  for (let waiting = false; ; waiting = true) {
    try {
      await sql`select 1`.execute(db);
      if (waiting) wait?.report(`DATABASE_URL: ${place} answers now`);
      return;
    } catch (error) {
      const failure = storeFailure(error);
      const { message } = (failure?.cause ?? error) as Error;
      if (failure === null || performance.now() >= until) {
        const waited = waiting ? ` after ${wait?.seconds} s` : '';
        throw new StoreError(`DATABASE_URL: ${place} cannot be used${waited}: ${message}`);
      }
      if (!waiting)
        wait?.report(`DATABASE_URL: ${place} does not answer (${message}); waiting up to ${wait?.seconds} s`);
      await sleep(RETRY);
    }
  }
}

/** Throws when the tables are missing, for example in a database file copied without its `-wal`. */
async function holdsRegister(db: Kysely<Tables>, file: string | null, place: string): Promise<void> {
  try {
    await sql`select 1 from entries limit 1`.execute(db);
  } catch {
    if (file === null) throw new StoreError(`DATABASE_URL: ${place} contains no register`);
    throw new StoreError(`DATA_DIR: ${place} contains no register; was it copied without ${file}-wal?`);
  }
  await checkStore(db, place);
}

interface Writer {
  /** Runs one job in the next transaction. */
  run<K extends JobKind>(kind: K, input: JobInput<K>): Promise<JobResult<K>>;
  /** A port for another thread that charges too; null in such a thread. */
  connect: (() => MessagePort) | null;
  close(): Promise<void>;
}

interface Waiting {
  job: Job;
  resolve: (result: never) => void;
  reject: (error: unknown) => void;
}

/** Milliseconds until a ledger thread that ended is replaced, doubled while the replacements end soon too. */
const RESTART = { first: 50, most: 5_000 };

/**
 * Starts the thread that owns SQLite's writing connection, and another one when it ends. It does not keep the
 * process alive.
 */
function openWriter(file: string, health: StoreHealth, log: (line: string) => void = () => {}): Writer {
  const jobs = new WriterJobs(health);
  /** Ports to other threads of this process: each gets a port to the ledger's thread, and to its replacements. */
  const threads = new Set<MessagePort>();
  let closed = false;
  let wait = RESTART.first;
  let worker: Worker;
  const introduce = (thread: MessagePort) => {
    const { port1, port2 } = new MessageChannel();
    worker.postMessage({ port: port1 }, [port1]);
    thread.postMessage(port2, [port2]);
  };
  const start = () => {
    const began = performance.now();
    let cause: string | undefined;
    worker = startThread('data/state/writer-thread.ts', { workerData: { file } });
    // A worker has the members of a port that are used.
    jobs.attach(worker as unknown as MessagePort);
    for (const thread of threads) introduce(thread);
    worker.on('error', ({ message }: Error) => {
      cause = message;
    });
    worker.on('exit', (code) => {
      if (closed) return;
      jobs.fail(ENDED());
      log(`the ledger's thread ended (${cause ?? `code ${code}`}); another one starts`);
      wait = performance.now() - began > RESTART.most ? RESTART.first : Math.min(RESTART.most, wait * 2);
      setTimeout(() => closed || start(), wait).unref();
    });
  };
  start();
  return {
    run: jobs.run,
    connect: () => {
      const { port1, port2 } = new MessageChannel();
      threads.add(port1);
      port1.on('close', () => threads.delete(port1)).unref();
      introduce(port1);
      return port2;
    },
    close: async () => {
      closed = true;
      jobs.fail(CLOSED());
      await worker.terminate();
    },
  };
}

/** The writer of another thread of this process; `port` brings the ports to the ledger's thread. */
function joinWriter(port: MessagePort, health: StoreHealth): Writer {
  const jobs = new WriterJobs(health);
  let ledger: MessagePort | undefined;
  port.on('message', (fresh: MessagePort) => {
    ledger = fresh;
    jobs.attach(fresh);
    fresh.on('close', () => jobs.fail(ENDED(), fresh));
  });
  port.unref();
  return {
    run: jobs.run,
    connect: null,
    close: async () => {
      jobs.fail(CLOSED());
      ledger?.close();
      port.close();
    },
  };
}

const CLOSED = () => new Error('the ledger is closed');
const ENDED = () => new StoreUnavailable("the ledger's thread has ended", true);

/** Sends jobs to the writer's thread. Jobs that arrive during a commit share the next one. */
class WriterJobs {
  readonly #health: StoreHealth;
  #port: MessagePort | null = null;
  #queue: Waiting[] = [];
  #flying: Waiting[] = [];
  #failure: Error | null = null;

  constructor(health: StoreHealth) {
    this.#health = health;
  }

  /** Sends jobs to this port from now on. */
  attach(port: MessagePort): void {
    if (this.#flying.length > 0) this.fail(ENDED());
    this.#port = port;
    this.#failure = null;
    port.on('message', (results: unknown[] | { message: string }) => {
      const done = this.#flying;
      this.#flying = [];
      port.unref();
      if (Array.isArray(results)) {
        this.#health.worked(true);
        for (const [i, { resolve }] of done.entries()) resolve(results[i] as never);
      } else {
        const error = this.#health.failed(Object.assign(new Error(results.message), results));
        for (const { reject } of done) reject(error);
      }
      this.#send();
    });
    port.unref();
    this.#send();
  }

  readonly run: Writer['run'] = (kind, input) =>
    new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure);
      // Jobs of the same turn of the event loop are sent together.
      if (this.#queue.push({ job: { kind, input }, resolve, reject }) === 1 && this.#flying.length === 0)
        setImmediate(() => this.#send());
    });

  /**
   * Rejects all jobs, now and until a port is attached; those that were sent may be committed. `port`: only if
   * jobs are still sent to it.
   */
  fail(error: Error, port = this.#port): void {
    if (this.#failure || port !== this.#port) return;
    this.#health.failed(error);
    this.#failure = error;
    for (const { reject } of [...this.#flying, ...this.#queue]) reject(error);
    this.#flying = [];
    this.#queue = [];
  }

  #send(): void {
    if (this.#port === null || this.#flying.length > 0 || this.#queue.length === 0) return;
    this.#flying = this.#queue;
    this.#queue = [];
    // The thread keeps the process alive only while a job waits.
    this.#port.ref();
    this.#port.postMessage(this.#flying.map(({ job }) => job));
  }
}
