// The work that a free extra of an answer, such as a hint, may cause.
import { nextTurn } from './slices.ts';

/**
 * Milliseconds of processor time on this thread, in one turn of the event loop and in all; and queries, which may run in
 * other threads. None is time of the clock: an answer must not depend on the load of the machine.
 */
const MOST = { turn: 25, thread: 60, queries: 60 };

/**
 * One budget for all the work of one hint. Loops stop when it is spent, and each query runs in its own turn of
 * the event loop:
 *
 *   const budget = new WorkBudget();
 *   for (const value of values) {
 *     if (budget.spent) break;
 *     …
 *   }
 *   const answer = await budget.run(() => engine.search(plan));
 *
 * Only this work counts, not the load of the machine between two turns.
 */
export class WorkBudget {
  #thread = 0;
  #queries = 0;
  /** Time of the thread when the current synchronous work began; null while it waits. */
  #since: number | null = threadTime();

  /** Whether the budget is used up, also that of the current turn. */
  get spent(): boolean {
    const turn = this.#current();
    return turn >= MOST.turn || this.#thread + turn >= MOST.thread || this.#queries >= MOST.queries;
  }

  /** Runs a query in a new turn of the event loop. */
  async run<T>(query: () => Promise<T>): Promise<T> {
    this.#thread += this.#current();
    this.#since = null;
    await nextTurn();
    this.#since = threadTime();
    this.#queries += 1;
    // The packed index answers synchronously, DuckDB in its own threads.
    const answer = query();
    this.#thread += this.#current();
    this.#since = null;
    try {
      return await answer;
    } finally {
      this.#since = threadTime();
    }
  }

  #current(): number {
    return this.#since === null ? 0 : threadTime() - this.#since;
  }
}

function threadTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
