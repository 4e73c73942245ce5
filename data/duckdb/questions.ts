// Queries about current records: each plan becomes one statement on the tables of a shape, and its rows an
// answer.
import type { Value } from '../../packs/define/model.ts';
import { isoTime } from '../model/time.ts';
import { type GroupKey, groupKey } from '../plan/group-key.ts';
import { histogramOf } from '../plan/histogram.ts';
import type {
  Engine,
  FacetAnswer,
  FacetPlan,
  GroupPlan,
  MatchPlan,
  Position,
  Predicate,
  QueryOptions,
  RecordHead,
  SearchAnswer,
  SearchPlan,
  SeriesAnswer,
  SeriesPlan,
  SimilarPlan,
  StatsAnswer,
  StatsGroup,
  StatsPlan,
} from '../plan/plan.ts';
import { kilometres, momentOf } from '../plan/predicates.ts';
import { countLiteral, identifier, join, type Sql, sql } from '../plan/sql.ts';
import type { WithShape } from './moments.ts';
import type { Pool } from './pool.ts';
import { relevanceStatement, scoredRecords } from './relevance.ts';
import {
  attributeOf,
  comparedColumn,
  entriesTable,
  groupSql,
  isText,
  type Shape,
  sortColumn,
  tableSql,
} from './shape.ts';
import { similarAnswer, similarStatement } from './similar.ts';
import { spreadAnswer, spreadStatement } from './spread.ts';
import { stepsTable } from './tables.ts';
import { conditions, sqlValues } from './where.ts';

type TableQuestions = Pick<
  Engine,
  'search' | 'facets' | 'similar' | 'stats' | 'timeseries' | 'spread' | 'resolve' | 'matching' | 'bodies' | 'heads'
>;

/** The queries over the tables now or, for plans with `as_of`, at a moment; `bodies` is the source of bodies. */
export function tableQuestions(pool: Pool, bodies: Sql, withShape: WithShape): TableQuestions {
  /** A query of one statement. */
  const query =
    <P extends { where: readonly Predicate[] }, T>(
      statement: (plan: P, shape: Shape) => Sql,
      answer: (plan: P, rows: unknown[][]) => T,
    ) =>
    (plan: P, options?: QueryOptions): Promise<T> =>
      withShape(
        momentOf(plan.where),
        async (shape) => answer(plan, await pool.ask(statement(plan, shape), options)),
        options,
      );
  return {
    search: query(searchStatement, searchAnswer),
    facets: query(facetStatement, (_plan: FacetPlan, rows) => facetAnswer(rows)),
    similar: query(similarStatement, (_plan: SimilarPlan, rows) => similarAnswer(rows)),
    stats: query(statsStatement, statsAnswer),
    timeseries: query(seriesStatement, (_plan: SeriesPlan, rows) => seriesAnswer(rows)),
    spread: (plan, options) =>
      withShape(null, async (shape) => spreadAnswer(plan, await pool.ask(spreadStatement(plan, shape), options))),
    resolve: async (refs, options) =>
      refs.length === 0
        ? []
        : withShape(null, async (shape) => resolveAnswer(refs, await pool.ask(resolveStatement(refs, shape), options))),
    matching: async (plan, options) => {
      if (plan.ways.length === 0) return [];
      const rows = await withShape(null, async (shape) => pool.ask(matchStatement(plan, shape), options));
      return rows.map(([ordinal]) => Number(ordinal));
    },
    bodies: async (ordinals, options) =>
      ordinals.length === 0 ? [] : bodiesAnswer(ordinals, await pool.ask(bodiesStatement(ordinals, bodies), options)),
    heads: async (ordinals, options) =>
      ordinals.length === 0
        ? []
        : withShape(null, async (shape) =>
            headsAnswer(ordinals, await pool.ask(headsStatement(ordinals, shape), options)),
          ),
  };
}

/**
 * Rows `[ord, id, key]`, one more than the page; with `total` each ends with the count of all matches. By
 * relevance `key` is the score, and prominence and quality follow at the end.
 */
