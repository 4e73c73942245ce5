// The bounded queue for engines: a few queries run, some wait, and more are rejected immediately.
import { DataError } from '../model/errors.ts';

export interface QueryQueue {
  /**
   * Waits for a slot and returns the function that releases it. Throws `unavailable` when the queue is full,
   * after the patience, or when `signal` aborts.
   */
  enter(signal?: AbortSignal, options?: QueueOptions): Promise<() => void>;
  /** Queries that run and wait now, for /healthz. */
  load(): { running: number; waiting: number };
}

export interface QueueLimits {
  running: number;
  waiting: number;
  /** Longest wait in milliseconds. */
  patience: number;
  /** Places of those that run (of several), and of those that wait, that only `preferred` queries get; absent: none. */
  kept?: number;
}

export interface QueueOptions {
  /** Longest wait in milliseconds; absent: that of the queue. */
  patience?: number;
  /** Goes before others that wait, and gets the places that are kept. */
  preferred?: boolean;
}

/** Creates a queue that serves in the order of arrival, preferred queries first. */
export function createQueryQueue(limits: QueueLimits): QueryQueue {
  const queue: { admit: () => void; preferred: boolean }[] = [];
  const { kept = 0 } = limits;
  let running = 0;

  const hasPlace = (preferred: boolean) => running < limits.running - (preferred || limits.running <= kept ? 0 : kept);
  const leave = () => {
    running -= 1;
    const next = queue.findIndex(({ preferred }) => hasPlace(preferred));
    if (next < 0) return;
    running += 1;
    queue.splice(next, 1)[0]!.admit();
  };
  /** Releases the slot once; further calls have no effect. */
  const place = () => {
    let held = true;
    return () => {
      if (held) leave();
      held = false;
    };
  };

  return {
    load: () => ({ running, waiting: queue.length }),
    enter(signal, { patience = limits.patience, preferred = false } = {}) {
      if (signal?.aborted) return Promise.reject(abortedError());
      if (hasPlace(preferred)) {
        running += 1;
        return Promise.resolve(place());
      }
      if (queue.length >= limits.waiting - (preferred ? 0 : kept))
        return Promise.reject(new DataError('unavailable', 'Too many queries are waiting; retry in a moment.'));
      return new Promise((resolve, reject) => {
        const waiter = { admit: () => settle(() => resolve(place())), preferred };
        const drop = (error: DataError) => {
          const index = queue.indexOf(waiter);
          if (index >= 0) queue.splice(index, 1);
          settle(() => reject(error));
        };
        const onAbort = () => drop(abortedError());
        const timer = setTimeout(
          () => drop(new DataError('unavailable', 'The query waited too long in the queue; retry in a moment.')),
          patience,
        );
        const settle = (finish: () => void) => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', onAbort);
          finish();
        };
        signal?.addEventListener('abort', onAbort, { once: true });
        const later = preferred ? queue.findIndex((other) => !other.preferred) : -1;
        queue.splice(later < 0 ? queue.length : later, 0, waiter);
      });
    },
  };
}

/** Error for a query that its client aborted. */
export function abortedError(): DataError {
  return new DataError('unavailable', 'The query was aborted before it finished.');
}
