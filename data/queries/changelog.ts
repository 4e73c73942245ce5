// The changelog: new and changed values, newest first, with the values of public attributes (specification
// section 4).
import type { Attribute, Pack, Value } from '../../packs/define/model.ts';
import { NUMERIC } from '../../packs/define/schema.ts';
import { bounds } from '../consolidate/compare.ts';
import type { ChangelogInput } from '../input/history-parameters.ts';
import { questionOf } from '../input/selection.ts';
import { DataError } from '../model/errors.ts';
import { isoTime } from '../model/time.ts';
import { CHANGE_GROUPS, type ChangeDay, type ChangeGroup, type ChangeRow } from '../plan/history.ts';
import type { Direction, QueryOptions } from '../plan/plan.ts';
import type { Release } from '../releases/release.ts';
import { unknownEntity } from './nearest.ts';

/**
 * A change as the API returns it (contract section 2, "changelog"). For a removed record without attribute,
 * values or source.
 */
export interface Change {
  entity_id: string;
  slug: string;
  name: string;
  attribute?: string;
  type: ChangeRow['type'];
  /** Absent: there was no value, or it is not public. */
  old_value?: Value;
  /** Absent: the value was withdrawn, or it is not public. */
  new_value?: Value;
  /** What happened to the number, or that the value was withdrawn; absent for other values and equal numbers. */
  kind?: Direction;
  /** New minus old number, in the unit of the attribute; of a range that of the end that moved less, of those that moved. */
  change?: number;
  /** `change` in percent of the old number, positive for a rise. Absent: the old number is 0. */
  change_percent?: number;
  observed_at: string;
  source_url?: string;
}

/** A page of the changelog; `total` counts changes, or groups where `groups` is not null. */
export interface Changelog {
  items: Change[];
  total: number;
  days: ChangeDay[] | null;
  groups: ChangeGroup[] | null;
}

const DAY = 86_400_000;

/**
 * A page of the changelog, relative to `now`, of the records that the filters select now. It contains values
 * of public attributes only, so that every caller gets the same answer; `direction` and `min_change_percent`
 * compare only these. Among changes of one time the pack's compare columns come first.
 * Words and statuses of non-public values match for operators only. With `group_by` the changes are counted by the
 * values that their records have now; other records are left out. Throws `unknown_entity` (404), and
 * `invalid_parameter` (400) for too many groups.
 */
export async function getChangelog(
  release: Pick<Release, 'engine' | 'pack'>,
  input: ChangelogInput,
  now: Date,
  options: QueryOptions & { admin?: boolean },
): Promise<Changelog> {
  const { engine, pack } = release;
  const { limit, offset, attributes, entity, type, direction, min_change_percent: minPercent, by_day: byDay } = input;
  const { from, to, group_by: by } = input;
  const [ordinal] = entity === null ? [null] : await engine.resolve([entity.toLowerCase()], options);
  if (entity !== null && (ordinal === null || ordinal === undefined))
    throw await unknownEntity(release, entity, options, 'entity');
  const since = from ?? (to === null ? now.getTime() - input.days * DAY : 0);
  const range = { ...(to === null ? {} : { until: to }), ...(by === null ? {} : { by }) };
  const open = pack.attributes.filter((attribute) => attribute.public);
  const numbers = open.filter((attribute) => NUMERIC.includes(attribute.type)).map(({ name }) => name);
  const shown = open.map(({ name }) => name);
  const where = questionOf(input, options.admin ? 'full' : 'public');
  const selection = { since, attributes, ordinal: ordinal ?? null, type, where, numbers, shown, direction, minPercent };
  const plan = { ...selection, ...range, first: pack.compare, byDay, limit, offset };
  const { rows, total, days, groups } = await engine.changelog(plan, options);
  if (groups && groups.length > CHANGE_GROUPS)
    throw new DataError(
      'invalid_parameter',
      `group_by: ${by} makes more than ${CHANGE_GROUPS} groups, the maximum. Narrow the query with filters, or by from and to.`,
    );
  const page = groups === null ? null : groups.slice(offset, offset + limit);
  return { items: rows.map((row) => publicChange(row, (name) => shown.includes(name))), total, days, groups: page };
}

/** The row as the API returns it; `shows` decides whether an attribute's values are included. */
export function publicChange(row: ChangeRow, shows: (attribute: string) => boolean): Change {
  const visible = row.attribute !== null && shows(row.attribute);
  const value = (json: string | null) => (visible && json !== null ? (JSON.parse(json) as Value) : null);
  const [before, after] = [value(row.old_value), value(row.new_value)];
  return {
    entity_id: row.entity_id,
    // For records removed before their names were stored, only the id is known.
    slug: row.slug ?? row.entity_id,
    name: row.name ?? row.entity_id,
    ...(row.attribute === null ? {} : { attribute: row.attribute }),
    type: row.type,
    ...(before === null ? {} : { old_value: before }),
    ...(after === null ? {} : { new_value: after }),
    ...(before === null ? {} : after === null ? { kind: 'withdrawn' } : changeOf(before, after)),
    observed_at: isoTime(row.observed_at),
    ...(row.source_url === null ? {} : { source_url: row.source_url }),
  };
}

/**
 * How much a number changed; of a price range the end that moved less counts, of those that moved, and 0 if they moved in
 * opposite directions: it neither rose nor fell. Empty for values that are no numbers.
 */
function changeOf(before: Value, after: Value): Pick<Change, 'kind' | 'change' | 'change_percent'> {
  const [old, current] = [bounds(before), bounds(after)];
  if (!old || !current) return {};
  const [low, high] = [decimalDifference(current.min, old.min), decimalDifference(current.max, old.max)];
  const isOpposite = Math.sign(low) * Math.sign(high) < 0;
  const isLow = high === 0 || (low !== 0 && Math.abs(low) <= Math.abs(high));
  const [change, from] = isOpposite ? [0, old.min] : isLow ? [low, old.min] : [high, old.max];
  const kind: Direction | null = isOpposite ? 'range' : change > 0 ? 'rise' : change < 0 ? 'fall' : null;
  // Adding 0 turns -0 into 0.
  return {
    ...(kind === null ? {} : { kind }),
    change,
    ...(from === 0 ? {} : { change_percent: Number(((100 * change) / Math.abs(from)).toFixed(2)) + 0 }),
  };
}

/** `a` minus `b` with as many decimals as the two have: 0.3 minus 0.1 is 0.2. */
function decimalDifference(a: number, b: number): number {
  const decimals = Math.max(decimalsOf(a), decimalsOf(b));
  return decimals > 100 ? a - b : Number((a - b).toFixed(decimals));
}

/** Decimals of a number of at most 15 significant digits: more are rounding errors. */
function decimalsOf(value: number): number {
  const [, fraction = '', exponent = '0'] =
    /^-?\d+(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(Number(value.toPrecision(15)))) ?? [];
  return Math.max(0, fraction.length - Number(exponent));
}

/** Attributes of a pack by name, to format changes with units. */
export function attributesOf(pack: Pack): ReadonlyMap<string, Attribute> {
  return new Map(pack.attributes.map((attribute) => [attribute.name, attribute]));
}
