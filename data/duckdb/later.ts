// An engine that is still opening: questions wait for it, so that a release can be served while its tables load.
import type { Engine } from '../plan.ts';
import { givenUp } from './gate.ts';

type Question = Exclude<keyof Engine, 'pieces' | 'close'>;

const QUESTIONS = [
  'search',
  'facets',
  'similar',
  'stats',
  'timeseries',
  'resolve',
  'bodies',
  'facts',
  'past',
  'doubts',
  'changelog',
  'changes',
] as const satisfies readonly Question[];

// Every question of the interface is in the list above.
const _complete: Exclude<Question, (typeof QUESTIONS)[number]> extends never ? true : never = true;
void _complete;

/** Milliseconds in which a process that starts has the processor to itself: it listens sooner, and the tables come after. */
const GRACE = 1_000;

/** An engine that opens with the first question, or a moment after the start. Where it cannot be opened every question throws why. */
export function later(open: () => Promise<Engine>): Engine {
  let opening: Promise<Engine> | null = null;
  const start = () => {
    opening ??= open();
    // A release that nobody asks anything of DuckDB may never learn that it did not open: that is no crash.
    opening.catch(() => {});
    return opening;
  };
  const timer = setTimeout(start, GRACE).unref();
  const asked = QUESTIONS.map((name) => {
    const ask = async (...given: unknown[]) => {
      const engine = await start();
      return (engine[name] as (...given: unknown[]) => unknown)(...given);
    };
    return [name, ask];
  });
  const close = async () => {
    clearTimeout(timer);
    await opening?.then(
      (engine) => engine.close(),
      () => {},
    );
    opening ??= Promise.reject(givenUp());
    opening.catch(() => {});
  };
  return { ...(Object.fromEntries(asked) as Pick<Engine, Question>), close };
}
