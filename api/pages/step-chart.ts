// Step charts of numbers over time, one line or several, ranges as bands: inline SVG for three ranges, switched by
// radio buttons and CSS alone. Each step links to its source. site/record/charts.ts adds a tooltip and the PNG.
import { type Amount, endsOf } from '../../packs/define/calculator.ts';
import { attributeLabel } from '../../packs/define/labels.ts';
import type { Attribute } from '../../packs/define/model.ts';
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

/** A number or range that was valid from a time on (milliseconds since 1970); null: none. */
interface Point {
  at: number;
  value: Amount | null;
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

/** The switch between the ranges of all charts of a section. */
export const rangeSwitch = (): Html =>
  html`<fieldset class="ranges"><legend class="away">Range of the charts</legend>${RANGES.map(({ id, name }) => html`<label><input type="radio" name="range" value="${id}"${id === 'all' && html` checked`}> ${name}</label>`)}</fieldset>`;

/** The drawings of an attribute, one for each range. */
export function stepCharts(attribute: Pick<Attribute, 'name' | 'label' | 'unit'>, lines: readonly ChartLine[]): Html[] {
  const all = lines.map(({ steps, checked, ...line }): Drawn => {
    const points = steps.map(({ at, value, source_url }) => ({
      at: Date.parse(at),
      value: endsOf(value),
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
    return plot({ id, range, name: attributeLabel(attribute), unit: attribute.unit }, drawn, until);
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

/** About three round numbers around two bounds: 0, 5 and 10 for 1.2 and 9. */
function ticksOf(low: number, high: number): number[] {
  if (high === low) return [low];
  const size = 10 ** Math.floor(Math.log10((high - low) / 2));
  const step = [1, 2, 5, 10].map((factor) => factor * size).find((width) => width * 2 >= high - low)!;
  const first = Math.floor(low / step);
  return Array.from({ length: Math.ceil(high / step) - first + 1 }, (_, i) =>
    Number(((first + i) * step).toPrecision(12)),
  );
}

/** One range. The drawing stretches to the width of the page; the texts of its axes are in drawings that do not. */
function plot({ id, range, name, unit }: About, lines: readonly Drawn[], until: number): Html {
  const from = Math.min(...lines.map(({ points }) => points[0]!.at));
  const extremes = extent(lines);
  const ticks = ticksOf(extremes.low, extremes.high);
  const [low, high] = [ticks[0]!, ticks.at(-1)!];
  const print = (value: number) => printWithUnit(value, unit);
  const scale: Scale = {
    x: (at) => Math.round(((at - from) / (until - from || 1)) * X),
    y: (value) => (high === low ? Y / 2 : Math.round((1 - (value - low) / (high - low)) * Y * 10) / 10),
    unit,
  };
  const bounds = lines.map((line) => {
    const { low, high, count } = extent([line]);
    const what = `${count} ${count === 1 ? 'value' : 'values'} from ${print(low)} to ${print(high)}`;
    return line.name === '' ? what : `${line.name}: ${what}`;
  });
  const grid = ticks.map((tick) => `M0 ${scale.y(tick)}H${X}`).join('');
  const numbers = ticks.map((tick) => html`<text y="${scale.y(tick)}%" dy="0.35em">${printNumber(tick)}</text>`);
  const dates = [from, (from + until) / 2, until].map(
    (at, i) => html`<text x="${50 * i}%" y="0.9em" text-anchor="${ANCHORS[i]}">${printDate(at)}</text>`,
  );
  return html`<div class="range range-${id}"><svg class="plot" viewBox="0 0 ${X} ${Y}" preserveAspectRatio="none" role="group" aria-label="${name}, ${range}: ${bounds.join('; ')}"><path class="grid" d="${grid}"/>${lines.map((line) => drawing(line, scale))}</svg><svg class="bounds" aria-hidden="true">${numbers}</svg>${lines.length > 1 && lineLabels(lines, scale)}<svg class="dates" aria-hidden="true">${dates}</svg></div>`;
}

const ANCHORS = ['start', 'middle', 'end'];

/** The names of the lines at their ends, apart from each other. */
function lineLabels(lines: readonly Drawn[], { y }: Scale): Html {
  const ends = lines
    .flatMap(({ name, place, points }) => {
      const value = points.at(-1)!.value;
      return value === null ? [] : [{ name, place, top: y(value.max) }];
    })
    .sort((a, b) => a.top - b.top);
  let lowest = 0;
  const texts = ends.map(({ name, place, top }) => {
    lowest = Math.max(top, lowest + LABEL_HEIGHT);
    return html`<text class="line-${place}" x="100%" y="${lowest}%" dx="-0.5em" dy="-0.4em" text-anchor="end">${name}</text>`;
  });
  return html`<svg class="labels" aria-hidden="true">${texts}</svg>`;
}

/** Height of a label in percent of a chart. */
const LABEL_HEIGHT = 12;

function extent(lines: readonly Drawn[]): { low: number; high: number; count: number } {
  const values = lines.flatMap(({ points }) => points.flatMap(({ value }) => value ?? []));
  if (values.length === 0) return { low: 0, high: 0, count: 0 };
  const [low, high] = [Math.min(...values.map(({ min }) => min)), Math.max(...values.map(({ max }) => max))];
  return { low, high, count: values.length };
}

interface Scale {
  x: (at: number) => number;
  y: (value: number) => number;
  unit: string | null;
}

/** The line of the lower or the upper ends. */
function lineOf({ points, until }: Drawn, { x, y }: Scale, end: 'min' | 'max'): string {
  let path = '';
  for (const [i, { at, value }] of points.entries()) {
    if (value === null) path += path === '' ? '' : `H${x(at)}`;
    else path += i > 0 && points[i - 1]!.value !== null ? `H${x(at)}V${y(value[end])}` : `M${x(at)} ${y(value[end])}`;
  }
  return points.at(-1)!.value === null ? path : `${path}H${x(until)}`;
}

/** A line with its steps; between the two ends of ranges a band. */
function drawing(line: Drawn, scale: Scale): Html {
  const { name, place, points, until } = line;
  const { x, y, unit } = scale;
  const bands = points.map(({ at, value }, i) =>
    value === null || value.min === value.max
      ? ''
      : `M${x(at)} ${y(value.max)}H${x(points[i + 1]?.at ?? until)}V${y(value.min)}H${x(at)}Z`,
  );
  const band = bands.join('');
  const upper = band === '' ? '' : lineOf(line, scale, 'max');
  const steps = points.flatMap(({ at, value, source_url }) => {
    if (value === null) return [];
    const { min, max } = value;
    const amount = printWithUnit(min === max ? min : { min, max, currency: '' }, unit);
    const text = `${name === '' ? '' : `${name}: `}${amount} since ${printDate(at)}`;
    const dot = html`<path class="step" d="M${x(at)} ${y(min)}h0${min !== max && `M${x(at)} ${y(max)}h0`}"/>`;
    const address = source_url === undefined ? null : webAddress(source_url);
    return [
      address === null
        ? html`<g><title>${text}</title>${dot}</g>`
        : html`<a href="${address}" rel="nofollow"><title>${text}. Open the source</title>${dot}</a>`,
    ];
  });
  return html`<g class="line-${place}">${band !== '' && html`<path class="band" d="${band}"/>`}<path class="line" d="${lineOf(line, scale, 'min')}${upper}"/>${steps}</g>`;
}

/** Links under a chart: its numbers as CSV, and `more`; the script of the page makes the PNG. */
export function chartLinks(
  { name, unit }: Pick<Attribute, 'name' | 'unit'>,
  lines: readonly ChartLine[],
  more = html``,
): Html {
  const cell = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const rows = lines.flatMap(({ name: record, steps }) =>
    steps.map(({ at, value, source_url = '' }) => {
      const ends = endsOf(value);
      return [record, at, ends?.min ?? '', ends?.max ?? '', source_url].map((part) => cell(String(part))).join();
    }),
  );
  const csv = [`record,since,${cell(`${name} min${unit === null ? '' : ` (${unit})`}`)},max,source`, ...rows].join(
    '\r\n',
  );
  return html`<p class="chart-links"><a download="${name}.csv" href="data:text/csv;charset=utf-8,${encodeURIComponent(csv)}">CSV</a> <button class="png" type="button">PNG</button>${more}</p>`;
}
