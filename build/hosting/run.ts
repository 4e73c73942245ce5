// Publishing to a host: sends what changed, in an order in which no page links to a missing file
// (docs/static-hosting.md).

import { createHash, hash } from 'node:crypto';
import {
  chmodSync,
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { COPIES, type HostingRule } from '../../api/discovery/hosting.ts';
import { replaceFile } from '../../data/model/atomic.ts';
import { lockFolder } from '../../data/model/lock.ts';
import { PUBLIC_MODES } from '../../data/model/permissions.ts';
import { commandLine } from '../../data/model/program.ts';
import { StorageError } from '../../data/objects/objects.ts';
import { openStorage } from '../../data/objects/open.ts';
import type { Progress } from '../effects/progress.ts';
import { BUILD_NOTES } from '../static/output.ts';
import { readPublished } from '../static/publish.ts';
import { type FileEntry, formatManifest, parseManifest } from '../static/publish-manifest.ts';
import { bucketTarget } from './bucket.ts';
import { compressAll } from './compress.ts';
import { bytesOf, possibleFiles, stepsBetween } from './plan.ts';
import { LIST, PublishError, type PublishTarget } from './target.ts';

/** Longer files are copied as a stream. */
const WHOLE = 4 << 20;

/** A target folder; it is created when it is missing. Throws PublishError when the path is not a folder. */
function folderTarget(name: string): PublishTarget {
  const root = resolve(name);
  const notes = join(root, dirname(LIST));
  const temporary = join(notes, 'arriving');
  return {
    name: root,
    async read() {
      return existsSync(join(root, LIST)) ? readFileSync(join(root, LIST), 'utf8') : null;
    },
    async empty() {
      const stats = statSync(root, { throwIfNoEntry: false });
      if (stats !== undefined && !stats.isDirectory()) throw new PublishError(`${root} is not a folder`);
      return stats === undefined || readdirSync(root).length === 0;
    },
    async write(list) {
      open(notes);
      // Half copied files of a killed run may be what fills the disk.
      rmSync(temporary, { recursive: true, force: true });
      await replaceFile(join(root, LIST), list);
    },
    async put(paths, from, published, onProgress) {
      mkdirSync(temporary, { recursive: true });
      const folders = new Set<string>();
      for (const [index, path] of paths.entries()) {
        const wanted = published.get(path);
        const target = join(root, path);
        if (!(await holds(target, wanted))) {
          if (!folders.has(dirname(path))) open(dirname(target));
          folders.add(dirname(path));
          const arriving = join(temporary, String(index));
          if ((await copy(from(path), arriving, wanted?.bytes ?? 0)) !== wanted?.sha256)
            throw new PublishError(
              `${path} differs from the published list, because a nightly run changed it; publish again`,
            );
          chmodSync(arriving, PUBLIC_MODES.file);
          renameSync(arriving, target);
        }
        onProgress(index + 1);
      }
    },
    async remove(paths, onProgress) {
      for (const [index, path] of paths.entries()) {
        rmSync(join(root, path), { force: true });
        onProgress(index + 1);
      }
      for (const folder of new Set(paths.map(dirname))) prune(root, folder);
    },
  };
}

/** Creates a folder and its missing parents, readable for a web server. */
function open(folder: string): void {
  const first = mkdirSync(folder, { recursive: true });
  if (first === undefined) return;
  for (let path = folder; ; path = dirname(path)) {
    chmodSync(path, PUBLIC_MODES.folder);
    if (path === resolve(first)) return;
  }
}

/**
 * Copies a file and returns its SHA-256 in hex. Small files without a stream, because there are hundreds of
 * thousands.
 */
async function copy(from: string, to: string, bytes: number): Promise<string> {
  if (bytes <= WHOLE) {
    const content = readFileSync(from);
    writeFileSync(to, content);
    return hash('sha256', content, 'hex');
  }
  const digest = createHash('sha256');
  const hashed = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      digest.update(chunk);
      done(null, chunk);
    },
  });
  await pipeline(createReadStream(from), hashed, createWriteStream(to));
  return digest.digest('hex');
}

/** Whether the file exists with this content, left by an interrupted upload. */
async function holds(path: string, wanted: FileEntry | undefined): Promise<boolean> {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats?.isFile() || stats.size !== wanted?.bytes) return false;
  const digest = createHash('sha256');
  for await (const chunk of createReadStream(path)) digest.update(chunk as Buffer);
  return digest.digest('hex') === wanted.sha256;
}

/** Removes a folder that lost its last file, and its empty parents; never the root. */
function prune(root: string, folder: string): void {
  for (let path = folder; path !== '.' && path !== ''; path = dirname(path)) {
    const at = join(root, path);
    if (!existsSync(at) || readdirSync(at).length > 0) return;
    rmdirSync(at);
  }
}

export interface PublishOptions {
  /** DIST_DIR. */
  dist: string;
  to: string;
  /** Only prints what would be done. */
  dry_run: boolean;
  /** Sends compressed copies too. */
  compress: boolean;
  /** Publishes into a folder with foreign files, and replaces those of the same name. */
  adopt: boolean;
  progress: Progress;
  /** Headers of the files, and the S3 server, for a bucket. */
  bucket?: { rules: readonly HostingRule[]; endpoint?: string | undefined; region?: string | undefined };
}

/** What was sent and deleted. */
export interface UploadCounts {
  files: number;
  bytes: number;
  deleted: number;
}

