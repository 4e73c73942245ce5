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

function matching({ since, attribute, ordinal, type, direction }: ChangelogPlan): Sql {
  const where = [sql`observed_at >= make_timestamp_ms(${since})`];
  if (attribute !== null) where.push(sql`attribute = ${attribute}`);
  if (ordinal !== null) where.push(sql`ord = ${ordinal}::UINTEGER`);
  if (type !== 'all') where.push(sql`type = ${type}`);
  if (direction) {
    const attributes = sql`from_json(${JSON.stringify(direction.attributes)}, '["VARCHAR"]')`;
    where.push(sql`list_contains(${attributes}, attribute)`);
    where.push(sql`${numberIn(sql`new_value`)} ${SIGNS[direction.to]} ${numberIn(sql`old_value`)}`);
  }
  return join(where, ' AND ');
}

/** Counts the matching changes. */
export function countStatement(plan: ChangelogPlan, changelog: Sql): Sql {
  return sql`SELECT count(*) FROM ${changelog} WHERE ${matching(plan)}`;
}

/** A page in the order of the file, which LIMIT keeps (DuckDB preserves insertion order). */
export function pageStatement(plan: ChangelogPlan, changelog: Sql): Sql {
  return sql`SELECT ${CHANGE_COLUMNS} FROM ${changelog} WHERE ${matching(plan)} LIMIT ${countLiteral(plan.limit)} OFFSET ${countLiteral(plan.offset)}`;
}

/** The rows of a changelog file with their position as `place`. */
export const placedFile = (path: Sql): Sql =>
  sql`(SELECT *, file_row_number AS place FROM read_parquet(${path}, file_row_number = true))`;

/** The same of a changelog with an overlay. */
export const placedRows = (changelog: Sql): Sql =>
  sql`(SELECT *, row_number() OVER (ORDER BY ${ORDER}) AS place FROM ${changelog})`;

/**
 * A page of changes of the records that the conditions select, and in the last column the number of all; one
 * row of NULL and the number when the page is empty. A join does not keep the order of the file, hence
 * `place`; the wide columns are read for the page only.
 */
export function selectedStatement(plan: ChangelogPlan, placed: Sql, shape: Shape): Sql {
  const records = sql`SELECT ord FROM ${tableSql(shape, 'records')} WHERE ${conditions(plan.where, shape)}`;
  const matched = sql`SELECT place FROM ${placed} WHERE ${matching(plan)} AND ord IN (${records})`;
  const page = sql`SELECT place FROM matched ORDER BY place LIMIT ${countLiteral(plan.limit)} OFFSET ${countLiteral(plan.offset)}`;
  return sql`WITH matched AS MATERIALIZED (${matched}) SELECT ${CHANGE_COLUMNS}, total FROM (SELECT count(*) AS total FROM matched) LEFT JOIN (SELECT * FROM ${placed} WHERE place IN (${page})) ON true ORDER BY place`;
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
