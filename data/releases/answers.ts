// Answers to computed questions, kept behind Engine until the release or its overlay changes.
//
//   key      view ⏎ question ⏎ canonical plan     view: release, version of the overlay, and a number no other view bears
//   answer   what the engine said, and what is made of it (`once`): nobody writes into either
//
// The plan holds what a caller may see (the scope of words, the floor of facets), so that two callers share an answer only
// where the engine would tell them the same. Equal questions asked at once are asked of the engine once.

import { LRUCache } from 'lru-cache';
import { givenUp } from '../plan/gate.ts';
import type { Asking, Engine, Predicate } from '../plan/plan.ts';

/** Bytes that an entry takes beside its answer, roughly. */
const ENTRY = 500;
/** Bytes that a value, a group or a span takes, roughly: in the answer, in the object told of it and in its JSON text. */
const ROW = { facets: 250, similar: 60, stats: 700, timeseries: 600 };

interface Kept {
  answer: object;
  bytes: number;
}

/** What was made of answers that are kept, by name. Answers that are not kept are not in here. */
const made = new WeakMap<object, Map<string, object>>();

/** What `make` makes of an answer and of nothing but `name`: of a kept answer it is made once. */
export function once<T extends object>(answer: object, name: string, make: () => T): T {
  const own = made.get(answer);
  if (!own) return make();
  let found = own.get(name) as T | undefined;
  if (!found) {
    found = make();
    own.set(name, found);
    made.set(found, new Map());
  }
  return found;
}

/** The kept answers of one process: one bound over all releases. */
export class Answers {
  readonly #kept: LRUCache<string, Kept>;
  readonly #asked = new Map<string, Shared>();
  #views = 0;

  /** Keeps answers of at most so many bytes together; 0: none, and equal questions at once still share one. */
  constructor(bytes: number) {
    this.#kept = new LRUCache({ maxSize: Math.max(bytes, 1), sizeCalculation: (entry) => entry.bytes });
  }

  /** Bytes of what is kept, roughly. */
  get bytes(): number {
    return this.#kept.calculatedSize;
  }

  /** A name for a release under an overlay that nothing else bears: an overlay of the same version may hold less, when not all of it could be put in. */
  view(release: string, overlay: number): string {
    this.#views += 1;
    return `${release} ${overlay} ${this.#views}`;
  }

  /** The kept answer, or what `ask` answers. `asking` gives up this caller alone. Throws what `ask` throws, which is not kept. */
  async of<T extends object>(
    key: string,
    asking: Asking,
    ask: (asking: Asking) => Promise<T>,
    bytes: (answer: T) => number,
  ): Promise<T> {
    const kept = this.#kept.get(key);
    if (kept) return kept.answer as T;
    let shared = this.#asked.get(key);
    if (!shared) {
      const begun = new Shared((given) => ask(given));
      const over = () => this.#asked.get(key) === begun && this.#asked.delete(key);
      begun.given.addEventListener('abort', over, { once: true });
      begun.answer
        .then(
          (answer) => this.#keep(key, answer, bytes(answer as T)),
          () => {},
        )
        .finally(over);
      this.#asked.set(key, begun);
      shared = begun;
    }
    return (await shared.join(asking)) as T;
  }

  #keep(key: string, answer: object, bytes: number): void {
    this.#kept.set(key, { answer, bytes: ENTRY + 2 * key.length + bytes });
    made.set(answer, new Map());
  }
}

/** One question that several ask: it is given up when the last of them gives it up. */
class Shared {
  readonly answer: Promise<object>;
  readonly #over = new AbortController();
  #waiting = 0;

  constructor(ask: (asking: Asking) => Promise<object>) {
    this.answer = ask({ signal: this.#over.signal });
  }

  get given(): AbortSignal {
    return this.#over.signal;
  }

  async join({ signal }: Asking): Promise<object> {
    this.#waiting += 1;
    const { promise, reject } = Promise.withResolvers<never>();
    const leave = () => {
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#over.abort();
      reject(givenUp());
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

/** The same conditions give the same text, in whatever order they were asked. */
export function canonical(plan: { where: readonly Predicate[] }): string {
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

/** `engine` with its answers kept; `overlay`: the version that it is under. */
export function keepAnswers(engine: Engine, answers: Answers, release: string, overlay = 0): Engine {
  const view = answers.view(release, overlay);
  const key = (question: string, plan: string) => `${view}\n${question}\n${plan}`;
  return {
    ...engine,
    facets: (plan, asking = {}) =>
      answers.of(
        key('facets', canonical(plan)),
        asking,
        (given) => engine.facets(plan, given),
        ({ values }) => values.length * ROW.facets,
      ),
    similar: (plan, asking = {}) =>
      answers.of(
        key('similar', canonical(plan)),
        asking,
        (given) => engine.similar(plan, given),
        ({ length }) => length * ROW.similar,
      ),
    stats: (plan, asking = {}) =>
      answers.of(
        key('stats', canonical(plan)),
        asking,
        (given) => engine.stats(plan, given),
        ({ groups }) => groups.length * ROW.stats,
      ),
    timeseries: (plan, asking = {}) =>
      answers.of(
        key('timeseries', canonical(plan)),
        asking,
        (given) => engine.timeseries(plan, given),
        ({ spans }) => spans.length * ROW.timeseries,
      ),
    under: (applied) => keepAnswers(engine.under(applied), answers, release, applied.version),
  };
}
