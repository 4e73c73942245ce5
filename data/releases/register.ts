// The datasets of a process: the current release of each, leased to requests, and earlier releases for
// cursors.
import { stat } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Pack } from '../../packs/define/model.ts';
import { type Engines, localEngines } from '../duckdb/engines.ts';
import { coalesce } from '../model/coalesce.ts';
import { type Manifest, paths } from '../model/layout.ts';
import { completeReleases, currentRelease } from '../model/manifest.ts';
import { DEFAULT_LIMITS, type EngineLimits } from '../plan/limits.ts';
import { type Overlay, restoredSince } from '../plan/overlay.ts';
import { AnswerCache, cacheAnswers } from './answers.ts';
import { applyOverlay } from './apply-overlay.ts';
import { NO_OVERLAYS, type Overlays } from './overlays.ts';
import { type OpenOptions, openRelease, RELEASE_ID, type Release } from './release.ts';

/** A lease of a release: it stays open until `done` is called; repeated calls have no effect. */
export interface Lease {
  release: Release;
  done: () => void;
}

/** `open`: served. `missing`: no release was built yet. `damaged`: the release cannot be opened. */
export type DatasetStatus = 'open' | 'missing' | 'damaged' | 'unknown';

export interface Register {
  /** Packs by dataset, in the given order. */
  packs: ReadonlyMap<string, Pack>;
  /**
   * The current release of a dataset without a lease: do not hold it across an await. Null unless the state
   * is `open`.
   */
  current(dataset: string): Release | null;
  state(dataset: string): DatasetStatus;
  /** Leases the current release. Null for an unknown dataset and while it has none. */
  lease(dataset: string): Lease | null;
  /**
   * Leases the current release or an earlier one by its id; it is opened if its folder exists. Null for an unknown
   * dataset and when the release is missing, damaged or deleted.
   */
  leaseById(dataset: string, release: string): Promise<Lease | null>;
  /**
   * Reads the overlays and every `current` file and applies changes, including those committed right before
   * the call. A new release is opened before the switch; if that fails, the old one stays. Returns the
   * datasets with a new release.
   */
  refresh(): Promise<string[]>;
  /** Replaces the packs: new datasets open with the next refresh, those of missing packs close after their last lease. */
  setPacks(packs: readonly Pack[]): void;
  /** Queries that run and wait now. */
  load(): ReturnType<Engines['load']>;
  /** Interrupts running queries and closes every release. */
  close(): Promise<void>;
}

export interface RegisterOptions {
  dataDir: string;
  packs: readonly Pack[];
  log: (message: string) => void;
  limits?: Partial<EngineLimits>;
  /** Overlays of the releases; absent: none. */
  overlays?: Overlays;
  /** Absent: engines and index files of this thread. */
  shared?: Pick<OpenOptions, 'indexContent'> & { engines: Engines };
}

/** A release with one overlay, and its number of leases. */
interface View {
  release: Release;
  /** The applied overlay; null: it could only be applied in part, so the next poll retries. */
  overlay: Overlay | null;
  leases: number;
}

/** An open release with its views and leases. */
interface Holding {
  /** The release without an overlay. */
  base: Release;
  view: View;
  /** Replaced views that still have leases. */
  old: Set<View>;
  leases: number;
  idle: NodeJS.Timeout | null;
}

interface Dataset {
  pack: Pack;
  current: Holding | null;
  /** The damaged release and the time of the next attempt (performance.now()). */
  damaged: { id: string; again: number } | null;
  /** The last logged problem of the pointer to the current release. */
  problem: string | null;
  /** The release that was found to have the restored records, for a pointer and an overlay. */
  restored: { pointed: string; overlay: Overlay; id: string } | null;
  /** Open or opening releases by id. */
  held: Map<string, Promise<Holding>>;
}

/**
 * Opens the register. Datasets that cannot be served are logged; the others open.
 *
 * @example
 * ```ts
 * const register = await openRegister({ dataDir, packs, log: console.error });
 * const lease = await register.lease('airports');
 * ```
 */
