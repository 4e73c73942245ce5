// Statistics of a numeric attribute, optionally in groups (specification section 4, "Dataset-level
// endpoints").

import { derive } from '../../packs/define/derive.ts';
import { comparedNumber } from '../../packs/define/digits.ts';
import type { Value } from '../../packs/define/model.ts';
import { ANALYSIS_BOUNDS, type StatsInput } from '../input/analysis-parameters.ts';
import { questionOf } from '../input/selection.ts';
import { DataError } from '../model/errors.ts';
import type { NumberStats, QueryOptions, StatsGroup } from '../plan/plan.ts';
import type { Release } from '../releases/release.ts';

/** One group; `group` is null for all records. Without values only a `count` of 0. */
export type StatsRow = { group: Value | null; count: number } & Partial<NumberStats> & { groups?: StatsRow[] };

export interface StatsReport {
  attribute: string;
  unit: string | null;
  /** As in the request: `a` or `a,b`. */
  group_by: string | null;
  rows: StatsRow[];
}

/**
 * Statistics over the values of the matching records; a price range counts with its minimum. Rows are sorted
 * by count descending, then by group. A record without a key is in no row of it; an outer row also counts
 * records without the inner key. Throws `invalid_parameter` (400) for too many groups; the error is free, so
 * it contains no count.
 */
export async function getStats(
  { pack, engine }: Release,
  input: StatsInput,
  options: QueryOptions = {},
): Promise<StatsReport> {
  const { attribute, group_by: by } = input;
  const answer = await engine.stats(
    { where: questionOf(input), attribute, by, groups: ANALYSIS_BOUNDS.groups },
    options,
  );
  const { groups, total } = answer;
  if (total > ANALYSIS_BOUNDS.groups)
    throw new DataError(
      'invalid_parameter',
      `group_by: ${by.join(',')} makes more than ${ANALYSIS_BOUNDS.groups} groups, the maximum. Narrow the query with filters.`,
    );
  const { unit } = pack.attributes.find(({ name }) => name === attribute)!;
  const group_by = by.length === 0 ? null : by.join(',');
  return derive(answer, 'report', () => ({ attribute, unit, group_by, rows: rowsOf(groups, by.length) }));
}

function rowsOf(groups: readonly StatsGroup[], depth: number): StatsRow[] {
  if (depth === 0) return groups.length === 0 ? [{ group: null, count: 0 }] : groups.map(rowOf);
  const rows = groups.filter(({ keys }) => keys.length === 1).map(rowOf);
  if (depth === 1) return rows;
  const inner = Map.groupBy(
    groups.filter(({ keys }) => keys.length === 2),
    ({ keys }) => keys[0],
  );
  return rows.map((row) => ({ ...row, groups: (inner.get(row.group!) ?? []).map(rowOf) }));
}

function rowOf({ keys, figures }: StatsGroup): StatsRow {
  const { count, min, q1, median, q3, max, mean } = figures;
  const computed = {
    q1: comparedNumber(q1),
    median: comparedNumber(median),
    q3: comparedNumber(q3),
    max,
    mean: comparedNumber(mean),
  };
  return { group: keys.at(-1) ?? null, count, min, ...computed };
}
