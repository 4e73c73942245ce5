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

/** Reads the sort column from `file`, and the rows from the release. */
export async function firstRows(release: Release, file: string, base_url: string): Promise<FirstRows> {
  const { engine, manifest, pack } = release;
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
    const heights =
      prominence === null
        ? []
        : await parquetReadObjects({
            file: buffer,
            metadata,
            columns: [prominence],
            compressors: { ZSTD: (input: Uint8Array) => decompress(input) },
          }).then((all) => all.map((row) => Number(row[prominence] ?? Number.NEGATIVE_INFINITY)));
    const places = prominence === null ? Array.from({ length: ROWS }, (_, i) => i) : highest(heights);
    const rows = await present(ordinalsAt(places, release));
    return { rows, footer: metadata.metadata_length + TAIL };
  } finally {
    await handle.close();
  }
}

/** Places of the ROWS highest numbers, highest first; equal ones in their order. */
function highest(numbers: readonly number[]): number[] {
  const least = Float64Array.from(numbers).sort().at(-ROWS) ?? Number.NEGATIVE_INFINITY;
  const places = numbers.flatMap((number, i) => (number >= least ? [i] : []));
  return places.sort((a, b) => (numbers[a] === numbers[b] ? 0 : numbers[b]! - numbers[a]!)).slice(0, ROWS);
}

/** Ordinals of rows of the public file: it has the records of the release in order, without removed ones. */
function ordinalsAt(places: readonly number[], { manifest, base, touched }: Release): number[] {
  const removed = new Set(touched?.gone);
  const records = base?.manifest.records ?? manifest.records;
  const ordinals: number[] = [];
  const last = Math.max(-1, ...places);
  for (let ord = 0; ord < records && ordinals.length <= last; ord += 1) if (!removed.has(ord)) ordinals.push(ord);
  return places.flatMap((place) => ordinals[place] ?? []);
}
