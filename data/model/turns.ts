// Work that may be asked for at any time and runs one at a time.

/**
 * The same work, one run after the other. Who asks while it runs gets the next run, which all of them share: what was true when they asked is
 * seen by it.
 */
export function inTurn<T>(work: () => Promise<T>): () => Promise<T> {
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
