// Sparkline of one number over time. It has steps, since a value is valid until the next one is observed.

import { printDate, printWithUnit } from '../render/print.ts';
import { type Html, html } from './html.ts';

/** The values of a number over time, oldest first. */
export interface Timeline {
  attribute: string;
  points: readonly { at: string; value: number }[];
  /** End of the last value, ISO 8601. */
  until: string;
}

const WIDTH = 160;
const HEIGHT = 34;
const PAD = 3;

/** A row: the name, the chart with its text alternative, the newest value. Requires at least two points. */
export function sparkline({ attribute, points, until }: Timeline, unit: string | null): Html {
  const [first, last] = [points[0]!, points.at(-1)!];
  const [from, to] = [Date.parse(first.at), Math.max(Date.parse(until), Date.parse(last.at))];
  const numbers = points.map(({ value }) => value);
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  const x = (at: number) => round(PAD + ((at - from) / Math.max(1, to - from)) * (WIDTH - 2 * PAD));
  const y = (value: number) => round(HEIGHT - PAD - ((value - low) / (high - low || 1)) * (HEIGHT - 2 * PAD));
  const steps = points.map(
    ({ at, value }, i) => `${i === 0 ? 'M' : 'H'}${x(Date.parse(at))}${i === 0 ? ',' : 'V'}${y(value)}`,
  );
  const path = `${steps.join('')}H${x(to)}`;
  const print = (value: number) => printWithUnit(value, unit);
  const label = `${attribute}: ${print(first.value)} on ${printDate(first.at)}, ${print(last.value)} since ${printDate(last.at)}, ${points.length} values in between ${print(low)} and ${print(high)}`;
  return html`<div class="spark"><code>${attribute}</code><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${label}"><path d="${path}" fill="none" stroke="var(--plot-1)" stroke-width="2" vector-effect="non-scaling-stroke"/></svg><span class="figure">${print(last.value)}</span><span class="quiet small">from ${print(first.value)} on ${printDate(first.at)}</span></div>`;
}

const round = (n: number): number => Math.round(n * 10) / 10;
