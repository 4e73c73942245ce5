// Values as text in the cells of the table, and the small charts of its head: the same in the HTML of the
// build and in the browser.

import type { AttributeProfile } from '../../data/queries/profile.ts';
import { type AttributeType, DATED, type Value } from '../../packs/define/model.ts';
import { plural, printNumber, printValue } from '../render/print.ts';
import type { ColumnStats, ModelAttribute, ValueSource } from './viewer-model.ts';

const regions = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });

/** The name of a code: `Switzerland` for `CH`; empty where it has none. */
export const nameOfCode = (value: string, { vocabulary }: Pick<ModelAttribute, 'vocabulary'>): string =>
  vocabulary === 'country' && /^[A-Z]{2}$/.test(value) ? (regions.of(value) ?? '') : '';

/** Types whose cells are aligned at the right. */
export const FIGURES: readonly AttributeType[] = ['integer', 'number', 'price'];
/** Types with an order. */
export const SORTED: readonly AttributeType[] = [...FIGURES, ...DATED, 'string', 'enum', 'boolean'];

/** A value without its unit, which the head shows. Thousands are grouped only with a unit. */
export function viewCell(
  value: Value | null | undefined,
  { type, unit }: { type: AttributeType; unit: string | null },
): string {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'number' && unit !== null) return printNumber(value);
  if (type === 'geo' && typeof value === 'object' && 'lat' in value)
    return `${value.lat.toFixed(3)}, ${value.lng.toFixed(3)}`;
  return printValue(value);
}

/** Values with a bar of their own. */
const CLASSES = 6;

/** The part of a profile that the head shows. */
export function statsOf({ count, distinct, histogram, top = [], type }: AttributeProfile): ColumnStats {
  const filled = count ?? 0;
  const common = top.filter((entry) => entry.count / Math.max(1, filled) > 0.004).slice(0, CLASSES);
  return {
    count: filled,
    distinct,
    ...(histogram !== undefined && histogram.length > 1
      ? { bins: histogram.map((bin) => [bin.from, bin.to, bin.count]) }
      : common.length > 1 && type !== 'text'
        ? { top: common.map((entry) => [String(entry.value), entry.count]) }
        : {}),
  };
}

export const CHART = { width: 120, height: 24 };

/** A bar of a chart: its rectangle, its meaning, and the filters that it sets. */
export interface Bar {
  x: number;
  y: number;
  width: number;
  height: number;
  opacity: number;
  label: string;
  filters: Record<string, string>;
}

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** The bars of a column's chart; none without a distribution. */
export function barsOf(name: string, type: AttributeType, stats: ColumnStats | undefined): Bar[] {
  if (stats?.bins !== undefined) return histogramBars(name, type, stats.bins);
  return stats?.top === undefined ? [] : classBars(name, stats.top, stats.count);
}

function histogramBars(name: string, type: AttributeType, bins: NonNullable<ColumnStats['bins']>): Bar[] {
  const most = Math.max(...bins.map(([, , count]) => count));
  const step = CHART.width / bins.length;
  const dates = DATED.includes(type);
  return bins.map(([from, to, count], at) => {
    const height = Math.max(2, (count / most) * CHART.height);
    const [first, last] = dates ? [`${from}-01-01`, `${to - 1}-12-31`] : [from, type === 'integer' ? to - 1 : to];
    const range = dates ? String(from) : `${compact.format(from)} to ${compact.format(to)}`;
    return {
      ...{ x: at * step, y: CHART.height - height, width: Math.max(1, step - 1), height, opacity: 1 },
      label: `${range}: ${plural(count, 'record')}`,
      filters: { [`min_${name}`]: String(first), [`max_${name}`]: String(last) },
    };
  });
}

function classBars(name: string, top: NonNullable<ColumnStats['top']>, filled: number): Bar[] {
  let x = 0;
  return top.map(([value, count], at) => {
    const width = (count / filled) * CHART.width;
    const bar = {
      ...{ x, y: 4, width: Math.max(2, width - 1), height: CHART.height - 8, opacity: 1 - at * 0.13 },
      label: `${value}: ${plural(count, 'record')}`,
      filters: { [name]: value.replace(/[\\,]/g, '\\$&') },
    };
    x += width;
    return bar;
  });
}

/** The line below a chart. */
export function spreadText(type: AttributeType, { bins, distinct, count }: ColumnStats): string {
  const [first, last] = [bins?.[0], bins?.at(-1)];
  if (first && last)
    return DATED.includes(type)
      ? `${first[0]} to ${last[1] - 1}`
      : `${compact.format(first[0])} to ${compact.format(last[1])}`;
  return distinct !== null && distinct > 1 ? `${printNumber(distinct)} values` : plural(count, 'record');
}

/** Name of a host as source: `www.` is left out. */
const sourceHost = (url: string): string => URL.parse(url)?.hostname.replace(/^www\./, '') ?? 'the owner';

/** The line below a value: its source, the date it was checked, and its confidence. */
export function sourceText({ source_url, observed_at, confidence }: ValueSource): string {
  return `${sourceHost(source_url)} · ${observed_at.slice(0, 10)} · ${confidence.toFixed(2)}`;
}