export async function openRegister(options: RegisterOptions): Promise<Register> {
  const register = new DatasetRegister(options);
  await register.refresh();
  return register;
}

class DatasetRegister implements Register {
  readonly packs = new Map<string, Pack>();
  readonly refresh = coalesce(() => this.#refresh());
  readonly #dataDir: string;
  readonly #log: (message: string) => void;
  readonly #limits: EngineLimits;
  readonly #overlays: Overlays;
  readonly #shared: NonNullable<RegisterOptions['shared']>;
  readonly #answers: AnswerCache;
  readonly #datasets = new Map<string, Dataset>();
  /** Last logged problem of the overlay, by dataset. */
  readonly #problems = new Map<string, string | null>();
  #refreshProblem: string | null = null;
  #closed = false;

  constructor({ dataDir, packs, log, limits = {}, overlays = NO_OVERLAYS, shared }: RegisterOptions) {
    this.#dataDir = dataDir;
    this.#log = log;
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.#overlays = overlays;
    this.#shared = shared ?? { engines: localEngines(this.#limits) };
    this.#answers = new AnswerCache(this.#limits.answers);
    this.setPacks(packs);
  }

  setPacks(packs: readonly Pack[]): void {
    this.packs.clear();
    for (const pack of packs) {
      this.packs.set(pack.id, pack);
      if (!this.#datasets.has(pack.id))
        this.#datasets.set(pack.id, {
          ...{ pack, current: null, damaged: null, problem: null, restored: null },
          held: new Map(),
        });
    }
    for (const [id, dataset] of this.#datasets) {
      if (this.packs.has(id)) continue;
      this.#datasets.delete(id);
      if (dataset.current !== null) this.#settle(dataset, dataset.current);
    }
  }

  // A property, because it is passed on as a function, like `refresh`.
  readonly current = (id: string): Release | null => this.#datasets.get(id)?.current?.view.release ?? null;

  state(id: string): DatasetStatus {
    const dataset = this.#datasets.get(id);
    if (!dataset) return 'unknown';
    return dataset.current ? 'open' : dataset.damaged === null ? 'missing' : 'damaged';
  }

  lease(id: string): Lease | null {
    const dataset = this.#datasets.get(id);
    return this.#closed || !dataset?.current ? null : this.#leased(dataset, dataset.current);
  }

