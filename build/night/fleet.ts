// A nightly run of a register on several machines: acquires the lease, fetches what earlier runs stored,
// stores the results, and publishes only while it has the lease.
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../../config.ts';
import { paths, RELEASE_FILES } from '../../data/model/layout.ts';
import { LockedError, lockFolder, waitForLock } from '../../data/model/lock.ts';
import { currentRelease, makeCurrent, readManifest } from '../../data/model/manifest.ts';
import { type FileListing, formatListing, readListing, removeObjects, upload } from '../../data/objects/listing.ts';
import type { ObjectStorage } from '../../data/objects/objects.ts';
import { storageOf } from '../../data/objects/open.ts';
import { transferText } from '../../data/releases/follow.ts';
import { type OverlaySource, storedOverlays } from '../../data/releases/overlay-source.ts';
import { fetchRelease, hasRelease, noteRelease, releaseListing } from '../../data/releases/remote.ts';
import { fetchRunLogs, fetchWork, workListing } from '../../data/releases/work-files.ts';
import { acquireLease, LeaseHeld, LeaseLost, type RunLease } from '../../data/state/leases.ts';
import {
  announceListing,
  forgetListing,
  listingsToRemove,
  movePointer,
  type ReleasePointer,
  readPointers,
} from '../../data/state/pointers.ts';
import { openStore, type Store } from '../../data/state/store.ts';
import type { Progress } from '../effects/progress.ts';

/** Milliseconds without a renewal after which another machine may run the night. */
const LEASE = 60_000;

/** The part of a nightly run that other machines see. */
export interface Fleet {
  /** Makes the current release of a dataset, and with `work` its facts and logs, those of the storage. */
  fetch(dataset: string, work: boolean): Promise<void>;
  /**
   * Stores a release of DATA_DIR with the facts behind it, and moves the pointer. Throws LeaseLost when another
   * run has the lease; then nothing changed.
   */
  publish(dataset: string, release: string): Promise<void>;
  /**
   * Stores facts and run log after a run, and the index if it was built again. Nothing of a dataset that could not be
   * fetched: DATA_DIR may have an older release and older facts of it.
   */
  save(dataset: string): Promise<void>;
  /** The overlays of the store, whose reservations fail after the lease was lost. */
  readonly overlays: OverlaySource;
  /** Removes what no machine needs any more, and releases the lease. */
  end(): Promise<void>;
}

/** Joins the other machines; null without RELEASES_URL. Throws LockedError while another one has the lease. */
export async function joinFleet(config: Config, store: Store, progress: Progress): Promise<Fleet | null> {
  const storage = await storageOf(config);
  if (storage === null) return null;
  try {
    const holder = `${hostname()}, process ${process.pid}`;
    const onLost = ({ message }: Error) => progress.warn(message);
    const lease = await acquireLease(store, { name: 'nightly run', holder, duration: LEASE, onLost });
    return new FleetRun(config, store, storage, lease, progress);
  } catch (error) {
    storage.close();
    throw error instanceof LeaseHeld ? new LockedError(error.message) : error;
  }
}

/** Fetches the run logs that other machines stored, so that a daemon runs no dataset twice. */
export async function fetchLogsOfOthers(config: Config, { progress }: { progress: Progress }): Promise<void> {
  const storage = await storageOf(config);
  if (storage === null) return;
  const { DATA_DIR: dataDir, DATABASE_URL: databaseUrl, DATABASE_WAIT_SECONDS: seconds } = config;
  try {
    const store = await openStore({ dataDir, databaseUrl, wait: { seconds, report: progress.note } });
    try {
      const unlock = lockFolder(paths.transfers(dataDir), 'transfer', 'transfer');
      try {
        for (const [dataset, { work }] of await readPointers(store))
          if (work !== null) await fetchRunLogs({ storage, dataDir }, dataset, work);
      } finally {
        unlock();
      }
    } finally {
      await store.close();
    }
  } finally {
    storage.close();
  }
}

class FleetRun implements Fleet {
  readonly overlays: OverlaySource;
  readonly #dataDir: string;
  readonly #keep: number;
  readonly #store: Store;
  readonly #storage: ObjectStorage;
  readonly #lease: RunLease;
  readonly #progress: Progress;
  readonly #scratch: string;
  /** Datasets of which DATA_DIR has what the storage has. */
  readonly #fetched = new Set<string>();

  constructor(config: Config, store: Store, storage: ObjectStorage, lease: RunLease, progress: Progress) {
    this.overlays = storedOverlays(store, lease);
    this.#dataDir = config.DATA_DIR;
    this.#keep = config.RELEASES_KEEP;
    this.#store = store;
    this.#storage = storage;
    this.#lease = lease;
    this.#progress = progress;
    this.#scratch = join(paths.transfers(config.DATA_DIR), 'uploads');
  }

  fetch(dataset: string, work: boolean): Promise<void> {
    return this.#leased(() => this.#fetch(dataset, work));
  }

  publish(dataset: string, release: string): Promise<void> {
    return this.#leased(() => this.#publish(dataset, release));
  }

  save(dataset: string): Promise<void> {
    return this.#leased(() => this.#save(dataset));
  }

