// Precompressed copies of static files, written by the nightly run or when publishing, never for a request.
import { stat } from 'node:fs/promises';
import { COMPRESSIBLE, COPY_ENDINGS } from '../discovery/hosting.ts';
import { CODINGS, type Coding, codingFor } from './coding.ts';
import type { StaticFile } from './files.ts';

/** A copy of a file in a content coding; `bytes` is its size. */
export interface CompressedCopy {
  coding: Coding;
  path: string;
  bytes: number;
}

/**
 * The copies of a file that exist on disk, smallest coding first: next to the file, as static hosts expect,
 * or in the build's folder. Ignores a copy that is older than its file. Empty for compressed formats.
 */
export async function findCompressedCopies({ path, copies, last_modified }: StaticFile): Promise<CompressedCopy[]> {
  if (!COMPRESSIBLE.test(path)) return [];
  const candidates = await Promise.all(
    CODINGS.map(async (coding): Promise<CompressedCopy | null> => {
      for (const place of [path, copies]) {
        const copy = `${place}.${COPY_ENDINGS[coding]}`;
        const stats = await stat(copy).catch(() => null);
        if (stats?.isFile() && Math.ceil(stats.mtimeMs) >= last_modified.getTime())
          return { coding, path: copy, bytes: stats.size };
      }
      return null;
    }),
  );
  return candidates.filter((copy) => copy !== null);
}

/** The copy for an `Accept-Encoding` header; null: the uncompressed file. */
export function pickEncodedCopy(copies: readonly CompressedCopy[], header: string | undefined): CompressedCopy | null {
  const coding = codingFor(
    header,
    copies.map((copy) => copy.coding),
  );
  return copies.find((copy) => copy.coding === coding) ?? null;
}
