// WORKERS: several threads answer calls on one port. They share the index files, the engines of DuckDB, the writer
// of the ledger and the rate limits, which this thread owns; it answers no calls itself.
import { open } from 'node:fs/promises';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { MessageChannel } from 'node:worker_threads';
import type { Config } from '../config.ts';
import type { EngineCalls } from '../data/duckdb/engines.ts';
import { startThread } from '../data/model/program.ts';
import { type Offered, offerCalls, ThreadCalls } from '../data/model/thread-calls.ts';
import { storageOf } from '../data/objects/open.ts';
import { type Follower, openFollower } from '../data/releases/follow.ts';
import type { SqlCall } from '../data/sql/process.ts';
import type { SqlSource, Tier } from '../data/sql/tables.ts';
import { adminKeys } from '../data/state/keys/admin-keys.ts';
import { openStore, type Store } from '../data/state/store.ts';
import type { Pack } from '../packs/define/model.ts';
import { counterMemory } from './access/shared-counters.ts';
import { startBuilder } from './builder.ts';
import { openDuckdb } from './compose.ts';
import { type Log, openLog } from './http/log.ts';
import { addedMetrics } from './ops/metrics.ts';
import { FOLLOW, LOOK, openLivePacks, print, settingsOf, stopOnSignals } from './process.ts';
import type { SharedMemory, WorkerInput, WorkerMessage } from './worker.ts';

/** Milliseconds until a thread that ended is replaced, doubled after each failed start up to the maximum. */
const RESTART = { first: 100, most: 10_000 };

/** A file in memory, and how often a thread holds it. */
interface SharedFile {
  content: Promise<SharedArrayBuffer | null>;
  users: number;
}

/** Files in memory that several threads read, as long as one of them holds a file. */
class SharedFiles {
  readonly #files = new Map<string, SharedFile>();

  /** The functions of one thread (`offerCalls`), and `end`, which gives up all that the thread holds. */
  forThread(): { offered: Offered; end(): void } {
    const held: string[] = [];
    const giveUp = (file: string) => {
      held.splice(held.indexOf(file), 1);
      this.#leave(file);
    };
    return {
      offered: {
        // Null when the file is missing.
        file: async ([file]) => {
          held.push(file as string);
          const content = await this.#hold(file as string);
          if (content === null) giveUp(file as string);
          return content;
        },
        // The thread has collected its view of the file.
        fileUnused: ([file]) => giveUp(file as string),
      },
      end: () => {
        for (const file of held) this.#leave(file);
      },
    };
  }

  #hold(file: string): Promise<SharedArrayBuffer | null> {
    let shared = this.#files.get(file);
    if (shared === undefined) {
      shared = { content: readShared(file), users: 0 };
      this.#files.set(file, shared);
    }
    shared.users += 1;
    return shared.content;
  }

  #leave(file: string): void {
    const shared = this.#files.get(file);
    if (shared === undefined) return;
    shared.users -= 1;
    if (shared.users === 0) this.#files.delete(file);
  }
}

async function readShared(file: string): Promise<SharedArrayBuffer | null> {
  const opened = await open(file).catch(() => null);
  if (opened === null) return null;
  try {
    const { size } = await opened.stat();
    const memory = new SharedArrayBuffer(size);
    const bytes = new Uint8Array(memory);
    for (let at = 0; at < size; ) {
      const { bytesRead } = await opened.read(bytes, at, size - at, at);
      if (bytesRead === 0) return null;
      at += bytesRead;
    }
    return memory;
  } finally {
    await opened.close();
  }
}

/** The calls of one thread to the host of engines, and `end`, which closes what the thread has open there. */
function forwardEngineCalls(host: EngineCalls): { offered: Offered; end(): Promise<void> } {
  const open = new Set<unknown>();
  let ended = false;
  const forward =
    (name: string): Offered[string] =>
    (args, signal) =>
      host.call(name, args, signal);
  const close = async (id: unknown) => {
    open.delete(id);
    await host.call('close', [id]);
  };
  const opening =
    (name: string): Offered[string] =>
    async (args, signal) => {
      const id = await host.call(name, args, signal);
      open.add(id);
      if (ended) await close(id);
      return id;
    };
  return {
    offered: {
      ...{ open: opening('open'), overlay: opening('overlay') },
      ...{ query: forward('query'), load: forward('load'), close: ([id]) => close(id) },
    },
    // Views before the engines they came from.
    end: async () => {
      ended = true;
      for (const id of [...open].reverse()) await close(id);
    },
  };
}

