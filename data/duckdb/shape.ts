// What the compilers know of the loaded tables: the pack's attributes, and which columns became ENUMs.
import type { Attribute } from '../../packs/define/model.ts';
import { column } from '../model/layout.ts';
import { name, type Sql, sql } from './sql.ts';

/**
 * Tables in memory: `records` (engine columns; of a list only whether there is one), `terms`, `refs`, and one of entries
 * per list attribute.
 */
export interface Shape {
  attributes: ReadonlyMap<string, Attribute>;
  /** Column to the ENUM type it was loaded as. ENUMs are declared in code point order, so that they sort as text does. */
  enums: ReadonlyMap<string, string>;
  /** Whether words have numbers, or stand for themselves. */
  numbered?: boolean;
  /** What an overlay put in the place of tables, by name; absent: nothing. */
  stands?: ReadonlyMap<string, string>;
  /** False: an overlay changed what records are worth, so that ordinals no longer are the order by quality. */
  ranked?: boolean;
}

/** A table of the release, or what an overlay put in its place. */
export function table({ stands }: Shape, own: string): Sql {
  const stand = stands?.get(own) ?? own;
  return /^[a-z_]+$/.test(stand) ? { text: stand, values: [] } : name(stand);
}

/** An attribute that a plan names. Plans are made from the pack, so a miss is a bug, not bad input. */
export function attributeOf(shape: Shape, attribute: string): Attribute {
  const found = shape.attributes.get(attribute);
  if (!found) throw new Error(`the plan names an attribute that the pack lacks: ${attribute}`);
  return found;
}

/** Attributes whose engine column holds folded text. */
export function isText({ type }: Attribute): boolean {
  return type === 'string' || type === 'text' || type === 'url' || type === 'enum';
}

/** Table of the entries of a list attribute: value, fold, ord; each entry once per record, sorted by fold. */
export function entriesTable(attribute: string): string {
  return `entries:${attribute}`;
}

/** The column that equality, presence and order look at. */
export function comparedColumn(attribute: Attribute): string {
  if (isText(attribute) || attribute.type === 'strings') return column(attribute.name, 'fold');
  if (attribute.type === 'price') return column(attribute.name, 'min');
  if (attribute.type === 'geo') return column(attribute.name, 'lat');
  return column(attribute.name, 'value');
}

/** The column that facets count by: texts as they are written. */
export function countedColumn(attribute: Attribute): string {
  return isText(attribute) ? column(attribute.name, 'value') : comparedColumn(attribute);
}

/** What records are ordered by: folded text, the lower end of a price. */
export function sortColumn(shape: Shape, key: string): string {
  if (key === 'quality' || key === 'updated') return key;
  const attribute = attributeOf(shape, key);
  if (attribute.type === 'strings' || attribute.type === 'geo') throw new Error(`${key} has no order`);
  return comparedColumn(attribute);
}

/** One text to compare with a column: as a member of its ENUM (NULL when it has no such member), else as it is. */
export function member(shape: Shape, column: string, value: string | number | boolean): Sql {
  const type = shape.enums.get(column);
  return type === undefined ? sql`${value}` : sql`TRY_CAST(${value} AS ${name(type)})`;
}
