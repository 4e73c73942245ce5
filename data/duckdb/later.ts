// An engine that is still opening: questions wait for it, so that a release can be served while its tables load.

import type { Applied } from '../plan/applied-overlay.ts';
import { givenUp } from '../plan/gate.ts';
import type { Engine } from '../plan/plan.ts';

type Question = Exclude<keyof Engine, 'text' | 'under' | 'close'>;

const QUESTIONS = [
  'search',
  'facets',
  'similar',
  'stats',
  'timeseries',
  'spread',
  'origins',
  'resolve',
  'bodies',
  'facts',
  'past',
  'doubts',
  'review',
  'changelog',
  'changes',
] as const satisfies readonly Question[];

// Every question of the interface is in the list above.
const _complete: Exclude<Question, (typeof QUESTIONS)[number]> extends never ? true : never = true;
void _complete;

/** Milliseconds in which a process that starts has the processor to itself: it listens sooner, and the tables come after. */
const GRACE = 1_000;

/**
 * An engine that opens with the first question, or `grace` milliseconds after the start (null: with the first question alone). Where it
 * cannot be opened every question throws why.
 */
export function later(open: () => Promise<Engine>, grace: number | null = GRACE): Engine {
  let opening: Promise<Engine> | null = null;
  const start = () => {
    opening ??= open();
    // A release that nobody asks anything of DuckDB may never learn that it did not open: that is no crash.
    opening.catch(() => {});
    return opening;
  };
  const timer = grace === null ? undefined : setTimeout(start, grace).unref();
  const under = (overlay: Applied): Engine => {
    let view: Promise<Engine> | null = null;
    const over = () => {
      view ??= start().then((engine) => engine.under(overlay));
      return view;
    };
    const leave = async () => {
      await view?.then(
        (engine) => engine.close(),
        () => {},
      );
    };
    return { ...waiting(over), under, close: leave };
  };
  const close = async () => {
    clearTimeout(timer);
    await opening?.then(
      (engine) => engine.close(),
      () => {},
    );
    opening ??= Promise.reject(givenUp());
    opening.catch(() => {});
  };
  return { ...waiting(start), under, close };
}

/** Every question, asked of an engine that is waited for. */
function waiting(engine: () => Promise<Engine>): Pick<Engine, Question> {
  const asked = QUESTIONS.map((name) => {
    const ask = async (...given: unknown[]) => ((await engine())[name] as (...given: unknown[]) => unknown)(...given);
    return [name, ask];
  });
  return Object.fromEntries(asked) as Pick<Engine, Question>;
}
