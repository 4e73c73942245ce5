// Which database of each dataset statements may read. A file is made for each release, and again for each change of an
// overlay; until a change is in it, statements that read the dataset are refused (decision 0035).
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { UNFINISHED } from '../model/atomic.ts';
import { DataError } from '../model/errors.ts';
import { createQueryQueue, type QueryQueue } from '../plan/query-queue.ts';
import { type MakeTables, NEEDS_MEMORY } from './make-tables.ts';
import type { SqlSource, Tier } from './tables.ts';

/** The file of a dataset, or why there is none: an error, or it is being made for the first time. */
export type TablesState = ReadyTables | { error: DataError } | { making: Promise<void> };

/** A file, and what is in it: the tables of an earlier release are read until those of the newest are made. */
export interface ReadyTables {
  source: SqlSource;
  path: string;
}

/** Times in milliseconds, which tests shorten. */
interface RewriteTimes {
  /** How long changes are collected after a quiet minute, and after another rewrite within a minute. */
  collect: { first: number; next: number };
  /** How long edits are collected that refuse no statement. */
  deferred: number;
  /** How long statements may be refused within an hour before edits are deferred; removals never are. */
  refused: number;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const TIMES: RewriteTimes = {
  collect: { first: 1_000, next: 10_000 },
  deferred: 10 * MINUTE,
  refused: 2.5 * MINUTE,
};

/** Databases that are made at a time, over all datasets. */
const MADE_AT_A_TIME = 2;
/** Milliseconds until a failure that has nothing to do with memory is tried again. */
const RETRY = MINUTE;
/** Milliseconds between two looks whether a wait is over. */
const STEP = 100;

interface Entry {
  readonly tier: Tier;
  /** What the tables are to have. */
  wanted: SqlSource;
  ready: ReadyTables | null;
  /** When the overlay changed that the tables lack, while statements are refused for it. */
  refusedSince: number | null;
  /** Earlier times of refusal. */
  refusals: { from: number; until: number }[];
  failed: { content: string; error: DataError; again: number } | null;
  /** Milliseconds that the last database took. */
  took: number;
  work: Promise<void> | null;
}

export interface TablesOptions {
  /** Caches the databases of the current releases. */
  folder: string;
  /** Bound of the memory of statements and of making in bytes (SQL_MEMORY). */
  memory: number;
  /** Makes a database, outside of the process of statements. */
  make: MakeTables;
  log(line: string): void;
  times?: RewriteTimes;
}

/**
 * @example
 * ```ts
 * const tables = new CurrentTables({ folder, memory, make: makeTables, log: console.error });
 * const state = tables.state('public', source);
 * ```
 */
export class CurrentTables {
  readonly #options: TablesOptions;
  readonly #times: RewriteTimes;
  readonly #entries = new Map<string, Entry>();
  readonly #places = createQueryQueue({ running: MADE_AT_A_TIME, waiting: 10_000, patience: 24 * HOUR });
  /** The databases of a dataset are made one after the other, so that the first is ready in half of the time. */
  readonly #turns = new Map<string, QueryQueue>();
  #closed = false;

  constructor(options: TablesOptions) {
    this.#options = options;
    this.#times = options.times ?? TIMES;
    const { folder } = options;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // A newer one may be that of another process.
    for (const file of readdirSync(folder).filter((name) => name.startsWith(UNFINISHED)))
      if ((statSync(join(folder, file), { throwIfNoEntry: false })?.mtimeMs ?? 0) < Date.now() - HOUR)
        rmSync(join(folder, file), { recursive: true, force: true });
  }

  /** Notes the release and the overlay that a dataset has now. The tables of a tier that was not read yet are not made. */
  follow(tier: Tier, source: SqlSource): void {
    const entry = this.#entries.get(keyOf(tier, source));
    if (entry) this.#want(entry, source);
    else if (tier === 'public') this.#begin(tier, source);
  }

  /** The file that a statement may read. `source` may be older than what `follow` was called with. */
  state(tier: Tier, source: SqlSource): TablesState {
    const entry = this.#entries.get(keyOf(tier, source)) ?? this.#begin(tier, source);
    if (isNewer(source, entry.wanted)) this.#want(entry, source);
    if (entry.ready !== null && !existsSync(entry.ready.path)) entry.ready = null;
    const { refusedSince, ready, failed, wanted } = entry;
    if (this.#lacks(entry)) this.#work(entry);
    if (ready !== null && refusedSince === null) return ready;
    if (failed?.content === wanted.content && !this.#lacks(entry)) return { error: failed.error };
    if (refusedSince !== null) return { error: this.#refusal(entry, refusedSince) };
    return { making: entry.work! };
  }

  close(): void {
    this.#closed = true;
  }

  #begin(tier: Tier, source: SqlSource): Entry {
    const entry: Entry = {
      ...{ tier, wanted: source, ready: null, refusedSince: null, refusals: [], failed: null, took: 0, work: null },
    };
    this.#entries.set(keyOf(tier, source), entry);
    this.#work(entry);
    return entry;
  }

  #want(entry: Entry, source: SqlSource): void {
    const { wanted, ready } = entry;
    if (source.content === wanted.content && source.overlay.version === wanted.overlay.version) return;
    entry.wanted = source;
    if (ready === null) return;
    if (ready.source.content === source.content) ready.source = source;
    else if (ready.source.overlay.version !== source.overlay.version && this.#refuses(entry, ready.source, source))
      entry.refusedSince ??= performance.now();
    this.#work(entry);
  }

  /** Whether statements are refused until a change is in the tables: removals always, edits within their share of an hour. */
  #refuses(entry: Entry, before: SqlSource, source: SqlSource): boolean {
    const removes = source.overlay.removed.some((id) => !before.overlay.removed.includes(id));
    if (removes || before.release !== source.release) return true;
    return this.#refusedWithinHour(entry) < this.#times.refused;
  }

  #refusedWithinHour(entry: Entry): number {
    const since = performance.now() - HOUR;
    entry.refusals = entry.refusals.filter(({ until }) => until > since);
    return entry.refusals.reduce((sum, { from, until }) => sum + until - Math.max(from, since), 0);
  }

