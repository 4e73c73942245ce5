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
  /** Who waits: those of several holders are served in turn. */
  holder?: string | undefined;
}

interface Waiter extends Required<Pick<QueueOptions, 'preferred' | 'holder'>> {
  admit(): void;
  drop(error: DataError): void;
}

/**
 * Creates a queue that serves preferred queries first, holders in turn, and each in the order of arrival. When it is full,
 * the newest query of the holder with the most waiting ones gives way to one with fewer.
 */
export function createQueryQueue(limits: QueueLimits): QueryQueue {
  const queue: Waiter[] = [];
  const { kept = 0 } = limits;
  /** Turn in which each of the holders that wait was served last. */
  const servedIn = new Map<string | undefined, number>();
  let turn = 0;
  let running = 0;

  const hasPlace = (preferred: boolean) => running < limits.running - (preferred || limits.running <= kept ? 0 : kept);
  const leave = () => {
    running -= 1;
    const [first] = queue;
    if (first === undefined || !hasPlace(first.preferred)) return;
    const turnOf = ({ holder }: Waiter) => servedIn.get(holder) ?? 0;
    const next = queue
      .filter(({ preferred }) => preferred === first.preferred)
      .reduce((a, b) => (turnOf(b) < turnOf(a) ? b : a));
    running += 1;
    turn += 1;
    servedIn.set(next.holder, turn);
    next.admit();
  };
  const remove = (waiter: Waiter) => {
    queue.splice(queue.indexOf(waiter), 1);
    if (!queue.some(({ holder }) => holder === waiter.holder)) servedIn.delete(waiter.holder);
  };
  /** Whether a query gave way to one of this holder. */
  const makePlace = (holder: string | undefined, preferred: boolean): boolean => {
    const others = queue.filter((waiter) => preferred || !waiter.preferred);
    const byHolder = Map.groupBy(others, (waiter) => waiter.holder);
    const [most = []] = [...byHolder.values()].sort((a, b) => b.length - a.length);
    if (most.length <= (byHolder.get(holder)?.length ?? 0) + 1) return false;
    most.at(-1)!.drop(tooMany());
    return true;
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
    enter(signal, { patience = limits.patience, preferred = false, holder } = {}) {
      if (signal?.aborted) return Promise.reject(abortedError());
      if (hasPlace(preferred)) {
        running += 1;
        return Promise.resolve(place());
      }
      const isFull = queue.length >= limits.waiting - (preferred ? 0 : kept);
      if (isFull && !makePlace(holder, preferred)) return Promise.reject(tooMany());
      return new Promise((resolve, reject) => {
        const waiter: Waiter = {
          preferred,
          holder,
          admit: () => settle(() => resolve(place())),
          drop: (error) => settle(() => reject(error)),
        };
        const onAbort = () => waiter.drop(abortedError());
        const timer = setTimeout(
          () => waiter.drop(new DataError('unavailable', 'The query waited too long in the queue; retry in a moment.')),
          patience,
        );
        const settle = (finish: () => void) => {
          remove(waiter);
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

const tooMany = () => new DataError('unavailable', 'Too many queries are waiting; retry in a moment.');

/** Error for a query that its client aborted. */
export function abortedError(): DataError {
  return new DataError('unavailable', 'The query was aborted before it finished.');
}