export function searchStatement(plan: SearchPlan, shape: Shape): Sql {
  if (plan.group) return groupedStatement(plan, plan.group, shape);
  if (plan.sort.relevance) return relevanceStatement(plan, plan.sort.relevance, shape);
  const key = sortSql(plan, shape);
  const matches = conditions(plan.where, shape);
  const rest = plan.after === null ? sql`` : sql` AND ${beyond(plan, plan.after, key, shape)}`;
  const page = sql`SELECT ord, id, ${key} AS key FROM ${tableSql(shape, 'records')} WHERE ${matches}${rest} ORDER BY ${order(plan, shape)} LIMIT ${countLiteral(plan.limit + 1)}`;
  if (!plan.total) return page;
  const count = sql`SELECT count(*) AS total FROM ${tableSql(shape, 'records')} WHERE ${matches}`;
  return sql`SELECT ord, id, key, total FROM (${count}) LEFT JOIN (${page}) ON true ORDER BY ${order(plan, shape)}`;
}

/**
 * Rows `[ord, id, key, total, value, place]` of the groups of a page and one more, each group in order; `value` is the
 * group, `place` its number on the page. By relevance prominence and quality follow.
 */
function groupedStatement(plan: SearchPlan, { by, limit }: GroupPlan, shape: Shape): Sql {
  const { sort, after, where } = plan;
  const scored = sort.relevance && scoredRecords(plan, sort.relevance, shape);
  const sorted = scored ? scored.order : order(plan, shape);
  const key = groupKey(by, (name) => attributeOf(shape, name));
  const values =
    key.attribute.type === 'strings'
      ? sql`SELECT ord, value FROM ${tableSql(shape, entriesTable(by))}`
      : sql`SELECT ord, ${groupSql(key)} AS value FROM ${tableSql(shape, 'records')}`;
  const matches = scored
    ? scored.rows
    : sql`SELECT ord, id, ${sortSql(plan, shape)} AS key FROM ${tableSql(shape, 'records')} WHERE ${conditions(where, shape)}`;
  const place = sql`row_number() OVER (PARTITION BY value ORDER BY ${sorted})`;
  const best = sql`SELECT *, ${place} AS n FROM (${matches}) JOIN (${values}) USING (ord) WHERE value IS NOT NULL QUALIFY n <= ${countLiteral(limit)}`;
  const later = scored ? scored.beyond : beyond;
  const rest = after === null ? sql`` : sql` AND (${later(plan, after, sql`key`, shape)} OR ${laterGroup(after)})`;
  const page = sql`SELECT value, row_number() OVER (ORDER BY ${sorted}, value) AS place FROM best WHERE n = 1${rest} QUALIFY place <= ${countLiteral(plan.limit + 1)}`;
  const ties = scored ? sql`, prominence, quality` : sql``;
  const tables = sql`${scored ? sql`${scored.tables}, ` : sql``}best AS MATERIALIZED (${best}), page AS (${page})`;
  const count = plan.total ? sql`(SELECT count(*) FROM best WHERE n = 1)` : sql`NULL`;
  return sql`WITH ${tables} SELECT ord, id, key, total, value, place${ties} FROM (SELECT ${count} AS total) LEFT JOIN (SELECT * FROM best JOIN page USING (value)) ON true ORDER BY place, n`;
}

/** Of the groups whose first record is the last one of the page before: those with a greater value. */
function laterGroup({ id, group }: Position): Sql {
  const value = typeof group === 'string' ? sql`value::VARCHAR` : sql`value`;
  return sql`(id = ${id} AND ${value} > ${group as string | number | boolean})`;
}

function sortSql({ sort }: SearchPlan, shape: Shape): Sql {
  return sort.distance
    ? sql`round(1000 * ${kilometres(sort.distance, sqlValues(shape))})`
    : identifier(sortColumn(shape, sort.key));
}

/** The order of ordinals is the order by quality and id, and cheaper to compare. */
function order({ sort }: SearchPlan, { ranked }: Shape): Sql {
  if (sort.key === 'quality' && sort.descending && ranked !== false) return sql`ord`;
  return sort.descending ? sql`key DESC NULLS LAST, id` : sql`key ASC NULLS LAST, id`;
}

/** Records after a position. Those without the key are last in both directions; ties by id. */
function beyond({ sort }: SearchPlan, { value, id }: Position, key: Sql, shape: Shape): Sql {
  if (value === null) return sql`${key} IS NULL AND id > ${id}`;
  const attribute = shape.attributes.get(sort.key);
  const compared = attribute && isText(attribute) ? sql`${key}::VARCHAR` : key;
  const further = sort.descending ? sql`${compared} < ${value}` : sql`${compared} > ${value}`;
  const missing = attribute ? sql` OR ${key} IS NULL` : sql``;
  return sql`(${further} OR (${compared} = ${value} AND id > ${id})${missing})`;
}

