// Runs long work in slices; between two slices the event loop serves other requests.

import type { QueryOptions } from './plan.ts';
import { abortedError } from './query-queue.ts';

/** Changes that are read or formatted in one turn of the event loop: about 2 ms. */
export const CHANGES_A_SLICE = 250;

/** Records that are visited in one turn of the event loop: 1 to 20 ms. */
const RECORDS_A_SLICE = 32_768;

/** Options of queries that visit records in slices. */
export interface SliceOptions extends QueryOptions {
  /** Records in a slice; tests use few. */
  slice?: number | undefined;
}

/** Callers that wait for a turn, oldest first. */
const waiting: (() => void)[] = [];

function resumeOne(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(resumeOne);
}

/**
 * Resolves in a later turn of the event loop; throws then if the request was aborted. One turn resumes one
 * caller: with `setImmediate` alone a turn would run a slice of every concurrent request.
 */
export async function nextTurn({ signal }: QueryOptions = {}): Promise<void> {
  await new Promise<void>((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(resumeOne);
  });
  if (signal?.aborted) throw abortedError();
}

/**
 * Runs a generator to its end, with a turn of the event loop at each `yield`, and returns its result; rejects there
 * after an abort.
 */
export async function runSlices<T>(slices: Generator<void, T>, options: QueryOptions = {}): Promise<T> {
  for (;;) {
    const step = slices.next();
    if (step.done) return step.value;
    await nextTurn(options);
  }
}

/** Calls `work` with ranges of at most `slice` of `length` items, with a `yield` between two of them. */
export function* ranges(
  { slice = RECORDS_A_SLICE }: SliceOptions,
  length: number,
  work: (from: number, to: number) => void,
): Generator<void, void> {
  for (let from = 0; from < length; from += slice) {
    if (from > 0) yield;
    work(from, Math.min(from + slice, length));
  }
}

/**
 * Calls `work` with slices of `size` items, with a turn of the event loop between two slices; rejects there
 * after an abort.
 */
export async function eachSlice<T>(
  items: readonly T[],
  size: number,
  work: (slice: readonly T[]) => void,
  options: QueryOptions = {},
): Promise<void> {
  for (let at = 0; at < items.length; at += size) {
    if (at > 0) await nextTurn(options);
    work(items.slice(at, at + size));
  }
}

/** `items.map(make)` in slices (`eachSlice`). */
export async function mapSlices<T, R>(
  items: readonly T[],
  size: number,
  make: (item: T) => R,
  options?: QueryOptions,
): Promise<R[]> {
  const made: R[] = [];
  const add = (slice: readonly T[]) => {
    for (const item of slice) made.push(make(item));
  };
  await eachSlice(items, size, add, options);
  return made;
}
