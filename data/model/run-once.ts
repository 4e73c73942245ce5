// Work whose result is shared by all who need it.

/** Runs `work` with the first call, and shares its result; after a failure the next call runs it again. */
export function runOnce<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null;
  return () => {
    if (running === null) {
      running = work();
      running.catch(() => {
        running = null;
      });
    }
    return running;
  };
}
