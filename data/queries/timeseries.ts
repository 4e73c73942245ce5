// A numeric attribute at the end of each day or week (specification section 4, "Dataset-level endpoints").

import { derive } from '../../packs/define/derive.ts';
import { comparedNumber } from '../../packs/define/digits.ts';
import type { Value } from '../../packs/define/model.ts';
import { ANALYSIS_BOUNDS, type TimeseriesInput } from '../input/analysis-parameters.ts';
import { questionOf } from '../input/selection.ts';
import { DataError } from '../model/errors.ts';
import type { QueryOptions, SeriesPlan, SeriesSpan } from '../plan/plan.ts';
import type { Release } from '../releases/release.ts';

/** Statistics at the end of a day, UTC. Without values only a `count` of 0. */
export interface SeriesPoint {
  /** YYYY-MM-DD */
  date: string;
  count: number;
  median?: number;
  min?: number;
  max?: number;
  mean?: number;
}

export type TimeseriesReport = {
  attribute: string;
  unit: string | null;
  step: 'day' | 'week';
  days: number;
} & ({ series: SeriesPoint[] } | { groups: { group: Value; series: SeriesPoint[] }[] });

const DAY = 86_400_000;

/** Days of the series: the last is today, the first within `days` days of it, one or seven days apart. */
function daysOf({ days, step }: TimeseriesInput, now: Date): Pick<SeriesPlan, 'first' | 'step' | 'points'> {
  const apart = step === 'week' ? 7 : 1;
  const points = Math.floor((days - 1) / apart) + 1;
  return { first: Math.floor(now.getTime() / DAY) - apart * (points - 1), step: apart, points };
}

/**
 * Statistics of the published values at the end of each day, over the records that match now; a price range
 * counts with its minimum. Groups are sorted by name; records without the key and groups that never had a
 * value are left out. Throws `too_many_records` (400) for more than 5,000 matches, and `invalid_parameter`
 * (400) for too many groups. The errors are free, so they contain no count
 * (docs/decisions/0028-free-answers.md).
 */
export async function getTimeseries(
  { pack, engine }: Release,
  input: TimeseriesInput,
  now: Date,
  options: QueryOptions = {},
): Promise<TimeseriesReport> {
  const { attribute, group_by: by, step, days } = input;
  const range = daysOf(input, now);
  const bounds = { records: ANALYSIS_BOUNDS.records, groups: Math.floor(ANALYSIS_BOUNDS.points / range.points) };
  const plan = { where: questionOf(input), attribute, by, ...range, ...bounds };
  const answer = await engine.timeseries(plan, options);
  const { matched, groups, spans } = answer;
  if (matched > bounds.records)
    throw new DataError(
      'too_many_records',
      `More than ${bounds.records} records match, the maximum for a time series. Narrow the query with filters.`,
    );
  if (groups > bounds.groups)
    throw new DataError(
      'invalid_parameter',
      `group_by: ${by} makes more than ${bounds.groups} groups, the maximum for ${range.points} points each. Use filters, fewer days or step=week.`,
    );
  const { unit } = pack.attributes.find(({ name }) => name === attribute)!;
  const about = { attribute, unit, step, days };
  // The plan for 8 days in weekly steps equals the one for 9, but `days` in the answer differs.
  return derive(answer, `report of ${days} days`, () => {
    if (by === null) return { ...about, series: seriesOf(spans, range) };
    const byGroup = Map.groupBy(spans, ({ key }) => key as Value);
    return { ...about, groups: [...byGroup].map(([group, list]) => ({ group, series: seriesOf(list, range) })) };
  });
}

/** All points of a series from spans of constant values. */
function seriesOf(
  spans: readonly SeriesSpan[],
  { first, step, points }: Pick<SeriesPlan, 'first' | 'step' | 'points'>,
) {
  const series = Array.from({ length: points }, (_, point): SeriesPoint => {
    return { date: new Date((first + point * step) * DAY).toISOString().slice(0, 10), count: 0 };
  });
  for (const { from, until, figures } of spans) {
    const { count, min, max } = figures;
    const values = { count, median: comparedNumber(figures.median), min, max, mean: comparedNumber(figures.mean) };
    for (let point = from; point < until; point++) Object.assign(series[point]!, values);
  }
  return series;
}
