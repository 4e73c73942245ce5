// A numeric attribute as it was at the end of each day or week (specification section 4, "Dataset-level endpoints").
import type { Value } from '../../packs/define/model.ts';
import { ANALYSIS_BOUNDS, type TimeseriesInput } from '../input/parse-analysis.ts';
import { questionOf } from '../input/parse-selection.ts';
import { DataError } from '../model/errors.ts';
import type { Asking, SeriesPlan, SeriesSpan } from '../plan/plan.ts';
import { once } from '../releases/answers.ts';
import type { Release } from '../releases/release.ts';
import { rounded } from './stats.ts';

/** What was known at the end of a day, UTC. Without a value there is a count of 0 and nothing else. */
export interface SeriesPoint {
  /** YYYY-MM-DD */
  date: string;
  count: number;
  median?: number;
  min?: number;
  max?: number;
  mean?: number;
}

export type TimeseriesAnswer = {
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
 * Figures of the values that were the published ones at the end of each day, of the records that match now; of a price
 * range the minimum counts. Groups come in the order of their names; records without the key, and groups that never had
 * a value, are left out. Throws `too_many_records` (400) beyond 5,000 matches, and `invalid_parameter` (400) for too
 * many groups. The refusals are free, so they contain no count (docs/decisions/0038-free-answers.md).
 */
export async function timeseries(
  { pack, engine }: Release,
  input: TimeseriesInput,
  now: Date,
  asking: Asking = {},
): Promise<TimeseriesAnswer> {
  const { attribute, group_by: by, step, days } = input;
  const range = daysOf(input, now);
  const bounds = { records: ANALYSIS_BOUNDS.records, groups: Math.floor(ANALYSIS_BOUNDS.points / range.points) };
  const plan = { where: questionOf(input), attribute, by, ...range, ...bounds };
  const answer = await engine.timeseries(plan, asking);
  const { matched, groups, spans } = answer;
  if (matched > bounds.records)
    throw new DataError(
      'too_many_records',
      `More than ${bounds.records} records match, which is the most a time series takes. Narrow it with filters.`,
    );
  if (groups > bounds.groups)
    throw new DataError(
      'invalid_parameter',
      `group_by: ${by} makes more than ${bounds.groups} groups here, the most for ${range.points} points each. Use filters, fewer days or step=week.`,
    );
  const { unit } = pack.attributes.find(({ name }) => name === attribute)!;
  const about = { attribute, unit, step, days };
  // Eight days asked in weeks are the points of nine: the answer is the same, what is told of it is not.
  return once(answer, `${days}`, () => {
    if (by === null) return { ...about, series: seriesOf(spans, range) };
    const byGroup = Map.groupBy(spans, ({ key }) => key as Value);
    return { ...about, groups: [...byGroup].map(([group, own]) => ({ group, series: seriesOf(own, range) })) };
  });
}

/** Every point of a series, from the spans in which nothing changes. */
function seriesOf(
  spans: readonly SeriesSpan[],
  { first, step, points }: Pick<SeriesPlan, 'first' | 'step' | 'points'>,
) {
  const series = Array.from({ length: points }, (_, point): SeriesPoint => {
    return { date: new Date((first + point * step) * DAY).toISOString().slice(0, 10), count: 0 };
  });
  for (const { from, until, figures } of spans) {
    const { count, min, max } = figures;
    const told = { count, median: rounded(figures.median), min, max, mean: rounded(figures.mean) };
    for (let point = from; point < until; point++) Object.assign(series[point]!, told);
  }
  return series;
}