  async leaseById(id: string, release: string): Promise<Lease | null> {
    const dataset = this.#datasets.get(id);
    if (this.#closed || !dataset) return null;
    if (release === dataset.current?.base.manifest.release) return this.#leased(dataset, dataset.current);
    const kept = RELEASE_ID.test(release) && (await stat(paths.release(this.#dataDir, id, release)).catch(() => null));
    if (!kept) return null;
    const holding = await this.#hold(dataset, release).catch((error: Error) => {
      this.#log(`${id}: earlier release ${release} cannot be opened: ${error.message}`);
      return null;
    });
    return holding && this.#leased(dataset, holding);
  }

  load(): ReturnType<Engines['load']> {
    return this.#shared.engines.load();
  }

  async close(): Promise<void> {
    this.#closed = true;
    // Waits for a running refresh; the next one does nothing.
    await this.refresh();
    const open = [...this.#datasets.values()].flatMap((dataset) =>
      [...dataset.held.values()].map((one) => ({ dataset, one })),
    );
    await Promise.all(
      open.map(({ dataset, one }) =>
        one.then(
          (holding) => this.#drop(dataset, holding),
          () => {},
        ),
      ),
    );
  }

  async #refresh(): Promise<string[]> {
    if (this.#closed) return [];
    await this.#overlays.refresh().then(
      () => {
        this.#refreshProblem = null;
      },
      ({ message }: Error) => {
        // Retried at every poll, logged once.
        if (message !== this.#refreshProblem) this.#log(`refresh of releases and overlays failed: ${message}`);
        this.#refreshProblem = message;
      },
    );
    const changed = [...this.#datasets].map(async ([id, dataset]) => {
      await this.#coverAll(dataset);
      return (await this.#look(dataset)) ? [id] : [];
    });
    return (await Promise.all(changed)).flat();
  }

  /**
   * Serves the release that `current` names, or one that has records restored since. Returns whether the dataset has a
   * new release.
   */
  async #look(dataset: Dataset): Promise<boolean> {
    const { pack } = dataset;
    const pointed = await currentRelease(this.#dataDir, pack.id, (problem) => this.#logOnce(dataset, problem));
    const id = pointed && (await this.#withRestored(dataset, pointed));
    if (id === null || id === dataset.current?.base.manifest.release) return false;
    if (id === dataset.damaged?.id && performance.now() < dataset.damaged.again) return false;
    try {
      const holding = await this.#hold(dataset, id);
      const before = dataset.current;
      dataset.current = holding;
      dataset.damaged = null;
      this.#settle(dataset, holding);
      if (before) this.#settle(dataset, before);
      this.#log(`${pack.id}: serving release ${id}, ${holding.view.release.manifest.records} records`);
      return true;
    } catch (error) {
      dataset.damaged = { id, again: performance.now() + this.#limits.retry };
      const older = dataset.current ? null : await this.#openOlder(dataset, id);
      const kept = dataset.current ? 'the previous release stays current' : 'the dataset is not served';
      this.#log(
        `${pack.id}: release ${id} cannot be opened, ${older ? `${older} is served` : kept}: ${(error as Error).message}`,
      );
      return older !== null;
    }
  }

  /**
   * The pointed release, or while it lacks a restored record, an earlier release of the same facts that has it: with the
   * overlay applied, both have the same content. The next build, which begins at once, has the record again.
   */
  async #withRestored(dataset: Dataset, pointed: string): Promise<string> {
    const overlay = this.#overlays.of(dataset.pack.id);
    if (overlay.restored.size === 0) return pointed;
    const { restored } = dataset;
    if (restored?.pointed === pointed && restored.overlay === overlay) return restored.id;
    // A release that cannot be opened is reported when it is served.
    const id = await this.#findRestored(dataset, pointed, overlay).catch(() => pointed);
    dataset.restored = { pointed, overlay, id };
    return id;
  }

  async #findRestored(dataset: Dataset, pointed: string, overlay: Overlay): Promise<string> {
    const newest = await this.#hold(dataset, pointed);
    const lacking = await lackedBy(newest.base, restoredSince(overlay, newest.base.manifest.overlay ?? 0));
    if (lacking.length === 0) return pointed;
    this.#settle(dataset, newest);
    for (const id of await completeReleases(this.#dataDir, dataset.pack.id)) {
      if (id === pointed) continue;
      const earlier = await this.#hold(dataset, id);
      this.#settle(dataset, earlier);
      if (!hasSameFacts(earlier.base.manifest, newest.base.manifest)) break;
      if ((await lackedBy(earlier.base, lacking)).length === 0) return id;
    }
    return pointed;
  }

  /**
   * At the start, without a previous release, the newest one that opens is served until the current one does.
   */
  async #openOlder(dataset: Dataset, but: string): Promise<string | null> {
    for (const id of await completeReleases(this.#dataDir, dataset.pack.id)) {
      const holding = id === but ? null : await this.#hold(dataset, id).catch(() => null);
      if (!holding) continue;
      dataset.current = holding;
      this.#settle(dataset, holding);
      return id;
    }
    return null;
  }

  /** Logs a problem of a dataset unless it was the last one logged. */
  #logOnce(dataset: Dataset, problem: string): void {
    if (dataset.problem !== problem) this.#log(problem);
    dataset.problem = problem;
  }

  /** An open release by id, opened on first use. */
  #hold(dataset: Dataset, id: string): Promise<Holding> {
    const release = dataset.held.get(id);
    if (release) return release;
    const opening = this.#open(dataset, id);
    dataset.held.set(id, opening);
    opening.catch(() => dataset.held.delete(id));
    return opening;
  }

