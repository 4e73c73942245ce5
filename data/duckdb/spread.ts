// Distribution of one attribute as one statement: number of values and of distinct ones, and counts by bin,
// year or cell.

import { DATED } from '../../packs/define/model.ts';
import { column } from '../model/layout.ts';
import type { SpreadPlan } from '../plan/plan.ts';
import type { SpreadAnswer } from '../plan/profile.ts';
import { identifier, join, type Sql, sql } from '../plan/sql.ts';
import { attributeOf, comparedColumn, countedColumn, entriesTable, type Shape, tableSql } from './shape.ts';
import { conditions } from './where.ts';

/**
 * Rows `[kind, a, b, n]`: `count` and `distinct` with their number, `bin` with its index (bins without values
 * are left out), `group` with a year, or with the south and west edge of a cell.
 */
export function spreadStatement({ attribute, edges, cell, where }: SpreadPlan, shape: Shape): Sql {
  const definition = attributeOf(shape, attribute);
  const records = tableSql(shape, 'records');
  const compared = identifier(comparedColumn(definition));
  // The values that facets count; the engine has no unfolded texts of other attributes.
  const facets = definition.filterable && definition.type !== 'text';
  const grouped = identifier(facets ? countedColumn(definition) : comparedColumn(definition));
  const counts = sql`SELECT 'count' AS kind, NULL::DOUBLE AS a, NULL::DOUBLE AS b, count(${compared}) AS n FROM ${records}`;
  const different =
    definition.type === 'strings'
      ? sql`SELECT 'distinct', NULL, NULL, count(DISTINCT value) FROM ${tableSql(shape, entriesTable(attribute))}`
      : definition.type === 'geo'
        ? sql`SELECT 'distinct', NULL, NULL, count(*) FROM (SELECT DISTINCT ${identifier(column(attribute, 'lat'))}, ${identifier(column(attribute, 'lng'))} FROM ${records} WHERE ${compared} IS NOT NULL)`
        : sql`SELECT 'distinct', NULL, NULL, count(DISTINCT ${grouped}) FROM ${records}`;
  const parts = where === undefined ? [counts, different] : [];
  if (DATED.includes(definition.type))
    parts.push(
      sql`SELECT 'group', left(${compared}::VARCHAR, 4)::DOUBLE, NULL, count(*) FROM ${records} WHERE ${compared} IS NOT NULL AND ${conditions(where ?? [], shape)} GROUP BY ALL`,
    );
  else if (definition.type === 'geo') {
    const [lat, lng] = [identifier(column(attribute, 'lat')), identifier(column(attribute, 'lng'))];
    parts.push(
      sql`SELECT 'group', floor(${lat} / ${cell}) * ${cell}, floor(${lng} / ${cell}) * ${cell}, count(*) FROM ${records} WHERE ${lat} IS NOT NULL AND ${conditions(where ?? [], shape)} GROUP BY ALL`,
    );
  } else if (edges.length > 1) {
    // The last bin includes its upper edge, so that every value has a bin. One pass for all bins: a statement
    // with a part for each bin needed more memory than a query may use over the view of an overlay.
    const last = edges.length - 2;
    const bins = edges.slice(0, -1).map((from, i) => {
      const below = i === last ? sql`<=` : sql`<`;
      return sql`count(*) FILTER (WHERE ${compared} >= ${from}::DOUBLE AND ${compared} ${below} ${edges[i + 1]!}::DOUBLE)`;
    });
    const numbers = sql`unnest(range(${bins.length}))::DOUBLE`;
    parts.push(sql`SELECT 'bin', ${numbers}, NULL, unnest([${join(bins, ', ')}]) FROM ${records}`);
  }
  const [first, ...rest] = parts;
  return rest.reduce((all, part) => sql`${all} UNION ALL ${part}`, first!);
}

type Rows = readonly (readonly unknown[])[];

/** Reads the rows of `spreadStatement`. */
export function spreadAnswer({ edges }: SpreadPlan, rows: Rows): SpreadAnswer {
  const of = (kind: string) => rows.filter((row) => row[0] === kind);
  const bins: number[] = Array.from({ length: Math.max(0, edges.length - 1) }, () => 0);
  for (const [, i, , n] of of('bin')) bins[Number(i)] = Number(n);
  const groups = of('group')
    .map(([, a, b, n]) => ({ key: [a, b].filter((part) => part !== null).map(Number), count: Number(n) }))
    .sort((one, other) => one.key[0]! - other.key[0]! || (one.key[1] ?? 0) - (other.key[1] ?? 0));
  const [[, , , count] = []] = of('count');
  const [[, , , distinct] = []] = of('distinct');
  return { count: Number(count), distinct: Number(distinct), bins, groups };
}

/**
 * Rows `[attribute, source, values]`: number of published values by source, without hidden records. Their values
 * are counted and subtracted: to compare the entity of each fact takes four times as long.
 */
export function originsStatement(facts: Sql, gone: readonly string[]): Sql {
  const published = sql`${facts} WHERE won AND value IS NOT NULL`;
  const counts = sql`SELECT attribute, source, count(*) AS n FROM ${published} GROUP BY ALL`;
  const order = sql`ORDER BY attribute, n DESC, source`;
  if (gone.length === 0) return sql`${counts} ${order}`;
  const ids = join(
    gone.map((id) => sql`${id}`),
    ', ',
  );
  const hidden = sql`SELECT attribute, source, -count(*) FROM ${published} AND entity IN (${ids}) GROUP BY ALL`;
  return sql`SELECT attribute, source, sum(n)::BIGINT AS n FROM (${counts} UNION ALL ${hidden}) GROUP BY ALL HAVING sum(n) > 0 ${order}`;
}
