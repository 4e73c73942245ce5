// Listings: the files of a folder as content-named objects, and the listing itself as one more. Uploads skip
// what the storage has; downloads continue after a kill, and a file is used only with its SHA-256.
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { copyFile, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { byCodePoint } from '../../packs/define/text.ts';
import { measureFile } from '../model/manifest.ts';
import type { ObjectStorage, StoredFile } from './objects.ts';

/** Size in bytes and SHA-256 in hex. */
export interface FileSum {
  bytes: number;
  sha256: string;
}

/** The files of a folder by path, with `/`. */
export interface FileListing {
  /** `release`: the files of one release. `work`: what a nightly run needs of earlier ones. */
  kind: 'release' | 'work';
  dataset: string;
  /** Id of the release; null for `work`. */
  release: string | null;
  files: ReadonlyMap<string, FileSum>;
}

/** An object has other content than its name promises. */
export class CorruptObject extends Error {}

const SAFE_PATH = /^(?!.*(^|\/)\.\.?(\/|$))[^/\0][^\0]*$/;

const Shape = z.object({
  format: z.literal(1),
  kind: z.enum(['release', 'work']),
  dataset: z.string(),
  release: z.string().nullable(),
  files: z.array(z.tuple([z.string().regex(SAFE_PATH), z.int().min(0), z.string().regex(/^[0-9a-f]{64}$/)])),
});

/** Files transferred in parallel. */
const AT_ONCE = 4;

const keyOf = (sha256: string) => `objects/${sha256.slice(0, 2)}/${sha256}`;

/** A listing as text, the same for the same files, and its SHA-256. */
export function formatListing({ kind, dataset, release, files }: FileListing): { text: string; name: string } {
  const rows = [...files].sort(([a], [b]) => byCodePoint(a, b)).map(([path, sum]) => [path, sum.bytes, sum.sha256]);
  const text = `${JSON.stringify({ format: 1, kind, dataset, release, files: rows })}\n`;
  return { text, name: createHash('sha256').update(text).digest('hex') };
}

/** Counts of a transfer. */
export interface Transferred {
  files: number;
  bytes: number;
  /** Files that were there already. */
  present: number;
}

/**
 * Stores a listing and its files, which `from` finds on the disk. The listing comes first, so that the files
 * of an upload that was given up can be found and removed. Returns its name.
 */
export async function upload(
  storage: ObjectStorage,
  listing: FileListing,
  from: (path: string) => string,
  scratch: string,
): Promise<Transferred & { name: string }> {
  const { text, name } = formatListing(listing);
  const note = join(scratch, `${name}.listing`);
  await mkdir(scratch, { recursive: true });
  await writeFile(note, text);
  const done = { files: 0, bytes: 0, present: 0 };
  const put = async (content: StoredFile) => {
    const key = keyOf(content.sha256);
    if ((await storage.size(key)) === content.bytes) done.present += 1;
    else {
      await storage.put(key, content);
      done.files += 1;
      done.bytes += content.bytes;
    }
  };
  try {
    await put({ file: note, bytes: Buffer.byteLength(text), sha256: name });
  } finally {
    await rm(note, { force: true });
  }
  await eachOf(listing.files, (path, sum) => put({ file: from(path), ...sum }));
  return { ...done, name };
}

/** Reads a listing of the storage. Throws CorruptObject when its content differs from its name. */
export async function readListing(storage: ObjectStorage, name: string): Promise<FileListing> {
  const parts: Buffer[] = [];
  for await (const part of await storage.read(keyOf(name))) parts.push(part as Buffer);
  const text = Buffer.concat(parts);
  if (createHash('sha256').update(text).digest('hex') !== name)
    throw new CorruptObject(`${storage.place}: the listing ${name} is corrupted; it is not used`);
  const { files, kind, dataset, release } = Shape.parse(JSON.parse(text.toString()));
  return { kind, dataset, release, files: new Map(files.map(([path, bytes, sha256]) => [path, { bytes, sha256 }])) };
}

/**
 * Brings the files of a listing into `folder`, which may contain some of them from a killed download. A file
 * that `local` finds on this machine is copied. Throws CorruptObject when an object does not have its SHA-256.
 */
export async function download(
  storage: ObjectStorage,
  files: ReadonlyMap<string, FileSum>,
  folder: string,
  local: (sum: FileSum) => string | null = () => null,
): Promise<Transferred> {
  const done = { files: 0, bytes: 0, present: 0 };
  await eachOf(files, async (path, sum) => {
    const target = join(folder, path);
    if (await has(target, sum)) {
      done.present += 1;
      return;
    }
    await mkdir(dirname(target), { recursive: true });
    const arriving = `${target}.arriving`;
    const source = local(sum);
    if (source !== null) await copyFile(source, arriving).catch(() => {});
    if (await has(arriving, sum)) done.present += 1;
    else {
      const bytes = await fetchObject(storage, sum, arriving);
      done.bytes += bytes;
      done.files += 1;
    }
    await rename(arriving, target);
  });
  return done;
}

/** Downloads an object to `path`, after the bytes that a killed download left there. Returns the bytes read. */
async function fetchObject(storage: ObjectStorage, { bytes, sha256 }: FileSum, path: string): Promise<number> {
  let from = (await stat(path).catch(() => null))?.size ?? 0;
  if (from >= bytes) {
    await rm(path, { force: true });
    from = 0;
  }
  const body = await storage.read(keyOf(sha256), from);
  await pipeline(body, createWriteStream(path, { flags: from === 0 ? 'w' : 'a' }));
  const { bytes: size, sha256: sum } = await measureFile(path);
  if (size === bytes && sum === sha256) return bytes - from;
  await rm(path, { force: true });
  // The bytes of before may be the damaged ones.
  if (from > 0) return size - from + (await fetchObject(storage, { bytes, sha256 }, path));
  throw new CorruptObject(
    `${storage.place}: the object ${sha256} is corrupted: it has ${size} bytes with SHA-256 ${sum} (expected ${bytes} bytes); it is not used`,
  );
}

/** Whether a file has this content. */
async function has(path: string, { bytes, sha256 }: FileSum): Promise<boolean> {
  const there = await stat(path).catch(() => null);
  return there?.size === bytes && (await measureFile(path)).sha256 === sha256;
}

/** Removes objects of the storage; a listing is removed last, so that an interrupted removal can continue. */
export async function removeObjects(storage: ObjectStorage, names: ReadonlySet<string>, listing: string) {
  await eachOf(new Map([...names].map((name) => [name, name])), (name) => storage.remove(keyOf(name)));
  await storage.remove(keyOf(listing));
}

/** Calls `work` for every entry, a few at a time; the first error ends it. */
async function eachOf<T>(entries: ReadonlyMap<string, T>, work: (path: string, value: T) => Promise<void>) {
  const waiting = [...entries].reverse();
  const worker = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await work(...next);
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  } finally {
    waiting.length = 0;
  }
}

/** The text of a local file, or null. */
export const textOf = (path: string): Promise<string | null> => readFile(path, 'utf8').catch(() => null);
