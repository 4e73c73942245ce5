// The outer world as the nightly run meets it: the clock, the npm client and the screen. Tests pass their own.

import { type Progress, showProgress } from './progress.ts';
import { type Npm, npmClient } from './sources-npm.ts';

export interface Effects {
  now: () => Date;
  /** Milliseconds of a clock that only measures. */
  ticks: () => number;
  npm: Npm;
  progress: Progress;
}

/** The real ones. `epoch` (seconds since 1970, SOURCE_DATE_EPOCH) stops the clock, so that the same inputs give the same bytes. */
export function realEffects(epoch: number | undefined): Effects {
  const { stdout } = process;
  return {
    now: () => (epoch === undefined ? new Date() : new Date(epoch * 1000)),
    ticks: () => performance.now(),
    npm: npmClient(),
    progress: showProgress({
      write: (text) => void stdout.write(text),
      columns: stdout.isTTY ? stdout.columns : undefined,
      ticks: () => performance.now(),
    }),
  };
}
