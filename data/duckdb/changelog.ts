// The changelog: pages of changelog.parquet, newest first, and counts of its days.
import type { Value } from '../../packs/define/model.ts';
import { groupKey } from '../plan/group-key.ts';
import {
  CHANGE_GROUPS,
  type ChangeDay,
  type ChangeGroup,
  type ChangelogAnswer,
  type ChangeRow,
  type KindCounts,
} from '../plan/history.ts';
import { type ChangelogPlan, DIRECTIONS, type Direction } from '../plan/plan.ts';
import { countLiteral, join, literal, type Sql, sql, textsOf } from '../plan/sql.ts';
import { attributeOf, entriesTable, groupSql, type Shape, tableSql, whereNotStale } from './shape.ts';
import { conditions } from './where.ts';

/** Columns of a change, in the order that `changeRow` reads. */
export const CHANGE_COLUMNS = sql`entity_id, slug, name, attribute, type, old_value, new_value, epoch_ms(observed_at), source_url`;

/** A row of the changelog; values as JSON text, the time in milliseconds. */
export interface ChangelogLine extends Omit<ChangeRow, 'type'> {
  ord: number;
}

const LINE = `[{"ord":"UINTEGER","entity_id":"VARCHAR","slug":"VARCHAR","name":"VARCHAR","attribute":"VARCHAR","old_value":"VARCHAR","new_value":"VARCHAR","observed_at":"BIGINT","source_url":"VARCHAR"}]`;

/** A table expression of changes; an overlay marks rows that are not to be compared (`whereNotStale`). */
type ChangelogRows = Sql & Pick<Shape, 'hasStale'>;

/** The changelog without the rows of some records and with other rows added, in any order. */
export function overlayChangelog(
  changelog: Sql,
  gone: readonly string[],
  lines: readonly ChangelogLine[],
): ChangelogRows {
  const stale = sql`entity_id IN (${textsOf(gone)})`;
  const columns = sql`ord, entity_id, slug, name, attribute`;
  const stored = sql`SELECT ${columns}, type, old_value, new_value, observed_at, source_url, ${stale} AS stale FROM ${changelog} WHERE NOT (${stale})`;
  const type = sql`CASE WHEN old_value IS NULL THEN 'added' ELSE 'changed' END`;
  const added = sql`SELECT ${columns}, ${type}, old_value, new_value, make_timestamp_ms(observed_at), source_url, false FROM (SELECT line.* FROM (SELECT unnest(from_json(${JSON.stringify(lines)}, ${literal(LINE)})) AS line))`;
  return { ...sql`(${stored} UNION ALL ${added})`, hasStale: true };
}

/** The order of rows of one time in the file. */
const ORDER = sql`ord NULLS LAST, entity_id, attribute`;

/** A stored number, or an end of a price range; NULL for other values. */
const endIn = (json: Sql, end: 'min' | 'max'): Sql =>
  sql`coalesce(TRY_CAST(${json} AS DOUBLE), TRY_CAST(json_extract_string(${json}, ${`$.${end}`}) AS DOUBLE))`;

const [BEFORE, AFTER] = [endIn(sql`old_value`, 'min'), endIn(sql`new_value`, 'min')];
const [BEFORE_MAX, AFTER_MAX] = [endIn(sql`old_value`, 'max'), endIn(sql`new_value`, 'max')];

/** Conditions of the kinds of changed numbers. */
const MOVES: Record<Exclude<Direction, 'withdrawn'>, Sql> = {
  rise: sql`${AFTER} >= ${BEFORE} AND ${AFTER_MAX} >= ${BEFORE_MAX} AND (${AFTER} > ${BEFORE} OR ${AFTER_MAX} > ${BEFORE_MAX})`,
  fall: sql`${AFTER} <= ${BEFORE} AND ${AFTER_MAX} <= ${BEFORE_MAX} AND (${AFTER} < ${BEFORE} OR ${AFTER_MAX} < ${BEFORE_MAX})`,
  range: sql`(${AFTER} > ${BEFORE} AND ${AFTER_MAX} < ${BEFORE_MAX}) OR (${AFTER} < ${BEFORE} AND ${AFTER_MAX} > ${BEFORE_MAX})`,
};

/** Whether a change is of a kind. The branches of CASE are computed for numbers only, not for every row. */
const moved = ({ numbers, shown }: ChangelogPlan, direction: Direction): Sql =>
  direction === 'withdrawn'
    ? sql`(new_value IS NULL AND old_value IS NOT NULL AND ${listed(shown)})`
    : sql`CASE WHEN ${listed(numbers)} THEN coalesce(${MOVES[direction]}, false) ELSE false END`;

