// Reproducible random numbers: a stream for each drawn thing.

/** A stream of numbers in [0, 1) from three integers (mulberry32 over their mix). */
export function stream(seed: number, thing: number, kind = 0): () => number {
  let state = Math.imul(seed ^ Math.imul(thing + 1, 0x9e3779b1) ^ Math.imul(kind + 1, 0x85ebca6b), 0xc2b2ae35) | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function pickFrom<T>(draw: () => number, from: readonly T[]): T {
  return from[Math.floor(draw() * from.length)] as T;
}

/** About normally distributed, mean 0 and deviation 1. */
export function bell(draw: () => number): number {
  return (draw() + draw() + draw() + draw() - 2) * Math.sqrt(3);
}
