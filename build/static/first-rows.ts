// The first rows of a dataset's table, as the viewer (site/viewer) sorts the public file: by prominence, else
// as in the file.
import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { decompress } from 'fzstd';
import { type AsyncBuffer, parquetMetadataAsync, parquetReadObjects, parquetSchema } from 'hyparquet';
import type { PublicRecord } from '../../data/model/record.ts';
import { presentRecord } from '../../data/queries/present.ts';
import type { Release } from '../../data/releases/release.ts';

/** Rows of a page (`PAGE_ROWS` of the viewer). */
const ROWS = 50;
/** Bytes after the metadata of a Parquet file: its length and a mark. */
const TAIL = 8;

export interface FirstRows {
  rows: PublicRecord[];
  /** Bytes at the end of the file with its metadata. */
  footer: number;
}

/** Reads the sort column and the slugs from `file`, and the rows from the release. */
export async function firstRows(
  { engine, manifest, pack }: Release,
  file: string,
  base_url: string,
): Promise<FirstRows> {
  const options = { now: new Date(manifest.created_at), base_url, visibility: 'public' } as const;
  const present = async (ordinals: number[]) =>
    (await engine.bodies(ordinals)).map(({ body }) => presentRecord(body, pack, options));
  // A release of an earlier program version has no public file.
  if (!existsSync(file)) {
    const sort = { key: pack.serving.prominence ?? 'quality', descending: true };
    const { ordinals } = await engine.search({ where: [], sort, after: null, limit: ROWS, total: false });
    return { rows: await present(ordinals), footer: 0 };
  }
  const handle = await open(file);
  try {
    const { size: byteLength } = await handle.stat();
    const buffer: AsyncBuffer = {
      byteLength,
      async slice(start, end = byteLength) {
        const bytes = new Uint8Array(end - start);
        await handle.read(bytes, 0, bytes.length, start);
        return bytes.buffer;
      },
    };
    const metadata = await parquetMetadataAsync(buffer);
    // The release may be older than the attribute.
    const columns = parquetSchema(metadata).children.map(({ element }) => element.name);
    const prominence = columns.find((name) => name === pack.serving.prominence) ?? null;
    const read = (columns: string[]) =>
      parquetReadObjects({
        file: buffer,
        metadata,
        columns,
        ...(prominence === null ? { rowEnd: ROWS } : {}),
        compressors: { ZSTD: (input: Uint8Array) => decompress(input) },
      });
    const all = await read(['slug', ...(prominence === null ? [] : [prominence])]);
    const height = (row: Record<string, unknown>) => {
      const value = prominence === null ? null : row[prominence];
      return value === null || value === undefined ? Number.NEGATIVE_INFINITY : Number(value);
    };
    if (prominence !== null) all.sort((a, b) => (height(b) === height(a) ? 0 : height(b) - height(a)));
    const ordinals = await engine.resolve(all.slice(0, ROWS).map(({ slug }) => String(slug)));
    const rows = await present(ordinals.filter((ordinal) => ordinal !== null));
    return { rows, footer: metadata.metadata_length + TAIL };
  } finally {
    await handle.close();
  }
}
