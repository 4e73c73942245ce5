// A result as a file or as text: CSV, JSON, Markdown and Parquet.
import { csvRow } from '../../data/write/csv.ts';
import { type Cell, printCell, type ResultColumn, type ResultRow } from './cells.ts';

export type ResultFormat = 'csv' | 'json' | 'parquet';
export type TextFormat = 'markdown' | 'json' | 'csv';

const CONTENT_TYPES: Record<ResultFormat, string> = {
  csv: 'text/csv;charset=utf-8',
  json: 'application/json',
  parquet: 'application/vnd.apache.parquet',
};

/** Writes batches of rows into a file. */
interface FileWriter {
  add(rows: readonly ResultRow[]): void;
  /** The last part of the file. */
  end(): BlobPart[];
}

/** Rows as a file. `onRows` receives the number of rows after each batch. */
export async function fileOf(
  format: ResultFormat,
  columns: readonly ResultColumn[],
  batches: AsyncIterable<readonly ResultRow[]>,
  onRows: (rows: number) => void,
): Promise<Blob> {
  const writer = format === 'parquet' ? (await import('./parquet.ts')).parquetFile(columns) : textFile(format, columns);
  let count = 0;
  for await (const rows of batches) {
    writer.add(rows);
    count += rows.length;
    onRows(count);
  }
  return new Blob(writer.end(), { type: CONTENT_TYPES[format] });
}

function textFile(format: 'csv' | 'json', columns: readonly ResultColumn[]): FileWriter {
  const parts: string[] = [format === 'csv' ? csvLine(columns.map(({ name }) => name)) : '['];
  let before = '\n';
  return {
    add(rows) {
      const lines = rows.map((row) => {
        if (format === 'csv') return csvLine(row);
        const line = `${before}${JSON.stringify(objectOf(columns, row))}`;
        before = ',\n';
        return line;
      });
      parts.push(lines.join(''));
    },
    end: () => (format === 'csv' ? parts : [...parts, '\n]\n']),
  };
}

const csvLine = (row: ResultRow) =>
  `${csvRow(row.map((cell) => (typeof cell === 'object' ? printCell(cell) : cell)))}\r\n`;

function objectOf(columns: readonly ResultColumn[], row: ResultRow): Record<string, Cell> {
  return Object.fromEntries(columns.map(({ name }, at) => [name, row[at] ?? null]));
}

/** Rows as text for the clipboard. */
export function resultText(format: TextFormat, columns: readonly ResultColumn[], rows: readonly ResultRow[]): string {
  if (format === 'json')
    return `[\n${rows.map((row) => `  ${JSON.stringify(objectOf(columns, row))}`).join(',\n')}\n]\n`;
  if (format === 'csv') return [columns.map(({ name }) => name), ...rows].map(csvLine).join('');
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`;
  const rule = columns.map(({ kind }) => (kind === 'number' ? '--:' : '---'));
  return (
    line(columns.map(({ name }) => markdownCell(name))) +
    line(rule) +
    rows.map((row) => line(row.map((cell) => markdownCell(printCell(cell) ?? '')))).join('')
  );
}

const markdownCell = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('|', '\\|').replace(/\s+/g, ' ');
