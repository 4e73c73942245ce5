// The changelog: a release's changelog.parquet lies newest first, so that a page is read and nothing is sorted.
import type { ChangelogPlan, ChangeRow } from '../plan-history.ts';
import { join, type Sql, sql, whole } from './sql.ts';

/** Columns of a change, in the order that `changeRow` reads. */
export const CHANGE_COLUMNS = sql`entity_id, slug, name, attribute, type, old_value, new_value, epoch_ms(observed_at), source_url`;

function matching({ since, attribute, ordinal, type }: ChangelogPlan): Sql {
  const where = [sql`observed_at >= make_timestamp_ms(${since})`];
  if (attribute !== null) where.push(sql`attribute = ${attribute}`);
  if (ordinal !== null) where.push(sql`ord = ${ordinal}::UINTEGER`);
  if (type !== 'all') where.push(sql`type = ${type}`);
  return join(where, ' AND ');
}

/** How many changes match. */
export function countStatement(plan: ChangelogPlan, changelog: Sql): Sql {
  return sql`SELECT count(*) FROM ${changelog} WHERE ${matching(plan)}`;
}

/** A page in the order of the file, which LIMIT keeps (DuckDB preserves insertion order). */
export function pageStatement(plan: ChangelogPlan, changelog: Sql): Sql {
  return sql`SELECT ${CHANGE_COLUMNS} FROM ${changelog} WHERE ${matching(plan)} LIMIT ${whole(plan.limit)} OFFSET ${whole(plan.offset)}`;
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
