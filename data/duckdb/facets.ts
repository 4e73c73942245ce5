// Facet plans as one statement, and its rows as an answer.
import type { FacetAnswer, FacetPlan } from '../plan/plan.ts';
import { attributeOf, countedColumn, entriesTable, type Shape, table } from './shape.ts';
import { name, type Sql, sql, whole } from './sql.ts';
import { conditions } from './where.ts';

/**
 * Rows `[value, count, matched, missing, withheld]`, best first, ties by value; one row with a null value when nothing is
 * shown. Every entry of a list counts once per record.
 */
export function facetStatement(plan: FacetPlan, shape: Shape): Sql {
  const attribute = attributeOf(shape, plan.by);
  const listed = attribute.type === 'strings';
  const matches = conditions(plan.where, shape);
  const of = plan.where.length === 0 ? sql`` : sql` WHERE ord IN (SELECT ord FROM matched)`;
  const groups = listed
    ? sql`SELECT value, count(*) AS n FROM ${table(shape, entriesTable(plan.by))}${of} GROUP BY value`
    : sql`SELECT subject AS value, count(*) AS n FROM matched WHERE subject IS NOT NULL GROUP BY subject`;
  const subject = name(countedColumn(attribute));
  const floor = whole(plan.floor);
  const sums = sql`SELECT count(*) AS matched, count(*) FILTER (subject IS NULL) AS missing, (SELECT count(*) FROM groups WHERE n < ${floor}) AS withheld FROM matched`;
  const best = sql`SELECT value, n FROM groups WHERE n >= ${floor} ORDER BY n DESC, value LIMIT ${whole(plan.limit)}`;
  return sql`WITH matched AS MATERIALIZED (SELECT ord, ${subject} AS subject FROM ${table(shape, 'records')} WHERE ${matches}), groups AS MATERIALIZED (${groups}), sums AS (${sums}), best AS (${best}) SELECT best.value, n, matched, missing, withheld FROM sums LEFT JOIN best ON true ORDER BY n DESC, best.value`;
}

/** Reads the rows of `facetStatement`. */
export function facetAnswer(rows: readonly (readonly unknown[])[]): FacetAnswer {
  const [, , matched, missing, withheld] = rows[0] ?? [];
  const values = rows
    .filter((row) => row[0] !== null)
    .map((row) => ({ value: row[0] as string | number | boolean, count: Number(row[1]) }));
  return { values, matched: Number(matched), missing: Number(missing), withheld: Number(withheld) };
}
