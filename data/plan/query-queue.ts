// The bounded queue for engines: a few queries run, some wait, and more are rejected immediately.
import { DataError } from '../model/errors.ts';

export interface QueryQueue {
  /**
   * Waits for a slot and returns the function that releases it. Throws `unavailable` when the queue is full,
   * after `patience`, or when `signal` aborts.
   */
  enter(signal?: AbortSignal): Promise<() => void>;
  /** Queries that run and wait now, for /healthz. */
  load(): { running: number; waiting: number };
}

export interface QueueLimits {
  running: number;
  waiting: number;
  /** Longest wait in milliseconds. */
  patience: number;
}

/** Creates a queue that serves in the order of arrival. */
export function createQueryQueue(limits: QueueLimits): QueryQueue {
  const queue: { admit: () => void }[] = [];
  let running = 0;

  const leave = () => {
    const next = queue.shift();
    if (next) next.admit();
    else running -= 1;
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
    enter(signal) {
      if (signal?.aborted) return Promise.reject(abortedError());
      if (running < limits.running) {
        running += 1;
        return Promise.resolve(place());
      }
      if (queue.length >= limits.waiting)
        return Promise.reject(new DataError('unavailable', 'Too many queries are waiting; retry in a moment.'));
      return new Promise((resolve, reject) => {
        const waiter = { admit: () => settle(() => resolve(place())) };
        const drop = (error: DataError) => {
          const index = queue.indexOf(waiter);
          if (index >= 0) queue.splice(index, 1);
          settle(() => reject(error));
        };
        const onAbort = () => drop(abortedError());
        const timer = setTimeout(
          () => drop(new DataError('unavailable', 'The query waited too long in the queue; retry in a moment.')),
          limits.patience,
        );
        const settle = (finish: () => void) => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', onAbort);
          finish();
        };
        signal?.addEventListener('abort', onAbort, { once: true });
        queue.push(waiter);
      });
    },
  };
}

/** Error for a query that its client aborted. */
export function abortedError(): DataError {
  return new DataError('unavailable', 'The query was aborted before it finished.');
}
