// A result as a chart, drawn with Observable Plot; maps are points on the outlines of the land.
import * as Plot from '@observablehq/plot';
import { createElement, createSvg } from '../lib/dom.ts';
import { type Cell, printCell, type ResultColumn, type ResultRow, timeOf } from './cells.ts';
import { type ChartChoice, KIND_LABELS } from './chart.ts';

/** Colours of categories; further ones share the last. */
const SERIES = 6;
const MOST_BARS = 30;

interface Point {
  x: number | string | Date;
  y: number;
  /** The value that colours it, and the group of its colour. */
  series: string;
  group: string;
}

/** A chart with its legend, and what it leaves out as text ('' if nothing). */
export interface Drawing {
  parts: Element[];
  note: string;
}

/** Draws a chart of rows, `width` pixels wide. `land` is the path of the outlines for maps. */
export async function drawResult(
  choice: ChartChoice,
  columns: readonly ResultColumn[],
  rows: readonly ResultRow[],
  { width, land }: { width: number; land: string },
): Promise<Drawing> {
  const at = (name: string) => columns.findIndex((column) => column.name === name);
  const [x, y, color] = [at(choice.x), at(choice.y), at(choice.color)];
  const groups = groupsOf(color < 0 ? [] : rows.map((row) => row[color] ?? null));
  const points = rows.flatMap((row): Point[] => {
    const [left, right] = [positionOf(columns[x]!, row[x] ?? null, choice.kind), y < 0 ? 0 : numberOf(row[y] ?? null)];
    const series = color < 0 ? '' : (printCell(row[color] ?? null) ?? 'null');
    return left === null || right === null ? [] : [{ x: left, y: right, series, group: groups.nameOf(series) }];
  });
  const legend = groups.names.length > 1 ? [legendOf(choice.color, groups.names)] : [];
  const missing = rows.length - points.length;
  const note = missing > 0 ? `${missing.toLocaleString('en')} rows without a value are not drawn.` : '';
  if (choice.kind === 'map') return { parts: [await drawMap(points, groups.names, land), ...legend], note };
  const bars = choice.kind === 'bar' ? firstBars(points) : { points, note: '' };
  const svg = drawPlot(choice, bars.points, groups.names, width);
  return { parts: [svg, ...legend], note: [bars.note, note].filter(Boolean).join(' ') };
}

function positionOf({ kind }: ResultColumn, cell: Cell, chart: ChartChoice['kind']): Point['x'] | null {
  if (cell === null) return null;
  if (chart === 'bar') return printCell(cell)!;
  if (kind !== 'time') return numberOf(cell);
  const time = timeOf(cell);
  return Number.isNaN(time) ? null : new Date(time);
}

function numberOf(cell: Cell): number | null {
  const number = cell === null ? Number.NaN : Number(cell);
  return Number.isFinite(number) ? number : null;
}