/** The columns of KindCounts. */
const kindCounts = (plan: ChangelogPlan): Sql =>
  join(
    DIRECTIONS.map((direction) => sql`count(*) FILTER (${moved(plan, direction)})`),
    ', ',
  );

const readKinds = ([rises, falls, ranges, withdrawn]: readonly unknown[]): KindCounts => ({
  ...{ rises: Number(rises), falls: Number(falls), ranges: Number(ranges), withdrawn: Number(withdrawn) },
});

const [MOVED_MIN, MOVED_MAX] = [sql`(${AFTER} - ${BEFORE})`, sql`(${AFTER_MAX} - ${BEFORE_MAX})`];
const percentTo = (moved: Sql, before: Sql): Sql => sql`round(100 * ${moved} / abs(nullif(${before}, 0)), 2)`;

/**
 * The change in percent, rounded as answers show it: of a range that of the end that moved less, of those that moved; 0
 * if they moved in opposite directions. NULL for values that are no numbers, and where the old one is 0.
 */
const percentOf = (numbers: readonly string[]): Sql =>
  sql`CASE WHEN ${listed(numbers)} THEN CASE WHEN sign(${MOVED_MIN}) * sign(${MOVED_MAX}) < 0 THEN ${percentTo(sql`0`, BEFORE)} WHEN ${MOVED_MAX} = 0 OR (${MOVED_MIN} <> 0 AND abs(${MOVED_MIN}) <= abs(${MOVED_MAX})) THEN ${percentTo(MOVED_MIN, BEFORE)} ELSE ${percentTo(MOVED_MAX, BEFORE_MAX)} END END`;

/** Whether a number changed by a percentage, which is rounded as answers show it. */
const movedBy = (numbers: readonly string[], percent: number): Sql =>
  sql`coalesce(abs(${percentOf(numbers)}) >= ${percent}::DOUBLE, false)`;

const listed = (attributes: readonly string[]): Sql =>
  sql`list_contains(from_json(${JSON.stringify(attributes)}, '["VARCHAR"]'), attribute)`;

/** The condition of a plan on rows of the changelog; `shape` is that of the records as they are now. */
function matching(plan: ChangelogPlan, changelog: ChangelogRows, shape: Shape): Sql {
  const { since, until, attributes, ordinal, type, numbers, direction, minPercent } = plan;
  const where = [sql`observed_at >= make_timestamp_ms(${since})`];
  if (until !== undefined) where.push(sql`observed_at < make_timestamp_ms(${until})`);
  if (attributes !== null) where.push(listed(attributes));
  if (ordinal !== null) where.push(sql`ord = ${ordinal}::UINTEGER`);
  if (type !== 'all') where.push(sql`type = ${type}`);
  if (direction !== null) where.push(moved(plan, direction));
  if (minPercent !== null) where.push(movedBy(numbers, minPercent));
  if (plan.where.length > 0)
    where.push(sql`ord IN (SELECT ord FROM ${tableSql(shape, 'records')} WHERE ${conditions(plan.where, shape)})`);
  return whereNotStale(changelog, join(where, ' AND '));
}

/** Counts the matching changes. */
export function countStatement(plan: ChangelogPlan, changelog: ChangelogRows, shape: Shape): Sql {
  return sql`SELECT count(*) FROM ${changelog} WHERE ${matching(plan, changelog, shape)}`;
}

/** Counts the matching changes of each day (UTC), by kind; newest first. */
export function daysStatement(plan: ChangelogPlan, changelog: ChangelogRows, shape: Shape): Sql {
  return sql`SELECT strftime(observed_at, '%Y-%m-%d') AS day, count(*), ${kindCounts(plan)} FROM ${changelog} WHERE ${matching(plan, changelog, shape)} GROUP BY day ORDER BY day DESC`;
}

/** Reads a row of `daysStatement`. */
function dayRow([date, changes, ...kinds]: readonly unknown[]): ChangeDay {
  return { date: String(date), changes: Number(changes), ...readKinds(kinds) };
}

/**
 * Counts the matching changes by a key of their records, most first: rows `[key, changes, median, …KindCounts]`, at
 * most one more than `CHANGE_GROUPS`. A record is in the group of each entry of a list.
 */
