// Step charts of numbers over time, one line or several: inline SVG for three ranges, switched by radio buttons
// and CSS alone. Each step links to its source.
import type { Attribute, Value } from '../../packs/define/model.ts';
import { printDate, printNumber, printWithUnit, webAddress } from '../render/print.ts';
import { type Html, html } from './html.ts';
import type { Step } from './related-data.ts';

const DAY = 86_400_000;
/** Ranges of a chart, in days before its end; Infinity: from the first value. */
const RANGES = [
  { id: 'month', name: '30 days', days: 30 },
  { id: 'year', name: '1 year', days: 365 },
  { id: 'all', name: 'All', days: Infinity },
] as const;

/** A number that was valid from a time on (milliseconds since 1970); null: none. */
interface Point {
  at: number;
  value: number | null;
  source_url?: string | undefined;
}

/** The published values of one record, oldest first, at least one. */
export interface ChartLine {
  /** Name of the record; '' in a chart with one line. */
  name: string;
  /** Place among the lines of the page, from 1: its colour and dashes. */
  place: number;
  steps: readonly Step[];
  /** ISO 8601: when the last value was confirmed. */
  checked: string;
}

interface Drawn extends Pick<ChartLine, 'name' | 'place'> {
  points: Point[];
  until: number;
}

/** The number of a value; a price range counts with its minimum. */
function numberOf(value: Value | null): number | null {
  if (typeof value === 'number') return value;
  return value !== null && typeof value === 'object' && 'min' in value ? value.min : null;
}

/** The switch between the ranges of all charts of a section. */
export const rangeSwitch = (): Html =>
  html`<fieldset class="ranges"><legend class="away">Range of the charts</legend>${RANGES.map(({ id, name }) => html`<label><input type="radio" name="range" value="${id}"${id === 'all' && html` checked`}> ${name}</label>`)}</fieldset>`;

/** The drawings of an attribute, one for each range. */
export function stepCharts({ name, unit }: Pick<Attribute, 'name' | 'unit'>, lines: readonly ChartLine[]): Html[] {
  const all = lines.map(({ steps, checked, ...line }): Drawn => {
    const points = steps.map(({ at, value, source_url }) => ({
      at: Date.parse(at),
      value: numberOf(value),
      source_url,
    }));
    return { ...line, points, until: Math.max(Date.parse(checked), points.at(-1)!.at) };
  });
  const until = Math.max(...all.map((line) => line.until));
  return RANGES.map(({ id, name: range, days }) => {
    const drawn = all.flatMap((line) => {
      const points = inRange(line.points, until - days * DAY);
      return line.until > until - days * DAY ? [{ ...line, points }] : [];
    });
    return plot({ id, range, name, unit }, drawn, until);
  });
}

/** The points from a time on; the value valid at that time begins there. */
function inRange(points: readonly Point[], from: number): Point[] {
  const before = points.findLastIndex(({ at }) => at <= from);
  if (before < 0) return [...points];
  return [{ ...points[before]!, at: from }, ...points.slice(before + 1)];
}

const X = 1_000;
const Y = 100;

interface About {
  id: string;
  range: string;
  name: string;
  unit: string | null;
}

/** One range. Dates and bounds are text around the drawing, which stretches to the width of the page. */
function plot({ id, range, name, unit }: About, lines: readonly Drawn[], until: number): Html {
  const from = Math.min(...lines.map(({ points }) => points[0]!.at));
  const { low, high } = extent(lines);
  const print = (value: number) => printWithUnit(value, unit);
  const scale: Scale = {
    x: (at) => Math.round(((at - from) / (until - from || 1)) * X),
    y: (value) => (high === low ? Y / 2 : Math.round((1 - (value - low) / (high - low)) * Y)),
    print,
  };
  const bounds = lines.map((line) => {
    const { low, high, count } = extent([line]);
    const what = `${count} ${count === 1 ? 'value' : 'values'} from ${print(low)} to ${print(high)}`;
    return line.name === '' ? what : `${line.name}: ${what}`;
  });
  return html`<div class="range range-${id}"><div class="bounds" aria-hidden="true"><span>${printNumber(high)}</span>${high !== low && html`<span>${printNumber(low)}</span>`}</div><svg viewBox="0 0 ${X} ${Y}" preserveAspectRatio="none" role="group" aria-label="${name}, ${range}: ${bounds.join('; ')}"><path class="grid" d="M0 0H${X}M0 ${Y}H${X}"/>${lines.map((line) => drawing(line, scale))}</svg><div class="dates" aria-hidden="true"><span>${printDate(from)}</span><span>checked ${printDate(until)}</span></div></div>`;
}

function extent(lines: readonly Drawn[]): { low: number; high: number; count: number } {
  const numbers = lines.flatMap(({ points }) => points.flatMap(({ value }) => value ?? []));
  if (numbers.length === 0) return { low: 0, high: 0, count: 0 };
  return { low: Math.min(...numbers), high: Math.max(...numbers), count: numbers.length };
}

interface Scale {
  x: (at: number) => number;
  y: (value: number) => number;
  print: (value: number) => string;
}

/** A line with its steps. */
function drawing({ name, place, points, until }: Drawn, { x, y, print }: Scale): Html {
  let path = '';
  for (const [i, { at, value }] of points.entries()) {
    if (value === null) path += path === '' ? '' : `H${x(at)}`;
    else path += i > 0 && points[i - 1]!.value !== null ? `H${x(at)}V${y(value)}` : `M${x(at)} ${y(value)}`;
  }
  if (points.at(-1)!.value !== null) path += `H${x(until)}`;
  const steps = points.flatMap(({ at, value, source_url }) => {
    if (value === null) return [];
    const text = `${name === '' ? '' : `${name}: `}${print(value)} since ${printDate(at)}`;
    const dot = html`<path class="step" d="M${x(at)} ${y(value)}h0"/>`;
    const address = source_url === undefined ? null : webAddress(source_url);
    return [
      address === null
        ? html`<g><title>${text}</title>${dot}</g>`
        : html`<a href="${address}" rel="nofollow"><title>${text}. Open the source</title>${dot}</a>`,
    ];
  });
  return html`<g class="line-${place}"><path class="line" d="${path}"/>${steps}</g>`;
}
