// Rows of a source that the proposal of a pack is made from.
import type { SourceVersion } from '../../sources/reader.ts';

/** The first rows of a source. */
export interface RowSample {
  /** File name, address or `query`. */
  name: string;
  /** Columns in the order of the source; paths such as `address.city` for nested JSON. */
  columns: readonly string[];
  /** Cells of each row in the order of `columns`: texts, or JSON values; undefined without a value. */
  rows: readonly (readonly unknown[])[];
  /** Whether these are all rows of the source. */
  whole: boolean;
  /** Number formats of columns, and what the source has and the rows lack, as its reader states them. */
  formats?: ReadonlyMap<string, string> | undefined;
  notes?: readonly string[] | undefined;
}

/** Bounds of a sample. Cells bound the memory for files with many columns. */
export interface SampleLimits {
  rows: number;
  cells: number;
}

export const SAMPLE_LIMITS: SampleLimits = { rows: 100_000, cells: 4_000_000 };

/** Reads the first rows of a version. */
export async function readSample(version: SourceVersion, limits: SampleLimits = SAMPLE_LIMITS): Promise<RowSample> {
  const most = Math.max(1, Math.min(limits.rows, Math.floor(limits.cells / Math.max(1, version.columns.length))));
  const rows: (readonly unknown[])[] = [];
  let whole = true;
  for await (const row of version.rows) {
    whole = rows.length < most;
    if (!whole) break;
    rows.push(row.cells);
  }
  // A reader of JSON may add columns while it reads.
  const { name, formats, notes } = version;
  return flattened({ name, columns: [...version.columns], rows, whole, formats, notes });
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
  if (columns.join('\n') === sample.columns.join('\n')) return sample;
  return { ...sample, columns, rows: sample.rows.map((row) => picks.map((pick) => pick(row))) };
}
