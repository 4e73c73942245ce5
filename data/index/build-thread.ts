// Packs the parts of an index, in this thread or each in a worker thread.
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { packBodies } from './build-bodies.ts';
import { type IndexedAttribute, packAttributes, packRecords } from './build-columns.ts';
import type { Packed } from './container.ts';

/** One part of the index of a release folder. `spill`: folder for DuckDB's temporary files. */
export interface IndexPart {
  part: keyof typeof PARTS;
  release: string;
  attributes: readonly IndexedAttribute[];
  spill: string;
}

const PARTS = { records: packRecords, attributes: packAttributes, bodies: packBodies };

export function packHere({ part, release, attributes, spill }: IndexPart): Promise<Record<string, Packed>> {
  return PARTS[part](release, spill, attributes);
}

/** Packs a part in a worker thread; the arrays are transferred, not copied. */
export function packInThread(part: IndexPart): Promise<Record<string, Packed>> {
  const worker = new Worker(new URL(import.meta.url), { workerData: part });
  return new Promise((resolve, reject) => {
    worker.on('message', resolve);
    worker.on('error', reject);
    worker.on('exit', (code) =>
      reject(new Error(`the worker thread that packs ${part.part} exited early with code ${code}`)),
    );
  });
}

const isPart = (data: unknown): data is IndexPart => ((data as IndexPart | null)?.part ?? '') in PARTS;

if (!isMainThread && parentPort !== null && isPart(workerData)) {
  const packed = await packHere(workerData);
  const buffers = new Set(Object.values(packed).map(({ buffer }) => buffer as ArrayBuffer));
  parentPort.postMessage(packed, [...buffers]);
}
