// The files of DATA_DIR that a nightly run needs of earlier runs, as a listing in object storage: facts, crawled
// pages, stored versions of declared sources, run logs.
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { UNFINISHED } from '../model/atomic.ts';
import { paths } from '../model/layout.ts';
import { measureFile } from '../model/manifest.ts';
import { download, type FileListing, type FileSum, readListing, type Transferred } from '../objects/listing.ts';
import { publishedReadings } from '../write/facts.ts';
import type { RemoteCopy } from './remote.ts';

const HASH_NAME = /^[0-9a-f]{64}$/;

/** Files that never change under their name, so that equal sizes are enough. */
const isFinal = (path: string) => HASH_NAME.test(basename(path)) || /\.(parquet|zst)$/.test(path);

/** A listing of the files of a dataset below DATA_DIR. */
export interface WorkListing {
  listing: FileListing;
  /** Path in DATA_DIR of a file of the listing. */
  place: (path: string) => string;
}

/**
 * Lists the files of a dataset below DATA_DIR. `before`: sums of an earlier listing, which are taken for files that never
 * change. `run`: a pending run that is published with the listing, before it is here.
 */
export async function workListing(
  dataDir: string,
  dataset: string,
  { before = new Map(), run }: { before?: ReadonlyMap<string, FileSum>; run?: string | undefined } = {},
): Promise<WorkListing> {
  const files = new Map<string, FileSum>();
  const places = new Map<string, string>();
  for (const path of await workPaths(dataDir, dataset)) {
    const listed = run !== undefined && basename(path).startsWith(`${run}.`) ? publishedReadings(path) : path;
    const sum = isFinal(listed) ? before.get(listed) : undefined;
    files.set(listed, sum ?? (await measureFile(join(dataDir, path))));
    places.set(listed, join(dataDir, path));
  }
  return { listing: { kind: 'work', dataset, release: null, files }, place: (path) => places.get(path)! };
}

/** Folders of a dataset, all of whose files count. */
const folders = (dataset: string) => [`facts/${dataset}`, `sources/crawl/${dataset}`, `sources/declared/${dataset}`];

const runLogs = (dataset: string) => [`runs/${dataset}.jsonl`, `runs/${dataset}.rejected.jsonl`];

async function workPaths(dataDir: string, dataset: string): Promise<string[]> {
  const workFiles: string[] = [];
  for (const folder of folders(dataset)) {
    const entries = await readdir(join(dataDir, folder), { recursive: true, withFileTypes: true }).catch(() => []);
    for (const { parentPath, name } of entries.filter((entry) => entry.isFile())) {
      const path = join(parentPath, name).slice(join(dataDir, '/').length);
      if (!path.includes(UNFINISHED)) workFiles.push(path);
    }
  }
  const logs = await readdir(join(dataDir, 'runs')).catch(() => [] as string[]);
  workFiles.push(...runLogs(dataset).filter((path) => logs.includes(basename(path))));
  const pages = new Set(workFiles.map((path) => basename(path)).filter((name) => HASH_NAME.test(name)));
  for (const note of workFiles.filter((path) => path.endsWith('/known.json')))
    for (const sha256 of await knownPages(join(dataDir, note))) pages.add(sha256);
  for (const sha256 of pages) {
    const path = `evidence/${sha256.slice(0, 2)}/${sha256}`;
    const there = await readdir(join(dataDir, dirname(path))).catch(() => [] as string[]);
    if (there.includes(sha256)) workFiles.push(path);
  }
  return workFiles.sort();
}

const KnownPages = z.record(z.string(), z.object({ sha256: z.string() }));

/** Hashes of the pages that a crawler has stored in earlier nights. */
async function knownPages(note: string): Promise<string[]> {
  const pages = KnownPages.parse(JSON.parse(await readFile(note, 'utf8')));
  return Object.values(pages).map(({ sha256 }) => sha256);
}

/**
 * Makes the files of a dataset in DATA_DIR those of a listing. Other files of its folders, such as those of a
 * run that lost its lease, are moved to `set-aside`; returns their number too.
 */
export async function fetchWork(
  { storage, dataDir }: RemoteCopy,
  dataset: string,
  name: string,
): Promise<Transferred & { aside: number }> {
  const { files } = await readListing(storage, name);
  const missing = new Map<string, FileSum>();
  for (const [path, sum] of files) {
    const there = await measured(join(dataDir, path), isFinal(path));
    if (there?.bytes !== sum.bytes || (there.sha256 !== null && there.sha256 !== sum.sha256)) missing.set(path, sum);
  }
  const arriving = join(paths.transfers(dataDir), name);
  const done = await download(storage, missing, arriving);
  const extra = (await workPaths(dataDir, dataset)).filter((path) => !files.has(path) && !path.startsWith('evidence/'));
  const aside = join(dataDir, 'set-aside', `${dataset}-${name.slice(0, 16)}`);
  for (const path of extra) await move(join(dataDir, path), join(aside, path));
  // A run counts when its readings are there, and those sort after its facts.
  for (const path of [...missing.keys()].sort()) await move(join(arriving, path), join(dataDir, path));
  await rm(arriving, { recursive: true, force: true });
  return { ...done, present: files.size - done.files, aside: extra.length };
}

/** Brings the run logs of a listing into DATA_DIR, for the operators' pages. */
export async function fetchRunLogs({ storage, dataDir }: RemoteCopy, dataset: string, name: string): Promise<void> {
  const { files } = await readListing(storage, name);
  const logs = new Map([...files].filter(([path]) => runLogs(dataset).includes(path)));
  const arriving = join(paths.transfers(dataDir), `runs-${dataset}`);
  await download(storage, logs, arriving);
  for (const path of logs.keys()) await move(join(arriving, path), join(dataDir, path));
}

/** Size of a file and, unless that is enough, its SHA-256; null when it is missing. */
async function measured(path: string, sizeIsEnough: boolean): Promise<{ bytes: number; sha256: string | null } | null> {
  const stats = await stat(path).catch(() => null);
  if (stats === null) return null;
  return sizeIsEnough ? { bytes: stats.size, sha256: null } : measureFile(path);
}

async function move(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await rename(from, to);
}
