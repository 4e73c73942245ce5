// The DuckDB engines of a process: opened in this thread, or in another thread or process.
import type { Pack } from '../../packs/define/model.ts';
import type { Manifest } from '../model/layout.ts';
import { readManifest } from '../model/manifest.ts';
import type { Offered } from '../model/thread-calls.ts';
import { trace } from '../model/tracing.ts';
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

/** Calls to a thread or process that offers the functions of `SharedEngines`. */
export interface EngineCalls {
  call<T>(name: string, args: readonly unknown[], signal?: AbortSignal): Promise<T>;
  /** Changes when a process ended, and with it what was open there; absent: never. */
  readonly generation?: number;
}

/** Engines of the thread at the other end of a port; `load`: its figures in shared memory. */
export function remoteEngines(calls: EngineCalls, load: Int32Array): Engines {
  return {
    open: async ({ pack, folder, indexed }) =>
      remoteEngine(calls, () => calls.call('open', [pack.id, folder, indexed])),
    load: () => ({ running: Atomics.load(load, LOAD.running), waiting: Atomics.load(load, LOAD.waiting) }),
  };
}

/** Engines of a child process, with one queue there; after its end they are opened again. */
export function childEngines(calls: EngineCalls, { running: most }: EngineLimits): Engines {
  let queries = 0;
  const counted: EngineCalls = {
    async call(name, args, signal) {
      queries += 1;
      try {
        return await calls.call(name, args, signal);
      } finally {
        queries -= 1;
      }
    },
    get generation() {
      return calls.generation ?? 0;
    },
  };
  return {
    async open({ pack, folder, indexed }) {
      const opening = () => calls.call<number>('open', [withoutFunctions(pack), folder, indexed]);
      const engine = remoteEngine(counted, opening);
      // As for an engine in this thread: a damaged release is an error now.
      await engine.resolve(['']);
      return engine;
    },
    load: () => ({ running: Math.min(queries, most), waiting: Math.max(0, queries - most) }),
  };
}

const DUCKDB_SPAN = { 'db.system.name': 'duckdb' };

/** A pack as a message carries it: the functions of collectors stay here. */
function withoutFunctions(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutFunctions);
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  const members = Object.entries(value).filter(([, member]) => typeof member !== 'function');
  return Object.fromEntries(members.map(([name, member]) => [name, withoutFunctions(member)]));
}

/** Closing an engine that could not be opened, or whose thread has ended, is no error. */
function remoteEngine(calls: EngineCalls, open: () => Promise<number>): Engine {
  let opened: { generation: number | undefined; id: Promise<number> } | null = null;
  const id = () => {
    if (opened === null || opened.generation !== calls.generation) {
      const opening = { generation: calls.generation, id: open() };
      opened = opening;
      opening.id.catch(() => {
        if (opened === opening) opened = null;
      });
    }
    return opened.id;
  };
  const queries = QUERIES.map((name) => {
    // Callers pass their context as the options: only its signal, visibility and holder cross.
    const ask = async (...args: unknown[]) => {
      const [plan, options] = name === PLANLESS ? [null, args[0]] : args;
      const { signal, visibility, holder } = (options ?? {}) as QueryOptions;
      const opened = await id();
      return trace('DuckDB', DUCKDB_SPAN, () => calls.call('query', [opened, name, plan, visibility, holder], signal));
    };
    return [name, ask];
  });
  return {
    ...(Object.fromEntries(queries) as Pick<Engine, EngineQuery>),
    withOverlay: (overlay) => remoteEngine(calls, async () => calls.call('overlay', [await id(), overlay])),
    async close() {
      if (opened === null || opened.generation !== calls.generation) return;
      await opened.id.then((open) => calls.call<void>('close', [open])).catch(() => {});
    },
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
        // A process is sent the pack, a thread its name.
        open: async ([named, folder, indexed]) => {
          const pack = typeof named === 'string' ? this.#packs.get(named)! : (named as Pack);
          const shared = this.#share(pack, folder as string, indexed as boolean);
          const leave = () => this.#leave(folder as string, shared);
          const engine = await shared.engine;
          if (!ended) return add(engine, leave);
          // The thread ended meanwhile.
          await leave();
          return null;
        },
        query: ([id, name, plan, visibility, holder], signal) => {
          const options = { signal, visibility, holder } as QueryOptions;
          return this.#query(engineOf(id), name as EngineQuery, plan, options);
        },
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

  #share(pack: Pack, folder: string, indexed: boolean): SharedEngine {
    let shared = this.#byFolder.get(folder);
    if (shared === undefined) {
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
