// The manifest of a release: what it names, whether the files are as it says, and which release is the current one.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { byCodePoint } from '../packs/text.ts';
import { type Manifest, paths, RELEASE_FILES } from './layout.ts';
import { replaceFile } from './write/atomic.ts';

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
  revision: z.int().optional(),
  overlay: z.int().optional(),
  recorded_to: z.int().optional(),
  files: z.record(z.string(), z.object({ bytes: z.int(), sha256: z.string(), rows: z.int().nullable() })),
  enums: z.record(z.string(), z.array(z.string())),
  ages: z.array(z.object({ attribute: z.string(), observed_at: z.string(), count: z.int() })),
});

/** Releases kept beside the current one, so that cursors and requests in flight finish. */
const KEPT = 3;

/** Size and SHA-256 of a file, read in pieces. */
export async function measure(path: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of createReadStream(path, { highWaterMark: 1 << 20 })) {
    hash.update(piece as Buffer);
    bytes += (piece as Buffer).length;
  }
  return { bytes, sha256: hash.digest('hex') };
}

/** Not part of the name: the change feed, which is dated anew, and the file for analysts, which tells the name and says what records.jsonl says. */
const UNNAMED: ReadonlySet<string> = new Set([RELEASE_FILES.changes, RELEASE_FILES.records]);

/** Content name of a release: 16 hex digits of SHA-256 over the sorted (file, sha256) pairs, without those that tell it. */
export function contentName(files: Manifest['files']): string {
  const named = Object.entries(files).filter(([file]) => !UNNAMED.has(file));
  const lines = named.sort(([a], [b]) => byCodePoint(a, b)).map(([file, { sha256 }]) => `${file} ${sha256}\n`);
  return createHash('sha256').update(lines.join('')).digest('hex').slice(0, 16);
}

/** Reads the manifest in a release folder. Throws when it is missing or not a manifest. */
export async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, RELEASE_FILES.manifest), 'utf8');
  const parsed = Shape.safeParse(JSON.parse(text));
  if (!parsed.success) throw new Error(`${folder} has no valid manifest: ${parsed.error.issues[0]?.message}`);
  return parsed.data as Manifest;
}

/** What is wrong with a release folder: files missing, of another size or content, or another name. Empty when it is whole. */
export async function verifyRelease(folder: string): Promise<string[]> {
  const manifest = await readManifest(folder);
  const wrong: string[] = [];
  for (const [file, expected] of Object.entries(manifest.files)) {
    const found = await measure(join(folder, file)).catch(() => null);
    if (found === null) wrong.push(`${file} is missing`);
    else if (found.bytes !== expected.bytes) wrong.push(`${file} has ${found.bytes} bytes, not ${expected.bytes}`);
    else if (found.sha256 !== expected.sha256) wrong.push(`${file} has other content than the manifest says`);
  }
  if (contentName(manifest.files) !== manifest.release) wrong.push(`the content is not that of ${manifest.release}`);
  return wrong;
}

/** Id of the current release of a dataset, or null. */
export async function currentRelease(dataDir: string, dataset: string): Promise<string | null> {
  const id = (await readFile(paths.current(dataDir, dataset), 'utf8').catch(() => '')).trim();
  return /^[0-9a-f]{16}$/.test(id) ? id : null;
}

/** Makes a release the current one, in one step, and removes all but the newest few. */
export async function makeCurrent(dataDir: string, dataset: string, release: string): Promise<void> {
  await replaceFile(paths.current(dataDir, dataset), `${release}\n`);
  await prune(dataDir, dataset, release);
}

async function prune(dataDir: string, dataset: string, current: string): Promise<void> {
  const folder = paths.releases(dataDir, dataset);
  const found: { id: string; at: number }[] = [];
  for (const id of await readdir(folder)) {
    if (!/^[0-9a-f]{16}$/.test(id) || id === current) continue;
    const written = await stat(join(folder, id, RELEASE_FILES.manifest)).catch(() => null);
    found.push({ id, at: written?.mtimeMs ?? 0 });
  }
  const old = found.sort((a, b) => b.at - a.at).slice(KEPT - 1);
  for (const { id } of old) await rm(join(folder, id), { recursive: true, force: true });
}
