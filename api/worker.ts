// Program of one of several threads that answer calls on the same port (WORKERS). api/workers.ts starts it.
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { Config } from '../config.ts';
import { remoteEngines } from '../data/duckdb/engines.ts';
import { offerCalls, ThreadCalls } from '../data/model/thread-calls.ts';
import type { FollowState } from '../data/releases/follow.ts';
import type { SqlRunner } from '../data/sql/process.ts';
import { loadPack } from '../packs/define/load.ts';
import type { Pack } from '../packs/define/model.ts';
import { sharedLimits, WINDOW } from './access/limits.ts';
import { SharedCounters } from './access/shared-counters.ts';
import { openLog } from './http/log.ts';
import { ApiServer, type ThreadParts } from './serve.ts';

/** Memory that all threads share. */
export interface SharedMemory {
  /** Counters of the rate limits. */
  counters: SharedArrayBuffer;
  /** Connections in use by thread. */
  connections: SharedArrayBuffer;
}

/** What a thread is started with. */
export interface WorkerInput {
  config: Config;
  /** Calls of this thread to the process: engines, index files, metrics of all threads. */
  calls: MessagePort;
  /** Calls of the process to this thread. */
  control: MessagePort;
  writerPort: MessagePort | null;
  memory: SharedMemory;
  /** Index of this thread. */
  thread: number;
  /** State of the object storage; null without one. */
  storage: FollowState | null;
  terminal: boolean;
  /** Whether the process builds what has no release yet. */
  builds: boolean;
  credentials: NodeJS.ProcessEnv;
}

/** Messages of this thread to the process. */
export type WorkerMessage = { log: string } | { ready: readonly string[] };

const post = (message: WorkerMessage) => parentPort!.postMessage(message);

/** Content of a file that the process holds in memory for all threads; null when the file is missing. */
async function sharedContent(
  calls: ThreadCalls,
  collected: FinalizationRegistry<string>,
  file: string,
): Promise<Buffer | null> {
  const memory = await calls.call<SharedArrayBuffer | null>('file', [file]);
  if (memory === null) return null;
  collected.register(memory, file);
  return Buffer.from(memory);
}

const remoteSql = (calls: ThreadCalls): SqlRunner => ({
  run: (call, signal) => calls.call('sql', [call], signal),
  follow: (tier, sources) => void calls.call('followSql', [tier, sources]).catch(() => {}),
});

function partsOf(
  { memory, thread, writerPort, config }: WorkerInput,
  calls: ThreadCalls,
  follower: Follower,
): ThreadParts {
  // The index has views of a file until its release is closed.
  const collected = new FinalizationRegistry<string>((file) => {
    calls.call('fileUnused', [file]).catch(() => {});
  });
  return {
    shared: {
      releases: {
        engines: remoteEngines(calls),
        indexContent: (file) => sharedContent(calls, collected, file),
      },
      sql: config.SQL === '1' ? remoteSql(calls) : null,
      limits: sharedLimits(new SharedCounters(memory.counters, WINDOW)),
      follower: follower.state === null ? null : { state: () => follower.state! },
      metrics: () => calls.call('metrics', []),
    },
    place: { connections: new Int32Array(memory.connections), thread },
    writerPort,
    rebuilds: thread === 0,
  };
}

/** The last state of the object storage that the process reported. */
interface Follower {
  state: FollowState | null;
}

/** The packs of these folders; those that are served stay the same objects. */
function packsIn({ application }: ApiServer, folders: readonly string[]): Promise<Pack[]> {
  const served = new Map([...application.register.packs.values()].map((pack) => [pack.folder, pack]));
  return Promise.all(folders.map((folder) => served.get(folder) ?? loadPack(folder)));
}

/** Runs the thread until the process closes it. */
async function runWorker(input: WorkerInput): Promise<void> {
  const { config } = input;
  const write = (lines: string) => post({ log: lines });
  const log = openLog({ level: config.LOG_LEVEL, terminal: input.terminal, write });
  const calls = new ThreadCalls(input.calls);
  const follower: Follower = { state: input.storage };
  const { credentials, builds } = input;
  const server = await ApiServer.start(config, log, { credentials, builds, thread: partsOf(input, calls, follower) });
  offerCalls(input.control, {
    look: async ([folders]) => server.look(folders === undefined ? null : await packsIn(server, folders as string[])),
    drain: () => server.application.drain(),
    metrics: () => server.application.metrics.values(),
    storage: ([state]) => {
      follower.state = state as FollowState;
    },
    close: async () => {
      await server.close();
      calls.close();
    },
  });
  post({ ready: server.lines });
}

await runWorker(workerData as WorkerInput);
