// Packs the parts of an index, in this thread or each in a worker thread.
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { packBodies } from './build-bodies.ts';
import { type IndexedAttribute, packColumns, packWords } from './build-columns.ts';
import type { Packed } from './container.ts';

type Pack = (
  release: string,
  attributes: readonly IndexedAttribute[],
  spill: string,
) => Promise<Record<string, Packed>>;

/** The columns take as long as everything else. */
const PARTS = {
  columns: packColumns,
  'words and bodies': async (release, attributes, spill) => ({
    ...(await packWords(release, attributes, spill)),
    ...(await packBodies(release, spill)),
  }),
} satisfies Record<string, Pack>;

/** One part of the index of a release folder. `spill`: folder for DuckDB's temporary files. */
export interface IndexPart {
  pack: keyof typeof PARTS;
  release: string;
  attributes: readonly IndexedAttribute[];
  spill: string;
}

export function packHere({ pack, release, attributes, spill }: IndexPart): Promise<Record<string, Packed>> {
  return PARTS[pack](release, attributes, spill);
}

/** Megabytes of short-lived objects: the texts of a column survive fewer collections than with the default. */
const YOUNG = 64;

/** Packs a part in a worker thread; the arrays are transferred, not copied. */
export function packInThread(part: IndexPart): Promise<Record<string, Packed>> {
  const worker = new Worker(new URL(import.meta.url), {
    workerData: part,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG },
  });
  return new Promise((resolve, reject) => {
    worker.on('message', resolve);
    worker.on('error', reject);
    worker.on('exit', (code) =>
      reject(new Error(`the worker thread that packs ${part.pack} exited early with code ${code}`)),
    );
  });
}

const isPart = (data: unknown): data is IndexPart =>
  Object.keys(PARTS).includes((data as Partial<IndexPart> | null)?.pack ?? '');

if (!isMainThread && parentPort !== null && isPart(workerData)) {
  const packed = await packHere(workerData);
  const buffers = new Set(Object.values(packed).map(({ buffer }) => buffer as ArrayBuffer));
  parentPort.postMessage(packed, [...buffers]);
}
