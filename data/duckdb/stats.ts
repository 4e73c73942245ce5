// Statistics plans as one statement, and its rows as groups.
import type { Attribute, Value } from '../../packs/define/model.ts';
import type { StatsAnswer, StatsPlan } from '../plan/plan.ts';
import { attributeOf, comparedColumn, countedColumn, entriesTable, type Shape, table } from './shape.ts';
import { join, name, type Sql, sql, whole } from './sql.ts';
import { conditions } from './where.ts';

const KEYS = [sql`key0`, sql`key1`] as const;

/**
 * Rows `[depth, key0, key1, count, min, quartiles, max, mean, total]`: outer groups first, each level by count and then
 * by keys, at most one more than the plan allows. `quantile_cont` interpolates linearly between the two nearest numbers.
 */
export function statsStatement({ where, attribute, by, groups }: StatsPlan, shape: Shape): Sql {
  const keys = by.map((key) => attributeOf(shape, key));
  const number = name(comparedColumn(attributeOf(shape, attribute)));
  const columns = [sql`ord`, sql`${number} AS number`, ...keys.flatMap(keyColumn)];
  const matched = sql`SELECT ${join(columns, ', ')} FROM ${table(shape, 'records')} WHERE ${conditions(where, shape)} AND ${number} IS NOT NULL`;
  const outer = level(keys.slice(0, 1), shape);
  const rows = keys.length === 2 ? sql`${outer} UNION ALL ${level(keys, shape)}` : outer;
  return sql`WITH matched AS MATERIALIZED (${matched}) SELECT *, count(*) OVER () AS total FROM (${rows}) WHERE n > 0 ORDER BY depth, n DESC, key0, key1 LIMIT ${whole(groups + 1)}`;
}

/** A key with one value a record stands in `matched`; the entries of a list are joined where they are grouped by. */
function keyColumn(key: Attribute, level: number): Sql[] {
  return key.type === 'strings' ? [] : [sql`${name(countedColumn(key))} AS ${KEYS[level]!}`];
}

/** The groups of one level. A record is in the group of each entry of a list, and in none where it lacks a key. */
function level(keys: readonly Attribute[], shape: Shape): Sql {
  const figures = sql`count(*) AS n, min(number), quantile_cont(number, [0.25, 0.5, 0.75]), max(number), favg(number)`;
  const shown = KEYS.map((key, index) => (index < keys.length ? key : sql`NULL AS ${key}`));
  const from = keys.reduce(
    (all, key, index) =>
      key.type === 'strings'
        ? sql`${all} JOIN (SELECT ord, value AS ${KEYS[index]!} FROM ${table(shape, entriesTable(key.name))}) USING (ord)`
        : all,
    sql`matched`,
  );
  const used = KEYS.slice(0, keys.length);
  const given = used.map((key) => sql`${key} IS NOT NULL`);
  const grouped = used.length === 0 ? sql`` : sql` WHERE ${join(given, ' AND ')} GROUP BY ${join(used, ', ')}`;
  return sql`SELECT ${whole(keys.length)} AS depth, ${join(shown, ', ')}, ${figures} FROM ${from}${grouped}`;
}

/** Reads the rows of `statsStatement`. */
export function statsAnswer({ groups }: StatsPlan, rows: readonly (readonly unknown[])[]): StatsAnswer {
  const total = Number(rows[0]?.at(-1) ?? 0);
  if (total > groups) return { groups: [], total };
  return { groups: rows.map(groupOf), total };
}

function groupOf([depth, key0, key1, count, min, quartiles, max, mean]: readonly unknown[]) {
  const [q1 = NaN, median = NaN, q3 = NaN] = numbersOf(quartiles);
  return {
    keys: [key0, key1].slice(0, Number(depth)) as Value[],
    figures: { count: Number(count), min: Number(min), q1, median, q3, max: Number(max), mean: Number(mean) },
  };
}

/** The entries of a list value of the engine. */
function numbersOf(list: unknown): number[] {
  return (list as { items: unknown[] }).items.map(Number);
}
