// Runs a collector, with a limit on the time between two observations.
import { setTimeout } from 'node:timers/promises';

/** Longest interval of the clock that finds a collector without progress, in milliseconds. */
const LOOK = 1000;

/** A collector, or another function of a pack, that made no progress for too long. */
export class StalledError extends Error {}

type Rows<T> = AsyncIterable<T> | Iterable<T>;

/**
 * Passes every row to `take`, until it returns false. Throws StalledError when none comes for `limit` milliseconds; the collector then
 * gets no further chance to run its `finally` blocks. A collector that blocks the process cannot be stopped.
 */
export async function pull<T>(rows: Rows<T>, limit: number, take: (row: T) => boolean): Promise<void> {
  const iterator = iteratorOf(rows);
  let stop: (error: Error) => void = () => undefined;
  let since = performance.now();
  const timer = setInterval(
    () => {
      if (performance.now() - since > limit)
        stop(new StalledError(`no observation for ${minutes(limit)} (timeout_minutes of the source)`));
    },
    Math.min(LOOK, limit / 4),
  );
  try {
    for (;;) {
      since = performance.now();
      const next = iterator.next();
      // A promise for each row: rejecting one that outlives its row would keep every row in memory.
      const result =
        next instanceof Promise
          ? await new Promise<IteratorResult<T>>((resolve, reject) => {
              stop = reject;
              next.then(resolve, reject);
            })
          : next;
      if (result.done === true) return;
      if (take(result.value)) continue;
      void Promise.resolve(iterator.return?.()).catch(() => undefined);
      return;
    }
  } catch (error) {
    // An iterator that threw has ended; one that is stalled would never answer.
    if (!(error instanceof StalledError)) void Promise.resolve(iterator.return?.()).catch(() => undefined);
    throw error;
  } finally {
    clearInterval(timer);
  }
}

/** The result of a function of the pack. Throws StalledError when it does not return for so many minutes. */
export async function within<T>(limit: number, name: string, result: T | Promise<T>): Promise<T> {
  const end = new AbortController();
  const stalled = setTimeout(limit * 60_000, undefined, { signal: end.signal }).then(() => {
    throw new StalledError(`\`${name}\` did not return for ${minutes(limit * 60_000)} (timeout_minutes of the source)`);
  });
  // The timer is cancelled below, which rejects its promise.
  stalled.catch(() => undefined);
  return Promise.race([result, stalled]).finally(() => end.abort());
}

function iteratorOf<T>(rows: Rows<T>): AsyncIterator<T> | Iterator<T> {
  const iterable = rows as Partial<AsyncIterable<T> & Iterable<T>> | null | undefined;
  const iterator = iterable?.[Symbol.asyncIterator]?.() ?? iterable?.[Symbol.iterator]?.();
  if (iterator !== undefined && typeof rows !== 'string') return iterator;
  throw new Error(
    '`read` returns no rows: write `async *read(reading, context)`, with the asterisk, and `yield` each row',
  );
}

const minutes = (ms: number) => {
  const count = Number((ms / 60_000).toPrecision(2));
  return `${count} ${count === 1 ? 'minute' : 'minutes'}`;
};
