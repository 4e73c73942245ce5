// Threads that render records, so that a large dataset uses more than one processor.
import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { loadPack } from '../../packs/define/load.ts';
import { type RenderedRecords, type RenderTask, renderRecords, type WriteTurn } from './pages-render.ts';

/** Input of a thread. */
export interface Work {
  /** Folder of the pack: functions cannot be sent to a thread. */
  pack: string;
  /** Folder of the release. */
  release: string;
  base: string;
}

interface ThreadWork extends Work {
  /** One i32, shared by all threads: 1 while one of them writes. */
  writing: SharedArrayBuffer;
}

/**
 * Lets one thread write at a time. The kernel creates the files of a folder one after the other, and a thread
 * that waits for another there keeps its processor busy.
 */
function turnOf(shared: SharedArrayBuffer): WriteTurn {
  const writing = new Int32Array(shared);
  return (write) => {
    while (Atomics.compareExchange(writing, 0, 0, 1) !== 0) Atomics.wait(writing, 0, 1);
    try {
      write();
    } finally {
      Atomics.store(writing, 0, 0);
      Atomics.notify(writing, 0, 1);
    }
  };
}

export interface Threads {
  /** Number of tasks that can run in parallel. */
  count: number;
  render: (task: RenderTask) => Promise<RenderedRecords>;
  close: () => Promise<void>;
}

/** The useful number of threads: one for each processor, at most four. */
export function usefulThreads(): number {
  return Math.min(4, availableParallelism());
}

/** Starts threads and assigns tasks round robin. A thread that fails rejects all open tasks. */
export function startThreads(work: Work, count: number): Threads {
  const workerData: ThreadWork = { ...work, writing: new SharedArrayBuffer(4) };
  const threads = Array.from({ length: count }, () => new Worker(new URL(import.meta.url), { workerData }));
  const pending = new Map<number, { resolve: (rendered: RenderedRecords) => void; reject: (error: Error) => void }>();
  const fail = (error: Error) => {
    for (const { reject } of pending.values()) reject(error);
    pending.clear();
  };
  for (const thread of threads) {
    thread.on('error', fail);
    thread.on('message', ({ id, rendered }: { id: number; rendered: RenderedRecords }) => {
      pending.get(id)?.resolve(rendered);
      pending.delete(id);
    });
  }
  let next = 0;
  return {
    count,
    render: (task) =>
      new Promise((resolve, reject) => {
        const id = next++;
        pending.set(id, { resolve, reject });
        threads[id % count]?.postMessage({ id, task });
      }),
    close: async () => {
      await Promise.all(threads.map((thread) => thread.terminate()));
    },
  };
}

/** Code of the thread: runs tasks one after the other. An error ends the thread and reaches `fail`. */
async function serve(work: ThreadWork, port: NonNullable<typeof parentPort>): Promise<void> {
  const { pack, release, base } = work;
  const inTurn = turnOf(work.writing);
  const loaded = await loadPack(pack);
  port.on('message', ({ id, task }: { id: number; task: RenderTask }) => {
    port.postMessage({ id, rendered: renderRecords(loaded, release, base, task, inTurn) });
  });
}

if (!isMainThread && parentPort !== null && isWork(workerData)) await serve(workerData, parentPort);

function isWork(data: unknown): data is ThreadWork {
  return typeof data === 'object' && data !== null && 'release' in data && 'writing' in data;
}
