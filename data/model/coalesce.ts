// Runs repeated work one at a time and coalesces calls.

/**
 * Wraps `work` so that runs never overlap. Calls during a run share the next run, which therefore sees the
 * state at the time of each call.
 */
export function coalesce<T>(work: () => Promise<T>): () => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | null = null;
  return () => {
    next ??= last
      .catch(() => {})
      .then(() => {
        next = null;
        const running = work();
        last = running;
        return running;
      });
    return next;
  };
}
