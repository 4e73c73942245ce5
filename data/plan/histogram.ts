// Histograms of statistics.
import { comparedNumber } from '../../packs/define/digits.ts';
import type { HistogramBucket } from './plan.ts';

/**
 * The numbers, in ascending order, in `buckets` equal parts from the smallest to the largest; one bucket when all are
 * equal. Edges are compared as they are shown, so that a number on an edge is in the bucket that begins there.
 */
export function histogramOf(numbers: ArrayLike<number>, buckets: number): HistogramBucket[] {
  const [low, high] = [numbers[0]!, numbers[numbers.length - 1]!];
  if (low === high) return [{ from: low, to: high, count: numbers.length }];
  // Near 0, the rounding errors of edges have digits of their own.
  const scale = Math.max(Math.abs(low), Math.abs(high));
  const decimals = Math.min(100, Math.max(0, 14 - Math.floor(Math.log10(scale))));
  let [from, start] = [low, 0];
  return Array.from({ length: buckets }, (_, i) => {
    const last = i === buckets - 1;
    const to = last ? high : comparedNumber(Number((low + ((high - low) * (i + 1)) / buckets).toFixed(decimals)));
    let end = last ? numbers.length : start;
    while (end < numbers.length && numbers[end]! < to) end += 1;
    const bucket = { from, to, count: end - start };
    [from, start] = [to, end];
    return bucket;
  });
}
