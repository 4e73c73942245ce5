// The DuckDB engines of a program. A host has them, which is a child process or this thread; callers open, query and close
// them there by calls.
import { randomUUID } from 'node:crypto';
import { loadPack } from '../../packs/define/load.ts';
import type { Pack } from '../../packs/define/model.ts';
import { DataError } from '../model/errors.ts';
import { readManifest } from '../model/manifest.ts';
import type { Offered, ThreadCalls } from '../model/thread-calls.ts';
import { trace } from '../model/tracing.ts';
import type { AppliedOverlay } from '../plan/applied-overlay.ts';
import type { EngineLimits } from '../plan/limits.ts';
import type { Engine, QueryOptions } from '../plan/plan.ts';
import { abortedError, createQueryQueue, type QueryQueue } from '../plan/query-queue.ts';
import { openEngine } from './engine.ts';

/** A release as an engine opens it. `indexed`: it has a packed index, so that fewer tables are loaded. */
export interface EngineSource {
  pack: Pack;
  /** Absolute path of the release folder. */
  folder: string;
  indexed: boolean;
}

/** An engine that loads its release with the first query, so that a release can be served before that. */
export interface LazyEngine extends Engine {
  /** Loads the release. Throws when it is damaged, as every query does then. */
  ready(): Promise<void>;
}

export interface Engines {
  open(source: EngineSource): LazyEngine;
  /** Queries that run and wait now. */
  load(): Promise<ReturnType<QueryQueue['load']>>;
}

type EngineQuery = Exclude<keyof Engine, 'text' | 'spellings' | 'withOverlay' | 'close'>;

/** The methods of an engine that answer a query. */
const QUERIES = [
  'search',
  'facets',
  'similar',
  'stats',
  'timeseries',
  'spread',
  'origins',
  'resolve',
  'matching',
  'bodies',
  'heads',
  'facts',
  'past',
  'openItems',
  'review',
  'changelog',
  'changes',
] as const satisfies readonly EngineQuery[];

/** The query that has options, but no plan. */
const PLANLESS = 'origins' satisfies EngineQuery;

// Type error when QUERIES lacks a method of the interface.
const _complete: Exclude<EngineQuery, (typeof QUERIES)[number]> extends never ? true : never = true;
void _complete;

/** Calls of the functions of a host. */
export type EngineCalls = Pick<ThreadCalls, 'call'>;

/** Engines in this thread, with one queue. */
export function localEngines(limits: EngineLimits): Engines {
  const queue = createQueryQueue(limits);
  return {
    open: ({ pack, folder, indexed }) =>
      lazyEngine(async () => openEngine(folder, pack, await readManifest(folder), limits, queue, indexed)),
    load: async () => queue.load(),
  };
}

/** An engine in this thread that is opened with the first query. */
export function lazyEngine(open: () => Promise<Engine>): LazyEngine {
  const functions = engineFunctions(open);
  const call = async (name: string, args: readonly unknown[], signal = new AbortController().signal) =>
    functions[name]!(args, signal);
  const calls = { call: call as EngineCalls['call'] };
  return remoteEngine(calls, () => calls.call('open', []));
}

/** Engines of the host that `calls` reach. */
export const remoteEngines = (calls: EngineCalls): Engines => ({
  // A pack has functions, so the host loads it from its folder.
  open: ({ pack, folder, indexed }) => remoteEngine(calls, () => calls.call('open', [pack.folder, folder, indexed])),
  load: () => calls.call('load', []),
});

/** The functions of a host of engines, with one queue. */
export function hostedEngines(limits: EngineLimits): Offered {
  const queue = createQueryQueue(limits);
  const open = async ([pack, folder, indexed]: readonly unknown[]) => {
    const [loaded, manifest] = await Promise.all([loadPack(pack as string), readManifest(folder as string)]);
    return openEngine(folder as string, loaded, manifest, limits, queue, indexed as boolean);
  };
  return { ...engineFunctions(open), load: queue.load };
}

/** The functions that `remoteEngine` calls. A release that several callers have open is loaded once. */
function engineFunctions(load: (source: readonly unknown[]) => Promise<Engine>): Offered {
  const releases = new Map<string, { engine: Promise<Engine>; users: number }>();
  const opened = new Map<unknown, { engine: Engine; close(): Promise<void> }>();
  const add = (engine: Engine, close: () => Promise<void>) => {
    // Unique over all processes that a caller may reach one after the other.
    const id = randomUUID();
    opened.set(id, { engine, close });
    return id;
  };
  return {
    open: async (source) => {
      const key = JSON.stringify(source);
      let release = releases.get(key);
      if (release === undefined) {
        release = { engine: load(source), users: 0 };
        releases.set(key, release);
        release.engine.catch(() => releases.delete(key));
      }
      const shared = release;
      shared.users += 1;
      return add(await shared.engine, async () => {
        shared.users -= 1;
        if (shared.users > 0) return;
        releases.delete(key);
        await (await shared.engine).close();
      });
    },
    query: ([id, query, plan, visibility, holder], signal) => {
      const options = { signal, visibility, holder } as QueryOptions;
      const name = query as EngineQuery;
      const engine = opened.get(id)?.engine;
      return name === PLANLESS ? engine?.[name](options) : engine?.[name](plan as never, options);
    },
    overlay: ([id, overlay]) => {
      const view = opened.get(id)?.engine.withOverlay(overlay as AppliedOverlay);
      return view && add(view, () => view.close());
    },
    close: async ([id]) => {
      const closing = opened.get(id);
      opened.delete(id);
      await closing?.close();
    },
  };
}

const DUCKDB_SPAN = { 'db.system.name': 'duckdb' };

/** An engine that a host opens with the first query, and again after the host ended. */
function remoteEngine(calls: EngineCalls, open: () => Promise<string>): LazyEngine {
  let opened: Promise<string> | null = null;
  let closed = false;
  const opening = () => {
    if (closed) return Promise.reject(abortedError());
    if (opened === null) {
      const begun = open();
      opened = begun;
      // A damaged release stays an error.
      begun.catch((error) => {
        if (error instanceof DataError && opened === begun) opened = null;
      });
    }
    return opened;
  };
  const call = async <T>(name: string, args: readonly unknown[], signal?: AbortSignal): Promise<T> => {
    for (;;) {
      const id = opening();
      const answer = await calls.call<T | undefined>(name, [await id, ...args], signal);
      if (answer !== undefined) return answer;
      // The host does not have it: another one ended.
      if (opened === id) opened = null;
    }
  };
  const queries = QUERIES.map((name) => {
    // Callers pass their context as the options: only its signal, visibility and holder cross.
    const query = async (...args: unknown[]) => {
      const [plan, options] = name === PLANLESS ? [null, args[0]] : args;
      const { signal, visibility, holder } = (options ?? {}) as QueryOptions;
      await opening();
      return trace('DuckDB', DUCKDB_SPAN, () => call('query', [name, plan, visibility, holder], signal));
    };
    return [name, query];
  });
  return {
    ...(Object.fromEntries(queries) as Pick<Engine, EngineQuery>),
    withOverlay: (overlay) => remoteEngine(calls, () => call('overlay', [overlay])),
    ready: async () => void (await opening()),
    async close() {
      closed = true;
      // Closing an engine that could not be opened, or whose host has ended, is no error.
      await opened?.then((id) => calls.call<void>('close', [id])).catch(() => {});
    },
  };
}
