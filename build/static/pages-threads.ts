// Threads that render records, so that a large dataset uses more than one processor.
import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Duck } from '../../data/duckdb/duck.ts';
import { loadPack } from '../../packs/define/load.ts';
import { type Rendered, renderRecords, type Task } from './pages-render.ts';

/** What a thread works on. */
export interface Work {
  /** Folder of the pack: its functions cannot be handed over. */
  pack: string;
  /** Folder of the release. */
  release: string;
  base: string;
  scratch: string;
}

export interface Threads {
  /** How many tasks can be under way at once. */
  count: number;
  render: (task: Task) => Promise<Rendered>;
  close: () => Promise<void>;
}

/** As many threads as help: one for each processor, at most four. */
export function usefulThreads(): number {
  return Math.min(4, availableParallelism());
}

/** Starts threads; tasks go to them in turn. A thread that dies fails the tasks it had. */
export function startThreads(work: Work, count: number): Threads {
  const threads = Array.from({ length: count }, () => new Worker(new URL(import.meta.url), { workerData: work }));
  const asked = new Map<number, { resolve: (rendered: Rendered) => void; reject: (error: Error) => void }>();
  const fail = (error: Error) => {
    for (const { reject } of asked.values()) reject(error);
    asked.clear();
  };
  for (const thread of threads) {
    thread.on('error', fail);
    thread.on('message', ({ id, rendered }: { id: number; rendered: Rendered }) => {
      asked.get(id)?.resolve(rendered);
      asked.delete(id);
    });
  }
  let next = 0;
  return {
    count,
    render: (task) =>
      new Promise((resolve, reject) => {
        const id = next++;
        asked.set(id, { resolve, reject });
        threads[id % count]?.postMessage({ id, task });
      }),
    close: async () => {
      await Promise.all(threads.map((thread) => thread.terminate()));
    },
  };
}

/** The thread's own side: answers tasks one after the other. An error ends the thread and reaches `fail`. */
async function serve({ pack, release, base, scratch }: Work, port: NonNullable<typeof parentPort>): Promise<void> {
  const [loaded, duck] = await Promise.all([loadPack(pack), Duck.open(scratch)]);
  let before: Promise<void> = Promise.resolve();
  port.on('message', ({ id, task }: { id: number; task: Task }) => {
    before = before.then(async () => {
      const rendered = await renderRecords(loaded, release, base, duck, task);
      port.postMessage({ id, rendered });
    });
  });
}

if (!isMainThread && parentPort !== null && isWork(workerData)) await serve(workerData, parentPort);

function isWork(data: unknown): data is Work {
  return typeof data === 'object' && data !== null && 'release' in data && 'scratch' in data;
}
