// Rows of a source that the proposal of a pack is made from.
import type { SourceVersion } from '../../sources/reader.ts';
import { cellText } from './column.ts';

/** The first rows of a source. */
export interface RowSample {
  /** File name, address or `query`. */
  name: string;
  /** Columns in the order of the source; paths such as `address.city` for nested JSON. */
  columns: readonly string[];
  /** Cells of each row in the order of `columns`: texts, or JSON values; undefined without a value. */
  rows: readonly (readonly unknown[])[];
  /** Rows of the source. If `whole` is false, reading stopped and there may be more. */
  total: number;
  /** Whether every row of the source was read or counted. */
  whole: boolean;
  /** Number formats of columns, and what the source has and the rows lack, as its reader states them. */
  formats?: ReadonlyMap<string, string> | undefined;
  notes?: readonly string[] | undefined;
}

/** Bounds of a sample. Cells bound the memory for files with many columns. */
export interface SampleLimits {
  rows: number;
  cells: number;
  /** Rows that are counted after the sample. */
  counted: number;
}

export const SAMPLE_LIMITS: SampleLimits = { rows: 100_000, cells: 4_000_000, counted: 5_000_000 };

/** Reads the first rows of a version and counts the others. `progress` receives the rows read so far. */
export async function readSample(
  version: SourceVersion,
  limits: SampleLimits = SAMPLE_LIMITS,
  progress: (rows: number) => void = () => {},
): Promise<RowSample> {
  const most = Math.max(1, Math.min(limits.rows, Math.floor(limits.cells / Math.max(1, version.columns.length))));
  const cells: (readonly unknown[])[] = [];
  let total = 0;
  let whole = true;
  for await (const row of version.rows) {
    if (total >= limits.counted) {
      whole = false;
      break;
    }
    total++;
    if (cells.length < most) cells.push(row.cells);
    if (total % 10_000 === 0) progress(total);
  }
  // A reader of JSON may add columns while it reads.
  const { name, formats, notes } = version;
  return flattened({ name, columns: [...version.columns], rows: cells, total, whole, formats, notes });
}

/** Rows of a version that repeat the cells of an earlier row in these columns. */
export async function repeatedKeys(version: SourceVersion, columns: readonly string[]): Promise<number> {
  const seen = new Set<string>();
  let repeated = 0;
  for await (const { cells } of version.rows) {
    // Sets have an upper limit, and each key needs memory.
    if (seen.size >= SAMPLE_LIMITS.counted) break;
    const key = columns.map((name) => cellText(cells[version.columns.indexOf(name)])).join('\u0000');
    if (seen.has(key)) repeated++;
    else seen.add(key);
  }
  return repeated;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** Levels of nested objects that become columns. */
const DEPTH = 3;

/** Replaces columns of objects by a column for each member: `address.city`. */
export function flattened(sample: RowSample): RowSample {
  const columns: string[] = [];
  const picks: ((row: readonly unknown[]) => unknown)[] = [];
  const add = (name: string, pick: (row: readonly unknown[]) => unknown, depth: number): void => {
    const members = new Set<string>();
    for (const row of sample.rows) {
      const cell = pick(row);
      if (isObject(cell)) for (const member of Object.keys(cell)) members.add(member);
    }
    if (members.size === 0 || depth >= DEPTH) {
      columns.push(name);
      picks.push(pick);
      return;
    }
    for (const member of members) {
      const inner = (row: readonly unknown[]) => {
        const cell = pick(row);
        return isObject(cell) ? cell[member] : undefined;
      };
      add(`${name}.${member}`, inner, depth + 1);
    }
  };
  sample.columns.forEach((name, i) => {
    add(name, (row) => row[i], 0);
  });
  if (columns.length === sample.columns.length) return sample;
  return { ...sample, columns, rows: sample.rows.map((row) => picks.map((pick) => pick(row))) };
}
