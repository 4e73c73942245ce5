// Histogram of an attribute's values: bars over round edges, on a logarithmic scale when the edges rise by
// powers of ten.

import type { SiteProfile } from '../../api/pages/site.ts';
import { plural } from '../../api/render/print.ts';
import { DATED } from '../../packs/define/model.ts';
import { compact, drawChart, Plot } from './svg.ts';

type Bin = NonNullable<SiteProfile['histogram']>[number];

/** Returns '' for a single bin, which shows no distribution. */
export function histogram({ name, type, unit, histogram: bins = [], quantiles }: SiteProfile): string {
  if (bins.length < 2) return '';
  const rising = risesByPowers(bins);
  const lowest = Math.min(...bins.flatMap(({ from, to }) => [from, to]).filter((edge) => edge > 0));
  const at = (edge: number): number => (rising ? (edge <= 0 ? Math.log10(lowest) - 0.35 : Math.log10(edge)) : edge);
  const data = bins.map(({ from, to, count }) => ({ x1: at(from), x2: at(to), count }));
  const [start, end] = [data[0]!.x1, data.at(-1)!.x2];
  const print = (value: number): string => (DATED.includes(type) ? String(value) : compact(value));
  const ticks = rising ? powers(start, end, bins[0]!.from <= 0) : undefined;
  const most = bins.reduce((best, bin) => (bin.count > best.count ? bin : best));
  const spread = quantiles ? ` Half of the values are between ${print(quantiles.q1)} and ${print(quantiles.q3)}.` : '';
  const description = `Histogram of ${name}${unit ? ` in ${unit}` : ''}, from ${print(bins[0]!.from)} to ${print(bins.at(-1)!.to)}; most, ${plural(most.count, 'record')}, from ${print(most.from)} to ${print(most.to)}.${spread}`;
  return drawChart(description, {
    width: 280,
    height: 104,
    marginLeft: 8,
    marginRight: 8,
    marginTop: 16,
    marginBottom: 20,
    x: {
      domain: [start, end],
      label: null,
      tickSize: 3,
      ...(ticks
        ? { ticks, tickFormat: (tick: number) => (tick < Math.log10(lowest) ? '0' : compact(10 ** tick)) }
        : { ticks: DATED.includes(type) ? years(start, end) : 4, tickFormat: print }),
    },
    y: { axis: null },
    marks: [
      Plot.rectY(data, { x1: 'x1', x2: 'x2', y: 'count', fill: 'var(--plot-1)', insetLeft: 0.5, insetRight: 0.5 }),
      Plot.ruleY([0], { stroke: 'var(--edge-line)' }),
      // Label of the highest bar, as the scale of the others.
      Plot.text([{ x: (at(most.from) + at(most.to)) / 2, y: most.count }], {
        x: 'x',
        y: 'y',
        text: () => compact(most.count),
        dy: -7,
        fill: 'currentColor',
      }),
      ...(quantiles
        ? [
            Plot.tickX([at(quantiles.median)], { stroke: 'var(--sheet)', strokeWidth: 5 }),
            Plot.tickX([at(quantiles.median)], { stroke: 'var(--plot-2)', strokeWidth: 2 }),
          ]
        : []),
    ],
  });
}

/** Whether the edges are 1, 2, 5 times powers of ten: the last bin is then much wider than the first. */
function risesByPowers(bins: readonly Bin[]): boolean {
  const widths = bins.map(({ from, to }) => to - from);
  return Math.max(...widths) / Math.min(...widths) > 5;
}

/** Whole years, at most five. */
function years(start: number, end: number): number[] {
  const step = Math.max(1, Math.ceil((end - start) / 4));
  return Array.from({ length: Math.floor((end - start) / step) + 1 }, (_, i) => start + i * step);
}

/** At most five powers of ten, and the position of zero. */
function powers(start: number, end: number, zero: boolean): number[] {
  const all: number[] = [];
  for (let power = Math.ceil(start + (zero ? 0.3 : 0)); power <= end; power++) all.push(power);
  const step = Math.ceil(all.length / 4);
  return [...(zero ? [start] : []), ...all.filter((_, i) => i % step === step - 1 || all.length <= 4)];
}
