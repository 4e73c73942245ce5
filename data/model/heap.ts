// The memory of this process: what it may use, and how V8's heap returns it to the system between two steps of a build.
import { totalmem } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Bytes of the heap from which on a collection is worth its time. */
const LARGE = 128 * 2 ** 20;

/**
 * Collects all garbage of this thread when its heap is large. V8 lets garbage grow to the size of the last live heap
 * and more, while DuckDB and other threads need the memory.
 */
export function collectGarbage(): void {
  if (process.memoryUsage().heapTotal < LARGE) return;
  // Node offers `gc` only with this flag.
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  gc();
}

/** Bytes of memory that this process may use: the limit of its container (cgroup), or all memory of the machine. */
export function memoryLimit(): number {
  return Math.min(process.constrainedMemory() || totalmem(), totalmem());
}