/** Reads the rows of `searchStatement`. */
function searchAnswer(plan: SearchPlan, rows: readonly (readonly unknown[])[]): SearchAnswer {
  const matches = rows.filter((row) => row[0] !== null);
  const page = plan.group ? matches.filter((row) => Number(row[5]) <= plan.limit) : matches.slice(0, plan.limit);
  // Of a group its first record.
  const last = plan.group ? page.find((row) => row[5] === page.at(-1)![5]) : page.at(-1);
  const more = matches.length > page.length && last !== undefined;
  return {
    ordinals: page.map((row) => Number(row[0])),
    next: more ? { value: keyValue(last[2]), ...tiesOf(plan, last), id: String(last[1]) } : null,
    total: plan.total ? Number(rows[0]?.[3] ?? 0) : null,
    ...(plan.sort.distance ? { metres: page.map((row) => Number(row[2])) } : {}),
    ...(plan.group ? { groups: page.map(groupValue) } : {}),
  };
}

/** The group of a row of `groupedStatement`. */
const groupValue = (row: readonly unknown[]): Value => keyValue(row[4])!;

/** Prominence and quality, the last columns of a row by relevance, and the group. */
function tiesOf({ sort, group }: SearchPlan, row: readonly unknown[]): Pick<Position, 'ties' | 'group'> {
  const ties = sort.relevance ? { ties: row.slice(-2).map((tie) => (tie === null ? null : Number(tie))) } : {};
  return group ? { ...ties, group: groupValue(row) } : ties;
}

function keyValue(value: unknown): Position['value'] {
  if (typeof value === 'bigint') return Number(value);
  return value as Position['value'];
}

/**
 * Rows `[value, count, matched, missing, withheld]`, by count descending, ties by value; one row with a null
 * value when nothing is returned. Every entry of a list counts once per record.
 */
export function facetStatement(plan: FacetPlan, shape: Shape): Sql {
  const key = groupKey(plan.by, (name) => attributeOf(shape, name));
  const listed = key.attribute.type === 'strings';
  const matches = conditions(plan.where, shape);
  const of = plan.where.length === 0 ? sql`` : sql` WHERE ord IN (SELECT ord FROM matched)`;
  const groups = listed
    ? sql`SELECT value, count(*) AS n FROM ${tableSql(shape, entriesTable(plan.by))}${of} GROUP BY value`
    : sql`SELECT subject AS value, count(*) AS n FROM matched WHERE subject IS NOT NULL GROUP BY subject`;
  const subject = groupSql(key);
  const floor = countLiteral(plan.floor);
  const sums = sql`SELECT count(*) AS matched, count(*) FILTER (subject IS NULL) AS missing, (SELECT count(*) FROM groups WHERE n < ${floor}) AS withheld FROM matched`;
  const best = sql`SELECT value, n FROM groups WHERE n >= ${floor} ORDER BY n DESC, value LIMIT ${countLiteral(plan.limit)}`;
  return sql`WITH matched AS MATERIALIZED (SELECT ord, ${subject} AS subject FROM ${tableSql(shape, 'records')} WHERE ${matches}), groups AS MATERIALIZED (${groups}), sums AS (${sums}), best AS (${best}) SELECT best.value, n, matched, missing, withheld FROM sums LEFT JOIN best ON true ORDER BY n DESC, best.value`;
}

/** Reads the rows of `facetStatement`. */
function facetAnswer(rows: readonly (readonly unknown[])[]): FacetAnswer {
  const [, , matched, missing, withheld] = rows[0] ?? [];
  const values = rows
    .filter((row) => row[0] !== null)
    .map((row) => ({ value: row[0] as string | number | boolean, count: Number(row[1]) }));
  return { values, matched: Number(matched), missing: Number(missing), withheld: Number(withheld) };
}

const KEYS = [sql`key0`, sql`key1`] as const;

/**
 * Rows `[depth, key0, key1, count, min, quantiles, max, sum, mean, lowest, highest, numbers, total]`: outer groups
 * first, each level by count and then by keys; one row with the total alone when the plan allows fewer. Groups are
 * counted first: their figures need memory for each number, and are computed for groups of the answer only. `numbers`
 * are those of a histogram.
 */
