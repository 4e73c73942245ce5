// CSV by RFC 4180, with dotted column names and cells that no spreadsheet executes (contract section 2).
import type { Attribute, Geo, Pack, Value } from '../../packs/define/model.ts';
import { bounds } from '../consolidate/compare.ts';

/**
 * Columns of an attribute in flat files: both ends of a price, both coordinates of a point, otherwise one
 * column.
 */
export function flatColumns(attribute: Pick<Attribute, 'name' | 'type'>): string[] {
  if (attribute.type === 'price') return [`${attribute.name}.min`, `${attribute.name}.max`];
  if (attribute.type === 'geo') return [`${attribute.name}.lat`, `${attribute.name}.lng`];
  return [attribute.name];
}

/**
 * Name of a record's own column (`name`, `slug`…) in flat files; `record.name` when an attribute has that
 * name.
 */
export function recordColumn(pack: { attributes: readonly Pick<Attribute, 'name'>[] }, name: string): string {
  return pack.attributes.some((attribute) => attribute.name === name) ? `record.${name}` : name;
}

/** A value in the columns of `flatColumns`; lists as JSON; all null without a value. */
export function flatCells(
  attribute: Pick<Attribute, 'name' | 'type'>,
  value: Value | undefined,
): (string | number | boolean | null)[] {
  if (value === undefined) return flatColumns(attribute).map(() => null);
  if (attribute.type === 'price') {
    const ends = bounds(value);
    return [ends?.min ?? null, ends?.max ?? null];
  }
  if (attribute.type === 'geo') return [(value as Geo).lat, (value as Geo).lng];
  return [Array.isArray(value) ? JSON.stringify(value) : (value as string | number | boolean)];
}

/**
 * Start of a text that spreadsheets treat as a formula, including full-width characters, after white space
 * that they skip.
 */
const FORMULA = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/u;

/** Texts that need no quotes and are no formula: most begin with a letter or digit. */
const SAFE = /^[0-9A-Za-z\u00c0-\u024f][^",\r\n]*$/;

/**
 * One cell: quoted as RFC 4180 requires; a text that a spreadsheet would execute gets an apostrophe in front.
 * Numbers and booleans are unchanged; null is empty.
 */
export function csvCell(value: string | number | boolean | null): string {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  if (SAFE.test(value)) return value;
  const safe = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** One row, without its line end (which is CR LF). */
export function csvRow(cells: readonly (string | number | boolean | null)[]): string {
  return cells.map(csvCell).join(',');
}

/** Column names of a record: its own first and last, its attributes between. */
export function csvHeader(pack: Pack, attributes: readonly Attribute[] = pack.attributes): string[] {
  const columnsOf = (names: string[]) => names.map((name) => recordColumn(pack, name));
  const last = columnsOf(['quality_score', 'completeness', 'verified_owner', 'updated_at']);
  return [...columnsOf(['id', 'slug', 'name']), ...attributes.flatMap(flatColumns), ...last];
}