/**
 * Brings the target to the state that was published last. Throws PublishError when it cannot: then the target
 * has some of the new files and the list of all possible ones, and the next run continues. Throws LockedError
 * during another run.
 *
 * @example
 * ```ts
 * const { files, bytes, deleted } = await publishTo({ dist: 'dist', to: 's3://bucket', dry_run: true, … });
 * ```
 */
export async function publishTo(publishing: PublishOptions): Promise<UploadCounts> {
  const { dist, dry_run, compress, adopt, progress } = publishing;
  const target = await targetOf(publishing);
  const unlock = lockFolder(join(dist, BUILD_NOTES), 'publish', 'publishing');
  try {
    const whole = unchangedSince(dist);
    const list = parseManifest(readFileSync(join(dist, BUILD_NOTES, whole.manifest), 'utf8'));
    const copies = new Map<string, FileEntry>();
    if (compress) {
      progress.step('publish', 'compress');
      const made = await compressAll(dist, list, (done, of) => progress.at(done, of, 'files'));
      for (const [path, entry] of made) copies.set(path, entry);
    }
    const published = new Map([...list, ...copies]);
    const from = (path: string) => (copies.has(path) ? join(dist, COPIES, path) : join(dist, path));

    const pointer = await target.read();
    if (pointer === null && !adopt && !(await target.empty()))
      throw new PublishError(
        `${target.name} contains files that were not published by this command; use --adopt to publish next to them`,
      );
    const host = parseManifest(pointer ?? '');
    const steps = stepsBetween(host, published);
    const sent = {
      files: steps.reduce((sum, { put }) => sum + put.length, 0),
      bytes: bytesOf(steps, published),
      deleted: steps.reduce((sum, { remove }) => sum + remove.length, 0),
    };
    if (dry_run) {
      for (const { title, put, remove } of steps) progress.note(stepText(title, put, remove));
      return sent;
    }
    if (steps.length === 0) return sent;
    await target.write(formatManifest(possibleFiles(host, published)));
    for (const { title, put, remove } of steps) {
      progress.step('publish', title);
      const showing = (done: number) => progress.at(done, put.length || remove.length, 'files');
      if (remove.length > 0) await target.remove(remove, showing);
      if (put.length > 0) await target.put(put, from, published, showing);
      whole.check();
    }
    await target.write(formatManifest(withoutKeys(published)));
    return sent;
  } catch (error) {
    throw error instanceof StorageError ? new PublishError(error.message, { cause: error }) : error;
  } finally {
    target.close?.();
    unlock();
  }
}

/** The published list, and a check that no nightly run has changed the folder since. */
function unchangedSince(dist: string): { manifest: string; check: () => void } {
  const read = () => {
    if (existsSync(join(dist, BUILD_NOTES, 'unfinished')))
      throw new PublishError(
        `${dist} is being changed by a nightly run, or one was interrupted; publish again after a complete run`,
      );
    const manifest = readPublished(dist)?.manifest;
    if (manifest === undefined)
      throw new PublishError(`nothing is published in ${dist} yet; run \`${commandLine('nightly')}\` first`);
    return manifest;
  };
  const manifest = read();
  const check = () => {
    if (read() !== manifest) throw new PublishError('a nightly run published newer files; publish again');
  };
  return { manifest, check };
}

/** Throws PublishError for a target that cannot be published to. */
async function targetOf({ to, dist, bucket = { rules: [] } }: PublishOptions): Promise<PublishTarget> {
  if (to.trim() === '') throw new PublishError('--to is empty; it must be a folder or s3://bucket/prefix');
  if (to.startsWith('s3://')) {
    const scratch = join(dist, BUILD_NOTES, 'tmp-publish');
    const { rules, ...server } = bucket;
    return bucketTarget(await openStorage(to, { ...server, scratch }), rules, scratch);
  }
  if (/^[^/]+:/.test(to))
    throw new PublishError(
      `--to is ${to}; it must be a folder or s3://bucket/prefix: for another machine see "With rsync" in docs/static-hosting.md`,
    );
  const between = relative(resolve(dist), resolve(to));
  const inside = between === '' || !(between.startsWith(`..${sep}`) || between === '..');
  const around = relative(resolve(to), resolve(dist));
  if (inside || !(around.startsWith(`..${sep}`) || around === '..'))
    throw new PublishError(`${to} and the published folder ${dist} must not contain each other`);
  return folderTarget(to);
}

/** Keys matter only to the build. */
function withoutKeys(entries: ReadonlyMap<string, FileEntry>): Map<string, FileEntry> {
  return new Map([...entries].map(([path, entry]) => [path, { ...entry, key: '' }]));
}

const SHOWN = 5;

function stepText(title: string, put: readonly string[], remove: readonly string[]): string {
  const some = (paths: readonly string[]) =>
    paths
      .slice(0, SHOWN)
      .map((path) => `\n    ${path}`)
      .join('') + (paths.length > SHOWN ? `\n    … and ${(paths.length - SHOWN).toLocaleString('en-US')} more` : '');
  const parts = [
    put.length > 0 ? `${put.length.toLocaleString('en-US')} to send${some(put)}` : '',
    remove.length > 0 ? `${remove.length.toLocaleString('en-US')} to delete${some(remove)}` : '',
  ];
  return `${title}: ${parts.filter((part) => part !== '').join('\n  ')}`;
}
