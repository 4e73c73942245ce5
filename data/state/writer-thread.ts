// The thread with the writing connection on SQLite: one transaction per batch of jobs.
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { Kysely } from 'kysely';
import { StoreHealth, StoreUnavailable } from './failures.ts';
import { openSqlite, sqliteDialect } from './sqlite.ts';
import type { Tables } from './tables/schema.ts';
import { JOBS, type Job } from './writer-jobs.ts';

// NORMAL: a charge survives the process; after a power cut the last few calls may be free. Credits use FULL.
const database = openSqlite((workerData as { file: string }).file, 'NORMAL');
const db = new Kysely<Tables>({ dialect: sqliteDialect(database, new StoreHealth()) });

/** The results of the jobs, in their order, committed. */
function perform(jobs: readonly Job[]): Promise<unknown[]> {
  return db.transaction().execute(async (tx) => {
    const results: unknown[] = [];
    for (const { kind, input } of jobs) results.push(await JOBS[kind](tx, input as never));
    return results;
  });
}

/** Runs one transaction for each list of jobs of a port; other threads of the process bring ports of their own. */
function serve(port: MessagePort): void {
  port.on('message', async (message: Job[] | { port: MessagePort }) => {
    if (!Array.isArray(message)) return serve(message.port);
    try {
      port.postMessage(await perform(message));
    } catch (error) {
      const fault = error instanceof StoreUnavailable ? error.cause : error;
      // A clone of an error has no code.
      const { message, code, errcode } = fault as Error & { code?: string; errcode?: number };
      port.postMessage({ message, code, errcode });
    }
  });
}

if (parentPort) serve(parentPort);
