// A context for readers of declared sources: reported rows and progress are collected.
import type { BrokenRow, Mark, RawRow, SourceContext, SourceVersion } from '../../build/sources/reader.ts';
import { type DeclaredAs, type DeclaredKind, DeclaredSourceShape } from '../../packs/define/sources.ts';

/** A context on a folder, and what a reader reported to it. */
export function sourceContext(folder: string, given: Partial<SourceContext> = {}) {
  const broken: BrokenRow[] = [];
  const progress: [number, number | null, string][] = [];
  const context: SourceContext = {
    folder,
    wanted: new Set(),
    marks: [],
    environment: (name) => {
      throw new Error(`${name} is not set`);
    },
    web: () => Promise.reject(new Error('no web client')),
    now: () => new Date('2026-11-20T00:00:00Z'),
    broken: (row) => void broken.push(row),
    progress: (...step) => void progress.push(step),
    ...given,
  };
  return { context, broken, progress };
}

/** A version with all its rows. */
export interface ReadVersion {
  name: string;
  columns: string[];
  observed_at: string;
  rows: RawRow[];
  mark: Mark;
}

/** Reads all versions with their rows. */
export async function readAll(versions: AsyncIterable<SourceVersion>): Promise<ReadVersion[]> {
  const all: ReadVersion[] = [];
  for await (const version of versions) {
    const rows = await Array.fromAsync(version.rows);
    const { name, observed_at } = version;
    all.push({
      name,
      columns: [...version.columns],
      observed_at: observed_at.toISOString(),
      rows,
      mark: version.mark(),
    });
  }
  return all;
}

/** The rows as objects, as a pack's functions receive them. */
export const objectsOf = ({ columns, rows }: ReadVersion) =>
  rows.map(({ cells }) => Object.fromEntries(columns.map((column, i) => [column, cells[i]])));

/** A declaration with its defaults, as the check of a pack returns it. */
export function declaredAs<K extends DeclaredKind>(kind: K, input: { kind: K }): DeclaredAs<K> {
  const declared = DeclaredSourceShape.parse(input);
  if (declared.kind !== kind) throw new Error(`not ${kind}`);
  return declared as DeclaredAs<K>;
}
