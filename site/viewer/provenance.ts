// Sources of values: only these members of the provenance column are read, for the row groups on the page.
import { type AsyncBuffer, type Compressors, type FileMetaData, parquetReadObjects } from 'hyparquet';
import type { CellSource } from './messages.ts';

/** A row group: rows from `from` up to, not including, `to`. */
export interface Group {
  from: number;
  to: number;
}

/** The open file. */
export interface ParquetFile {
  file: AsyncBuffer;
  metadata: FileMetaData;
  compressors: Compressors;
  groups: readonly Group[];
}

const MEMBERS = ['source_url', 'observed_at', 'confidence'];

/** The metadata with the columns only whose path passes `keep`. */
function prune(metadata: FileMetaData, keep: (path: readonly string[]) => boolean): FileMetaData {
  let at = 0;
  const visit = (path: readonly string[]): FileMetaData['schema'] => {
    const element = metadata.schema[at++]!;
    const count = element.num_children ?? 0;
    if (count === 0) return keep(path) ? [element] : [];
    const children = Array.from({ length: count }, () => visit([...path, metadata.schema[at]!.name]));
    const kept = children.filter((list) => list.length > 0);
    return kept.length === 0 ? [] : [{ ...element, num_children: kept.length }, ...kept.flat()];
  };
  const schema = visit([]);
  const row_groups = metadata.row_groups.map((group) => ({
    ...group,
    columns: group.columns.filter(({ meta_data }) => keep(meta_data?.path_in_schema ?? [])),
  }));
  return { ...metadata, schema, row_groups };
}

type Struct = Record<string, Record<string, unknown> | null> | null;

/** Sources of rows, by row and attribute in the given order; null: no value. */
export async function readSources(
  { file, metadata, compressors, groups }: ParquetFile,
  column: string,
  rows: Uint32Array,
  attributes: readonly string[],
): Promise<(CellSource | null)[][]> {
  const pruned = prune(
    metadata,
    ([top, name = '', member = '']) => top === column && attributes.includes(name) && MEMBERS.includes(member),
  );
  const found = new Map<number, Struct>();
  await Promise.all(
    groups.map(async ({ from, to }) => {
      const own = rows.filter((row) => row >= from && row < to);
      if (own.length === 0) return;
      const [first, last] = [own.reduce((a, b) => Math.min(a, b)), own.reduce((a, b) => Math.max(a, b))];
      const options = { file, metadata: pruned, compressors, columns: [column], rowStart: first, rowEnd: last + 1 };
      const objects = await parquetReadObjects(options);
      for (const row of own) found.set(row, objects[row - first]?.[column] as Struct);
    }),
  );
  return Array.from(rows, (row) => attributes.map((name) => sourceOf(found.get(row)?.[name])));
}

function sourceOf(value: Record<string, unknown> | null | undefined): CellSource | null {
  if (!value || typeof value['source_url'] !== 'string') return null;
  const observed = value['observed_at'];
  return {
    source_url: value['source_url'],
    observed_at: observed instanceof Date ? observed.toISOString() : String(observed),
    confidence: Number(value['confidence']),
  };
}