  #refusal(entry: Entry, since: number): DataError {
    const left = since + this.#collected(entry) + entry.took - performance.now();
    const message = `A record of ${entry.wanted.dataset} was removed or changed; its tables are written without it.`;
    return new DataError('unavailable', message, undefined, Math.max(1, Math.ceil(left / 1000)));
  }

  /** How long changes are collected before the next database is made. */
  #collected({ ready, refusedSince, refusals, wanted }: Entry): number {
    if (ready === null) return 0;
    const { collect, deferred } = this.#times;
    if (refusedSince === null) return ready.source.overlay.version === wanted.overlay.version ? 0 : deferred;
    const last = refusals.at(-1)?.until ?? Number.NEGATIVE_INFINITY;
    return refusedSince - last < MINUTE ? collect.next : collect.first;
  }

  #work(entry: Entry): void {
    entry.work ??= this.#makeUntilCurrent(entry).finally(() => {
      entry.work = null;
    });
    // Nobody may be waiting for it.
    entry.work.catch(() => {});
  }

  async #makeUntilCurrent(entry: Entry): Promise<void> {
    while (!this.#closed && this.#lacks(entry)) {
      if (!existsSync(this.#pathOf(entry))) await this.#collect(entry);
      const leave = await this.#turnOf(entry).enter(undefined, { preferred: entry.tier === 'public' });
      const source = entry.wanted;
      const path = this.#pathOf(entry);
      const from = performance.now();
      try {
        if (!existsSync(path)) await this.#make(entry, source, path);
      } catch (error) {
        entry.failed = { content: source.content, ...this.#failure(source, error as Error) };
        continue;
      } finally {
        leave();
      }
      entry.took = performance.now() - from;
      entry.ready = { source, path };
      this.#removeOthers(entry, path);
      if (entry.refusedSince === null || source.overlay.version !== entry.wanted.overlay.version) continue;
      entry.refusals.push({ from: entry.refusedSince, until: performance.now() });
      entry.refusedSince = null;
    }
  }

  /** Whether a database is to be made, and may be: not again for what failed. */
  #lacks({ ready, wanted, failed }: Entry): boolean {
    if (ready?.source.content === wanted.content) return false;
    return failed?.content !== wanted.content || performance.now() >= failed.again;
  }

  /** Waits until the changes of an overlay are collected; a removal shortens the wait of edits. */
  async #collect(entry: Entry): Promise<void> {
    const begin = performance.now();
    while (!this.#closed) {
      const left = (entry.refusedSince ?? begin) + this.#collected(entry) - performance.now();
      if (left <= 0) return;
      await sleep(Math.min(left, STEP), undefined, { ref: false });
    }
  }

  #turnOf({ wanted: { dataset } }: Entry): QueryQueue {
    const turn = this.#turns.get(dataset) ?? createQueryQueue({ running: 1, waiting: 2, patience: 24 * HOUR });
    this.#turns.set(dataset, turn);
    return turn;
  }

  async #make(entry: Entry, source: SqlSource, path: string): Promise<void> {
    const urgent = entry.refusedSince !== null;
    const leave = await this.#places.enter(undefined, { preferred: urgent });
    try {
      await this.#options.make(source, path, this.#options.memory, urgent);
    } finally {
      leave();
    }
  }

  #failure({ dataset }: SqlSource, error: Error): { error: DataError; again: number } {
    this.#options.log(`SQL: the tables of ${dataset} cannot be made: ${error.message}`);
    if (!(error instanceof DataError) || error.detail !== NEEDS_MEMORY)
      return {
        error: new DataError('unavailable', `The tables of ${dataset} cannot be read now.`),
        again: performance.now() + RETRY,
      };
    const message = `The tables of ${dataset} cannot be made with ${this.#options.memory / 2 ** 20} MB of memory: the operator of this service can raise SQL_MEMORY. A retry does not help.`;
    return { error: new DataError('invalid_sql', message), again: Number.POSITIVE_INFINITY };
  }

  #pathOf({ tier, wanted: { dataset, release, content } }: Entry): string {
    return join(this.#options.folder, `${tier}-${dataset}-${release}-${content}.duckdb`);
  }

  /** Removes the other databases of a dataset: they have rows that are gone. Statements that read one keep it open. */
  #removeOthers({ tier, wanted: { dataset } }: Entry, path: string): void {
    const name = new RegExp(`^${tier}-${dataset}-[0-9a-f]{16}-[0-9a-f]{8,16}\\.duckdb$`);
    for (const file of readdirSync(this.#options.folder)) {
      const other = join(this.#options.folder, file);
      if (name.test(file) && other !== path) rmSync(other, { force: true });
    }
  }
}

/** Whether a source is of a later overlay or release: the threads of a process learn of both one after the other. */
const isNewer = ({ overlay, created_at }: SqlSource, than: SqlSource) =>
  overlay.version > than.overlay.version || (overlay.version === than.overlay.version && created_at > than.created_at);

const keyOf = (tier: Tier, { dataset }: SqlSource) => `${tier} ${dataset}`;
