// How long each step of a dataset's night took, told from what it shows of itself.
import type { Run } from '../../data/releases/runs.ts';
import type { Progress } from '../effects/progress.ts';

export interface Timed {
  progress: Progress;
  /** Seconds of every step since the last call, and of all together. */
  taken(): Pick<Run, 'steps' | 'seconds'>;
}

/** A progress that also keeps the time; `ticks` are milliseconds. */
export function timed(progress: Progress, ticks: () => number): Timed {
  let began = ticks();
  let steps: { step: string; from: number }[] = [];
  const seconds = (ms: number) => Math.round(ms) / 1000;
  return {
    progress: {
      ...progress,
      step(dataset, step) {
        steps.push({ step, from: ticks() });
        progress.step(dataset, step);
      },
    },
    taken() {
      const now = ticks();
      const told = steps.map(({ step, from }, i) => ({ step, seconds: seconds((steps[i + 1]?.from ?? now) - from) }));
      const all = seconds(now - began);
      steps = [];
      began = now;
      return { steps: told, seconds: all };
    },
  };
}
