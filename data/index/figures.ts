// Statistics of numbers in ascending order.
import type { NumberStats } from '../plan/plan.ts';

/** Statistics of at least one number, in ascending order. */
export function figuresOf(numbers: Float64Array): NumberStats {
  const last = numbers.length - 1;
  const [q1, median, q3] = [quantile(numbers, 0.25), quantile(numbers, 0.5), quantile(numbers, 0.75)];
  return { count: numbers.length, min: numbers[0]!, q1, median, q3, max: numbers[last]!, mean: mean(numbers) };
}

/** Interpolates linearly between the two nearest numbers, as DuckDB's `quantile_cont`. */
export function quantile(numbers: Float64Array, share: number): number {
  const place = share * (numbers.length - 1);
  const below = Math.floor(place);
  const part = place - below;
  return part === 0 ? numbers[below]! : numbers[below]! * (1 - part) + numbers[below + 1]! * part;
}

/** The mean from a compensated sum in ascending order, as DuckDB's `favg(number ORDER BY number)`. */
export function mean(numbers: Float64Array): number {
  const whole = wholeSum(numbers);
  return whole === null ? compensatedMean(numbers) : whole / numbers.length;
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
function compensatedMean(numbers: Float64Array): number {
  let sum = 0;
  let lost = 0;
  for (let i = 0; i < numbers.length; i += 1) {
    const next = numbers[i]! - lost;
    const total = sum + next;
    lost = total - sum - next;
    sum = total;
  }
  return sum / numbers.length + lost / numbers.length;
}