export function statsStatement(plan: StatsPlan, shape: Shape): Sql {
  const { where, attribute, by, groups, minCount = 1 } = plan;
  const keys = by.map((key) => groupKey(key, (name) => attributeOf(shape, name)));
  const number = identifier(comparedColumn(attributeOf(shape, attribute)));
  const columns = [sql`ord`, sql`${number} AS number`, ...keys.flatMap(keyColumn)];
  const matched = sql`SELECT ${join(columns, ', ')} FROM ${tableSql(shape, 'records')} WHERE ${conditions(where, shape)} AND ${number} IS NOT NULL`;
  if (keys.length === 0) {
    const all = level([], shape);
    return sql`WITH matched AS MATERIALIZED (${matched}) SELECT *, 1 AS total FROM (${figures(plan, all, all.from)}) WHERE n >= ${countLiteral(minCount)}`;
  }
  const levels = keys.map((_, index) => level(keys.slice(0, index + 1), shape));
  const sizes = levels.map(
    ({ depth, shown, from, used }) =>
      sql`SELECT ${depth} AS depth, ${shown}, count(*) AS n FROM ${from} GROUP BY ${used} HAVING n >= ${countLiteral(minCount)}`,
  );
  const rows = levels.map((level) => {
    const { depth, from, used } = level;
    const allowed = sql`SELECT ${used} FROM sizes WHERE depth = ${depth} AND (SELECT total FROM totals) <= ${countLiteral(groups)}`;
    return figures(plan, level, sql`${from} SEMI JOIN (${allowed}) USING (${used})`);
  });
  return sql`WITH matched AS MATERIALIZED (${matched}), sizes AS MATERIALIZED (${join(sizes, ' UNION ALL ')}), totals AS (SELECT count(*) AS total FROM sizes) SELECT answer.*, total FROM totals LEFT JOIN (${join(rows, ' UNION ALL ')}) AS answer ON true ORDER BY depth, n DESC, key0, key1`;
}

/** A key with one value per record is a column of `matched`; list entries are joined when grouping. */
function keyColumn(key: GroupKey, level: number): Sql[] {
  return key.attribute.type === 'strings' ? [] : [sql`${groupSql(key)} AS ${KEYS[level]!}`];
}

/** Shares of p10, q1, median, q3 and p90. */
const QUANTILES = sql`[0.1, 0.25, 0.5, 0.75, 0.9]::DOUBLE[]`;

/**
 * The figures of the groups of a level, in the order of `groupOf`. Rows are sorted once by number, which takes a third
 * of the time of a sort for each figure: sums then have the same digits whatever the order of the table, of equal
 * numbers the lowest ordinal is first, and quantiles are read at their places. A statement has one thread, so that
 * aggregates see the rows in this order.
 */
function figures({ buckets }: StatsPlan, { depth, shown, used }: Level, rows: Sql): Sql {
  const ofHistogram = buckets === undefined ? sql`NULL` : sql`numbers`;
  const lists = sql`SELECT ${used}, list(number) AS numbers, fsum(number) AS sum, favg(number) AS mean, first(ord) AS lowest, arg_max(ord, number) AS highest FROM (SELECT * FROM ${rows} ORDER BY number, ord) GROUP BY ALL`;
  return sql`SELECT ${depth} AS depth, ${shown}, len(numbers) AS n, numbers[1], list_transform(${QUANTILES}, lambda share: ${quantile}), numbers[-1], sum, mean, lowest, highest, ${ofHistogram} FROM (${lists})`;
}

/** Interpolates linearly between the two nearest of the sorted `numbers`, as `quantile_cont`. */
const quantile = ((place: Sql) => {
  const part = sql`(${place} - floor(${place}))`;
  const at = sql`floor(${place})::BIGINT`;
  return sql`numbers[${at} + 1] * (1 - ${part}) + coalesce(numbers[${at} + 2], 0) * ${part}`;
})(sql`(share * (len(numbers) - 1))`);

/** The groups of the first keys of a plan; without keys one group of all. */
interface Level {
  depth: Sql;
  /** Both keys, NULL for those of further levels. */
  shown: Sql;
  from: Sql;
  /** The keys of the level; NULL without keys. */
  used: Sql;
}

/**
 * The groups of one level. A record is in the group of each entry of a list, and in no group without a key.
 */