  async #fetch(dataset: string, work: boolean): Promise<void> {
    const pointer = await this.#pointer(dataset);
    const copy = { storage: this.#storage, dataDir: this.#dataDir, store: this.#store };
    const unlock = await this.#lockTransfers();
    try {
      const { release, listing } = pointer;
      if (release !== null && listing !== null) {
        const began = performance.now();
        const done = await fetchRelease(copy, dataset, { ...pointer, release, listing });
        if (done !== null) this.#note(dataset, `release ${release} fetched`, done, began);
        if ((await currentRelease(this.#dataDir, dataset)) !== release)
          await makeCurrent(this.#dataDir, dataset, release, this.#keep);
      }
      if (!work) return;
      if (pointer.work === null) return void this.#fetched.add(dataset);
      const began = performance.now();
      const { aside, ...done } = await fetchWork(copy, dataset, pointer.work);
      this.#fetched.add(dataset);
      if (done.files > 0) this.#note(dataset, 'facts and logs of earlier runs fetched', done, began);
      if (aside > 0)
        this.#progress.warn(
          `${dataset}: ${aside} files that were never published are now in ${this.#dataDir}/set-aside`,
        );
    } finally {
      unlock();
    }
  }

  async #publish(dataset: string, release: string): Promise<void> {
    const { work } = await this.#pointer(dataset);
    const folder = paths.release(this.#dataDir, dataset, release);
    const listing = await releaseListing(this.#dataDir, dataset, release);
    const files = await this.#upload(listing, (path) => join(folder, path));
    const facts = await this.#uploadWork(dataset, work, (await readManifest(folder)).run);
    const manifest = listing.files.get(RELEASE_FILES.manifest)!.sha256;
    await movePointer(this.#store, this.#lease, dataset, { release, listing: files, manifest, work: facts });
    await noteRelease(this.#dataDir, dataset, release, files);
    this.#progress.note(
      `${dataset}: release ${release} published to ${this.#storage.place}, token ${this.#lease.token}`,
    );
  }

  async #save(dataset: string): Promise<void> {
    if (!this.#fetched.has(dataset)) return;
    const before = await this.#pointer(dataset);
    const release = await currentRelease(this.#dataDir, dataset);
    // The first run with a storage, and an index that was built again, leave the release as it was.
    const changed = release !== null && (release !== before.release || !(await this.#isStored(dataset, before)));
    if (changed) return this.#publish(dataset, release);
    const work = await this.#uploadWork(dataset, before.work);
    if (work !== before.work) await movePointer(this.#store, this.#lease, dataset, { work });
  }

  async end(): Promise<void> {
    try {
      await this.#removeOld();
    } catch (error) {
      this.#progress.warn(`old releases were not removed from ${this.#storage.place}: ${(error as Error).message}`);
    } finally {
      await this.#lease.release().catch(() => {});
      this.#storage.close();
    }
  }

  /** Throws LeaseLost in place of an error after the lease was lost: the next run removes what this one reads. */
  async #leased(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const lost = await this.#lease.check().catch((failure: unknown) => failure);
      throw lost instanceof LeaseLost ? lost : error;
    }
  }

  async #pointer(dataset: string): Promise<ReleasePointer> {
    return (
      (await readPointers(this.#store)).get(dataset) ?? { release: null, listing: null, manifest: null, work: null }
    );
  }

  /** Whether the storage has the index of DATA_DIR: one of an earlier program version is built again. */
  async #isStored(dataset: string, { release, listing }: ReleasePointer): Promise<boolean> {
    if (release === null || listing === null) return release === null;
    if (!(await hasRelease(this.#dataDir, dataset, release, listing))) return false;
    return formatListing(await releaseListing(this.#dataDir, dataset, release)).name === listing;
  }

  /** `run`: the run that is published with the files. */
  async #uploadWork(dataset: string, stored: string | null, run?: string): Promise<string> {
    const before = stored === null ? new Map() : (await readListing(this.#storage, stored)).files;
    const { listing, place } = await workListing(this.#dataDir, dataset, { before, run });
    return formatListing(listing).name === stored ? stored : this.#upload(listing, place);
  }

  async #upload(listing: FileListing, from: (path: string) => string): Promise<string> {
    const { dataset, kind, release } = listing;
    const { name } = formatListing(listing);
    await announceListing(this.#store, this.#lease, { name, dataset, kind, release });
    const began = performance.now();
    const done = await upload(this.#storage, listing, from, this.#scratch);
    this.#note(dataset, kind === 'release' ? `release ${release} stored` : 'facts and logs stored', done, began);
    return name;
  }

  #note(dataset: string, what: string, done: { files: number; bytes: number; present: number }, began: number): void {
    this.#progress.note(`${dataset}: ${what}: ${transferText(done, performance.now() - began)}`);
  }

  /** Removes listings that are neither current nor recent, and the objects that no other listing has. */
  async #removeOld(): Promise<void> {
    const { retained, removable } = await listingsToRemove(this.#store, this.#keep);
    if (removable.length === 0) return;
    const filesOf = async (name: string) => [...(await readListing(this.#storage, name)).files.values()];
    const needed = new Set(retained);
    for (const name of retained) for (const { sha256 } of await filesOf(name)) needed.add(sha256);
    for (const name of removable) {
      // Its objects may have been removed by a run that was killed before it removed the row.
      const files = await filesOf(name).catch(() => []);
      await this.#lease.check();
      const names = new Set(files.map(({ sha256 }) => sha256).filter((sha256) => !needed.has(sha256)));
      await removeObjects(this.#storage, names, name);
      await forgetListing(this.#store, name);
    }
  }

  #lockTransfers(): Promise<() => void> {
    return waitForLock(paths.transfers(this.#dataDir), 'transfer');
  }
}
