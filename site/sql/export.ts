// A result as a file or as text: CSV, JSON and Markdown.
import { csvRow } from '../../data/write/csv.ts';
import { type Cell, printCell, type ResultColumn, type ResultRow } from './cells.ts';

export type ResultFormat = 'csv' | 'json';
export type TextFormat = 'markdown' | ResultFormat;

const CONTENT_TYPES: Record<ResultFormat, string> = { csv: 'text/csv;charset=utf-8', json: 'application/json' };

/** Rows as a file. */
export const fileOf = (format: ResultFormat, columns: readonly ResultColumn[], rows: readonly ResultRow[]): Blob =>
  new Blob([resultText(format, columns, rows)], { type: CONTENT_TYPES[format] });

const csvLine = (row: ResultRow) =>
  `${csvRow(row.map((cell) => (typeof cell === 'object' ? printCell(cell) : cell)))}\r\n`;

function objectOf(columns: readonly ResultColumn[], row: ResultRow): Record<string, Cell> {
  return Object.fromEntries(columns.map(({ name }, at) => [name, row[at] ?? null]));
}

/** Rows as text. */
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
