// Hands work to the thread that owns SQLite's writing connection; what arrives meanwhile travels together, in one commit.
import { Worker } from 'node:worker_threads';
import type { Job, JobResult } from './writer-jobs.ts';

export interface Writer {
  /** Runs one job in the next transaction. */
  run<J extends Job>(job: J): Promise<JobResult<J>>;
  close(): Promise<void>;
}

interface Waiting {
  job: Job;
  resolve: (result: never) => void;
  reject: (error: unknown) => void;
}

/** Starts the thread on the store's file. It does not keep the process alive. */
export function openWriter(file: string): Writer {
  const worker = new Worker(new URL('./writer-thread.ts', import.meta.url), { workerData: { file } });
  worker.unref();
  let queue: Waiting[] = [];
  let flying: Waiting[] = [];
  let failure: Error | null = null;

  const send = () => {
    if (flying.length > 0 || queue.length === 0) return;
    flying = queue;
    queue = [];
    // The thread counts only while somebody waits for it.
    worker.ref();
    worker.postMessage(flying.map(({ job }) => job));
  };
  const fail = (error: Error) => {
    failure = error;
    for (const { reject } of [...flying, ...queue]) reject(error);
    flying = [];
    queue = [];
  };
  worker.on('message', (results: unknown[] | { error: string }) => {
    const done = flying;
    flying = [];
    worker.unref();
    if (!Array.isArray(results)) for (const { reject } of done) reject(new Error(results.error));
    else for (const [i, { resolve }] of done.entries()) resolve(results[i] as never);
    send();
  });
  worker.on('error', (error) => fail(error as Error));
  worker.on('exit', (code) => fail(new Error(`the ledger's thread ended with ${code}`)));

  return {
    run: (job) =>
      new Promise((resolve, reject) => {
        if (failure) return reject(failure);
        // Whatever else arrives in this turn of the loop travels along.
        if (queue.push({ job, resolve, reject }) === 1 && flying.length === 0) setImmediate(send);
      }),
    close: async () => {
      failure ??= new Error('the ledger is closed');
      worker.removeAllListeners('exit');
      await worker.terminate();
    },
  };
}
