// Follows the pointers of the store: brings new releases from object storage into DATA_DIR and makes them
// current there, so that the register opens them.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { coalesce } from '../model/coalesce.ts';
import { paths } from '../model/layout.ts';
import { LockedError, lockFolder } from '../model/lock.ts';
import { currentRelease, makeCurrent } from '../model/manifest.ts';
import { textOf } from '../objects/listing.ts';
import { StoreUnavailable } from '../state/failures.ts';
import { nodesWithout, noteNode, removeNode } from '../state/leases.ts';
import { type ReleasePointer, readPointers } from '../state/pointers.ts';
import type { Store } from '../state/store.ts';
import { clearTransfers, fetchRelease, type RemoteCopy } from './remote.ts';
import { fetchRunLogs } from './work-files.ts';

/** Milliseconds until a failed transfer is tried again, doubled each time up to the maximum. */
const RETRY = { first: 1_000, most: 60_000 };

/** Without news, the storage is read at this interval, so that its state is known. Milliseconds. */
const PROBE = 30_000;

/** Interval at which this process is noted as running, in milliseconds. */
const HEARTBEAT = 3_000;

/**
 * A release becomes current when all running processes have it, or this many milliseconds after it was fetched
 * here: one process that cannot fetch it holds up no other.
 */
const TOGETHER = 60_000;

/** State of the object storage as this process sees it. */
export interface FollowState {
  place: string;
  /** Whether the last access succeeded. */
  up: boolean;
  /** Why not; null when it did. */
  problem: string | null;
  /** When `up` last changed. */
  since: Date;
  /** Current releases by dataset that this process does not have yet. */
  waiting: Readonly<Record<string, string>>;
}

export interface Follower {
  /** Reads the pointers and fetches what is new; concurrent calls share one run. Never throws. */
  look(): Promise<void>;
  state(): FollowState;
  /** Looks until the signal, every `interval` milliseconds. */
  follow(interval: number, signal: AbortSignal): Promise<void>;
}

export interface FollowOptions extends RemoteCopy {
  /** Releases whose files stay, RELEASES_KEEP. */
  keep: number;
  store: Store;
  datasets(): readonly string[];
  log(line: string): void;
  now(): Date;
}

/** Opens a follower. Several processes may share DATA_DIR; one of them transfers at a time. */
export function openFollower(options: FollowOptions): Follower {
  return new ReleaseFollower(options);
}

