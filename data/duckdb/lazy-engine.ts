// A lazily opened engine: queries wait until it has loaded, so that a release can be served before that.

import type { AppliedOverlay } from '../plan/applied-overlay.ts';
import type { Engine } from '../plan/plan.ts';
import { abortedError } from '../plan/query-queue.ts';

export type EngineQuery = Exclude<keyof Engine, 'text' | 'spellings' | 'withOverlay' | 'close'>;

/** The methods of an engine that answer a query. */
export const QUERIES = [
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
export const PLANLESS = 'origins' satisfies EngineQuery;

// Type error when QUERIES lacks a method of the interface.
const _complete: Exclude<EngineQuery, (typeof QUERIES)[number]> extends never ? true : never = true;
void _complete;

/** Milliseconds without loading after the start of a process, so that it listens sooner. */
const GRACE = 1_000;

/**
 * An engine that opens with the first query or after `grace` milliseconds (null: only with the first query).
 * When it cannot be opened, every query throws the reason.
 */
export function lazyEngine(open: () => Promise<Engine>, grace: number | null = GRACE): Engine {
  let opening: Promise<Engine> | null = null;
  const start = () => {
    opening ??= open();
    // Without queries nobody awaits this promise; a failure must not end the process.
    opening.catch(() => {});
    return opening;
  };
  const timer = grace === null ? undefined : setTimeout(start, grace).unref();
  const under = (overlay: AppliedOverlay): Engine => {
    let view: Promise<Engine> | null = null;
    const over = () => {
      view ??= start().then((engine) => engine.withOverlay(overlay));
      return view;
    };
    const leave = async () => {
      await view?.then(
        (engine) => engine.close(),
        () => {},
      );
    };
    return { ...waiting(over), withOverlay: under, close: leave };
  };
  const close = async () => {
    clearTimeout(timer);
    await opening?.then(
      (engine) => engine.close(),
      () => {},
    );
    opening ??= Promise.reject(abortedError());
    opening.catch(() => {});
  };
  return { ...waiting(start), withOverlay: under, close };
}

/** All query methods, each waiting for the engine. */
function waiting(engine: () => Promise<Engine>): Pick<Engine, EngineQuery> {
  const methods = QUERIES.map((name) => {
    const ask = async (...args: unknown[]) => ((await engine())[name] as (...args: unknown[]) => unknown)(...args);
    return [name, ask];
  });
  return Object.fromEntries(methods) as Pick<Engine, EngineQuery>;
}
