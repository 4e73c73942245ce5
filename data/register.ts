// All datasets a process serves: the current release of each, leased to requests, with earlier ones while walks need them.
import { stat } from 'node:fs/promises';
import type { Pack } from '../packs/model.ts';
import { createGate, type Gate } from './duckdb/gate.ts';
import { DEFAULT_LIMITS, type EngineLimits } from './duckdb/limits.ts';
import { paths } from './layout.ts';
import { currentRelease } from './manifest.ts';
import { openRelease, RELEASE_ID, type Release } from './release.ts';

/** A release that stays open until `done` is called, which may be called more than once. */
export interface Lease {
  release: Release;
  done: () => void;
}

/** `open`: served. `missing`: no release was built yet. `damaged`: there is one that cannot be opened. */
export type DatasetState = 'open' | 'missing' | 'damaged' | 'unknown';

export interface Register {
  /** Packs by dataset, in the order given. */
  packs: ReadonlyMap<string, Pack>;
  /** The current release of a dataset, not leased: for a look, not across an await. Null unless its state is `open`. */
  current(dataset: string): Release | null;
  state(dataset: string): DatasetState;
  /**
   * Leases the current release, or an earlier one by id, which is opened if its folder still exists. Null when there is
   * none: unknown dataset, nothing built yet, damaged, or gone.
   */
  lease(dataset: string, release?: string): Promise<Lease | null>;
  /**
   * Looks at every `current` file and takes what is new. A release is opened before it is switched to; one that cannot be
   * opened leaves the old one in place. Answers the datasets that changed. Calls at the same time share one look.
   */
  refresh(): Promise<string[]>;
  /** Questions that run and wait now. */
  load(): ReturnType<Gate['load']>;
  /** Interrupts what runs and closes every release. */
  close(): Promise<void>;
}

export interface RegisterOptions {
  dataDir: string;
  packs: readonly Pack[];
  log: (message: string) => void;
  limits?: Partial<EngineLimits>;
}

/** An open release with those who use it. */
interface Holding {
  release: Release;
  leases: number;
  idle: NodeJS.Timeout | null;
}

interface Dataset {
  pack: Pack;
  current: Holding | null;
  /** The release last found damaged, and when it is worth another try (ms of this process). */
  damaged: { id: string; again: number } | null;
  /** Open or opening releases by id. */
  held: Map<string, Promise<Holding>>;
}

/** Opens the register. Datasets that cannot be served are reported by `log` and do not keep the others from opening. */
export async function openRegister({ dataDir, packs, log, limits = {} }: RegisterOptions): Promise<Register> {
  const all = { ...DEFAULT_LIMITS, ...limits };
  const gate = createGate(all);
  const datasets = new Map<string, Dataset>(
    packs.map((pack) => [pack.id, { pack, current: null, damaged: null, held: new Map() }]),
  );
  let looking: Promise<string[]> | null = null;
  let closed = false;

  const hold = (dataset: Dataset, id: string): Promise<Holding> => {
    const found = dataset.held.get(id);
    if (found) return found;
    const opening = openRelease(dataDir, dataset.pack, id, all, gate, log).then((release) => ({
      release,
      leases: 0,
      idle: null,
    }));
    dataset.held.set(id, opening);
    opening.catch(() => dataset.held.delete(id));
    return opening;
  };

  const drop = (dataset: Dataset, holding: Holding) => {
    dataset.held.delete(holding.release.manifest.release);
    if (holding.idle) clearTimeout(holding.idle);
    return holding.release.engine.close();
  };

  /** Closes a release that is neither current nor leased, after a while in which the next page of a walk may come. */
  const settle = (dataset: Dataset, holding: Holding) => {
    if (holding.idle) clearTimeout(holding.idle);
    holding.idle = null;
    if (closed || holding.leases > 0 || dataset.current === holding) return;
    holding.idle = setTimeout(() => void drop(dataset, holding), all.idle);
    holding.idle.unref();
  };

  const leased = (dataset: Dataset, holding: Holding): Lease => {
    let active = true;
    holding.leases += 1;
    settle(dataset, holding);
    const done = () => {
      if (!active) return;
      active = false;
      holding.leases -= 1;
      settle(dataset, holding);
    };
    return { release: holding.release, done };
  };

  const look = async (dataset: Dataset): Promise<boolean> => {
    const { pack } = dataset;
    const id = await currentRelease(dataDir, pack.id);
    if (id === null || id === dataset.current?.release.manifest.release) return false;
    if (id === dataset.damaged?.id && performance.now() < dataset.damaged.again) return false;
    try {
      const holding = await hold(dataset, id);
      const before = dataset.current;
      dataset.current = holding;
      dataset.damaged = null;
      settle(dataset, holding);
      if (before) settle(dataset, before);
      log(`${pack.id}: serving release ${id}, ${holding.release.manifest.records} records`);
      return true;
    } catch (error) {
      dataset.damaged = { id, again: performance.now() + all.retry };
      const kept = dataset.current ? 'the one before stays' : 'the dataset is not served';
      log(`${pack.id}: release ${id} cannot be opened, ${kept}: ${(error as Error).message}`);
      return false;
    }
  };

  const register: Register = {
    packs: new Map(packs.map((pack) => [pack.id, pack])),
    current: (id) => datasets.get(id)?.current?.release ?? null,
    state(id) {
      const dataset = datasets.get(id);
      if (!dataset) return 'unknown';
      return dataset.current ? 'open' : dataset.damaged === null ? 'missing' : 'damaged';
    },
    async lease(id, release) {
      const dataset = datasets.get(id);
      if (closed || !dataset) return null;
      const current = dataset.current?.release.manifest.release;
      if (release === undefined || release === current) return dataset.current && leased(dataset, dataset.current);
      const kept = RELEASE_ID.test(release) && (await stat(paths.release(dataDir, id, release)).catch(() => null));
      if (!kept) return null;
      const holding = await hold(dataset, release).catch((error: Error) => {
        log(`${id}: earlier release ${release} cannot be opened: ${error.message}`);
        return null;
      });
      return holding && leased(dataset, holding);
    },
    refresh() {
      if (closed) return Promise.resolve([]);
      looking ??= Promise.all([...datasets].map(async ([id, dataset]) => ((await look(dataset)) ? [id] : [])))
        .then((changed) => changed.flat())
        .finally(() => {
          looking = null;
        });
      return looking;
    },
    load: () => gate.load(),
    async close() {
      closed = true;
      await looking;
      const open = [...datasets.values()].flatMap((dataset) =>
        [...dataset.held.values()].map((one) => ({ dataset, one })),
      );
      await Promise.all(
        open.map(({ dataset, one }) =>
          one.then(
            (holding) => drop(dataset, holding),
            () => {},
          ),
        ),
      );
    },
  };
  await register.refresh();
  return register;
}
