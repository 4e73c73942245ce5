// Publishing: stores the list of files under a name of its content, and moves the pointer to it after every
// file is in place.
import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { replaceFile } from '../../data/model/atomic.ts';
import { waitForLock } from '../../data/model/lock.ts';
import { PUBLIC_MODES } from '../../data/model/permissions.ts';
import { BUILD_NOTES } from './output.ts';

const Counts = z.record(z.string(), z.number());

/** Content of `.build/published`: the name of the published list, and what its files contain. */
const Pointer = z.object({
  /** Name of the list in the same folder, `published-<16 hex of its SHA-256>.tsv`. */
  manifest: z.string(),
  files: z.number(),
  bytes: z.number(),
  /** The release of each dataset in the files. */
  releases: z.record(z.string(), z.string()),
  /** Version of the overlay whose removals the files of each dataset lack. */
  overlays: Counts.exactOptional(),
  /** Version of the overlay whose edits the files of each dataset contain. */
  edits: Counts.exactOptional(),
  /** Versions as in `overlays` of files that were written again since, by path. */
  rewritten: Counts.exactOptional(),
  /** BASE_URL of their links; the API warns when it is served under another. */
  base_url: z.string().exactOptional(),
  /** Fingerprint of the code that wrote them; the API generates texts when its own differs. */
  code: z.string().exactOptional(),
});
export type PublishedPointer = z.infer<typeof Pointer>;

/** Waits until no other process writes files into DIST_DIR. Returns the function that ends this. */
export async function lockFiles(dist: string): Promise<() => void> {
  if ((await mkdir(dist, { recursive: true })) !== undefined) await chmod(dist, PUBLIC_MODES.folder);
  return waitForLock(join(dist, BUILD_NOTES), 'files');
}

/**
 * Publishes the files that prerender left in DIST_DIR. The list is copied under a name of its content; the
 * pointer moves by rename. Without a change nothing is written. The previous list is kept, so that a sync can
 * compute what to upload and to delete.
 *
 * @example
 * ```ts
 * const { manifest } = await publish('dist', { files: 812, bytes: 5_120_000, releases: { airports: release } });
 * ```
 */
export async function publish(dist: string, made: Omit<PublishedPointer, 'manifest'>): Promise<PublishedPointer> {
  const notes = join(dist, BUILD_NOTES);
  const list = readFileSync(join(notes, 'manifest.tsv'));
  const manifest = `published-${hash('sha256', list, 'hex').slice(0, 16)}.tsv`;
  const { files, bytes, releases, overlays, edits, rewritten, base_url, code } = made;
  const about = {
    ...(overlays ? { overlays } : {}),
    ...(edits ? { edits } : {}),
    ...(rewritten ? { rewritten } : {}),
    ...(base_url === undefined ? {} : { base_url }),
    ...(code === undefined ? {} : { code }),
  };
  const published: PublishedPointer = { manifest, files, bytes, releases, ...about };
  const pointer = join(notes, 'published');
  const text = `${JSON.stringify(published)}\n`;
  const before = readPublished(dist);
  if (!existsSync(join(notes, manifest))) await replaceFile(join(notes, manifest), list.toString());
  if (!existsSync(pointer) || readFileSync(pointer, 'utf8') !== text) await replaceFile(pointer, text);
  for (const name of readdirSync(notes)) {
    const old = /^published-[0-9a-f]{16}\.tsv$/.test(name) && name !== manifest && name !== before?.manifest;
    // Lists before the previous one are not needed. Without a change the previous list is kept too.
    if (old && before?.manifest !== manifest) rmSync(join(notes, name));
  }
  return published;
}

/** The last published list and its description; null before the first time. */
export function readPublished(dist: string): PublishedPointer | null {
  const pointer = join(dist, BUILD_NOTES, 'published');
  return existsSync(pointer) ? Pointer.parse(JSON.parse(readFileSync(pointer, 'utf8'))) : null;
}
