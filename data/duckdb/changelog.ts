// The changelog: changelog.parquet is sorted newest first, so that a page is read without sorting.
import type { ChangeRow } from '../plan/history.ts';
import type { ChangelogPlan, Direction } from '../plan/plan.ts';
import { type Shape, tableSql } from './shape.ts';
import { countLiteral, join, literal, type Sql, sql, textsOf } from './sql.ts';
import { conditions } from './where.ts';

/** Columns of a change, in the order that `changeRow` reads. */
export const CHANGE_COLUMNS = sql`entity_id, slug, name, attribute, type, old_value, new_value, epoch_ms(observed_at), source_url`;

/** A row of the changelog; values as JSON text, the time in milliseconds. */
export interface ChangelogLine extends Omit<ChangeRow, 'type'> {
  ord: number;
}

const LINE = `[{"ord":"UINTEGER","entity_id":"VARCHAR","slug":"VARCHAR","name":"VARCHAR","attribute":"VARCHAR","old_value":"VARCHAR","new_value":"VARCHAR","observed_at":"BIGINT","source_url":"VARCHAR"}]`;

/** The changelog without the rows of some records and with other rows added, in the file's order. */
export function overlayChangelog(changelog: Sql, gone: readonly string[], lines: readonly ChangelogLine[]): Sql {
  const columns = sql`ord, entity_id, slug, name, attribute`;
  const stored = sql`SELECT ${columns}, type, old_value, new_value, observed_at, source_url FROM ${changelog} WHERE entity_id NOT IN (${textsOf(gone)})`;
  const type = sql`CASE WHEN old_value IS NULL THEN 'added' ELSE 'changed' END`;
  const added = sql`SELECT ${columns}, ${type}, old_value, new_value, make_timestamp_ms(observed_at), source_url FROM (SELECT line.* FROM (SELECT unnest(from_json(${JSON.stringify(lines)}, ${literal(LINE)})) AS line))`;
  return sql`(SELECT * FROM (${stored} UNION ALL ${added}) ORDER BY ${ORDER})`;
}

/** The order of the file. */
const ORDER = sql`observed_at DESC, ord NULLS LAST, entity_id, attribute`;

const SIGNS: Record<Direction, Sql> = { rise: sql`>`, fall: sql`<` };

/** A stored number, of a price range the minimum; NULL for other values. */
const numberIn = (json: Sql): Sql =>
  sql`coalesce(TRY_CAST(${json} AS DOUBLE), TRY_CAST(json_extract_string(${json}, '$.min') AS DOUBLE))`;

/** Ordinals of the records that the conditions of a plan select. */
export function selectedRecords({ where }: ChangelogPlan, shape: Shape): Sql {
  return sql`SELECT ord FROM ${tableSql(shape, 'records')} WHERE ${conditions(where, shape)}`;
}

function matching({ since, attribute, ordinal, type, direction }: ChangelogPlan, selected: Sql | null): Sql {
  const where = [sql`observed_at >= make_timestamp_ms(${since})`];
  if (attribute !== null) where.push(sql`attribute = ${attribute}`);
  if (ordinal !== null) where.push(sql`ord = ${ordinal}::UINTEGER`);
  if (type !== 'all') where.push(sql`type = ${type}`);
  if (selected !== null) where.push(sql`ord IN (${selected})`);
  if (direction) {
    where.push(sql`attribute IN (${textsOf(direction.attributes)})`);
    where.push(sql`${numberIn(sql`new_value`)} ${SIGNS[direction.to]} ${numberIn(sql`old_value`)}`);
  }
  return join(where, ' AND ');
}

/** Counts the matching changes. */
export function countStatement(plan: ChangelogPlan, changelog: Sql, selected: Sql | null = null): Sql {
  return sql`SELECT count(*) FROM ${changelog} WHERE ${matching(plan, selected)}`;
}

/**
 * A page in the order of the file. LIMIT keeps it (DuckDB preserves insertion order) unless the records are
 * joined.
 */
export function pageStatement(plan: ChangelogPlan, changelog: Sql, selected: Sql | null = null): Sql {
  const order = selected === null ? sql`` : sql` ORDER BY ${ORDER}`;
  return sql`SELECT ${CHANGE_COLUMNS} FROM ${changelog} WHERE ${matching(plan, selected)}${order} LIMIT ${countLiteral(plan.limit)} OFFSET ${countLiteral(plan.offset)}`;
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
