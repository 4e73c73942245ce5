// Similarity plans as one statement: |A ∩ B| / |A ∪ B| over the distinct words of two records (Jaccard),
// exact.
import type { SimilarAnswer, SimilarPlan } from '../plan/plan.ts';
import { countLiteral, identifier, type Sql, sql } from '../plan/sql.ts';
import { attributeOf, comparedColumn, type Shape, tableSql } from './shape.ts';
import { conditions } from './where.ts';

/** Rows `[ord, score]`, highest score first, ties by id. */
export function similarStatement(plan: SimilarPlan, shape: Shape): Sql {
  const { subject, where, differBy, scope, minScore = 0, limit } = plan;
  const terms = tableSql(shape, 'terms');
  const counted = scope === 'public' ? sql`public` : sql`compared`;
  const mine = sql`SELECT term FROM ${terms} WHERE ${counted} AND ord = ${subject}::UINTEGER`;
  const totals =
    scope === 'public'
      ? sql`(SELECT ord, count(*) AS words FROM ${terms} WHERE public AND ord IN (SELECT ord FROM shared) GROUP BY ord)`
      : tableSql(shape, 'term_counts');
  const common = sql`SELECT ord, count(*) AS common FROM ${terms} WHERE ${counted} AND term IN (SELECT term FROM mine) AND ord <> ${subject}::UINTEGER GROUP BY ord`;
  const differs = differBy === null ? sql`` : sql` AND ${otherThan(differBy, subject, shape)}`;
  const candidates = sql`SELECT ord, id FROM ${tableSql(shape, 'records')} WHERE ${conditions(where, shape)}${differs}`;
  const score = sql`common / ((SELECT count(*) FROM mine)::DOUBLE + words - common)`;
  return sql`WITH mine AS MATERIALIZED (${mine}), shared AS (${common}), candidates AS (${candidates}) SELECT ord, ${score} AS score FROM shared JOIN ${totals} USING (ord) JOIN candidates USING (ord) WHERE score >= ${minScore}::DOUBLE ORDER BY score DESC, id LIMIT ${countLiteral(limit)}`;
}

/** Another value than the subject's, texts compared folded; any value when the subject has none. */
function otherThan(attribute: string, subject: number, shape: Shape): Sql {
  const compared = identifier(comparedColumn(attributeOf(shape, attribute)));
  const value = sql`SELECT ${compared} FROM ${tableSql(shape, 'records')} WHERE ord = ${subject}::UINTEGER`;
  return sql`${compared} IS NOT NULL AND ${compared} IS DISTINCT FROM (${value})`;
}

/** Reads the rows of `similarStatement`. */
export function similarAnswer(rows: readonly (readonly unknown[])[]): SimilarAnswer {
  return rows.map(([ordinal, score]) => ({ ordinal: Number(ordinal), score: Number(score) }));
}
