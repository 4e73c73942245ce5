// The narrow tables of a dataset: `records`, `refs`, `terms`, and one of entries or intervals for each attribute of some types.
import type { Attribute, Pack } from '../../packs/define/model.ts';
import { NUMERIC } from '../../packs/define/schema.ts';
import { column, columnParts } from '../model/layout.ts';
import { PROVENANCE_STATUSES } from '../model/record.ts';
import { identifier, join, literal, type Sql, sql } from '../plan/sql.ts';
import { comparedColumn, entriesTable, isText, type Shape, tableSql } from './shape.ts';

export type RunStatement = (statement: Sql) => Promise<unknown[][]>;

/** A text column with at most this many distinct values, and few relative to its rows, becomes an ENUM. */
const ENUM_VALUES = 5_000;

/** Columns of `records` that every dataset has. */
export const FIXED_COLUMNS: Readonly<Record<string, Sql>> = {
  ord: sql`UINTEGER`,
  id: sql`VARCHAR`,
  slug: sql`VARCHAR`,
  name_words: sql`VARCHAR`,
  updated: sql`BIGINT`,
  quality: sql`DOUBLE`,
  ...Object.fromEntries(PROVENANCE_STATUSES.map((status) => [status, sql`UTINYINT`])),
};

/** Whether rows are copied into memory, or each statement reads the file. */
export type LoadKind = Sql;
export const TABLE: LoadKind = sql`TABLE`;
export const VIEW: LoadKind = sql`VIEW`;

/** Where the tables of a dataset are created. */
export interface Target {
  run: RunStatement;
  pack: Pack;
  schema: string;
}

/** The tables of a dataset in a schema: those of `loadRecords`, `loadTerms` and `loadSteps`. */
export const tablesOf = (pack: Pack): string[] => [
  ...['records', 'refs', 'terms', 'term_counts'],
  ...pack.attributes.filter(({ type }) => type === 'strings').map(({ name }) => entriesTable(name)),
  ...pack.attributes.filter(({ type }) => NUMERIC.includes(type)).map(({ name }) => stepsTable(name)),
];

/** SQL type of the engine columns of an attribute (data/model/layout.ts). */
export function typeOf({ type }: Attribute): Sql {
  if (type === 'strings') return sql`VARCHAR[]`;
  if (type === 'boolean') return sql`BOOLEAN`;
  return type === 'integer' || type === 'number' || type === 'price' || type === 'geo' ? sql`DOUBLE` : sql`VARCHAR`;
}

/** The columns of engine.parquet that queries use, with their types. */
export const engineColumnTypes = (pack: Pack): Record<string, Sql> => ({
  ...FIXED_COLUMNS,
  ...Object.fromEntries(
    pack.attributes.flatMap((attribute) => neededColumns(attribute).map((name) => [name, typeOf(attribute)])),
  ),
});

/** Engine columns that queries use: the unfolded text only matters for facets and `filter`. */
export function neededColumns(attribute: Attribute): string[] {
  const parts = columnParts(attribute).filter((part) => part !== 'value' || attribute.filterable || !isText(attribute));
  return parts.map((part) => column(attribute.name, part));
}

/**
 * Loads an engine file as `records` and the tables of entries; as views of the file they have no ENUMs. Missing columns, of
 * attributes that the pack gained later, are NULL.
 */
export async function loadRecords({ run, pack, schema }: Target, file: Sql, kind: LoadKind): Promise<Shape> {
  const present = new Set((await run(sql`DESCRIBE SELECT * FROM ${file}`)).map(([name]) => String(name)));
  const cells = Object.entries(engineColumnTypes(pack)).map(
    ([name, type]) => sql`${present.has(name) ? identifier(name) : sql`NULL`}::${type} AS ${identifier(name)}`,
  );
  const loading = { run, schema, kind, stored: tableSql({ schema }, 'stored'), enums: new Map<string, string>() };
  await run(sql`CREATE VIEW ${loading.stored} AS SELECT ${join(cells, ', ')} FROM ${file}`);
  const columns = Object.keys(FIXED_COLUMNS).map(identifier);
  for (const attribute of pack.attributes) {
    if (attribute.type === 'strings') columns.push(await loadEntries(loading, attribute));
    else for (const name of neededColumns(attribute)) columns.push(await columnOf(loading, attribute, name));
  }
  await run(
    sql`CREATE ${kind} ${tableSql({ schema }, 'records')} AS SELECT ${join(columns, ', ')} FROM ${loading.stored}`,
  );
  return { attributes: new Map(pack.attributes.map((attribute) => [attribute.name, attribute])), enums: loading.enums };
}

/** Loads `refs`, the ordinals of ids and slugs, from `records`. */
export async function loadRefs({ run, schema }: Target, kind: LoadKind): Promise<void> {
  const [records, refs] = [tableSql({ schema }, 'records'), tableSql({ schema }, 'refs')];
  const rows = sql`SELECT id AS ref, ord FROM ${records} UNION ALL SELECT slug, ord FROM ${records} WHERE slug <> id`;
  await run(sql`CREATE ${kind} ${refs} AS ${rows}${kind === TABLE ? sql` ORDER BY ref` : sql``}`);
  if (kind === TABLE) await run(sql`CREATE UNIQUE INDEX refs_by_ref ON ${refs} (ref)`);
}

interface Loading extends Omit<Target, 'pack'> {
  kind: LoadKind;
  /** The columns of the file that queries use. */
  stored: Sql;
  enums: Map<string, string>;
}

