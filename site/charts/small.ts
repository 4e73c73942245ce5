// A small chart of a column's values for the table head; the profile shows the same in full.

import type { SiteProfile } from '../../api/pages/site.ts';
import { printNumber, printShare } from '../../api/render/print.ts';
import { compact } from './svg.ts';

const WIDTH = 120;
const HEIGHT = 22;
/** Values with their own part in a bar of classes; the others share one. */
const CLASSES = 6;

/** Returns an SVG without text ('' when there is nothing to draw) and the text below it. */
export function small(one: SiteProfile): { svg: string; caption: string } {
  const { histogram: bins = [], quantiles, top = [], distinct, type } = one;
  if (bins.length > 1) {
    const [first, last] = [bins[0]!, bins.at(-1)!];
    const print = (value: number) => (type === 'date' ? String(value) : compact(value));
    const caption = quantiles
      ? `${print(quantiles.min)} to ${print(quantiles.max)}`
      : `${print(first.from)} to ${print(last.to)}`;
    return { svg: bars(bins.map(({ count }) => count)), caption };
  }
  const known = one.count ?? 0;
  if (top.length > 1 && known > 0 && top[0]!.count / known > 0.02)
    return {
      svg: classes(top.slice(0, CLASSES).map(({ count }) => count / known)),
      caption: distinct === null ? `${top.length} and more values` : `${printNumber(distinct)} values`,
    };
  if (distinct !== null && distinct > 1) return { svg: '', caption: `${printNumber(distinct)} values` };
  return { svg: '', caption: one.fill_rate === null ? '' : `${printShare(one.fill_rate)} of records` };
}

const rect = (x: number, y: number, width: number, height: number, opacity = 1) =>
  `<rect x="${x.toFixed(1)}" y="${y.toFixed(1)}" width="${width.toFixed(1)}" height="${height.toFixed(1)}"${opacity < 1 ? ` fill-opacity="${opacity.toFixed(2)}"` : ''}/>`;

const drawn = (marks: string[]) =>
  `<svg class="column-chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" fill="var(--plot-1)" aria-hidden="true" focusable="false">${marks.join('')}</svg>`;

function bars(counts: readonly number[]): string {
  const most = Math.max(...counts);
  const step = WIDTH / counts.length;
  return drawn(
    counts.flatMap((count, at) => {
      // A count above 0 is always visible.
      const height = count === 0 ? 0 : Math.max(1, (count / most) * HEIGHT);
      return height === 0 ? [] : [rect(at * step, HEIGHT - height, Math.max(1, step - 1), height)];
    }),
  );
}

function classes(shares: readonly number[]): string {
  let x = 0;
  const marks = shares.map((share, at) => {
    const width = share * WIDTH;
    const mark = rect(x, 4, Math.max(0.5, width - 1), HEIGHT - 8, 1 - at * 0.14);
    x += width;
    return mark;
  });
  return drawn(x < WIDTH - 1 ? [...marks, rect(x, 4, WIDTH - x, HEIGHT - 8, 0.15)] : marks);
}