function level(keys: readonly GroupKey[], shape: Shape): Level {
  const shown = KEYS.map((key, index) => (index < keys.length ? key : sql`NULL AS ${key}`));
  const from = keys.reduce(
    (all, { attribute: { name, type } }, index) =>
      type === 'strings'
        ? sql`${all} JOIN (SELECT ord, value AS ${KEYS[index]!} FROM ${tableSql(shape, entriesTable(name))}) USING (ord)`
        : all,
    sql`matched`,
  );
  const used = KEYS.slice(0, keys.length);
  const present = join([sql`true`, ...used.map((key) => sql`${key} IS NOT NULL`)], ' AND ');
  return {
    depth: countLiteral(keys.length),
    shown: join(shown, ', '),
    from: sql`(SELECT * FROM ${from} WHERE ${present})`,
    used: used.length === 0 ? sql`NULL` : join(used, ', '),
  };
}

/** Reads the rows of `statsStatement`. */
function statsAnswer({ groups, buckets }: StatsPlan, rows: readonly (readonly unknown[])[]): StatsAnswer {
  const total = Number(rows[0]?.at(-1) ?? 0);
  if (total === 0 || total > groups) return { groups: [], total };
  return { groups: rows.map((row) => groupOf(row, buckets)), total };
}

function groupOf(row: readonly unknown[], buckets: number | undefined): StatsGroup {
  const [depth, key0, key1, count, min, quantiles, max, sum, mean, lowest, highest, numbers] = row;
  const [p10 = NaN, q1 = NaN, median = NaN, q3 = NaN, p90 = NaN] = numbersOf(quantiles);
  return {
    keys: [key0, key1].slice(0, Number(depth)) as Value[],
    figures: {
      ...{ count: Number(count), sum: Number(sum), min: Number(min), p10, q1, median, q3, p90 },
      ...{ max: Number(max), mean: Number(mean) },
    },
    ...{ lowest: Number(lowest), highest: Number(highest) },
    ...(buckets === undefined ? {} : { histogram: histogramOf(numbersOf(numbers), buckets) }),
  };
}

/** The entries of a DuckDB list. */
function numbersOf(list: unknown): number[] {
  return (list as { items: unknown[] }).items.map(Number);
}

/**
 * Rows `[matched, groups, key, from, until, count, min, median, max, mean]` by key and point; one row without
 * a point when there are no values or too many matches. Neighbouring change points bound the spans. Means are of values
 * in ascending order, as in `statsStatement`.
 */
export function seriesStatement(plan: SeriesPlan, shape: Shape): Sql {
  const { matched, keyed } = keys(plan, shape);
  const sums = sql`SELECT (SELECT count(*) FROM matched) AS matched, (SELECT count(DISTINCT key) FROM keyed) AS groups`;
  const bounds = sql`SELECT since AS point FROM spans UNION SELECT until FROM spans`;
  const marks = sql`SELECT point, lead(point) OVER (ORDER BY point) AS next, row_number() OVER (ORDER BY point) AS mark FROM (${bounds})`;
  const between = sql`unnest(range(a.mark, b.mark)) AS mark`;
  const counted = sql`SELECT key, value, ${between} FROM spans JOIN marks AS a ON a.point = since JOIN marks AS b ON b.point = until ORDER BY value`;
  const figures = sql`SELECT key, mark, count(*) AS n, min(value) AS low, quantile_cont(value, 0.5) AS middle, max(value) AS high, favg(value) AS mean FROM counted GROUP BY key, mark`;
  const found = sql`SELECT key, point, next, n, low, middle, high, mean FROM figures JOIN marks USING (mark)`;
  return sql`WITH matched AS MATERIALIZED (${matched}), keyed AS MATERIALIZED (${keyed}), sums AS MATERIALIZED (${sums}), spans AS MATERIALIZED (${spans(plan, shape)}), marks AS MATERIALIZED (${marks}), counted AS (${counted}), figures AS (${figures}), found AS (${found}) SELECT matched, groups, found.* FROM sums LEFT JOIN found ON true ORDER BY key, point`;
}

/** The matching records and their keys: none, one, or one for each entry of a list. */
function keys({ by, where }: SeriesPlan, shape: Shape): { matched: Sql; keyed: Sql } {
  const from = sql`FROM ${tableSql(shape, 'records')} WHERE ${conditions(where, shape)}`;
  if (by === null) return { matched: sql`SELECT ord ${from}`, keyed: sql`SELECT ord, NULL AS key FROM matched` };
  const key = groupKey(by, (name) => attributeOf(shape, name));
  if (key.attribute.type === 'strings')
    return {
      matched: sql`SELECT ord ${from}`,
      keyed: sql`SELECT ord, value AS key FROM ${tableSql(shape, entriesTable(by))} JOIN matched USING (ord)`,
    };
  return {
    matched: sql`SELECT ord, ${groupSql(key)} AS key ${from}`,
    keyed: sql`SELECT ord, key FROM matched WHERE key IS NOT NULL`,
  };
}

