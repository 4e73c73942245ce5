// The bounded queue in front of the engines: few run, some wait, the rest are refused at once.
import { DataError } from '../model/errors.ts';

export interface Gate {
  /**
   * Waits for a place and answers what gives it back. Throws `unavailable` when the queue is full, when patience ends or
   * when `signal` gives the question up.
   */
  enter(signal?: AbortSignal): Promise<() => void>;
  /** How many run and wait now, for /healthz. */
  load(): { running: number; waiting: number };
}

export interface GateLimits {
  running: number;
  waiting: number;
  /** Milliseconds. */
  patience: number;
}

/** Makes a gate that serves in the order of arrival. */
export function createGate(limits: GateLimits): Gate {
  const queue: { admit: () => void }[] = [];
  let running = 0;

  const leave = () => {
    const next = queue.shift();
    if (next) next.admit();
    else running -= 1;
  };
  /** A place can be given back once; a second call does nothing. */
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
      if (signal?.aborted) return Promise.reject(givenUp());
      if (running < limits.running) {
        running += 1;
        return Promise.resolve(place());
      }
      if (queue.length >= limits.waiting)
        return Promise.reject(new DataError('unavailable', 'Too many questions are waiting; ask again in a moment.'));
      return new Promise((resolve, reject) => {
        const waiter = { admit: () => settle(() => resolve(place())) };
        const drop = (error: DataError) => {
          const index = queue.indexOf(waiter);
          if (index >= 0) queue.splice(index, 1);
          settle(() => reject(error));
        };
        const onAbort = () => drop(givenUp());
        const timer = setTimeout(
          () => drop(new DataError('unavailable', 'The question waited too long for its turn; ask again in a moment.')),
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

/** Nobody waits for the answer any more. */
export function givenUp(): DataError {
  return new DataError('unavailable', 'The question was given up before it was answered.');
}
