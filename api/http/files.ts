// Finds files of DIST_DIR by URL path, never outside it (docs/static-hosting.md).
import type { Stats } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { Mime } from 'mime';
import standardTypes from 'mime/types/standard.js';
import { ApiError } from '../contract/errors.ts';
import { COPIES } from '../discovery/hosting.ts';
import { BULK_TYPES } from '../render/data-files.ts';
import { OpenFile } from './open-files.ts';

/** The registered types, and those of our files that browsers and tools expect under another name. */
const TYPES = new Mime(standardTypes, { 'application/vnd.apache.parquet': ['parquet'], 'image/x-icon': ['ico'] });

/** Content type by file extension; text is UTF-8. Unknown extensions are `application/octet-stream`. */
export function contentType(path: string): string {
  const type = TYPES.getType(path) ?? 'application/octet-stream';
  return type.startsWith('text/') || type === 'application/atom+xml' ? `${type}; charset=utf-8` : type;
}

/** Files that clients read in ranges. */
const RANGED = new RegExp(`\\.(${[...BULK_TYPES.keys()].join('|')})$`);

export interface StaticFile {
  path: string;
  /** Path of the build's compressed copies, without the coding's extension. */
  copies: string;
  bytes: number;
  content_type: string;
  etag: string;
  last_modified: Date;
  /**
   * Served in ranges: its ETag is strong, since the file is replaced and never written to, and no overlay
   * edits it.
   */
  ranges: boolean;
  /** Its name contains a hash of its content. */
  immutable: boolean;
}

/**
 * Segments of a URL path, decoded; null if no published file can have such a path (dot files, separators,
 * NUL, invalid encoding).
 */
export function safeSegments(pathname: string): string[] | null {
  const segments: string[] = [];
  for (const raw of pathname.split('/').filter((part) => part !== '')) {
    let segment: string;
    try {
      segment = decodeURIComponent(raw);
    } catch {
      return null;
    }
    if (segment.startsWith('.') || segment.length > 255 || /[/\\\p{Cc}]/u.test(segment)) return null;
    segments.push(segment);
  }
  return segments;
}

/**
 * The file of a URL path below `root`; for a folder, its index.html. null: no such file. Symbolic links out
 * of `root` are not followed.
 */
export async function findFile(root: string, pathname: string): Promise<StaticFile | null> {
  const segments = safeSegments(pathname);
  if (segments === null) return null;
  const requestPath = join(root, ...segments);
  for (const path of [requestPath, join(requestPath, 'index.html')]) {
    const stats = await stat(path).catch(() => null);
    if (!stats?.isFile()) continue;
    const [real, realRoot] = await Promise.all([realpath(path), realpath(root)]);
    if (!real.startsWith(realRoot + sep)) return null;
    return {
      path: real,
      copies: join(realRoot, COPIES, relative(realRoot, real)),
      content_type: contentType(path),
      ...versionOf(path, stats),
      immutable: segments[0] === 'assets',
    };
  }
  return null;
}

/** Properties that change when a file is replaced. */
function versionOf(path: string, { size, mtime, mtimeMs }: Stats) {
  const ranges = RANGED.test(path);
  const etag = `${ranges ? '' : 'W/'}"${size.toString(36)}-${Math.floor(mtimeMs).toString(36)}"`;
  return { bytes: size, etag, ranges, last_modified: mtime };
}

/**
 * Opens a file, or its copy, to send it. The nightly run or a rebuild may replace files at any moment: if the
 * file changed since `findFile`, returns its new properties, so that length and content always match. Throws
 * ApiError `not_found` if the file is gone.
 */
export async function openFile<File extends StaticFile>(file: File, copy: Copied | null): Promise<OpenFile | File> {
  const opened = await OpenFile.at((copy ?? file).path).catch(unlessGone);
  const current = await stat(file.path).catch(unlessGone);
  if (opened !== null && current !== null) {
    const now = await opened.stat();
    const same = now.size === (copy ?? file).bytes && current.mtime.getTime() === file.last_modified.getTime();
    if (same && (copy !== null || now.mtime.getTime() === file.last_modified.getTime())) return opened;
  }
  await opened?.close();
  if (current === null) throw new ApiError('not_found', 'This file no longer exists.');
  return { ...file, ...versionOf(file.path, current) };
}

function unlessGone(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

type Copied = Pick<StaticFile, 'path' | 'bytes'>;