/** Values of the matching records with the points at which they were valid; empty when too much matches. */
function spans({ attribute, first, step, points, records, groups }: SeriesPlan, shape: Shape): Sql {
  const last = first + step * (points - 1);
  const point = (day: Sql) =>
    sql`(greatest(${day}, ${countLiteral(first)}) - ${countLiteral(first)} + ${countLiteral(step - 1)}) // ${countLiteral(step)}`;
  const until = sql`least(${point(sql`until`)}, ${countLiteral(points)})`;
  const within = sql`since <= ${countLiteral(last)} AND until > ${countLiteral(first)}`;
  const allowed = sql`(SELECT matched <= ${countLiteral(records)} AND groups <= ${countLiteral(groups)} FROM sums)`;
  const all = sql`SELECT key, value, ${point(sql`since`)} AS since, ${until} AS until FROM ${tableSql(shape, stepsTable(attributeOf(shape, attribute).name))} JOIN keyed USING (ord) WHERE ${within} AND ${allowed}`;
  return sql`SELECT * FROM (${all}) WHERE since < until`;
}

/** Reads the rows of `seriesStatement`. */
function seriesAnswer(rows: readonly (readonly unknown[])[]): SeriesAnswer {
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

/** Rows `[ord]`, ascending. */
function matchStatement({ ways, limit }: MatchPlan, shape: Shape): Sql {
  const matches = ways.map((where) => sql`(${conditions(where, shape)})`);
  return sql`SELECT ord FROM ${tableSql(shape, 'records')} WHERE ${join(matches, ' OR ')} ORDER BY ord LIMIT ${countLiteral(limit)}`;
}

/** Rows `[ref, ord]` of the known ids and slugs. */
export function resolveStatement(refs: readonly string[], shape: Shape): Sql {
  return sql`SELECT ref, ord FROM ${tableSql(shape, 'refs')} WHERE ref IN (${join(
    refs.map((ref) => sql`${ref}`),
    ', ',
  )})`;
}

/** Ordinals in the order of `refs`, null for unknown ones. */
function resolveAnswer(refs: readonly string[], rows: readonly (readonly unknown[])[]): (number | null)[] {
  const ordinals = new Map(rows.map((row) => [String(row[0]), Number(row[1])]));
  return refs.map((ref) => ordinals.get(ref) ?? null);
}

/**
 * Rows `[ord, version, body]` of ordinals, from the table or file with the bodies. The cast compares in the
 * column's own type; otherwise no row group is skipped.
 */
export function bodiesStatement(ordinals: readonly number[], bodies: Sql): Sql {
  return sql`SELECT ord, version, body FROM ${bodies} WHERE ${isOneOf(ordinals)}`;
}

/** Condition on the ordinal of a record. */
const isOneOf = (ordinals: readonly number[]): Sql =>
  sql`ord IN (${join(
    ordinals.map((ordinal) => sql`${ordinal}::UINTEGER`),
    ', ',
  )})`;

/** Rows `[ord, slug, updated]` of ordinals. */
function headsStatement(ordinals: readonly number[], shape: Shape): Sql {
  return sql`SELECT ord, slug, updated FROM ${tableSql(shape, 'records')} WHERE ${isOneOf(ordinals)}`;
}

function bodiesAnswer(ordinals: readonly number[], rows: Rows): { body: string; version: string }[] {
  return inOrder(ordinals, rows, (row) => ({ version: String(row[1]), body: String(row[2]) }));
}

function headsAnswer(ordinals: readonly number[], rows: Rows): RecordHead[] {
  return inOrder(ordinals, rows, (row) => ({ slug: String(row[1]), updated_at: isoTime(Number(row[2])) }));
}

type Rows = readonly (readonly unknown[])[];

/** The rows, which begin with an ordinal, in the order of `ordinals`. A missing one means a damaged release. */
function inOrder<T>(ordinals: readonly number[], rows: Rows, read: (row: readonly unknown[]) => T): T[] {
  const byOrdinal = new Map(rows.map((row) => [Number(row[0]), read(row)]));
  return ordinals.map((ordinal) => {
    const record = byOrdinal.get(ordinal);
    if (!record) throw new Error(`the release is damaged: no record for ordinal ${ordinal}`);
    return record;
  });
}