class ReleaseFollower implements Follower {
  readonly look = coalesce(() => this.#look());
  readonly #options: FollowOptions;
  /** Listing of facts and run logs that DATA_DIR has, by dataset. */
  readonly #work = new Map<string, string>();
  readonly #waiting = new Map<string, string>();
  #problem: string | null = null;
  #since: Date;
  #retry = { at: 0, wait: RETRY.first };
  #probed = Number.NEGATIVE_INFINITY;
  readonly #id = randomUUID();
  /** Fetched releases that are not current yet, by dataset. */
  readonly #fetched = new Map<string, { listing: string; at: number }>();

  constructor(options: FollowOptions) {
    this.#options = options;
    this.#since = options.now();
  }

  state(): FollowState {
    const { place } = this.#options.storage;
    const waiting = Object.fromEntries(this.#waiting);
    return { place, up: this.#problem === null, problem: this.#problem, since: this.#since, waiting };
  }

  async follow(interval: number, signal: AbortSignal): Promise<void> {
    // Also during a long transfer.
    const noting = setInterval(() => void this.#note().catch(() => {}), HEARTBEAT).unref();
    while (!signal.aborted) {
      await this.look();
      await sleep(interval, undefined, { signal, ref: false }).catch(() => {});
    }
    clearInterval(noting);
    await removeNode(this.#options.store, this.#id).catch(() => {});
  }

  /** Notes this process with the listings of its current and fetched releases. */
  async #note(): Promise<void> {
    const { store, datasets, dataDir } = this.#options;
    const have = [...this.#fetched.values()].map(({ listing }) => listing);
    for (const dataset of datasets()) {
      const release = await currentRelease(dataDir, dataset);
      const listing = release === null ? null : await textOf(paths.listing(dataDir, dataset, release));
      if (listing !== null) have.push(listing);
    }
    await noteNode(store, this.#id, have);
  }

  async #look(): Promise<void> {
    const { store, datasets, dataDir, log } = this.#options;
    try {
      const pointers = await readPointers(store);
      const news: [string, ReleasePointer][] = [];
      for (const dataset of datasets()) {
        const pointer = pointers.get(dataset);
        if (pointer === undefined) continue;
        if (pointer.release === null || (await currentRelease(dataDir, dataset)) === pointer.release)
          this.#waiting.delete(dataset);
        else this.#waiting.set(dataset, pointer.release);
        if (this.#waiting.has(dataset) || this.#work.get(dataset) !== pointer.work) news.push([dataset, pointer]);
      }
      if (performance.now() < this.#retry.at) return;
      if (news.length > 0) await this.#fetchAll(news, pointers);
      else if (performance.now() < this.#probed + PROBE) return;
      else await this.#options.storage.size('probe');
      this.#probed = performance.now();
      this.#report(null);
    } catch (error) {
      // Another process of this machine fetches the same files.
      if (error instanceof LockedError) return;
      const { message } = error as Error;
      if (this.#problem !== message) log(`cannot follow the releases: ${message}; the current releases stay`);
      this.#report(message, error instanceof StoreUnavailable);
    }
  }

  async #fetchAll(news: readonly [string, ReleasePointer][], pointers: ReadonlyMap<string, ReleasePointer>) {
    const { dataDir } = this.#options;
    const unlock = lockFolder(paths.transfers(dataDir), 'transfer', 'transfer');
    try {
      for (const [dataset, pointer] of news) await this.#fetch(dataset, pointer);
      await clearTransfers(dataDir, new Set([...pointers.values()].flatMap(({ listing, work }) => [listing, work])));
    } finally {
      unlock();
    }
  }

  async #fetch(dataset: string, { release, listing, manifest, work }: ReleasePointer): Promise<void> {
    const { storage, dataDir, log } = this.#options;
    if (release !== null && listing !== null && this.#waiting.has(dataset)) {
      if (this.#fetched.get(dataset)?.listing !== listing) {
        log(`${dataset}: fetching release ${release} from ${storage.place}`);
        const began = performance.now();
        const copy = { storage, dataDir, store: this.#options.store };
        const done = await fetchRelease(copy, dataset, { release, listing, manifest });
        this.#fetched.set(dataset, { listing, at: performance.now() });
        log(`${dataset}: release ${release} is in the cache: ${transferText(done, performance.now() - began)}`);
        await this.#note();
      }
      if (await this.#mayServe(dataset, listing)) {
        await makeCurrent(dataDir, dataset, release, this.#options.keep);
        this.#waiting.delete(dataset);
        this.#fetched.delete(dataset);
      }
    }
    if (work !== null && this.#work.get(dataset) !== work) {
      await fetchRunLogs({ storage, dataDir }, dataset, work);
      this.#work.set(dataset, work);
    }
  }

  /** Whether a fetched release may become current: without an earlier one it may at once. */
  async #mayServe(dataset: string, listing: string): Promise<boolean> {
    const { store, dataDir, log } = this.#options;
    if ((await currentRelease(dataDir, dataset)) === null) return true;
    const others = await nodesWithout(store, listing);
    const late = performance.now() > (this.#fetched.get(dataset)?.at ?? 0) + TOGETHER;
    if (others > 0 && late) log(`${dataset}: ${others} other processes have not fetched the release yet`);
    return others === 0 || late;
  }

  /** `soon`: the next look tries again, since no transfer failed but the query for the pointers. */
  #report(problem: string | null, soon = false): void {
    if ((problem === null) !== (this.#problem === null)) this.#since = this.#options.now();
    if (problem === null && this.#problem !== null) this.#options.log('the releases can be followed again');
    this.#problem = problem;
    if (soon) return;
    const wait = problem === null ? RETRY.first : Math.min(RETRY.most, this.#retry.wait * 2);
    this.#retry = { at: problem === null ? 0 : performance.now() + this.#retry.wait, wait };
  }
}

/** `17 files downloaded (34.2 MB), 3 there already, in 1.2 s`. */
export function transferText(done: { files: number; bytes: number; present: number } | null, ms: number): string {
  if (done === null) return 'all files there already';
  const size = (done.bytes / 1e6).toFixed(1);
  return `${done.files} files transferred (${size} MB), ${done.present} there already, in ${(ms / 1000).toFixed(1)} s`;
}
