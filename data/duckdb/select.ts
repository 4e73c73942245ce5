// Search plans as one statement, and its rows as an answer.
import type { Position, SearchAnswer, SearchPlan } from '../plan/plan.ts';
import { isText, type Shape, sortColumn, table } from './shape.ts';
import { name, type Sql, sql, whole } from './sql.ts';
import { conditions } from './where.ts';

/** Rows `[ord, id, key]` of one record more than the page holds; with `total` each has the count of all matches last. */
export function searchStatement(plan: SearchPlan, shape: Shape): Sql {
  const key = name(sortColumn(shape, plan.sort.key));
  const matches = conditions(plan.where, shape);
  const rest = plan.after === null ? sql`` : sql` AND ${beyond(plan, plan.after, key, shape)}`;
  const page = sql`SELECT ord, id, ${key} AS key FROM ${table(shape, 'records')} WHERE ${matches}${rest} ORDER BY ${order(plan, shape)} LIMIT ${whole(plan.limit + 1)}`;
  if (!plan.total) return page;
  const count = sql`SELECT count(*) AS total FROM ${table(shape, 'records')} WHERE ${matches}`;
  return sql`SELECT ord, id, key, total FROM (${count}) LEFT JOIN (${page}) ON true ORDER BY ${order(plan, shape)}`;
}

/** Best first is the order of ordinals, which is cheaper to compare than the two columns it stands for. */
function order({ sort }: SearchPlan, { ranked }: Shape): Sql {
  if (sort.key === 'quality' && sort.descending && ranked !== false) return sql`ord`;
  return sort.descending ? sql`key DESC NULLS LAST, id` : sql`key ASC NULLS LAST, id`;
}

/** Records after a position. Those without the key come last either way; ties go by id. */
function beyond({ sort }: SearchPlan, { value, id }: Position, key: Sql, shape: Shape): Sql {
  if (value === null) return sql`${key} IS NULL AND id > ${id}`;
  const attribute = shape.attributes.get(sort.key);
  const compared = attribute && isText(attribute) ? sql`${key}::VARCHAR` : key;
  const further = sort.descending ? sql`${compared} < ${value}` : sql`${compared} > ${value}`;
  const missing = attribute ? sql` OR ${key} IS NULL` : sql``;
  return sql`(${further} OR (${compared} = ${value} AND id > ${id})${missing})`;
}

/** Reads the rows of `searchStatement`. */
export function searchAnswer(plan: SearchPlan, rows: readonly (readonly unknown[])[]): SearchAnswer {
  const found = rows.filter((row) => row[0] !== null);
  const page = found.slice(0, plan.limit);
  const last = page.at(-1);
  const more = found.length > plan.limit && last !== undefined;
  return {
    ordinals: page.map((row) => Number(row[0])),
    next: more ? { value: keyValue(last[2]), id: String(last[1]) } : null,
    total: plan.total ? Number(rows[0]?.[3] ?? 0) : null,
  };
}

function keyValue(value: unknown): Position['value'] {
  if (typeof value === 'bigint') return Number(value);
  return value as Position['value'];
}
