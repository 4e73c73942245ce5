// Entry point of a thread that answers calls (api/worker.ts).
import { enableCompileCache } from 'node:module';
import { workerData } from 'node:worker_threads';
import type { WorkerInput } from './worker.ts';

// Before the imports, as in api/server.ts. Without it, each thread has the compiler of TypeScript in memory.
enableCompileCache();
const { runWorker } = await import('./worker.ts');
await runWorker(workerData as WorkerInput);
