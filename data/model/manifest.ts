// The manifest of a release: reading, verification, the content name and the pointer to the current release.

import { createHash } from 'node:crypto';
import { mkdir, open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { byCodePoint } from '../../packs/define/text.ts';
import { replaceFile } from './atomic.ts';
import { BoundedCache } from './bounded-cache.ts';
import { type Manifest, paths, RELEASE_FILES } from './layout.ts';

const Shape = z.looseObject({
  schema_version: z.literal(1),
  dataset: z.string(),
  release: z.string().regex(/^[0-9a-f]{16}$/),
  created_at: z.string(),
  title: z.string(),
  records: z.int().min(0),
  facts: z.int().min(0),
  confirmed: z.record(z.string(), z.string()),
  last_collection: z.string(),
  inputs: z.string().optional(),
  run: z.string().optional(),
  revision: z.int().optional(),
  overlay: z.int().optional(),
  recorded_to: z.int().optional(),
  files: z.record(z.string(), z.object({ bytes: z.int(), sha256: z.string(), rows: z.int().nullable() })),
  enums: z.record(z.string(), z.array(z.string())),
  ages: z.array(z.object({ attribute: z.string(), observed_at: z.string(), count: z.int() })),
});

/** Bytes of a file that are read at once. */
const CHUNK = 1 << 18;

/** Size in bytes and SHA-256 of a file, read in chunks. */
export async function measureFile(path: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  // One buffer for all chunks: those of a stream stay in memory until the next collection.
  const buffer = Buffer.allocUnsafeSlow(CHUNK);
  const file = await open(path);
  let bytes = 0;
  try {
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, CHUNK, bytes);
      if (bytesRead === 0) return { bytes, sha256: hash.digest('hex') };
      hash.update(bytesRead === CHUNK ? buffer : buffer.subarray(0, bytesRead));
      bytes += bytesRead;
    }
  } finally {
    await file.close();
  }
}

/**
 * Files outside the content name: the change feed, whose times differ in each build, and the file for
 * analysts, which contains the name and repeats records.jsonl.
 */
const UNNAMED: ReadonlySet<string> = new Set([RELEASE_FILES.changes, RELEASE_FILES.records]);

/**
 * Content name of a release: 16 hex digits of SHA-256 over the sorted (file, sha256) pairs without UNNAMED.
 */
export function contentName(files: Manifest['files']): string {
  const named = Object.entries(files).filter(([file]) => !UNNAMED.has(file));
  const lines = named.sort(([a], [b]) => byCodePoint(a, b)).map(([file, { sha256 }]) => `${file} ${sha256}\n`);
  return createHash('sha256').update(lines.join('')).digest('hex').slice(0, 16);
}

/**
 * Reads the manifest of a release folder. Throws when it is missing or invalid.
 *
 * @example
 * ```ts
 * const { release, records } = await readManifest('data/var/releases/airports/0123456789abcdef');
 * ```
 */
export async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, RELEASE_FILES.manifest), 'utf8');
  const content = JSON.parse(text) as { schema_version?: unknown };
  if (typeof content.schema_version === 'number' && content.schema_version > 1)
    throw new Error(
      `${folder} has the format ${content.schema_version} and this version of the program reads 1; start the newer version`,
    );
  const parsed = Shape.safeParse(content);
  if (!parsed.success) throw new Error(`${folder} has no valid manifest: ${parsed.error.issues[0]?.message}`);
  return parsed.data as Manifest;
}

/**
 * Problems of a release folder as sentences: missing files, other sizes or contents, another name. Empty:
 * complete.
 */
export async function verifyRelease(folder: string): Promise<string[]> {
  const manifest = await readManifest(folder);
  const wrong: string[] = [];
  for (const [file, expected] of Object.entries(manifest.files)) {
    const measured = await measureFile(join(folder, file)).catch(() => null);
    if (measured === null) wrong.push(`${file} is missing`);
    else if (measured.bytes !== expected.bytes)
      wrong.push(`${file} has ${measured.bytes} bytes (expected ${expected.bytes})`);
    else if (measured.sha256 !== expected.sha256) wrong.push(`${file} does not have the SHA-256 of the manifest`);
  }
  if (contentName(manifest.files) !== manifest.release)
    wrong.push(`the content does not have the name ${manifest.release}`);
  return wrong;
}

const ID = /^[0-9a-f]{16}$/;

