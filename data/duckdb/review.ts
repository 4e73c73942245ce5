// Review items with their facts, for operators.
import type { Fact, ReviewItem } from '../model/record.ts';
import { isoTime } from '../model/time.ts';
import type { ReviewPlan } from '../plan/history.ts';
import { countLiteral, join, type Sql, sql, textsOf } from '../plan/sql.ts';

/** Open items or those that a later reading confirmed, oldest first, without hidden records. */
export function reviewStatement(
  { entity, id, confirmed, limit }: ReviewPlan,
  review: Sql,
  without: readonly string[],
): Sql {
  const where = [confirmed ? sql`confirmed_at IS NOT NULL` : sql`confirmed_at IS NULL`];
  if (entity !== null) where.push(sql`entity_id = ${entity}`);
  if (id !== null) where.push(sql`id = ${id}`);
  if (without.length > 0) where.push(sql`entity_id NOT IN (${textsOf(without)})`);
  return sql`SELECT id, kind, entity_id, attribute, facts, epoch_ms(opened_at), epoch_ms(confirmed_at), group_median FROM ${review} WHERE ${join(where, ' AND ')} ORDER BY opened_at, id LIMIT ${countLiteral(limit)}`;
}

/** Reads the rows of `reviewStatement`. */
export function reviewRows(rows: readonly (readonly unknown[])[], dataset: string): ReviewItem[] {
  return rows.map(([id, kind, entity, attribute, facts, opened, confirmed, median]) => ({
    id: String(id),
    kind: kind as ReviewItem['kind'],
    dataset,
    entity_id: String(entity),
    attribute: String(attribute),
    facts: JSON.parse(String(facts)) as Fact[],
    opened_at: isoTime(Number(opened)),
    ...(confirmed === null ? {} : { confirmed_at: isoTime(Number(confirmed)) }),
    ...(median === null ? {} : { group_median: Number(median) }),
  }));
}

/** Order of `reviewStatement`. */
export function byOpening(a: ReviewItem, b: ReviewItem): number {
  return Date.parse(a.opened_at) - Date.parse(b.opened_at) || (a.id < b.id ? -1 : 1);
}