export function groupsStatement(plan: ChangelogPlan, by: string, changelog: ChangelogRows, shape: Shape): Sql {
  const key = groupKey(by, (name) => attributeOf(shape, name));
  const keyed =
    key.attribute.type === 'strings'
      ? sql`SELECT ord, value AS key FROM ${tableSql(shape, entriesTable(by))}`
      : sql`SELECT ord, ${groupSql(key)} AS key FROM ${tableSql(shape, 'records')}`;
  return sql`SELECT key, count(*) AS n, quantile_cont(${percentOf(plan.numbers)}, 0.5), ${kindCounts(plan)} FROM (SELECT * FROM ${changelog} WHERE ${matching(plan, changelog, shape)}) JOIN (${keyed}) USING (ord) WHERE key IS NOT NULL GROUP BY key ORDER BY n DESC, key LIMIT ${countLiteral(CHANGE_GROUPS + 1)}`;
}

/** Reads a row of `groupsStatement`. */
function groupRow([group, items, median, ...kinds]: readonly unknown[]): ChangeGroup {
  return {
    ...{ group: group as Value, items: Number(items), ...readKinds(kinds) },
    ...(median === null ? {} : { median_change_percent: Number(Number(median).toFixed(2)) + 0 }),
  };
}

/** The rows of a changelog file with their position as `place`. */
export const placedFile = (path: Sql): Sql =>
  sql`(SELECT *, file_row_number AS place FROM read_parquet(${path}, file_row_number = true))`;

/** Newest first; at one time by the rank of the attribute, then as in the file (`rest`). */
function pageOrder(first: readonly string[], rest: Sql): Sql {
  const [one, ...others] = first.map((name, place) => sql`WHEN ${name} THEN ${place}::INTEGER`);
  if (one === undefined) return sql`observed_at DESC, ${rest}`;
  const cases = others.reduce((all, other) => sql`${all} ${other}`, one);
  return sql`observed_at DESC, CASE attribute ${cases} ELSE ${first.length}::INTEGER END, ${rest}`;
}

/**
 * A page: newest first, at one time the plan's first attributes first, then as in the file. The wide columns
 * are read for the page only, which takes half the time of sorting them.
 */
export function pageStatement(plan: ChangelogPlan, places: Sql, shape: Shape): Sql {
  const order = pageOrder(plan.first, sql`place`);
  const page = sql`SELECT place FROM ${places} WHERE ${matching(plan, places, shape)} ORDER BY ${order} LIMIT ${countLiteral(plan.limit)} OFFSET ${countLiteral(plan.offset)}`;
  return sql`SELECT ${CHANGE_COLUMNS} FROM ${places} WHERE place IN (${page}) ORDER BY ${order}`;
}

/** A page of a changelog with an overlay, whose rows have no place: only the rows of the page are kept in memory. */
function overlaidPageStatement(plan: ChangelogPlan, changelog: ChangelogRows, shape: Shape): Sql {
  const order = pageOrder(plan.first, ORDER);
  return sql`SELECT ${CHANGE_COLUMNS} FROM ${changelog} WHERE ${matching(plan, changelog, shape)} ORDER BY ${order} LIMIT ${countLiteral(plan.limit)} OFFSET ${countLiteral(plan.offset)}`;
}

const text = (value: unknown): string | null => (value === null ? null : String(value));

/** Reads a row of CHANGE_COLUMNS. */
export function changeRow(row: readonly unknown[]): ChangeRow {
  return {
    entity_id: String(row[0]),
    slug: text(row[1]),
    name: text(row[2]),
    attribute: text(row[3]),
    type: row[4] as ChangeRow['type'],
    old_value: text(row[5]),
    new_value: text(row[6]),
    observed_at: Number(row[7]),
    source_url: text(row[8]),
  };
}

/** What the statements of a changelog read: its rows, the same with their position (null: an overlay), the records. */
interface ChangelogTables {
  changelog: ChangelogRows;
  places: Sql | null;
  shape: Shape;
}

/** Answers a plan by a statement for the counts and one for the page; `ask` runs a statement. */
export async function answerChangelog(
  plan: ChangelogPlan,
  { changelog, places, shape }: ChangelogTables,
  ask: (statement: Sql) => Promise<unknown[][]>,
): Promise<ChangelogAnswer> {
  if (plan.by !== undefined) {
    const groups = (await ask(groupsStatement(plan, plan.by, changelog, shape))).map(groupRow);
    return { rows: [], total: groups.length, days: null, groups };
  }
  const days = plan.byDay ? (await ask(daysStatement(plan, changelog, shape))).map(dayRow) : null;
  const [[counted] = []] = days ? [] : await ask(countStatement(plan, changelog, shape));
  const total = days ? days.reduce((sum, { changes }) => sum + changes, 0) : Number(counted);
  const page = places === null ? overlaidPageStatement(plan, changelog, shape) : pageStatement(plan, places, shape);
  const rows = plan.offset < total ? await ask(page) : [];
  return { rows: rows.map(changeRow), total, days, groups: null };
}
