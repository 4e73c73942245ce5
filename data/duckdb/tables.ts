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

/** Columns that releases of earlier program versions lack, with their values there. */
const ADDED_COLUMNS: Record<string, Sql> = {
  name_words: sql`trim(regexp_replace(strip_accents(lower(name)), '[^\\p{L}\\p{N}]+', ' ', 'g'))`,
  ...Object.fromEntries(PROVENANCE_STATUSES.map((status) => [identifier(status).text, sql`0::UTINYINT`])),
};

/** SQL type of the engine columns of an attribute (data/model/layout.ts). */
export function typeOf({ type }: Attribute): Sql {
  if (type === 'strings') return sql`VARCHAR[]`;
  if (type === 'boolean') return sql`BOOLEAN`;
  return type === 'integer' || type === 'number' || type === 'price' || type === 'geo' ? sql`DOUBLE` : sql`VARCHAR`;
}

/** Engine columns that queries use: the unfolded text only matters for facets. */
export function neededColumns(attribute: Attribute): string[] {
  const counted = attribute.filterable && attribute.type !== 'text';
  const parts = columnParts(attribute).filter((part) => part !== 'value' || counted || !isText(attribute));
  return parts.map((part) => column(attribute.name, part));
}

/**
 * Loads an engine file; without `tables`, as views of the file without ENUMs. Missing columns, of attributes
 * that the pack gained later, are NULL.
 */
export async function loadRecords(run: RunStatement, file: Sql, pack: Pack, tables = true): Promise<Shape> {
  const present = new Set((await run(sql`DESCRIBE SELECT * FROM ${file}`)).map(([found]) => String(found)));
  const stored = pack.attributes.flatMap((attribute) =>
    neededColumns(attribute).map((own) => {
      const value = present.has(own) ? identifier(own) : sql`NULL`;
      return sql`${value}::${typeOf(attribute)} AS ${identifier(own)}`;
    }),
  );
  const fixed = FIXED_COLUMNS.map((own) => {
    const added = present.has(own.text.replaceAll('"', '')) ? undefined : ADDED_COLUMNS[own.text];
    return added ? sql`${added} AS ${own}` : own;
  });
  await run(
    sql`CREATE ${tables ? sql`TEMP VIEW` : sql`VIEW`} stored AS SELECT ${join([...fixed, ...stored], ', ')} FROM ${file}`,
  );
  const shape: Building = {
    attributes: new Map(pack.attributes.map((one) => [one.name, one])),
    enums: new Map<string, string>(),
    kind: tables ? sql`TABLE` : sql`VIEW`,
  };
  const columns = [...FIXED_COLUMNS];
  for (const attribute of pack.attributes) {
    if (attribute.type === 'strings') columns.push(await loadEntries(run, attribute, shape));
    else for (const own of neededColumns(attribute)) columns.push(await columnOf(run, attribute, own, shape));
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

async function columnOf(run: RunStatement, attribute: Attribute, own: string, shape: Building): Promise<Sql> {
  if (isText(attribute) && shape.kind.text === 'TABLE')
    await declareEnum(run, own, sql`SELECT ${identifier(own)} AS word FROM stored`, shape);
  return asMember(own, shape);
}

/** A text column as its ENUM, if it has one. */
function asMember(own: string, shape: Building): Sql {
  return shape.enums.has(own) ? sql`${identifier(own)}::${identifier(own)} AS ${identifier(own)}` : identifier(own);
}

/** Loads the entries of a list attribute. `records` only has whether the list has entries. */
async function loadEntries(run: RunStatement, attribute: Attribute, shape: Building): Promise<Sql> {
  const [fold, value] = [column(attribute.name, 'fold'), column(attribute.name, 'value')];
  const rows = sql`SELECT unnest(${identifier(fold)}) AS ${identifier(fold)}, unnest(${identifier(value)}) AS ${identifier(value)}, ord FROM stored`;
  for (const own of shape.kind.text === 'TABLE' ? [fold, value] : [])
    await declareEnum(run, own, sql`SELECT ${identifier(own)} AS word FROM (${rows})`, shape);
  const entries = sql`SELECT ${asMember(fold, shape)}, ${asMember(value, shape)}, ord FROM (${rows})`;
  await run(
    sql`CREATE ${shape.kind} ${identifier(entriesTable(attribute.name))} AS SELECT DISTINCT ${identifier(fold)} AS fold, ${identifier(value)} AS value, ord FROM (${entries}) ORDER BY fold, ord`,
  );
  const own = identifier(comparedColumn(attribute));
  return sql`CASE WHEN ${own} IS NOT NULL THEN true END AS ${own}`;
}

/** Declares an ENUM named like its column when values repeat enough; members in code point order. */
async function declareEnum(run: RunStatement, own: string, rows: Sql, shape: Building): Promise<void> {
  const words = sql`(SELECT word FROM (${rows}) WHERE word IS NOT NULL)`;
  const [[distinct, filled] = []] = await run(sql`SELECT count(DISTINCT word), count(*) FROM ${words}`);
  const many = Number(distinct);
  if (many === 0 || many > ENUM_VALUES || many * 4 > Number(filled)) return;
  await run(sql`CREATE TYPE ${identifier(own)} AS ENUM (SELECT DISTINCT word FROM ${words} ORDER BY word)`);
  shape.enums.set(own, own);
}
