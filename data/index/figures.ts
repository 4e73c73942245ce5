// Statistics of numbers in ascending order.
import type { NumberStats } from '../plan/plan.ts';

/** Shares of p10, q1, median, q3 and p90. */
const QUANTILES = [0.1, 0.25, 0.5, 0.75, 0.9];

/** Statistics of at least one number, in ascending order. */
export function figuresOf(numbers: Float64Array): NumberStats {
  const last = numbers.length - 1;
  const [p10 = NaN, q1 = NaN, median = NaN, q3 = NaN, p90 = NaN] = QUANTILES.map((share) => quantile(numbers, share));
  const [min, max] = [numbers[0]!, numbers[last]!];
  return { count: numbers.length, min, p10, q1, median, q3, p90, max, ...sumAndMean(numbers) };
}

/** Interpolates linearly between the two nearest numbers, as DuckDB's `quantile_cont`. */
export function quantile(numbers: Float64Array, share: number): number {
  const place = share * (numbers.length - 1);
  const below = Math.floor(place);
  const part = place - below;
  return part === 0 ? numbers[below]! : numbers[below]! * (1 - part) + numbers[below + 1]! * part;
}

/** A compensated sum in ascending order, and the mean from it, as DuckDB's `fsum` and `favg(number ORDER BY number)`. */
export function sumAndMean(numbers: Float64Array): Pick<NumberStats, 'sum' | 'mean'> {
  const whole = wholeSum(numbers);
  return whole === null ? compensatedSum(numbers) : { sum: whole, mean: whole / numbers.length };
}

/** The sum of whole numbers when no partial sum can exceed 2^53, so that it is exact; otherwise null. */
function wholeSum(numbers: Float64Array): number | null {
  const largest = Math.max(Math.abs(numbers[0]!), Math.abs(numbers.at(-1)!));
  if (largest * numbers.length > Number.MAX_SAFE_INTEGER) return null;
  let sum = 0;
  for (let i = 0; i < numbers.length; i += 1) {
    const number = numbers[i]!;
    if (number !== Math.floor(number)) return null;
    sum += number;
  }
  return sum;
}

/** Kahan summation as in DuckDB, which adds the rest to the mean; four times as slow. */
function compensatedSum(numbers: Float64Array): Pick<NumberStats, 'sum' | 'mean'> {
  let sum = 0;
  let lost = 0;
  for (let i = 0; i < numbers.length; i += 1) {
    const next = numbers[i]! - lost;
    const total = sum + next;
    lost = total - sum - next;
    sum = total;
  }
  return { sum, mean: sum / numbers.length + lost / numbers.length };
}
