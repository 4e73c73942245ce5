// How many of its inputs a long test takes: some in every run, all in `npm run test:long`.

/**
 * Share of the inputs in a usual run. The seeds are fixed, so that a short run draws the first ones of a long
 * run.
 */
const SHARE = process.env['TEST_LONG'] === undefined ? 1 / 6 : 1;

/** Number of inputs to take out of `all`, at least one. */
export const draws = (all: number): number => Math.max(1, Math.round(all * SHARE));

/** Inputs out of a list, spread over it. */
export const drawn = <T>(all: readonly T[]): T[] => {
  const step = all.length / draws(all.length);
  return Array.from({ length: draws(all.length) }, (_, i) => all[Math.floor(i * step)]!);
};

/** Whether this is `npm run test:long`. */
export const LONG = SHARE === 1;
