// Cells of a result as text: Arrow values, printed as SQL prints them.

/** The used part of an Arrow type: its number (Type of apache-arrow), and the zone of a timestamp. */
interface CellType {
  typeId: number;
  unit?: number;
  timezone?: string | null;
}

const DATE = 8;
const TIME = 9;
const TIMESTAMP = 10;

/** A cell as text; null for no value. Times are UTC, lists and structs are JSON. */
export function printCell(value: unknown, type: CellType): string | null {
  if (value === null || value === undefined) return null;
  if (type.typeId === DATE) return dated(value).slice(0, 10);
  if (type.typeId === TIMESTAMP)
    return dated(value)
      .replace('T', ' ')
      .replace(/(\.000)?Z$/, '');
  if (type.typeId === TIME && (typeof value === 'bigint' || typeof value === 'number'))
    return new Date(Number(value) / 1000).toISOString().slice(11, 19);
  if (typeof value === 'object') return JSON.stringify(value, plain);
  return String(value);
}

function dated(value: unknown): string {
  const date = value instanceof Date ? value : new Date(Number(value));
  return Number.isNaN(date.getTime()) ? String(value) : date.toISOString();
}

/** Arrow vectors and rows as JSON values. */
function plain(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
    if (Symbol.iterator in value && 'length' in value) return [...(value as Iterable<unknown>)];
  }
  return value;
}

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
