// Which charts a result allows, and which one suits it best.
import type { ResultColumn, ResultRow } from './cells.ts';

export const CHART_KINDS = ['line', 'bar', 'histogram', 'dot', 'map'] as const;
export type ChartKind = (typeof CHART_KINDS)[number];

/** A chart of a result. The parts are names of columns; '' where the kind needs none. */
export interface ChartChoice {
  kind: ChartKind;
  x: string;
  y: string;
  color: string;
}

/** Names of the kinds for people. */
export const KIND_LABELS: Readonly<Record<ChartKind, string>> = {
  line: 'Line',
  bar: 'Bars',
  histogram: 'Histogram',
  dot: 'Dots',
  map: 'Map',
};

/** Different values up to which a column can colour a chart. */
const MOST_COLORS = 12;

const LATITUDE = /(^|[._ ])(lat|latitude|south)$/i;
const LONGITUDE = /(^|[._ ])(lng|lon|long|longitude|west)$/i;

/** The columns of each kind of part, in the order of the result. */
function sorted(columns: readonly ResultColumn[]) {
  const of = (kind: ResultColumn['kind']) => columns.filter((column) => column.kind === kind).map(({ name }) => name);
  const numbers = of('number');
  return {
    numbers,
    times: of('time'),
    texts: [...of('text'), ...of('boolean')],
    latitude: numbers.find((name) => LATITUDE.test(name)),
    longitude: numbers.find((name) => LONGITUDE.test(name)),
  };
}

/** Kinds of charts for the columns of a result, the most suitable first. */
export function chartKinds(columns: readonly ResultColumn[]): ChartKind[] {
  const { numbers, times, texts, latitude, longitude } = sorted(columns);
  const first = columns.find(({ kind }) => kind !== 'number' && kind !== 'other');
  const kinds: [ChartKind, boolean][] = [
    ['map', latitude !== undefined && longitude !== undefined],
    ['line', first?.kind === 'time' && numbers.length > 0],
    ['bar', numbers.length > 0 && texts.length + times.length > 0],
    ['dot', numbers.length + times.length > 1 && numbers.length > 0],
    ['histogram', numbers.length > 0],
    ['line', numbers.length > 1 || (times.length > 0 && numbers.length > 0)],
    ['bar', numbers.length > 1],
  ];
  return [...new Set(kinds.flatMap(([kind, fits]) => (fits ? [kind] : [])))];
}

/** The default columns of a kind of chart; null: the result has none for it. */
export function defaultChart(
  kind: ChartKind,
  columns: readonly ResultColumn[],
  rows: readonly ResultRow[],
): ChartChoice | null {
  if (!chartKinds(columns).includes(kind)) return null;
  const { numbers, times, texts, latitude, longitude } = sorted(columns);
  const [first = '', second = ''] = numbers;
  const color = texts.find((name) => distinct(columns, rows, name) <= MOST_COLORS) ?? '';
  if (kind === 'map') return { kind, x: longitude ?? first, y: latitude ?? second, color };
  if (kind === 'histogram') return { kind, x: first, y: '', color: '' };
  // Several rows at one time are lines of several series.
  const repeated = times[0] !== undefined && distinct(columns, rows, times[0]) < rows.length;
  if (kind === 'line' && repeated && color === '') {
    return { kind, x: times[0]!, y: first, color: texts[0] ?? '' };
  }
  if (kind === 'line') return { kind, x: times[0] ?? first, y: times.length > 0 ? first : second, color };
  if (kind === 'dot') return { kind, x: times[0] ?? first, y: times.length > 0 ? first : second, color };
  const category = texts[0] ?? times[0] ?? first;
  const value = category === first ? second : first;
  const other = texts.find((name) => name !== category && distinct(columns, rows, name) <= MOST_COLORS);
  return { kind, x: category, y: value, color: other ?? '' };
}

/** The chart that suits a result best; null: it has no numbers. */
export function suggestChart(columns: readonly ResultColumn[], rows: readonly ResultRow[]): ChartChoice | null {
  const [kind] = chartKinds(columns);
  return kind === undefined ? null : defaultChart(kind, columns, rows);
}

/** The choice if the result has its columns, else the default of its kind, else the best chart. */
export function fittingChart(
  choice: ChartChoice,
  columns: readonly ResultColumn[],
  rows: readonly ResultRow[],
): ChartChoice | null {
  const has = (name: string) => name === '' || columns.some((column) => column.name === name);
  const complete = choice.x !== '' && (choice.kind === 'histogram' || choice.y !== '');
  if (complete && has(choice.x) && has(choice.y) && has(choice.color)) return choice;
  return defaultChart(choice.kind, columns, rows) ?? suggestChart(columns, rows);
}

/** Columns for a part of a chart. */
export function partColumns(part: 'x' | 'y' | 'color', kind: ChartKind, columns: readonly ResultColumn[]): string[] {
  const { numbers, times, texts } = sorted(columns);
  if (part === 'color') return kind === 'histogram' ? [] : [...texts, ...numbers];
  if (part === 'y') return kind === 'histogram' ? [] : numbers;
  if (kind === 'bar') return [...texts, ...times, ...numbers];
  return kind === 'map' || kind === 'histogram' ? numbers : [...times, ...numbers];
}

function distinct(columns: readonly ResultColumn[], rows: readonly ResultRow[], name: string): number {
  const at = columns.findIndex((column) => column.name === name);
  return new Set(rows.map((row) => row[at])).size;
}