/** What all threads share. */
interface Shared {
  config: Config;
  credentials: NodeJS.ProcessEnv;
  log: Log;
  store: Store;
  /** Whether this process builds what has no release yet. */
  builds: boolean;
  /** By dataset. */
  packs: Map<string, Pack>;
  follower: Follower | null;
  duckdb: ReturnType<typeof openDuckdb>;
  files: SharedFiles;
  memory: SharedMemory;
}

/** One thread that answers calls, and its replacements. */
class ApiThread {
  readonly #shared: Shared;
  readonly #thread: number;
  readonly #metrics: () => Promise<unknown>;
  #control: ThreadCalls | null = null;
  #started: Promise<readonly string[]> = Promise.resolve([]);
  #ended: Promise<void> = Promise.resolve();
  #stopping = false;
  #wait = RESTART.first;

  constructor(shared: Shared, thread: number, metrics: () => Promise<unknown>) {
    this.#shared = shared;
    this.#thread = thread;
    this.#metrics = metrics;
  }

  /** Starts the thread; resolves with its lines for the person who started the process. */
  start(): Promise<readonly string[]> {
    this.#started = this.#start();
    return this.#started;
  }

  async #start(): Promise<readonly string[]> {
    const { worker, control, end } = this.#spawn();
    const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>();
    worker.on('message', (message: WorkerMessage) => {
      if ('log' in message) this.#shared.log.written(message.log);
      else resolve(message.ready);
    });
    worker.on('error', reject);
    this.#ended = new Promise((ended) => {
      worker.on('exit', (code) => {
        reject(new Error(`a thread ended with code ${code}`));
        this.#control = null;
        Atomics.store(new Int32Array(this.#shared.memory.connections), this.#thread, 0);
        control.close();
        end()
          .catch((error: Error) => this.#shared.log.failed(error, 'thread'))
          .finally(ended);
      });
    });
    const lines = await promise;
    this.#control = control;
    this.#wait = RESTART.first;
    worker.on('error', (error) => this.#shared.log.failed(error, 'thread'));
    void this.#ended.then(() => this.#replace());
    return lines;
  }

  /** Calls a function of the thread; undefined while it is being replaced. */
  async call<T>(name: string, args: readonly unknown[] = []): Promise<T | undefined> {
    return this.#control?.call<T>(name, args).catch(() => undefined);
  }

  /** Answers the requests in flight and ends. */
  async close(): Promise<void> {
    this.#stopping = true;
    await this.#started.catch(() => {});
    const control = this.#control;
    await this.call('close');
    // The port is the last thing that keeps the thread alive.
    control?.close();
    await this.#ended;
  }

  #spawn() {
    const { config, credentials, store, follower, files, memory } = this.#shared;
    // A service has a process of questions (settingsOf).
    const { questions, sql } = this.#shared.duckdb;
    const calls = new MessageChannel();
    const control = new MessageChannel();
    const writerPort = store.writer?.connect?.() ?? null;
    const [engineCalls, fileCalls] = [forwardEngineCalls(questions!), files.forThread()];
    const statements: Offered = {
      sql: ([call], signal) => sql?.run(call as SqlCall, signal),
      followSql: ([tier, sources]) => sql?.follow(tier as Tier, sources as SqlSource[]),
    };
    offerCalls(calls.port1, { ...engineCalls.offered, ...fileCalls.offered, ...statements, metrics: this.#metrics });
    const end = async () => {
      fileCalls.end();
      await engineCalls.end();
    };
    const input: WorkerInput = {
      ...{ calls: calls.port2, control: control.port2, writerPort, memory, config, credentials },
      thread: this.#thread,
      storage: follower?.state() ?? null,
      terminal: process.stderr.isTTY === true,
      builds: this.#shared.builds,
    };
    const worker = startThread('api/worker.ts', {
      workerData: input,
      transferList: [calls.port2, control.port2, ...(writerPort ? [writerPort] : [])],
    });
    return { worker, control: new ThreadCalls(control.port1), end };
  }

  /** Starts the thread again after it crashed. Its calls were not charged, unless the charge was committed. */
  async #replace(): Promise<void> {
    while (!this.#stopping) {
      this.#shared.log.info(`a thread ended; another one starts in ${this.#wait} ms`);
      await sleep(this.#wait);
      if (this.#stopping) return;
      try {
        await this.start();
        return;
      } catch (error) {
        this.#shared.log.failed(error, 'thread');
        this.#wait = Math.min(RESTART.most, this.#wait * 2);
      }
    }
  }
}

/** Throws EADDRINUSE when another process listens: the threads share their port with anyone who shares it. */
async function checkPort({ PORT, HOST }: Config): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(PORT, HOST, () => server.close(() => resolve()));
  });
}

