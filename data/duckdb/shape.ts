// Shape of the loaded tables for the SQL compilers: the pack's attributes, and the columns that are ENUMs.
import type { Attribute } from '../../packs/define/model.ts';
import { column } from '../model/layout.ts';
import type { GroupKey } from '../plan/group-key.ts';
import { countLiteral, identifier, type Sql, sql } from '../plan/sql.ts';

/**
 * Tables in memory: `records` (engine columns; of a list only whether it has entries), `terms`, `refs`, and
 * one of entries per list attribute.
 */
export interface Shape {
  attributes: ReadonlyMap<string, Attribute>;
  /** ENUM type by column. ENUMs are declared in code point order, so that they sort like text. */
  enums: ReadonlyMap<string, string>;
  /** The schema with the views of an overlay, or of a moment, that replace the tables; absent: none. */
  schema?: string;
  /**
   * Whether rows have a column `stale`: true for those that an overlay removed or replaced. No condition of a caller is
   * evaluated on them (`whereNotStale`).
   */
  hasStale?: boolean;
  /** The schema of all records as of an earlier moment, without the overlay; absent: now. */
  whole?: string;
  /** False: an overlay changed the quality of records, so ordinals are not the order by quality. */
  ranked?: boolean;
}

/** A table of the release, or its replacement by an overlay or at an earlier moment. */
export function tableSql({ schema }: Pick<Shape, 'schema'>, table: string): Sql {
  const name = /^[a-z_]+$/.test(table) ? { text: table, values: [] } : identifier(table);
  return schema === undefined ? name : sql`${identifier(schema)}.${name}`;
}

/**
 * A condition of a caller on rows of an overlay. DuckDB may evaluate the conditions of AND, and those of a view, in any
 * order, but the branches of CASE only where they are needed.
 */
export const whereNotStale = ({ hasStale }: Pick<Shape, 'hasStale'>, condition: Sql): Sql =>
  hasStale ? sql`CASE WHEN stale THEN false ELSE ${condition} END` : condition;

/** A table of the release without its overlay. */
export const wholeTableSql = ({ whole }: Shape, table: string): Sql =>
  tableSql(whole === undefined ? {} : { schema: whole }, table);

/** An attribute in a plan. Plans are built from the pack, so an unknown one is a bug, not bad input. */
export function attributeOf(shape: Shape, attribute: string): Attribute {
  const definition = shape.attributes.get(attribute);
  if (!definition) throw new Error(`the pack has no attribute ${attribute}, which the plan names`);
  return definition;
}

/** Attributes whose engine column holds folded text. */
export function isText({ type }: Attribute): boolean {
  return type === 'string' || type === 'text' || type === 'url' || type === 'enum';
}

/** Table of the entries of a list attribute: value, fold, ord; each entry once per record, sorted by fold. */
export function entriesTable(attribute: string): string {
  return `entries:${attribute}`;
}

/** The column for equality, presence and order. */
export function comparedColumn(attribute: Attribute): string {
  if (isText(attribute) || attribute.type === 'strings') return column(attribute.name, 'fold');
  if (attribute.type === 'price') return column(attribute.name, 'min');
  if (attribute.type === 'geo') return column(attribute.name, 'lat');
  return column(attribute.name, 'value');
}

/** The column for facets: texts as published. */
export function countedColumn(attribute: Attribute): string {
  return isText(attribute) ? column(attribute.name, 'value') : comparedColumn(attribute);
}

/** The expression for groups and facets: a column, or the beginning of dates and times. */
export function groupSql({ attribute, length }: GroupKey): Sql {
  const counted = identifier(countedColumn(attribute));
  return length === null ? counted : sql`left(${counted}, ${countLiteral(length)})`;
}

/** The column for sorting: folded text, the lower end of a price. */
export function sortColumn(shape: Shape, key: string): string {
  if (key === 'quality' || key === 'updated') return key;
  const attribute = attributeOf(shape, key);
  if (attribute.type === 'strings' || attribute.type === 'geo')
    throw new Error(`cannot sort by ${key}: lists and points have no order`);
  return comparedColumn(attribute);
}

/**
 * A value to compare with a column: as a member of its ENUM (NULL if it has no such member), else unchanged.
 */
export function enumMember(shape: Shape, column: string, value: string | number | boolean): Sql {
  const type = shape.enums.get(column);
  return type === undefined ? sql`${value}` : sql`TRY_CAST(${value} AS ${identifier(type)})`;
}
