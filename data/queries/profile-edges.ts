// Edges of the bins of a histogram: round numbers near the values, so that they give no single value away and read well.
import type { Figures } from '../plan/plan.ts';

/** About as many bins as this. */
const BINS = 20;

/**
 * Ascending edges that hold all values. Even steps of 1, 2 or 5 times a power of ten; where the values are positive and spread over orders of
 * magnitude, edges at 1, 2 and 5 times the powers of ten, with a first bin from 0 where there are zeros.
 */
export function edgesFor({ min, median, max }: Pick<Figures, 'min' | 'median' | 'max'>): number[] {
  if (!(max > min)) {
    const step = stepNear(Math.abs(max) || 1);
    const from = floorTo(min, step);
    return [from, from + step];
  }
  return min >= 0 && median > 0 && max / median > 20 ? rising(min, max) : even(min, max);
}

/** 1, 2 and 5 times the powers of ten from 0.0001 to 10^18. */
const STEPS = Array.from({ length: 22 }, (_, i) => [1, 2, 5].map((digit) => exact(digit * 10 ** (i - 4)))).flat();

/** The same edges whatever the values are, for attributes of which a single value must not show. */
export const FIXED_EDGES: readonly number[] = [...STEPS.map((step) => -step).reverse(), 0, ...STEPS];

function even(min: number, max: number): number[] {
  const step = stepNear((max - min) / BINS);
  const edges: number[] = [];
  const first = Math.floor(min / step);
  for (let i = 0; edges.length === 0 || edges.at(-1)! <= max; i++) edges.push(exact((first + i) * step));
  return edges;
}

/** 1, 2, 5, 10, … from below the smallest value, or five powers of ten below the largest, up to above the largest. */
function rising(min: number, max: number): number[] {
  const top = Math.ceil(Math.log10(max) + 1e-9);
  const bottom = Math.max(min > 0 ? Math.floor(Math.log10(min)) : -Infinity, top - 8);
  const edges = min < 10 ** bottom ? [0] : [];
  for (let power = bottom; power <= top; power++) for (const digit of [1, 2, 5]) edges.push(exact(digit * 10 ** power));
  const from = Math.max(
    0,
    edges.findLastIndex((edge) => edge <= min),
  );
  const until = edges.findIndex((edge) => edge > max);
  return edges.slice(from, until + 1);
}

/** 1, 2 or 5 times a power of ten, not below `wanted`. */
function stepNear(wanted: number): number {
  const power = 10 ** Math.floor(Math.log10(wanted));
  return exact(([1, 2, 5].find((digit) => digit * power >= wanted * (1 - 1e-9)) ?? 10) * power);
}

const floorTo = (value: number, step: number): number => exact(Math.floor(value / step) * step);

/** Without the dust of binary fractions. */
function exact(value: number): number {
  return Number(value.toPrecision(12));
}
