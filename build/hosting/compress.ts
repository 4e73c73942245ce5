// Compressed copies of published texts, for our server (api/http/compressed-copies.ts) and for hosts that
// serve them (`gzip_static`, `precompressed`).
import { hash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, readFileSync } from 'node:fs';
import { mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import { COMPRESSIBLE, COPIES, COPY_ENDINGS } from '../../api/discovery/hosting.ts';
import { type FileEntry, formatManifest, parseManifest } from '../static/publish-manifest.ts';
import type { FileEntries } from './plan.ts';

const KINDS = Object.values(COPY_ENDINGS);

/** Texts of all records, which programs read: a Brotli copy of a long one takes as long as the text itself. */
const TEXTS = /(\/llms-full\.txt|\.geojson)$/;

const kindsOf = (path: string, bytes: number) => (bytes > WHOLE && TEXTS.test(path) ? [COPY_ENDINGS.gzip] : KINDS);

/** Shorter files fit into one packet uncompressed. */
const WORTH = 1024;

/** Longer files are compressed as a stream, the others in memory with a higher level. */
const WHOLE = 4 << 20;

/** Bytes that a stream reads, compresses and writes together. With 64 kB, half of the time is overhead. */
const PIECE = 1 << 20;

/** Files compressed in parallel, on libuv's threads. */
const AT_ONCE = 8;

const brotli = promisify(brotliCompress);
const gzipped = promisify(gzip);
const effort = (level: number) => ({ params: { [constants.BROTLI_PARAM_QUALITY]: level } });

/**
 * Files that browsers load (pages, scripts, styles, the 34 MB engine of the console), and the full text and
 * the GeoJSON of each dataset. A few hundred files, whatever the number of records.
 */
const LOADED = (path: string): boolean =>
  path.startsWith('assets/') || /(\.html|\/llms-full\.txt|\.geojson)$/.test(path);

/** Makes the copies that our server sends; the nightly run makes them for new files. */
export async function compressPages(dist: string, published: FileEntries): Promise<void> {
  await compressAll(dist, published, () => {}, LOADED);
}

/**
 * Makes missing copies and deletes stale ones; a copy of an unchanged file is kept. Returns the copies as
 * entries, by their path on a host. `onProgress` receives the number of finished files. For files that
 * `selected` rejects, valid copies are kept and none is made.
 */
export async function compressAll(
  dist: string,
  published: FileEntries,
  onProgress: (done: number, of: number) => void,
  selected: (path: string) => boolean = () => true,
): Promise<Map<string, FileEntry>> {
  const root = join(dist, COPIES);
  const note = join(root, '.list');
  const noted = existsSync(note) ? readFileSync(note, 'utf8') : '';
  const before = parseManifest(noted);
  const copies = new Map<string, FileEntry>();
  const hasCopy = (path: string) => KINDS.some((kind) => before.has(`${path}.${kind}`));
  const wanted = [...published].filter(
    ([path, { bytes }]) => bytes >= WORTH && COMPRESSIBLE.test(path) && (selected(path) || hasCopy(path)),
  );
  const waiting = wanted.toReversed();
  let done = 0;
  const worker = async () => {
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const [path, { sha256, bytes }] = next;
      for (const kind of kindsOf(path, bytes)) {
        const name = `${path}.${kind}`;
        const entry = before.get(name);
        const there = entry?.key === sha256 && (!selected(path) || existsSync(join(root, name)));
        if (there && selected(path)) await notOlder(join(root, name), join(dist, path));
        if (there) copies.set(name, entry);
        else if (selected(path)) copies.set(name, await copy(join(dist, path), join(root, name), kind, bytes, sha256));
      }
      done += 1;
      onProgress(done, wanted.length);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  for (const name of before.keys()) if (!copies.has(name)) await rm(join(root, name), { force: true });
  const list = formatManifest(copies);
  if (list !== noted) {
    await mkdir(root, { recursive: true });
    await writeFile(`${note}.new`, list);
    await rename(`${note}.new`, note);
  }
  return copies;
}

/**
 * Our server compares dates, so a copy that is older than its unchanged file, as after a folder was copied,
 * gets the file's date.
 */
async function notOlder(copy: string, of: string): Promise<void> {
  const [mine, its] = await Promise.all([stat(copy), stat(of)]);
  if (mine.mtimeMs < its.mtimeMs) await utimes(copy, its.atime, its.mtime);
}

/** Writes one copy; its key is the hash of its file. */
async function copy(from: string, to: string, kind: string, length: number, key: string): Promise<FileEntry> {
  await mkdir(dirname(to), { recursive: true });
  const arriving = `${to}.new`;
  if (length > WHOLE) {
    const pieces = { highWaterMark: PIECE };
    const chunks = { chunkSize: PIECE, ...pieces };
    const through =
      kind === 'br' ? createBrotliCompress({ ...effort(5), ...chunks }) : createGzip({ level: 4, ...chunks });
    await pipeline(createReadStream(from, pieces), through, createWriteStream(arriving, pieces));
  } else {
    const content = await readFile(from);
    await writeFile(
      arriving,
      kind === 'br' ? await brotli(content, effort(length > 65_536 ? 9 : 6)) : await gzipped(content),
    );
  }
  const made = await readFile(arriving);
  await rename(arriving, to);
  return { bytes: made.length, sha256: hash('sha256', made, 'hex'), key };
}
