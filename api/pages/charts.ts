// Charts as SVG without script or inline style. Labels are HTML text, and a table has the same numbers.
import { readFileSync } from 'node:fs';
import { printDate } from '../render/print.ts';
import { type Html, html } from './html.ts';

/** The style of the charts, for the shell of pages that have one. */
export const CHART_STYLE = readFileSync(new URL('./charts.css', import.meta.url), 'utf8');

/** One column of a bar chart: amounts stacked in the order of the series. */
export interface ChartColumn {
  /** Milliseconds since 1970. */
  at: number;
  parts: readonly number[];
}

export interface BarChart {
  /** One sentence for screen readers. */
  about: string;
  /** Name of each part and the CSS class of its colour. */
  series: readonly { name: string; mark: string }[];
  columns: readonly ChartColumn[];
  /** Formats an amount. */
  amount: (n: number) => string;
  /** Formats the time of a column, and its label on the axis. */
  time: (at: number) => string;
  tick: (at: number) => string;
}

/** Columns of equal steps from `from` to `to`; missing ones are empty. */
export function everyStep(
  from: number,
  to: number,
  step: number,
  bars: readonly ChartColumn[],
  parts: number,
): ChartColumn[] {
  const barByTime = new Map(bars.map((bar) => [bar.at, bar]));
  const none = new Array<number>(parts).fill(0);
  const columns: ChartColumn[] = [];
  for (let at = Math.floor(from / step) * step; at <= to; at += step)
    columns.push(barByTime.get(at) ?? { at, parts: none });
  return columns;
}

/** The next number of the form 1, 2 or 5 times a power of ten. */
export function roundUp(most: number): number {
  if (most <= 0) return 1;
  const zeros = 10 ** Math.floor(Math.log10(most));
  return ([1, 2, 5, 10].find((factor) => factor * zeros >= most) ?? 10) * zeros;
}

/**
 * Number of columns per label: a divisor of `columns`, so that each label is below its column; at most 7
 * labels.
 */
export function tickStep(columns: number): number {
  for (let every = Math.max(1, Math.ceil(columns / 7)); every < columns; every++)
    if (columns % every === 0) return every;
  return Math.max(1, columns);
}

const sum = (parts: readonly number[]) => parts.reduce((all, part) => all + Math.max(0, part), 0);

/** Stacked bars over time. */
export function barChart({ about, series, columns, amount, time, tick }: BarChart): Html {
  const top = roundUp(Math.max(...columns.map(({ parts }) => sum(parts))));
  const HEIGHT = 100;
  const marks = columns.map(({ at, parts }, x) => {
    let below = 0;
    const rects = parts.map((part, i) => {
      const height = (Math.max(0, part) / top) * HEIGHT;
      const y = HEIGHT - below - height;
      below += height;
      return height === 0
        ? ''
        : html`<rect class="${series[i]!.mark}" x="${x + 0.12}" width="0.76" y="${y.toFixed(3)}" height="${height.toFixed(3)}"/>`;
    });
    const text = series.map(({ name }, i) => `${amount(parts[i] ?? 0)} ${name}`).join(', ');
    return html`<g><title>${time(at)}: ${text}</title><rect class="ground" x="${x}" width="1" y="0" height="${HEIGHT}"/>${rects}</g>`;
  });
  const every = tickStep(columns.length);
  const ticks = columns.filter((_, i) => i % every === 0);
  return html`<figure class="graph">
<figcaption class="key">${series.map(({ name, mark }) => html`<span><svg class="swatch" viewBox="0 0 1 1" aria-hidden="true"><rect class="${mark}" width="1" height="1"/></svg>${name}</span>`)}</figcaption>
<div class="plot"><div class="scale" aria-hidden="true"><span>${amount(top)}</span><span>${amount(top / 2)}</span><span>${amount(0)}</span></div>
<svg class="cols" role="img" aria-label="${about}" viewBox="0 0 ${columns.length} ${HEIGHT}" preserveAspectRatio="none"><path class="grid" d="M0 0H${columns.length}M0 50H${columns.length}M0 100H${columns.length}"/>${marks}</svg>
<div class="ticks" aria-hidden="true">${ticks.map(({ at }) => html`<span>${tick(at)}</span>`)}</div></div>
<details class="numbers-too"><summary>Show as table</summary>
<div class="scroll" role="region" aria-label="Numbers of the chart" tabindex="0"><table><thead><tr><th scope="col">Time (UTC)</th>${series.map(({ name }) => html`<th scope="col" class="n">${name}</th>`)}</tr></thead>
<tbody>${columns
    .filter(({ parts }) => parts.some((part) => part !== 0))
    .reverse()
    .map(
      ({ at, parts }) =>
        html`<tr><th scope="row">${time(at)}</th>${parts.map((part) => html`<td class="n">${amount(part)}</td>`)}</tr>`,
    )}</tbody></table></div></details>
</figure>`;
}

/** A horizontal bar from 0 to `most`, hidden from screen readers: the page shows the number too. */
export function lengthBar(part: number, most: number, mark = 'm0'): Html {
  const share = most <= 0 ? 0 : Math.min(1, Math.max(0, part / most));
  return html`<svg class="length" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true"><rect class="ground" width="100" height="1"/><rect class="${mark}" width="${(share * 100).toFixed(2)}" height="1"/></svg>`;
}

/** Values over time: one line for each source, constant until its next value. */
export interface StepChart {
  about: string;
  lines: readonly { name: string; points: readonly { at: number; value: number }[] }[];
  /** End of the lines, milliseconds since 1970. */
  until: number;
  amount: (n: number) => string;
}

/** Values over time as steps; null with fewer than two points in time. */
export function stepChart({ about, lines, until, amount }: StepChart): Html | null {
  const points = lines.flatMap((line) => line.points);
  const moments = new Set(points.map(({ at }) => at));
  if (moments.size < 2) return null;
  const from = Math.min(...moments);
  const values = points.map(({ value }) => value);
  const [low, high] = [Math.min(0, ...values), Math.max(...values)];
  const [wide, tall] = [until - from || 1, high - low || 1];
  const x = (at: number) => (((at - from) / wide) * 100).toFixed(2);
  const y = (value: number) => (100 - ((value - low) / tall) * 100).toFixed(2);
  const drawn = lines.map(({ points: linePoints }, i) => {
    const sorted = [...linePoints].sort((a, b) => a.at - b.at);
    const path = sorted
      .map(({ at, value }, k) => (k === 0 ? `M${x(at)} ${y(value)}` : `H${x(at)}V${y(value)}`))
      .join('');
    const dots = sorted.map(({ at, value }) => `M${x(at)} ${y(value)}h0`).join('');
    return html`<path class="line l${i % 4}" d="${path}H100"/><path class="dots l${i % 4}" d="${dots}"/>`;
  });
  return html`<figure class="graph">
<figcaption class="key">${lines.map(({ name }, i) => html`<span><svg class="swatch" viewBox="0 0 1 1" aria-hidden="true"><rect class="m${i % 4}" width="1" height="1"/></svg>${name}</span>`)}</figcaption>
<div class="plot"><div class="scale" aria-hidden="true"><span>${amount(high)}</span><span>${amount(low)}</span></div>
<svg class="steps" role="img" aria-label="${about}" viewBox="0 0 100 100" preserveAspectRatio="none"><path class="grid" d="M0 0H100M0 50H100M0 100H100"/>${drawn}</svg>
<div class="ticks ends" aria-hidden="true"><span>${printDate(from)}</span><span>${printDate(until)}</span></div></div>
</figure>`;
}
