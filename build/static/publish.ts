// Publishing: names the list of files that stands now, and moves the pointer to it, after every file is in place.
import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../../data/model/atomic.ts';
import { BUILD_NOTES } from './output.ts';

/** What `.build/published` says: which list of files is the published one. */
export interface Published {
  /** Name of the list beside it, `published-<16 hex of its SHA-256>.tsv`. */
  manifest: string;
  files: number;
  bytes: number;
  /** Release of each dataset that the files stand for. */
  releases: Record<string, string>;
  /** Version of the overlay of each dataset that they stand for. */
  overlays?: Record<string, number>;
  /** BASE_URL that their links begin with; the API tells when it is served under another. */
  base_url?: string;
  /** Fingerprint of the code that made them; the API sends generated text instead of files of another. */
  code?: string;
}

/**
 * Publishes what prerender left in DIST_DIR. The list is a copy under a name of its content; the pointer moves by rename. With nothing
 * changed nothing is written. The list before stays, so that a sync can tell what to upload and what to delete.
 */
export async function publish(dist: string, made: Omit<Published, 'manifest'>): Promise<Published> {
  const notes = join(dist, BUILD_NOTES);
  const list = readFileSync(join(notes, 'manifest.tsv'));
  const manifest = `published-${hash('sha256', list, 'hex').slice(0, 16)}.tsv`;
  const { files, bytes, releases, overlays, base_url, code } = made;
  const about = {
    ...(overlays ? { overlays } : {}),
    ...(base_url === undefined ? {} : { base_url }),
    ...(code === undefined ? {} : { code }),
  };
  const published: Published = { manifest, files, bytes, releases, ...about };
  const pointer = join(notes, 'published');
  const text = `${JSON.stringify(published)}\n`;
  const before = readPublished(dist);
  if (!existsSync(join(notes, manifest))) await replaceFile(join(notes, manifest), list.toString());
  if (!existsSync(pointer) || readFileSync(pointer, 'utf8') !== text) await replaceFile(pointer, text);
  for (const name of readdirSync(notes)) {
    const old = /^published-[0-9a-f]{16}\.tsv$/.test(name) && name !== manifest && name !== before?.manifest;
    // What was published twice ago is needed by nobody; without a change the list before this one stays as well.
    if (old && before?.manifest !== manifest) rmSync(join(notes, name));
  }
  return published;
}

/** What was published last; null before the first time. */
export function readPublished(dist: string): Published | null {
  const pointer = join(dist, BUILD_NOTES, 'published');
  return existsSync(pointer) ? (JSON.parse(readFileSync(pointer, 'utf8')) as Published) : null;
}
