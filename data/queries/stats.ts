// Statistics of numeric attributes, optionally in groups (specification section 4, "Dataset-level
// endpoints").

import { derive, derived } from '../../packs/define/derive.ts';
import { comparedNumber } from '../../packs/define/digits.ts';
import type { Value } from '../../packs/define/model.ts';
import { ANALYSIS_BOUNDS, type StatsInput } from '../input/analysis-parameters.ts';
import { questionOf } from '../input/selection.ts';
import { DataError } from '../model/errors.ts';
import type { StoredRecord } from '../model/record.ts';
import { compareKeyLists } from '../plan/group-key.ts';
import type { HistogramBucket, NumberStats, QueryOptions, StatsGroup } from '../plan/plan.ts';
import { mapSlices } from '../plan/slices.ts';
import type { Release } from '../releases/release.ts';
import { goneHint } from './gone.ts';

/** A record with the smallest or the largest number of a row. */
export type RecordName = Pick<StoredRecord, 'id' | 'slug' | 'name'>;

/** One group; `group` is null for all records. Without values only a `count` of 0. */
export type StatsRow = { group: Value | null; count: number } & Partial<NumberStats> & {
    min_record?: RecordName;
    max_record?: RecordName;
    histogram?: HistogramBucket[];
    groups?: StatsRow[];
  };

/** The statistics of one attribute. */
export interface AttributeStats {
  attribute: string;
  unit: string | null;
  rows: StatsRow[];
}

/** The statistics of one attribute, or `attributes` for several. */
export interface StatsReport extends Partial<AttributeStats> {
  /** In the order of the request. */
  attributes?: AttributeStats[];
  /** As in the request: `a` or `a,b`. */
  group_by: string | null;
  /** As in FacetsReport. */
  hint?: string;
}

/**
 * Statistics over the values of the matching records; a price range counts with its minimum. Rows are in the order of
 * the request, by default by count descending, ties by group. A record without a key is in no row of it; an outer row
 * also counts records without the inner key. Throws `invalid_parameter` (400) for too many groups; the error is free,
 * so it contains no count.
 */
export async function getStats(release: Release, input: StatsInput, options: QueryOptions = {}): Promise<StatsReport> {
  const [attribute, ...further] = input.attributes;
  const stats = await attributeStats(release, attribute!, input, options);
  const group_by = input.group_by.length === 0 ? null : input.group_by.join(',');
  const hint = await goneHint(release, input);
  const hinted = hint === undefined ? {} : { hint };
  if (further.length === 0) {
    const { attribute, unit, rows } = stats;
    return derive(stats, 'report', () => ({ attribute, unit, group_by, rows, ...hinted }));
  }
  const attributes = [stats];
  for (const name of further) attributes.push(await attributeStats(release, name, input, options));
  return { attributes, group_by, ...hinted };
}

async function attributeStats(
  { pack, engine }: Release,
  attribute: string,
  input: StatsInput,
  options: QueryOptions,
): Promise<AttributeStats> {
  const { group_by: by, having_min_count: minCount, buckets, order, limit } = input;
  const plan = { where: questionOf(input), attribute, by, groups: ANALYSIS_BOUNDS.groups, minCount };
  const answer = await engine.stats(buckets === null ? plan : { ...plan, buckets }, options);
  if (answer.total > ANALYSIS_BOUNDS.groups)
    throw new DataError(
      'invalid_parameter',
      `group_by: ${by.join(',')} makes more than ${ANALYSIS_BOUNDS.groups} groups, the maximum. Narrow the query with filters, or raise having_min_count.`,
    );
  // Only the rows of the engine's own order are kept with its answer: there are many other orders.
  const usual = order === '-count' && limit === ANALYSIS_BOUNDS.groups;
  const kept = usual ? derived<AttributeStats>(answer, 'stats') : undefined;
  if (kept) return kept;
  const { unit } = pack.attributes.find(({ name }) => name === attribute)!;
  const groups = shownGroups(answer.groups, by.length, input);
  const names = await namesOf(
    engine,
    groups.flatMap(({ lowest, highest }) => [lowest, highest]),
    options,
  );
  const stats = { attribute, unit, rows: rowsOf(groups, by.length, names) };
  return usual ? derive(answer, 'stats', () => stats) : stats;
}

/** The groups in the order of the request, of each level at most `limit`, with the outer groups of inner ones. */
function shownGroups(groups: readonly StatsGroup[], depth: number, { order, limit }: StatsInput): StatsGroup[] {
  const figure = order.replace('-', '') as keyof NumberStats;
  const sign = order === figure ? 1 : -1;
  const figures = new Map(groups.map((group) => [group, sign * comparedNumber(group.figures[figure])]));
  const sorted = groups.toSorted((a, b) => figures.get(a)! - figures.get(b)! || compareKeyLists(a.keys, b.keys));
  const outer = sorted.filter(({ keys }) => keys.length === Math.min(depth, 1)).slice(0, limit);
  if (depth < 2) return outer;
  const inner = Map.groupBy(
    sorted.filter(({ keys }) => keys.length === 2),
    ({ keys }) => keys[0],
  );
  return outer.flatMap((group) => [group, ...(inner.get(group.keys[0]) ?? []).slice(0, limit)]);
}

/** Records whose names are read in one turn of the event loop. */
const NAMES_A_SLICE = 200;

/** Names of records by ordinal. */
async function namesOf(
  engine: Release['engine'],
  ordinals: readonly number[],
  options: QueryOptions,
): Promise<Map<number, RecordName>> {
  const distinct = [...new Set(ordinals)];
  const bodies = await engine.bodies(distinct, options);
  // The names are the members before the dataset: to parse the whole record takes as long as the statistics. The text
  // of a value has no quotation mark without a backslash.
  const name = ({ body }: { body: string }) =>
    JSON.parse(`${body.slice(0, body.indexOf(',"dataset":'))}}`) as RecordName;
  const names = await mapSlices(bodies, NAMES_A_SLICE, name, options);
  return new Map(distinct.map((ordinal, i) => [ordinal, names[i]!]));
}

/** Rows of groups in order; inner groups follow their outer one. */
function rowsOf(groups: readonly StatsGroup[], depth: number, names: ReadonlyMap<number, RecordName>): StatsRow[] {
  if (depth === 0 && groups.length === 0) return [{ group: null, count: 0 }];
  const rows: StatsRow[] = [];
  for (const group of groups) {
    const row = rowOf(group, names);
    if (group.keys.length === 2) rows.at(-1)!.groups!.push(row);
    else rows.push(depth === 2 ? { ...row, groups: [] } : row);
  }
  return rows;
}

function rowOf({ keys, figures, lowest, highest, histogram }: StatsGroup, names: ReadonlyMap<number, RecordName>) {
  const { count, min, max, sum, p10, q1, median, q3, p90, mean } = figures;
  return {
    ...{ group: keys.at(-1) ?? null, count, sum: comparedNumber(sum), min },
    ...{ p10: comparedNumber(p10), q1: comparedNumber(q1), median: comparedNumber(median) },
    ...{ q3: comparedNumber(q3), p90: comparedNumber(p90), max, mean: comparedNumber(mean) },
    ...{ min_record: names.get(lowest)!, max_record: names.get(highest)! },
    ...(histogram === undefined ? {} : { histogram }),
  };
}
