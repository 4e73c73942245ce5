// Publishing to a host: sends what changed, in an order in which no page links to a missing file
// (docs/static-hosting.md).
import { existsSync, readFileSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { COPIES, type HostingRule } from '../../api/discovery/hosting.ts';
import { lockFolder } from '../../data/model/lock.ts';
import { commandLine } from '../../data/model/program.ts';
import { StorageError } from '../../data/objects/objects.ts';
import { openStorage } from '../../data/objects/open.ts';
import type { Progress } from '../effects/progress.ts';
import { BUILD_NOTES } from '../static/output.ts';
import { readPublished } from '../static/publish.ts';
import { type FileEntry, formatManifest, parseManifest } from '../static/publish-manifest.ts';
import { bucketTarget } from './bucket.ts';
import { compressAll } from './compress.ts';
import { folderTarget } from './folder.ts';
import { bytesOf, possibleFiles, stepsBetween } from './plan.ts';
import { rsyncTarget } from './rsync.ts';
import { isRemote, PublishError, type PublishTarget } from './target.ts';

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

    const found = await target.read();
    if (found === null && !adopt && !(await target.empty()))
      throw new PublishError(
        `${target.name} contains files that were not published by this command; use --adopt to publish next to them`,
      );
    const host = parseManifest(found ?? '');
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
  if (to.trim() === '')
    throw new PublishError('--to is empty; it must be a folder, an rsync address or s3://bucket/prefix');
  if (to.startsWith('s3://')) {
    const scratch = join(dist, BUILD_NOTES, 'tmp-publish');
    const { rules, ...server } = bucket;
    return bucketTarget(await openStorage(to, { ...server, scratch }), rules, scratch);
  }
  if (isRemote(to)) return rsyncTarget(to, join(dist, BUILD_NOTES, 'tmp-publish'));
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
