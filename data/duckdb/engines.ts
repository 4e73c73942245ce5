// The DuckDB engines of a process: opened in this thread, or in another one that all worker threads share.
import type { Pack } from '../../packs/define/model.ts';
import type { Manifest } from '../model/layout.ts';
import { readManifest } from '../model/manifest.ts';
import type { Offered, ThreadCalls } from '../model/thread-calls.ts';
import type { AppliedOverlay } from '../plan/applied-overlay.ts';
import type { EngineLimits } from '../plan/limits.ts';
import type { Engine, QueryOptions } from '../plan/plan.ts';
import { createQueryQueue, type QueryQueue } from '../plan/query-queue.ts';
import { openEngine } from './engine.ts';
import { type EngineQuery, PLANLESS, QUERIES } from './lazy-engine.ts';

/** A release as an engine opens it. `indexed`: it has a packed index, so that fewer tables are loaded. */
export interface EngineSource {
  pack: Pack;
  /** Absolute path of the release folder. */
  folder: string;
  manifest: Manifest;
  indexed: boolean;
}

export interface Engines {
  open(source: EngineSource): Promise<Engine>;
  /** Queries that run and wait now. */
  load(): ReturnType<QueryQueue['load']>;
}

/** Engines in this thread, with one queue. */
export function localEngines(limits: EngineLimits): Engines {
  const queue = createQueryQueue(limits);
  return {
    open: ({ folder, pack, manifest, indexed }) => openEngine(folder, pack, manifest, limits, queue, indexed),
    load: queue.load,
  };
}

/** Places of the shared figures of the queue. */
const LOAD = { running: 0, waiting: 1 } as const;
/** Bytes of shared memory for the figures of the queue. */
export const LOAD_BYTES = 8;

/** Engines of the thread at the other end of a port (`SharedEngines`); `load`: its figures in shared memory. */
export function remoteEngines(calls: ThreadCalls, load: Int32Array): Engines {
  return {
    async open({ pack, folder, indexed }) {
      return remoteEngine(calls, calls.call<number>('open', [pack.id, folder, indexed]));
    },
    load: () => ({ running: Atomics.load(load, LOAD.running), waiting: Atomics.load(load, LOAD.waiting) }),
  };
}

/** Closing an engine that could not be opened, or whose thread has ended, is no error. */
function remoteEngine(calls: ThreadCalls, opening: Promise<number>): Engine {
  opening.catch(() => {});
  const queries = QUERIES.map((name) => {
    // Callers pass their context as the options: only its signal crosses.
    const ask = async (...args: unknown[]) => {
      const [plan, options] = name === PLANLESS ? [null, args[0]] : args;
      return calls.call('query', [await opening, name, plan], (options as QueryOptions | undefined)?.signal);
    };
    return [name, ask];
  });
  return {
    ...(Object.fromEntries(queries) as Pick<Engine, EngineQuery>),
    withOverlay: (overlay) =>
      remoteEngine(
        calls,
        opening.then((id) => calls.call<number>('overlay', [id, overlay])),
      ),
    close: () => opening.then((id) => calls.call<void>('close', [id])).catch(() => {}),
  };
}

/** A release that several threads have open. */
interface SharedEngine {
  engine: Promise<Engine>;
  users: number;
}

/** The engines that the threads of a process share. */
export class SharedEngines {
  readonly #engines: Engines;
  readonly #packs: ReadonlyMap<string, Pack>;
  readonly #load: Int32Array;
  readonly #byFolder = new Map<string, SharedEngine>();

  /** `packs`: by dataset; later packs may be added to it. */
  constructor(engines: Engines, packs: ReadonlyMap<string, Pack>, load: Int32Array) {
    this.#engines = engines;
    this.#packs = packs;
    this.#load = load;
  }

  /** The functions of one thread (`offerCalls`), and `end`, which closes what the thread has open. */
  forThread(): { offered: Offered; end(): Promise<void> } {
    const open = new Map<number, { engine: Engine; close(): Promise<void> }>();
    let next = 0;
    let ended = false;
    const add = (engine: Engine, close: () => Promise<void>) => {
      open.set(next, { engine, close });
      return next++;
    };
    const engineOf = (id: unknown) => open.get(id as number)!.engine;
    const close = async (id: number) => {
      const one = open.get(id);
      open.delete(id);
      await one?.close();
    };
    return {
      offered: {
        open: async ([dataset, folder, indexed]) => {
          const shared = this.#share(dataset as string, folder as string, indexed as boolean);
          const leave = () => this.#leave(folder as string, shared);
          const engine = await shared.engine;
          if (!ended) return add(engine, leave);
          // The thread ended meanwhile.
          await leave();
          return null;
        },
        query: ([id, name, plan], signal) => this.#query(engineOf(id), name as EngineQuery, plan, { signal }),
        overlay: ([id, overlay]) => {
          const view = engineOf(id).withOverlay(overlay as AppliedOverlay);
          return add(view, () => view.close());
        },
        close: ([id]) => close(id as number),
      },
      // Views before the engines they came from.
      end: async () => {
        ended = true;
        for (const id of [...open.keys()].reverse()) await close(id);
      },
    };
  }

  async #query(engine: Engine, name: EngineQuery, plan: unknown, options: QueryOptions): Promise<unknown> {
    const answer = name === PLANLESS ? engine[name](options) : engine[name](plan as never, options);
    this.#publishLoad();
    try {
      return await answer;
    } finally {
      this.#publishLoad();
    }
  }

  #publishLoad(): void {
    const { running, waiting } = this.#engines.load();
    Atomics.store(this.#load, LOAD.running, running);
    Atomics.store(this.#load, LOAD.waiting, waiting);
  }

  #share(dataset: string, folder: string, indexed: boolean): SharedEngine {
    let shared = this.#byFolder.get(folder);
    if (shared === undefined) {
      const pack = this.#packs.get(dataset)!;
      const engine = readManifest(folder).then((manifest) => this.#engines.open({ pack, folder, manifest, indexed }));
      shared = { engine, users: 0 };
      this.#byFolder.set(folder, shared);
      engine.catch(() => this.#byFolder.delete(folder));
    }
    shared.users += 1;
    return shared;
  }

  async #leave(folder: string, shared: SharedEngine): Promise<void> {
    shared.users -= 1;
    if (shared.users > 0) return;
    if (this.#byFolder.get(folder) === shared) this.#byFolder.delete(folder);
    await (await shared.engine).close();
  }
}
