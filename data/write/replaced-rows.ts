// Parts of statements that copy the rows of a file, with other rows in the place of some.
import { quotedIdentifier } from '../duckdb/duck.ts';

/**
 * Names of two additional columns: the row number of a record, and its new row. The name of an attribute contains no
 * colon.
 */
export const ROW = quotedIdentifier('record:row');
export const OTHER = quotedIdentifier('record:other');

/**
 * The replacement of a row: its entry in the map `variable` of DuckDB if its number is in `rows`, else `otherwise`.
 * Looking up every row in the map takes longer.
 */
export const replacement = (variable: string, rows: readonly unknown[], otherwise = 'NULL') =>
  `CASE WHEN file_row_number IN (${rows.join(', ')}) THEN getvariable('${variable}')[file_row_number] ELSE ${otherwise} END`;

/** The cell of a row, or of the row that replaces it. */
export const cellOrOther = (name: string) =>
  `CASE WHEN ${OTHER} IS NULL THEN ${name} ELSE ${OTHER}.${name} END AS ${name}`;