  async #open({ pack, current }: Dataset, id: string): Promise<Holding> {
    // With nothing else to serve, DuckDB answers without the index.
    const refuseNewer = current !== null;
    const options = { ...this.#shared, log: this.#log, refuseNewer };
    const opened = await openRelease(this.#dataDir, pack, id, options);
    const base = { ...opened, engine: cacheAnswers(opened.engine, this.#answers, id) };
    try {
      return { base, view: await this.#viewOf(base), old: new Set(), leases: 0, idle: null };
    } catch (error) {
      await base.engine.close();
      throw error;
    }
  }

  async #drop(dataset: Dataset, holding: Holding): Promise<void> {
    dataset.held.delete(holding.base.manifest.release);
    if (holding.idle) clearTimeout(holding.idle);
    const views = [...holding.old, holding.view].filter(({ release }) => release.engine !== holding.base.engine);
    await Promise.all(views.map(({ release }) => release.engine.close()));
    await holding.base.engine.close();
  }

  /**
   * Closes a release that is neither current nor leased, after a delay in which clients may fetch further
   * pages.
   */
  #settle(dataset: Dataset, holding: Holding): void {
    if (holding.idle) clearTimeout(holding.idle);
    holding.idle = null;
    const served = dataset.current === holding && this.#datasets.get(dataset.pack.id) === dataset;
    if (this.#closed || holding.leases > 0 || served) return;
    holding.idle = setTimeout(() => void this.#drop(dataset, holding), this.#limits.idle);
    holding.idle.unref();
  }

  #leased(dataset: Dataset, holding: Holding): Lease {
    let active = true;
    const { view } = holding;
    holding.leases += 1;
    view.leases += 1;
    this.#settle(dataset, holding);
    const done = () => {
      if (!active) return;
      active = false;
      holding.leases -= 1;
      view.leases -= 1;
      closeUnused(holding, view);
      this.#settle(dataset, holding);
    };
    return { release: view.release, done };
  }

  async #viewOf(base: Release): Promise<View> {
    const overlay = this.#overlays.of(base.pack.id);
    const { release, problem } = await applyOverlay(base, overlay);
    const { id } = base.pack;
    // Retried at every poll, logged once.
    if (problem !== null && problem !== this.#problems.get(id))
      this.#log(`${id}: opt-outs are applied, but not all edits and decisions: ${problem}`);
    this.#problems.set(id, problem);
    return { release, overlay: problem === null ? overlay : null, leases: 0 };
  }

  /** Applies the newest overlay to every open release of a dataset. */
  async #coverAll(dataset: Dataset): Promise<void> {
    for (const opening of [...dataset.held.values()]) {
      const holding = await opening.catch(() => null);
      if (!holding) continue;
      await this.#cover(dataset, holding).catch((error: Error) =>
        this.#log(
          `${dataset.pack.id}: the overlay cannot be applied to release ${holding.base.manifest.release}: ${error.message}`,
        ),
      );
    }
  }

  /** Applies the newest overlay to an open release; running requests keep the view they have. */
  async #cover(dataset: Dataset, holding: Holding): Promise<void> {
    if (this.#closed || holding.view.overlay === this.#overlays.of(dataset.pack.id)) return;
    const view = await this.#viewOf(holding.base);
    const before = holding.view;
    holding.old.add(before);
    holding.view = view;
    closeUnused(holding, before);
  }
}

/** The ids that a release has no record of. */
async function lackedBy({ engine }: Release, ids: readonly string[]): Promise<string[]> {
  const ordinals = ids.length === 0 ? [] : await engine.resolve([...ids]);
  return ids.filter((_, i) => ordinals[i] === null);
}

/** Whether two releases of a dataset were made from the same facts: no source was read between them. */
const hasSameFacts = (one: Manifest, other: Manifest): boolean =>
  one.revision === other.revision && isDeepStrictEqual(one.confirmed, other.confirmed);

/** Closes a view that has no lease and is not the newest. */
function closeUnused(holding: Holding, view: View): void {
  if (view === holding.view || view.leases > 0) return;
  holding.old.delete(view);
  if (view.release.engine !== holding.base.engine) void view.release.engine.close();
}
