// Values of DuckDB in the form of answers, exactly, and the texts of rows in each format.
import {
  DuckDBArrayValue,
  DuckDBBlobValue,
  DuckDBDecimalValue,
  DuckDBListValue,
  DuckDBMapValue,
  DuckDBStructValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  DuckDBUnionValue,
} from '@duckdb/node-api';
import { csvRow } from '../write/csv.ts';

/** Formats in which the rows of an answer are written. */
export type SqlForm = 'json' | 'csv' | 'ndjson';

/** Most digits that a JSON number has exactly. */
const DIGITS = 15;

/**
 * A value as JSON: numbers that a double does not hold exactly as text, times as ISO 8601 in UTC, structs and maps with
 * text keys as objects, bytes in base64.
 */
function jsonValue(value: unknown): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value instanceof DuckDBDecimalValue) {
    const text = value.toString();
    return text.replace(/^-?0*|\D/g, '').length <= DIGITS ? Number(text) : text;
  }
  if (value instanceof DuckDBTimestampValue || value instanceof DuckDBTimestampTZValue) {
    const text = new DuckDBTimestampValue(value.micros).toString();
    return value.isFinite ? `${text.replace(' ', 'T')}Z` : text;
  }
  if (value instanceof DuckDBListValue || value instanceof DuckDBArrayValue) return value.items.map(jsonValue);
  if (value instanceof DuckDBStructValue)
    return Object.fromEntries(Object.entries(value.entries).map(([name, member]) => [name, jsonValue(member)]));
  if (value instanceof DuckDBMapValue) {
    const entries = value.entries.map(({ key, value: member }) => [jsonValue(key), jsonValue(member)]);
    return entries.every(([key]) => typeof key === 'string') ? Object.fromEntries(entries) : entries;
  }
  if (value instanceof DuckDBUnionValue) return jsonValue(value.value);
  if (value instanceof DuckDBBlobValue) return Buffer.from(value.bytes).toString('base64');
  return String(value);
}

interface Form {
  row: (names: readonly string[], values: readonly unknown[]) => string;
  whole: (names: readonly string[], rows: readonly string[]) => string;
}

const csvCell = (value: unknown) =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : (value as string | number | boolean | null);

/** How each format writes rows. A missing value is null in JSON, an empty cell in CSV, and absent in NDJSON. */
export const ROW_FORMS: Record<SqlForm, Form> = {
  json: {
    row: (_names, values) => JSON.stringify(values.map(jsonValue)),
    whole: (_names, rows) => `[${rows.join()}]`,
  },
  csv: {
    row: (_names, values) => csvRow(values.map((value) => csvCell(jsonValue(value)))),
    whole: (names, rows) => [csvRow(names), ...rows].map((row) => `${row}\r\n`).join(''),
  },
  ndjson: {
    row: (names, values) => {
      const cells = values.map((value, i) => [names[i]!, jsonValue(value)] as const);
      return `${JSON.stringify(Object.fromEntries(cells.filter(([, value]) => value !== null)))}\n`;
    },
    whole: (_names, rows) => rows.join(''),
  },
};
