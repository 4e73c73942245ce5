// Cells of a result: Arrow values as JSON values, and as text the way SQL prints them.
import { fromMicroseconds } from '../../packs/define/times.ts';

/** The used part of an Arrow type: its number (Type of apache-arrow). */
interface CellType {
  typeId: number;
}

/** A JSON value. Times are UTC texts; integers beyond 2^53 are texts of digits. */
export type Cell = string | number | boolean | null | object;
export type ResultRow = readonly Cell[];

export interface ResultColumn {
  name: string;
  kind: 'number' | 'time' | 'boolean' | 'text' | 'other';
  /** Whether all numbers are integers. */
  integer: boolean;
  /** Whether the times are days. */
  day: boolean;
}

const [INT, FLOAT, UTF8, BOOL, DECIMAL, DATE, TIME, TIMESTAMP, LARGE_UTF8, DICTIONARY] = [
  2, 3, 5, 6, 7, 8, 9, 10, 20, -1,
];
const KINDS: Readonly<Record<number, ResultColumn['kind']>> = {
  [INT!]: 'number',
  [FLOAT!]: 'number',
  [DECIMAL!]: 'number',
  [BOOL!]: 'boolean',
  [UTF8!]: 'text',
  [LARGE_UTF8!]: 'text',
  [DICTIONARY!]: 'text',
  [TIME!]: 'text',
  [DATE!]: 'time',
  [TIMESTAMP!]: 'time',
};

/** Name and kind of an Arrow field. */
export function resultColumn({ name, type }: { name: string; type: CellType }): ResultColumn {
  return { name, kind: KINDS[type.typeId] ?? 'other', integer: type.typeId === INT, day: type.typeId === DATE };
}

/** An Arrow value as a JSON value. */
export function cellOf(value: unknown, { typeId }: CellType): Cell {
  if (value === null || value === undefined) return null;
  if (typeId === DATE) return timeText(value).slice(0, 10);
  if (typeId === TIMESTAMP) return timeText(value).replace('T', ' ').replace(/Z$/, '');
  if (typeId === TIME && (typeof value === 'bigint' || typeof value === 'number'))
    return new Date(Number(value) / 1000).toISOString().slice(11, 19);
  if (typeof value === 'object') return JSON.parse(JSON.stringify(value, plain)) as object;
  if (typeof value === 'bigint') return plain('', value) as Cell;
  return value as Cell;
}

function timeText(value: unknown): string {
  const date = value instanceof Date ? value : new Date(Number(value));
  if (Number.isNaN(date.getTime())) return String(value);
  // Arrow's milliseconds have the microseconds as decimals.
  return fromMicroseconds(BigInt(Math.round(Number(value) * 1000)));
}

/** Arrow vectors and rows as JSON values. */
function plain(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
    if (Symbol.iterator in value && 'length' in value) return [...(value as Iterable<unknown>)];
  }
  return value;
}

/** A cell as text; null for no value. Lists and structs are JSON. */
export function printCell(cell: Cell): string | null {
  if (cell === null) return null;
  return typeof cell === 'object' ? JSON.stringify(cell) : String(cell);
}

/** A time of a result in milliseconds since 1970, UTC. */
export const timeOf = (cell: Cell): number =>
  Date.parse(`${String(cell).replace(' ', 'T')}${String(cell).includes(' ') ? 'Z' : ''}`);

/** The error message of DuckDB, which is sometimes JSON. */
export function errorMessage(error: unknown): string {
  const whole = error instanceof Error ? error.message : String(error);
  // DuckDB suggests installing an extension, which this page does not allow.
  const [message = '', advice] = whole.split(/\n+Please try installing/);
  if (advice !== undefined) return `${message}\n\nExtensions are not available here, because another host serves them.`;
  if (!message.startsWith('{')) return message;
  try {
    const { exception_type: type, exception_message: text } = JSON.parse(message) as Record<string, string>;
    return `${type ?? ''} Error: ${text ?? message}`.trim();
  } catch {
    return message;
  }
}
