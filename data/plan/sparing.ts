// Questions to an engine that nobody pays for: a little work, and never so that others wait for it.
import { setImmediate } from 'node:timers/promises';
import type { Asking, Engine, FacetAnswer, FacetPlan, SearchAnswer, SearchPlan } from './plan.ts';

/**
 * What may be spent: milliseconds of this thread's processor, in which nobody else is answered, and of waiting for other
 * threads. Only the work of the questions counts, and not what a busy machine does between them.
 */
const SPENT = { thread: 20, waiting: 250 };

/** Asks one question at a time and lets the others' requests in before each. Ask on only while it is not `spent`. */
export class Sparing {
  readonly #engine: Engine;
  readonly #asking: Asking;
  #thread = 0;
  #waiting = 0;

  constructor(engine: Engine, asking: Asking) {
    this.#engine = engine;
    this.#asking = asking;
  }

  /** Whether enough was asked. */
  get spent(): boolean {
    return this.#thread >= SPENT.thread || this.#waiting >= SPENT.waiting;
  }

  search(plan: SearchPlan): Promise<SearchAnswer> {
    return this.#ask(() => this.#engine.search(plan, this.#asking));
  }

  facets(plan: FacetPlan): Promise<FacetAnswer> {
    return this.#ask(() => this.#engine.facets(plan, this.#asking));
  }

  async #ask<T>(question: () => Promise<T>): Promise<T> {
    await setImmediate();
    const thread = threadTime();
    const began = performance.now();
    // The packed index answers before it gives its promise back, DuckDB in threads of its own.
    const answer = question();
    this.#thread += threadTime() - thread;
    try {
      return await answer;
    } finally {
      this.#waiting += performance.now() - began;
    }
  }
}

function threadTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
