// Cache of engine answers, valid until the release or its overlay changes.
//
//   key      view ⏎ query ⏎ canonical plan     view: release, overlay version and a unique number
//   answer   the answer of the engine; do not modify it or the values derived from it (packs/define/derive.ts)
//
// The plan contains what the caller may see (scope of words, floor of facets), so callers share an answer
// only when the engine would return the same to both. Equal concurrent queries run once.

import { BoundedCache } from '../model/bounded-cache.ts';
import type { Engine, Predicate, QueryOptions } from '../plan/plan.ts';
import { abortedError } from '../plan/query-queue.ts';

/** Approximate bytes of an entry without its answer. */
const ENTRY = 500;
/** Approximate bytes of a value, group or span: in the answer, in the derived object and in its JSON text. */
const ROW = { facets: 250, similar: 60, stats: 700, timeseries: 600 };

interface Kept {
  answer: object;
  bytes: number;
}

/** The cached answers of one process, with one limit over all releases. */
export class AnswerCache {
  readonly #cache: BoundedCache<string, Kept>;
  readonly #running = new Map<string, Shared>();
  #views = 0;

  /**
   * Caches answers of at most this many bytes. 0: no cache, but equal concurrent queries still share one run.
   */
  constructor(bytes: number) {
    this.#cache = new BoundedCache('engine answers', { most: bytes, sizeOf: (entry) => entry.bytes });
  }

  /** Approximate bytes in the cache. */
  get bytes(): number {
    return this.#cache.size;
  }

  /**
   * A unique name for a release with an overlay: a view of the same version may contain less when parts of
   * the overlay could not be applied.
   */
  view(release: string, overlay: number): string {
    this.#views += 1;
    return `${release} ${overlay} ${this.#views}`;
  }

  /**
   * The cached answer, or the result of `ask`. An abort by `options` affects only this caller. Errors of
   * `ask` are thrown and not cached.
   */
  async of<T extends object>(
    key: string,
    options: QueryOptions,
    ask: (options: QueryOptions) => Promise<T>,
    bytes: (answer: T) => number,
  ): Promise<T> {
    const cached = this.#cache.get(key);
    if (cached) return cached.answer as T;
    let shared = this.#running.get(key);
    if (!shared) {
      const begun = new Shared((signal) => ask(signal));
      const over = () => this.#running.get(key) === begun && this.#running.delete(key);
      begun.signal.addEventListener('abort', over, { once: true });
      begun.answer
        .then(
          (answer) => this.#keep(key, answer, bytes(answer as T)),
          () => {},
        )
        .finally(over);
      this.#running.set(key, begun);
      shared = begun;
    }
    return (await shared.join(options)) as T;
  }

  #keep(key: string, answer: object, bytes: number): void {
    this.#cache.set(key, { answer, bytes: ENTRY + 2 * key.length + bytes });
  }
}

/** One running query with several callers; aborted when the last caller aborts. */
class Shared {
  readonly answer: Promise<object>;
  readonly #over = new AbortController();
  #waiting = 0;

  constructor(ask: (options: QueryOptions) => Promise<object>) {
    this.answer = ask({ signal: this.#over.signal });
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  async join({ signal }: QueryOptions): Promise<object> {
    this.#waiting += 1;
    const { promise, reject } = Promise.withResolvers<never>();
    const leave = () => {
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#over.abort();
      reject(abortedError());
    };
    if (signal?.aborted) leave();
    signal?.addEventListener('abort', leave, { once: true });
    try {
      return await Promise.race([this.answer, promise]);
    } finally {
      signal?.removeEventListener('abort', leave);
    }
  }
}

/** Plan as text, independent of the order of its conditions. */
export function canonicalPlan(plan: { where: readonly Predicate[] }): string {
  const where = plan.where.map((predicate) => JSON.stringify(inOrder(predicate))).sort();
  return JSON.stringify({ ...plan, where });
}

function inOrder(predicate: Predicate): Predicate {
  if (predicate.kind === 'any' || predicate.kind === 'none')
    return { ...predicate, values: [...new Set(predicate.values)].sort() };
  if (predicate.kind === 'words') return { ...predicate, words: [...new Set(predicate.words)].sort() };
  if (predicate.kind === 'status') return { ...predicate, statuses: [...new Set(predicate.statuses)].sort() };
  return predicate.kind === 'ids' ? { ...predicate, refs: [...new Set(predicate.refs)].sort() } : predicate;
}

/** `engine` with cached answers; `overlay` is the version of its overlay. */
export function cacheAnswers(engine: Engine, answers: AnswerCache, release: string, overlay = 0): Engine {
  const view = answers.view(release, overlay);
  const key = (question: string, plan: string) => `${view}\n${question}\n${plan}`;
  return {
    ...engine,
    facets: (plan, options = {}) =>
      answers.of(
        key('facets', canonicalPlan(plan)),
        options,
        (signal) => engine.facets(plan, signal),
        ({ values }) => values.length * ROW.facets,
      ),
    similar: (plan, options = {}) =>
      answers.of(
        key('similar', canonicalPlan(plan)),
        options,
        (signal) => engine.similar(plan, signal),
        ({ length }) => length * ROW.similar,
      ),
    stats: (plan, options = {}) =>
      answers.of(
        key('stats', canonicalPlan(plan)),
        options,
        (signal) => engine.stats(plan, signal),
        ({ groups }) => groups.length * ROW.stats,
      ),
    timeseries: (plan, options = {}) =>
      answers.of(
        key('timeseries', canonicalPlan(plan)),
        options,
        (signal) => engine.timeseries(plan, signal),
        ({ spans }) => spans.length * ROW.timeseries,
      ),
    withOverlay: (applied) => cacheAnswers(engine.withOverlay(applied), answers, release, applied.version),
  };
}
