// Runs a task for each item, eight at a time: a test that waits for another process keeps both busy.

const AT_ONCE = 8;

/** Resolves when `task` has resolved for every item; throws the first error. */
export async function atOnce<T>(items: Iterable<T>, task: (item: T) => Promise<void>): Promise<void> {
  const rest = items[Symbol.iterator]();
  const worker = async () => {
    for (let next = rest.next(); !next.done; next = rest.next()) await task(next.value);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