/** Groups by colour: the most frequent values, and one group for the others. */
function groupsOf(cells: readonly Cell[]) {
  const counts = new Map<string, number>();
  for (const cell of cells) {
    const text = printCell(cell) ?? 'null';
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const byCount = [...counts].sort(([, a], [, b]) => b - a).map(([text]) => text);
  const groups = new Set(byCount.length > SERIES ? byCount.slice(0, SERIES - 1) : byCount);
  const names = [...groups, ...(byCount.length > groups.size ? ['others'] : [])];
  return { names, nameOf: (text: string) => (names.length === 0 ? '' : groups.has(text) ? text : 'others') };
}

function firstBars(points: Point[]): { points: Point[]; note: string } {
  const names = [...new Set(points.map(({ x }) => x))];
  if (names.length <= MOST_BARS) return { points, note: '' };
  const shown = new Set(names.slice(0, MOST_BARS));
  const note = `The first ${MOST_BARS} of ${names.length.toLocaleString('en')} bars.`;
  return { points: points.filter(({ x }) => shown.has(x)), note };
}

const seriesColor = (index: number) => `var(--series-${Math.min(Math.max(index, 0), SERIES - 1) + 1})`;

function drawPlot({ kind, x, y, color }: ChartChoice, points: Point[], names: string[], width: number): Element {
  const colors = { domain: names, range: names.map((_, at) => seriesColor(at)) };
  const ink = names.length > 1 ? ('group' as const) : seriesColor(0);
  const scales = { color: { type: 'ordinal' as const, ...colors }, marginRight: 24 };
  const zero = Plot.ruleY([0], { stroke: 'var(--edge-line)' });
  const options = ((): Plot.PlotOptions => {
    if (kind === 'bar') {
      const domain = [...new Set(points.map((point) => String(point.x)))];
      const longest = Math.max(...domain.map(({ length }) => length), 0);
      const marginLeft = Math.min(Math.max(48, longest * 7 + 16), Math.round(width * 0.42));
      const letters = Math.floor((marginLeft - 16) / 7);
      const short = (text: string) => (text.length > letters ? `${text.slice(0, letters - 1)}…` : text);
      return {
        ...scales,
        height: domain.length * 22 + 60,
        marginLeft,
        x: { label: `${y} →`, grid: true, ...few(width) },
        y: { label: null, domain, tickFormat: short },
        marks: [
          Plot.barX(points, { x: 'y', y: (point: Point) => String(point.x), fill: ink, tip: 'y' }),
          Plot.ruleX([0]),
        ],
      };
    }
    const axes = {
      x: { label: `${x} →`, ...few(width) },
      y: { label: `↑ ${kind === 'histogram' ? 'rows' : y}`, grid: true },
    };
    const shared = { ...scales, ...axes, height: Math.round(Math.min(420, width * 0.6 + 60)), marginLeft: 56 };
    if (kind === 'histogram')
      return {
        ...shared,
        marks: [
          Plot.rectY(points, Plot.binX<Plot.RectYOptions>({ y: 'count' }, { x: 'x', fill: ink, tip: true })),
          zero,
        ],
      };
    if (kind === 'dot')
      return {
        ...shared,
        marks: [Plot.dot(points, { x: 'x', y: 'y', stroke: ink, r: 2.5, tip: points.length < 2000 })],
      };
    return {
      ...shared,
      marks: [
        zero,
        Plot.lineY(points, { x: 'x', y: 'y', z: 'series', stroke: ink, strokeWidth: 2, sort: 'x', tip: true }),
        ...(points.length <= 60 ? [Plot.dot(points, { x: 'x', y: 'y', fill: ink, r: 3 })] : []),
      ],
    };
  })();
  const svg = Plot.plot({
    ...options,
    width,
    className: 'sql-plot',
    style: { fontSize: '12px' },
  }) as unknown as Element;
  // The policy of the page blocks style elements; console.css has these rules.
  for (const style of svg.querySelectorAll('style')) style.remove();
  for (const part of svg.querySelectorAll('[aria-label]')) part.removeAttribute('aria-label');
  svg.setAttribute('role', 'img');
  const by = color === '' ? '' : `, by ${color}`;
  const what = kind === 'histogram' ? `Histogram of ${x}` : `${KIND_LABELS[kind]}: ${y} by ${x}${by}`;
  svg.setAttribute('aria-label', `${what}. The values are in the table below.`);
  return svg;
}

/** Fewer ticks on narrow screens. */
const few = (width: number) => ({ ticks: Math.max(3, Math.round(width / 110)) });

function legendOf(title: string, names: readonly string[]): Element {
  const items = names.map((name, at) =>
    createElement('li', {}, createElement('span', { className: `sql-swatch series-${at + 1}` }), name),
  );
  const list = createElement('ul', { className: 'sql-legend' }, ...items);
  list.setAttribute('aria-label', title);
  return list;
}

/** Units of the outlines: tenths of a degree. */
async function drawMap(points: readonly Point[], names: readonly string[], land: string): Promise<Element> {
  const outlines = (await (await fetch(land)).json()) as { land: string; borders: string };
  const places = points.map(({ x, y, group }) => ({ left: (Number(x) + 180) * 10, top: (90 - y) * 10, group }));
  const box = boxOf(places);
  const svg = createSvg(
    'svg',
    {
      viewBox: box.join(' '),
      role: 'img',
      class: 'sql-map',
      'aria-label': `Map of ${points.length} rows. The values are in the table below.`,
    },
    createSvg('path', { d: outlines.land, fill: 'var(--plot-land)' }),
    createSvg('path', { d: outlines.borders, class: 'sql-borders' }),
  );
  for (const [at, name] of (names.length > 1 ? names : ['']).entries()) {
    const groupPlaces = places.filter(({ group }) => name === '' || group === name);
    const d = groupPlaces.map(({ left, top }) => `M${left.toFixed(1)} ${top.toFixed(1)}h0`).join('');
    svg.append(createSvg('path', { d, class: 'sql-points', stroke: seriesColor(at) }));
  }
  return svg;
}

/** The visible part of the map: around the points, at least 40 degrees wide, twice as wide as high. */
function boxOf(places: readonly { left: number; top: number }[]): number[] {
  if (places.length === 0) return [0, 0, 3600, 1800];
  const [lefts, tops] = [places.map(({ left }) => left), places.map(({ top }) => top)];
  const span = (values: number[]): [number, number] => [
    values.reduce((a, b) => Math.min(a, b)),
    values.reduce((a, b) => Math.max(a, b)),
  ];
  const [[west, east], [north, south]] = [span(lefts), span(tops)];
  const width = Math.min(3600, Math.max(400, (east - west) * 1.1, (south - north) * 2.2));
  const height = width / 2;
  const fit = (middle: number, size: number, most: number) => Math.min(Math.max(middle - size / 2, 0), most - size);
  return [fit((west + east) / 2, width, 3600), fit((north + south) / 2, height, 1800), width, height].map(Math.round);
}
