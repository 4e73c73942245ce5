// An engine that is still opening: questions wait for it, so that a release can be served while its tables load.
import type { Engine } from '../plan.ts';

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

/** The engine that `opening` will be. Where it cannot be opened every question throws what opening threw. */
export function later(opening: Promise<Engine>): Engine {
  // A release that nobody asks anything of DuckDB may never learn that it did not open: that is no crash.
  opening.catch(() => {});
  const asked = QUESTIONS.map((name) => {
    const ask = async (...given: unknown[]) => {
      const engine = await opening;
      return (engine[name] as (...given: unknown[]) => unknown)(...given);
    };
    return [name, ask];
  });
  const close = () =>
    opening.then(
      (engine) => engine.close(),
      () => {},
    );
  return { ...(Object.fromEntries(asked) as Pick<Engine, Question>), close };
}
