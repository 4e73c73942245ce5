// Publishing to a folder, such as the root of a web server on this machine or a mounted disk.
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

import { dirname, join, resolve } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { replaceFile } from '../../data/model/atomic.ts';
import { PUBLIC_MODES } from '../../data/model/permissions.ts';
import type { FileEntry } from '../static/publish-manifest.ts';
import { LIST, PublishError, type PublishTarget } from './target.ts';

/** Longer files are copied as a stream. */
const WHOLE = 4 << 20;

/** A target folder; it is created when it is missing. Throws PublishError when the path is not a folder. */
export function folderTarget(name: string): PublishTarget {
  const root = resolve(name);
  const notes = join(root, dirname(LIST));
  const temporary = join(notes, 'arriving');
  return {
    name: root,
    async read() {
      return existsSync(join(root, LIST)) ? readFileSync(join(root, LIST), 'utf8') : null;
    },
    async empty() {
      const found = statSync(root, { throwIfNoEntry: false });
      if (found !== undefined && !found.isDirectory()) throw new PublishError(`${root} is not a folder`);
      return found === undefined || readdirSync(root).length === 0;
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
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found?.isFile() || found.size !== wanted?.bytes) return false;
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