async function columnOf(loading: Loading, attribute: Attribute, name: string): Promise<Sql> {
  if (isText(attribute))
    await declareEnum(loading, name, sql`SELECT ${identifier(name)} AS word FROM ${loading.stored}`);
  return asMember(name, loading);
}

/** A text column as its ENUM, if it has one. */
function asMember(name: string, { enums }: Loading): Sql {
  return enums.has(name) ? sql`${identifier(name)}::${identifier(name)} AS ${identifier(name)}` : identifier(name);
}

/** Loads the entries of a list attribute. `records` only has whether the list has entries. */
async function loadEntries(loading: Loading, attribute: Attribute): Promise<Sql> {
  const { run, schema, kind, stored } = loading;
  const [fold, value] = [column(attribute.name, 'fold'), column(attribute.name, 'value')];
  // Equal entries of one list, not of all: a DISTINCT of all rows would hold them in memory.
  const pairs = sql`SELECT unnest(list_distinct(list_zip(${identifier(fold)}, ${identifier(value)}))) AS pair, ord FROM ${stored}`;
  const rows = sql`SELECT pair[1] AS ${identifier(fold)}, pair[2] AS ${identifier(value)}, ord FROM (${pairs})`;
  for (const name of [fold, value])
    await declareEnum(loading, name, sql`SELECT ${identifier(name)} AS word FROM (${rows})`);
  const entries = sql`SELECT ${asMember(fold, loading)}, ${asMember(value, loading)}, ord FROM (${rows})`;
  const order = kind === TABLE ? sql` ORDER BY fold, ord` : sql``;
  await run(
    sql`CREATE ${kind} ${tableSql({ schema }, entriesTable(attribute.name))} AS SELECT ${identifier(fold)} AS fold, ${identifier(value)} AS value, ord FROM (${entries})${order}`,
  );
  const list = identifier(comparedColumn(attribute));
  return sql`CASE WHEN ${list} IS NOT NULL THEN true END AS ${list}`;
}

/** Declares an ENUM named like its column when values of a table repeat enough; members in code point order. */
async function declareEnum({ run, kind, enums }: Loading, name: string, rows: Sql): Promise<void> {
  if (kind === VIEW) return;
  const words = sql`(SELECT word FROM (${rows}) WHERE word IS NOT NULL)`;
  const [[distinct, filled] = []] = await run(sql`SELECT count(DISTINCT word), count(*) FROM ${words}`);
  const many = Number(distinct);
  if (many === 0 || many > ENUM_VALUES || many * 4 > Number(filled)) return;
  await run(sql`CREATE TYPE ${identifier(name)} AS ENUM (SELECT DISTINCT word FROM ${words} ORDER BY word)`);
  enums.set(name, name);
}

/** Columns of `terms` (data/model/layout.ts). */
export const TERM_COLUMNS = {
  ...{ term: sql`VARCHAR`, ord: sql`UINTEGER`, public: sql`BOOLEAN`, compared: sql`BOOLEAN` },
  ...{ weight: sql`UTINYINT`, public_weight: sql`UTINYINT` },
};

/** The names of those columns. */
export const TERM_FIELDS = join(Object.keys(TERM_COLUMNS).map(identifier), ', ');

/** Loads `terms`, sorted by word, and `term_counts`, the number of words of a record that count for similarity. */
export async function loadTerms({ run, schema }: Target, file: Sql, kind: LoadKind): Promise<void> {
  const [terms, counts] = [tableSql({ schema }, 'terms'), tableSql({ schema }, 'term_counts')];
  await run(sql`CREATE ${kind} ${terms} AS SELECT ${TERM_FIELDS} FROM ${file}`);
  await run(
    sql`CREATE ${kind} ${counts} AS SELECT ord, count(*)::UINTEGER AS words FROM ${terms} WHERE compared GROUP BY ord`,
  );
}

/** Bytes of an interval: ordinal, value and two days. */
const STEP_BYTES = 20;

/** End of an interval that is still open: later than any requested day. */
const OPEN_INTERVAL_END = sql`2000000000`;

/**
 * Table of the validity intervals of a numeric attribute in whole days, for time series: ord, value (the minimum of a price
 * range), since and until. The value was published at the end of every day (UTC, counted from 1970-01-01) from `since` to
 * `until`, exclusive.
 */
export function stepsTable(attribute: string): string {
  return `steps:${attribute}`;
}

/** Whether the numbers of a history file take at most `most` bytes, so that their intervals are held in memory. */
export async function stepsKind(run: RunStatement, file: string, most: number): Promise<LoadKind> {
  const [[numbers] = []] = await run(
    sql`SELECT sum(num_values - coalesce(stats_null_count, 0)) FROM parquet_metadata(${literal(file)}) WHERE path_in_schema = 'min'`,
  );
  return Number(numbers) * STEP_BYTES > most ? VIEW : TABLE;
}

/** Loads the intervals of a history file. One within a day did not exist at its end. */
export async function loadSteps({ run, pack, schema }: Target, file: Sql, kind: LoadKind): Promise<void> {
  const day = (time: Sql) => sql`(${time}::DATE - DATE '1970-01-01')::INTEGER`;
  const since = day(sql`"from"`);
  const until = sql`coalesce(${day(sql`"to"`)}, ${OPEN_INTERVAL_END})`;
  for (const { name } of pack.attributes.filter(({ type }) => NUMERIC.includes(type)))
    await run(
      sql`CREATE ${kind} ${tableSql({ schema }, stepsTable(name))} AS SELECT ord, "min" AS value, ${since} AS since, ${until} AS until FROM ${file} WHERE attribute = ${literal(name)} AND ord IS NOT NULL AND "min" IS NOT NULL AND ${since} < ${until}`,
    );
}
