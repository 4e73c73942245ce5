// Time series plans as one statement. Figures are computed only for the points at which a value begins or ends.
import type { Value } from '../../packs/define/model.ts';
import type { SeriesAnswer, SeriesPlan } from '../plan/plan.ts';
import { attributeOf, countedColumn, entriesTable, type Shape, table } from './shape.ts';
import { name, type Sql, sql, whole } from './sql.ts';
import { stepsTable } from './steps.ts';
import { conditions } from './where.ts';

/**
 * Rows `[matched, groups, key, from, until, count, min, median, max, mean]` by key and point; one row without a point
 * when nothing has a value or too much matches. Neighbouring marks bound the spans in which nothing changes.
 */
export function seriesStatement(plan: SeriesPlan, shape: Shape): Sql {
  const { matched, keyed } = keys(plan, shape);
  const sums = sql`SELECT (SELECT count(*) FROM matched) AS matched, (SELECT count(DISTINCT key) FROM keyed) AS groups`;
  const bounds = sql`SELECT since AS point FROM spans UNION SELECT until FROM spans`;
  const marks = sql`SELECT point, lead(point) OVER (ORDER BY point) AS next, row_number() OVER (ORDER BY point) AS mark FROM (${bounds})`;
  const between = sql`unnest(range(a.mark, b.mark)) AS mark`;
  const counted = sql`SELECT key, value, ${between} FROM spans JOIN marks AS a ON a.point = since JOIN marks AS b ON b.point = until`;
  const figures = sql`SELECT key, mark, count(*) AS n, min(value) AS low, quantile_cont(value, 0.5) AS middle, max(value) AS high, favg(value) AS mean FROM counted GROUP BY key, mark`;
  const found = sql`SELECT key, point, next, n, low, middle, high, mean FROM figures JOIN marks USING (mark)`;
  return sql`WITH matched AS MATERIALIZED (${matched}), keyed AS MATERIALIZED (${keyed}), sums AS MATERIALIZED (${sums}), spans AS MATERIALIZED (${spans(plan, shape)}), marks AS MATERIALIZED (${marks}), counted AS (${counted}), figures AS (${figures}), found AS (${found}) SELECT matched, groups, found.* FROM sums LEFT JOIN found ON true ORDER BY key, point`;
}

/** The matching records, and their keys: none, one, or one for each entry of a list. */
function keys({ by, where }: SeriesPlan, shape: Shape): { matched: Sql; keyed: Sql } {
  const from = sql`FROM ${table(shape, 'records')} WHERE ${conditions(where, shape)}`;
  if (by === null) return { matched: sql`SELECT ord ${from}`, keyed: sql`SELECT ord, NULL AS key FROM matched` };
  const attribute = attributeOf(shape, by);
  if (attribute.type === 'strings')
    return {
      matched: sql`SELECT ord ${from}`,
      keyed: sql`SELECT ord, value AS key FROM ${table(shape, entriesTable(by))} JOIN matched USING (ord)`,
    };
  return {
    matched: sql`SELECT ord, ${name(countedColumn(attribute))} AS key ${from}`,
    keyed: sql`SELECT ord, key FROM matched WHERE key IS NOT NULL`,
  };
}

/** The values of the matching records with the points at which they stood; nothing when too much matches. */
function spans({ attribute, first, step, points, records, groups }: SeriesPlan, shape: Shape): Sql {
  const last = first + step * (points - 1);
  const point = (day: Sql) =>
    sql`(greatest(${day}, ${whole(first)}) - ${whole(first)} + ${whole(step - 1)}) // ${whole(step)}`;
  const until = sql`least(${point(sql`until`)}, ${whole(points)})`;
  const within = sql`since <= ${whole(last)} AND until > ${whole(first)}`;
  const allowed = sql`(SELECT matched <= ${whole(records)} AND groups <= ${whole(groups)} FROM sums)`;
  const all = sql`SELECT key, value, ${point(sql`since`)} AS since, ${until} AS until FROM ${table(shape, stepsTable(attributeOf(shape, attribute).name))} JOIN keyed USING (ord) WHERE ${within} AND ${allowed}`;
  return sql`SELECT * FROM (${all}) WHERE since < until`;
}

/** Reads the rows of `seriesStatement`. */
export function seriesAnswer(rows: readonly (readonly unknown[])[]): SeriesAnswer {
  const [matched, groups] = rows[0] ?? [];
  const spans = rows
    .filter((row) => row[3] !== null)
    .map(([, , key, from, until, count, min, median, max, mean]) => ({
      key: key as Value | null,
      from: Number(from),
      until: Number(until),
      figures: {
        count: Number(count),
        min: Number(min),
        median: Number(median),
        max: Number(max),
        mean: Number(mean),
      },
    }));
  return { matched: Number(matched), groups: Number(groups), spans };
}
