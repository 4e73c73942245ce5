// Cells of a result, and as text the way SQL prints them.
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

/** A cell as text; null for no value. Lists and structs are JSON. */
export function printCell(cell: Cell): string | null {
  if (cell === null) return null;
  return typeof cell === 'object' ? JSON.stringify(cell) : String(cell);
}

/** A time of a result in milliseconds since 1970, UTC. */
export const timeOf = (cell: Cell): number =>
  Date.parse(`${String(cell).replace(' ', 'T')}${String(cell).includes(' ') ? 'Z' : ''}`);
