// Facet plans as one statement, and its rows as an answer.
import type { FacetAnswer, FacetPlan } from '../plan.ts';
import { attributeOf, comparedColumn, entriesTable, isText, type Shape, spellingTable } from './shape.ts';
import { name, type Sql, sql, whole } from './sql.ts';
import { conditions } from './where.ts';

/**
 * Rows `[value, count, matched, missing, withheld]`, best first; one row with a null value when nothing is shown.
 * Texts are counted as they are compared (folded), so that a facet's count is what its filter finds, and shown in their
 * commonest spelling. Every element of a list counts once per record.
 */
export function facetStatement(plan: FacetPlan, shape: Shape): Sql {
  const attribute = attributeOf(shape, plan.by);
  const compared = name(comparedColumn(attribute));
  const matches = conditions(plan.where, shape);
  const text = isText(attribute) || attribute.type === 'strings';
  const of = plan.where.length === 0 ? sql`` : sql` WHERE ord IN (SELECT ord FROM matched)`;
  const groups =
    attribute.type === 'strings'
      ? sql`SELECT fold AS value, count(*) AS n FROM ${name(entriesTable(plan.by))}${of} GROUP BY fold`
      : sql`SELECT subject AS value, count(*) AS n FROM matched WHERE subject IS NOT NULL GROUP BY subject`;
  const shown = text ? sql`coalesce(spelling.value, best.value::VARCHAR)` : sql`best.value`;
  const spelled = text
    ? sql` LEFT JOIN ${name(spellingTable(plan.by))} AS spelling ON spelling.fold = best.value::VARCHAR`
    : sql``;
  return sql`WITH matched AS MATERIALIZED (SELECT ord, ${compared} AS subject FROM records WHERE ${matches}), groups AS MATERIALIZED (${groups}), sums AS (SELECT count(*) AS matched, count(*) FILTER (subject IS NULL) AS missing, (SELECT count(*) FROM groups WHERE n < ${whole(plan.floor)}) AS withheld FROM matched), best AS (SELECT value, n FROM groups WHERE n >= ${whole(plan.floor)} ORDER BY n DESC, value LIMIT ${whole(plan.limit)}) SELECT ${shown} AS value, best.n, matched, missing, withheld FROM sums LEFT JOIN best ON true${spelled} ORDER BY best.n DESC, best.value`;
}

/** Reads the rows of `facetStatement`. */
export function facetAnswer(rows: readonly (readonly unknown[])[]): FacetAnswer {
  const [, , matched, missing, withheld] = rows[0] ?? [];
  const values = rows
    .filter((row) => row[0] !== null)
    .map((row) => ({ value: row[0] as string | number | boolean, count: Number(row[1]) }));
  return { values, matched: Number(matched), missing: Number(missing), withheld: Number(withheld) };
}
