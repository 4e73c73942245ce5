// The two halves of an index, packed here or each in a thread of its own.
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { packBodies } from './build-bodies.ts';
import { type Named, packColumns } from './build-columns.ts';
import type { Packed } from './container.ts';

/** A half of the index of the release in a folder. `spill`: where DuckDB may spill; `file`: where the bodies go. */
export type Half =
  | { pack: 'columns'; release: string; attributes: readonly Named[]; spill: string }
  | { pack: 'bodies'; release: string; file: string };

export function packHere(half: Half): Promise<Record<string, Packed>> {
  return half.pack === 'columns'
    ? packColumns(half.release, half.attributes, half.spill)
    : packBodies(half.release, half.file);
}

/** The same in a thread; the arrays are handed over, not copied. */
export function packApart(half: Half): Promise<Record<string, Packed>> {
  const worker = new Worker(new URL(import.meta.url), { workerData: half });
  return new Promise((resolve, reject) => {
    worker.on('message', resolve);
    worker.on('error', reject);
    worker.on('exit', (code) => reject(new Error(`a thread ended with ${code} before the ${half.pack} were packed`)));
  });
}

const isHalf = (data: unknown): data is Half => ['columns', 'bodies'].includes((data as Half | null)?.pack ?? '');

if (!isMainThread && parentPort !== null && isHalf(workerData)) {
  const packed = await packHere(workerData);
  const buffers = new Set(Object.values(packed).map(({ buffer }) => buffer as ArrayBuffer));
  parentPort.postMessage(packed, [...buffers]);
}
