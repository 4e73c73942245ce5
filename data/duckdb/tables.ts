// The narrow tables of a release in memory: `records`, and one of entries for each list attribute.
import type { Attribute, Pack } from '../../packs/define/model.ts';
import { column, columnParts } from '../model/layout.ts';
import { PROVENANCE_STATUSES } from '../model/record.ts';
import { identifier, join, type Sql, sql } from '../plan/sql.ts';
import { comparedColumn, entriesTable, isText, type Shape } from './shape.ts';

export type RunStatement = (statement: Sql) => Promise<unknown[][]>;

/** A text column with at most this many distinct values, and few relative to its rows, becomes an ENUM. */
const ENUM_VALUES = 5_000;

/** Columns of `records` that every dataset has. */
export const FIXED_COLUMNS: readonly Sql[] = [
  ...[sql`ord`, sql`id`, sql`slug`, sql`name_words`, sql`updated`, sql`quality`],
  ...PROVENANCE_STATUSES.map(identifier),
];

/** SQL type of the engine columns of an attribute (data/model/layout.ts). */
export function typeOf({ type }: Attribute): Sql {
  if (type === 'strings') return sql`VARCHAR[]`;
  if (type === 'boolean') return sql`BOOLEAN`;
  return type === 'integer' || type === 'number' || type === 'price' || type === 'geo' ? sql`DOUBLE` : sql`VARCHAR`;
}

/** Engine columns that queries use: the unfolded text only matters for facets and `filter`. */
export function neededColumns(attribute: Attribute): string[] {
  const parts = columnParts(attribute).filter((part) => part !== 'value' || attribute.filterable || !isText(attribute));
  return parts.map((part) => column(attribute.name, part));
}

/**
 * Loads an engine file; without `tables`, as views of the file without ENUMs. Missing columns, of attributes
 * that the pack gained later, are NULL.
 */
export async function loadRecords(run: RunStatement, file: Sql, pack: Pack, tables = true): Promise<Shape> {
  const present = new Set((await run(sql`DESCRIBE SELECT * FROM ${file}`)).map(([name]) => String(name)));
  const stored = pack.attributes.flatMap((attribute) =>
    neededColumns(attribute).map((neededColumn) => {
      const value = present.has(neededColumn) ? identifier(neededColumn) : sql`NULL`;
      return sql`${value}::${typeOf(attribute)} AS ${identifier(neededColumn)}`;
    }),
  );
  await run(
    sql`CREATE ${tables ? sql`TEMP VIEW` : sql`VIEW`} stored AS SELECT ${join([...FIXED_COLUMNS, ...stored], ', ')} FROM ${file}`,
  );
  const shape: Building = {
    attributes: new Map(pack.attributes.map((one) => [one.name, one])),
    enums: new Map<string, string>(),
    kind: tables ? sql`TABLE` : sql`VIEW`,
  };
  const columns = [...FIXED_COLUMNS];
  for (const attribute of pack.attributes) {
    if (attribute.type === 'strings') columns.push(await loadEntries(run, attribute, shape));
    else
      for (const neededColumn of neededColumns(attribute))
        columns.push(await columnOf(run, attribute, neededColumn, shape));
  }
  await run(sql`CREATE ${shape.kind} records AS SELECT ${join(columns, ', ')} FROM stored`);
  if (tables) await run(sql`DROP VIEW stored`);
  const { attributes, enums } = shape;
  return { attributes, enums };
}

interface Building extends Shape {
  enums: Map<string, string>;
  /** TABLE, or VIEW for tables that stay in the file. */
  kind: Sql;
}

async function columnOf(run: RunStatement, attribute: Attribute, name: string, shape: Building): Promise<Sql> {
  if (isText(attribute) && shape.kind.text === 'TABLE')
    await declareEnum(run, name, sql`SELECT ${identifier(name)} AS word FROM stored`, shape);
  return asMember(name, shape);
}

/** A text column as its ENUM, if it has one. */
function asMember(name: string, shape: Building): Sql {
  return shape.enums.has(name)
    ? sql`${identifier(name)}::${identifier(name)} AS ${identifier(name)}`
    : identifier(name);
}

/** Loads the entries of a list attribute. `records` only has whether the list has entries. */
async function loadEntries(run: RunStatement, attribute: Attribute, shape: Building): Promise<Sql> {
  const [fold, value] = [column(attribute.name, 'fold'), column(attribute.name, 'value')];
  // Equal entries of one list, not of all: a DISTINCT of all rows would hold them in memory.
  const pairs = sql`SELECT unnest(list_distinct(list_zip(${identifier(fold)}, ${identifier(value)}))) AS pair, ord FROM stored`;
  const rows = sql`SELECT pair[1] AS ${identifier(fold)}, pair[2] AS ${identifier(value)}, ord FROM (${pairs})`;
  for (const name of shape.kind.text === 'TABLE' ? [fold, value] : [])
    await declareEnum(run, name, sql`SELECT ${identifier(name)} AS word FROM (${rows})`, shape);
  const entries = sql`SELECT ${asMember(fold, shape)}, ${asMember(value, shape)}, ord FROM (${rows})`;
  const order = shape.kind.text === 'TABLE' ? sql` ORDER BY fold, ord` : sql``;
  await run(
    sql`CREATE ${shape.kind} ${identifier(entriesTable(attribute.name))} AS SELECT ${identifier(fold)} AS fold, ${identifier(value)} AS value, ord FROM (${entries})${order}`,
  );
  const list = identifier(comparedColumn(attribute));
  return sql`CASE WHEN ${list} IS NOT NULL THEN true END AS ${list}`;
}

/** Declares an ENUM named like its column when values repeat enough; members in code point order. */
async function declareEnum(run: RunStatement, name: string, rows: Sql, shape: Building): Promise<void> {
  const words = sql`(SELECT word FROM (${rows}) WHERE word IS NOT NULL)`;
  const [[distinct, filled] = []] = await run(sql`SELECT count(DISTINCT word), count(*) FROM ${words}`);
  const many = Number(distinct);
  if (many === 0 || many > ENUM_VALUES || many * 4 > Number(filled)) return;
  await run(sql`CREATE TYPE ${identifier(name)} AS ENUM (SELECT DISTINCT word FROM ${words} ORDER BY word)`);
  shape.enums.set(name, name);
}
