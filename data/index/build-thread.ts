// Packs the two halves of an index, in this thread or each in a worker thread.
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { packBodies } from './build-bodies.ts';
import { type IndexedAttribute, packColumns } from './build-columns.ts';
import type { Packed } from './container.ts';

/** One half of the index of a release folder. `spill`: folder for DuckDB's temporary files. */
export type IndexHalf =
  | { pack: 'columns'; release: string; attributes: readonly IndexedAttribute[]; spill: string }
  | { pack: 'bodies'; release: string; spill: string };

export function packHere(half: IndexHalf): Promise<Record<string, Packed>> {
  return half.pack === 'columns'
    ? packColumns(half.release, half.attributes, half.spill)
    : packBodies(half.release, half.spill);
}

/** Packs a half in a worker thread; the arrays are transferred, not copied. */
export function packInThread(half: IndexHalf): Promise<Record<string, Packed>> {
  const worker = new Worker(new URL(import.meta.url), { workerData: half });
  return new Promise((resolve, reject) => {
    worker.on('message', resolve);
    worker.on('error', reject);
    worker.on('exit', (code) =>
      reject(new Error(`the worker thread that packs ${half.pack} exited early with code ${code}`)),
    );
  });
}

const isHalf = (data: unknown): data is IndexHalf =>
  ['columns', 'bodies'].includes((data as IndexHalf | null)?.pack ?? '');

if (!isMainThread && parentPort !== null && isHalf(workerData)) {
  const packed = await packHere(workerData);
  const buffers = new Set(Object.values(packed).map(({ buffer }) => buffer as ArrayBuffer));
  parentPort.postMessage(packed, [...buffers]);
}