async function openShared(config: Config, credentials: NodeJS.ProcessEnv, log: Log): Promise<Omit<Shared, 'builds'>> {
  const settings = await settingsOf(config, log);
  const packs = new Map(settings.packs.map((pack) => [pack.id, pack]));
  const store = await openStore(settings);
  const { made } = await adminKeys(store, settings.adminKeys);
  if (made !== null) settings.showAdminKey?.(made);
  const storage = await storageOf(config);
  const { dataDir, now } = settings;
  const datasets = () => [...packs.keys()];
  const duckdb = openDuckdb(settings);
  const memory = {
    counters: counterMemory(),
    connections: new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT * config.WORKERS),
  };
  return {
    ...{ config, credentials, log, store, memory, packs },
    follower: storage
      ? openFollower({ storage, store, dataDir, keep: config.RELEASES_KEEP, datasets, log: log.info, now })
      : null,
    duckdb,
    files: new SharedFiles(),
  };
}

/** Serves like `serve`, with WORKERS threads. */
export async function serveWithWorkers(
  config: Config,
  credentials: NodeJS.ProcessEnv = {},
  buildEnv: NodeJS.ProcessEnv | null = null,
): Promise<void> {
  const log = openLog({ level: config.LOG_LEVEL, terminal: process.stderr.isTTY === true });
  await checkPort(config);
  const shared = { ...(await openShared(config, credentials, log)), builds: buildEnv !== null };
  const { follower, store } = shared;
  const threads: ApiThread[] = [];
  const askAll = <T>(name: string, args?: readonly unknown[]) =>
    Promise.all(threads.map((thread) => thread.call<T>(name, args)));
  const metrics = async () => {
    const values = await askAll<Parameters<typeof addedMetrics>[0][number]>('metrics');
    return addedMetrics(values.filter((one) => one !== undefined));
  };
  for (let i = 0; i < config.WORKERS; i += 1) threads.push(new ApiThread(shared, i, metrics));
  const [lines = []] = await Promise.all(threads.map((thread) => thread.start()));
  for (const line of lines) print(line);
  print(`${config.WORKERS} threads answer calls.`);
  const builder = buildEnv && startBuilder({ config, env: buildEnv, print });
  const following = new AbortController();
  void follower?.follow(FOLLOW, following.signal);
  const live = openLivePacks(config, [...shared.packs.values()], log);
  const look = async () => {
    const packs = await live.look();
    for (const pack of packs ?? []) shared.packs.set(pack.id, pack);
    // All threads look at the same time, so that they switch to a new release together.
    const [lines = []] = await askAll<string[]>('look', [packs?.map(({ folder }) => folder)]);
    for (const line of lines) print(line);
  };
  const looking = setInterval(look, LOOK);
  const reporting = follower && setInterval(() => void askAll('storage', [follower.state()]), FOLLOW);
  stopOnSignals(config, log, {
    drain: () => void askAll('drain'),
    close: async () => {
      following.abort();
      clearInterval(looking);
      if (reporting) clearInterval(reporting);
      void builder?.stop();
      await Promise.all(threads.map((thread) => thread.close()));
      shared.duckdb.sql?.close();
      shared.duckdb.questions?.kill();
      await store.close();
      log.close();
    },
  });
}