/** Complete releases by path of the pointer: releases never change. */
const complete = new BoundedCache<string, string>('complete releases', { most: 1000 });

/**
 * Id of the current release of a dataset; null before the first one. When the pointer is damaged, or the
 * files of its release are missing or have other sizes, the newest complete release is returned and `warn` is
 * called. Without a complete release the id of the pointer is returned.
 */
export async function currentRelease(
  dataDir: string,
  dataset: string,
  warn: (message: string) => void = () => {},
): Promise<string | null> {
  const pointer = paths.current(dataDir, dataset);
  let pointed: string;
  try {
    pointed = (await readFile(pointer, 'utf8')).trim();
    if (complete.get(pointer) === pointed) return pointed;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    pointed = message;
  }
  const problem = ID.test(pointed)
    ? await missingIn(paths.release(dataDir, dataset, pointed))
    : `${pointer} does not name a release (${JSON.stringify(pointed.slice(0, 100))})`;
  if (problem === null) {
    complete.set(pointer, pointed);
    return pointed;
  }
  complete.delete(pointer);
  const [newest = null] = await completeReleases(dataDir, dataset);
  if (newest === null && ID.test(pointed)) return pointed;
  warn(`${dataset}: ${problem}; ${newest === null ? 'no release is complete' : `using release ${newest}`}`);
  return newest;
}

/** Ids of releases whose files all exist with their sizes, newest first. */
export async function completeReleases(dataDir: string, dataset: string): Promise<string[]> {
  const names = await readdir(paths.releases(dataDir, dataset)).catch(() => []);
  const releases: { id: string; at: string; written: number }[] = [];
  for (const id of names.filter((name) => ID.test(name))) {
    const folder = paths.release(dataDir, dataset, id);
    if ((await missingIn(folder)) !== null) continue;
    const { mtimeMs } = await stat(join(folder, RELEASE_FILES.manifest));
    releases.push({ id, at: (await readManifest(folder)).created_at, written: mtimeMs });
  }
  return releases.sort((a, b) => byCodePoint(b.at, a.at) || b.written - a.written).map(({ id }) => id);
}

/**
 * First missing file or wrong size in a release as a sentence, by the sizes in its manifest; null: complete.
 */
async function missingIn(folder: string): Promise<string | null> {
  try {
    for (const [file, { bytes }] of Object.entries((await readManifest(folder)).files)) {
      const path = join(folder, file);
      const stats = await stat(path).catch(() => null);
      if (stats?.size !== bytes) return `${path} has ${stats?.size ?? 'no'} bytes (expected ${bytes})`;
    }
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

/**
 * Makes a release the current one atomically. The files of the newest `keep` releases (RELEASES_KEEP) stay, so that
 * cursors and running requests finish; of the others only what `keepManifest` writes.
 */
export async function makeCurrent(dataDir: string, dataset: string, release: string, keep: number): Promise<void> {
  await replaceFile(paths.current(dataDir, dataset), `${release}\n`);
  await prune(dataDir, dataset, release, keep);
}

async function prune(dataDir: string, dataset: string, current: string, keep: number): Promise<void> {
  const folder = paths.releases(dataDir, dataset);
  const releases: { id: string; at: number }[] = [];
  for (const id of await readdir(folder)) {
    if (!ID.test(id) || id === current) continue;
    const written = await stat(join(folder, id, RELEASE_FILES.manifest)).catch(() => null);
    releases.push({ id, at: written?.mtimeMs ?? 0 });
  }
  const old = releases.sort((a, b) => b.at - a.at).slice(keep - 1);
  for (const { id } of old) {
    await keepManifest(dataDir, dataset, id);
    await rm(join(folder, id), { recursive: true, force: true });
  }
}

/**
 * Keeps the manifest of a release: its name, times, counts and the SHA-256 of its files. Values of open enums are left
 * out, because a record that is removed later may be the only one with a value. A damaged manifest is not kept.
 */
async function keepManifest(dataDir: string, dataset: string, release: string): Promise<void> {
  const manifest = await readManifest(paths.release(dataDir, dataset, release)).catch(() => null);
  if (manifest === null) return;
  const file = paths.keptManifest(dataDir, dataset, release);
  await mkdir(dirname(file), { recursive: true });
  await replaceFile(file, `${JSON.stringify({ ...manifest, enums: {} }, null, 1)}\n`);
}
