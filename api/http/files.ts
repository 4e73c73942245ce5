// Files of DIST_DIR by the path of their URL, never outside it (docs/static-hosting.md).
import type { Stats } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { Mime } from 'mime';
import standardTypes from 'mime/types/standard.js';
import { ApiError } from '../contract/errors.ts';
import { COPIES } from '../discovery/hosting.ts';
import { OpenFile } from './open-files.ts';

/** The registered types, and those of our files that browsers and tools expect under another name. */
const TYPES = new Mime(standardTypes, { 'application/vnd.apache.parquet': ['parquet'], 'image/x-icon': ['ico'] });

/** The content type of a file by its extension; text is UTF-8. Unknown extensions are `application/octet-stream`. */
function contentType(path: string): string {
  const type = TYPES.getType(path) ?? 'application/octet-stream';
  return type.startsWith('text/') || type === 'application/atom+xml' ? `${type}; charset=utf-8` : type;
}

/** Files that programs read a part at a time. */
const RANGED = /\.(parquet|duckdb)$/;

export interface StaticFile {
  path: string;
  /** Where the build keeps its compressed copies, without the ending of a coding. */
  copies: string;
  bytes: number;
  content_type: string;
  etag: string;
  last_modified: Date;
  /** Read a part at a time: its ETag is strong, since the file is replaced and never written to, and no overlay edits it. */
  ranges: boolean;
  /** Its name holds a hash of its content. */
  immutable: boolean;
}

/** Segments of a URL path, decoded; null for one that no published file can have (dot files, separators, NUL, bad encoding). */
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
 * The file that a URL path names below `root`; a folder answers with its index.html. null: no such file. A link that leads
 * out of the folder names no file either.
 */
export async function findFile(root: string, pathname: string): Promise<StaticFile | null> {
  const segments = safeSegments(pathname);
  if (segments === null) return null;
  const asked = join(root, ...segments);
  for (const path of [asked, join(asked, 'index.html')]) {
    const found = await stat(path).catch(() => null);
    if (!found?.isFile()) continue;
    const [real, realRoot] = await Promise.all([realpath(path), realpath(root)]);
    if (!real.startsWith(realRoot + sep)) return null;
    return {
      path: real,
      copies: join(realRoot, COPIES, relative(realRoot, real)),
      content_type: contentType(path),
      ...versionOf(path, found),
      immutable: segments[0] === 'assets',
    };
  }
  return null;
}

/** What changes when a file is replaced by another. */
function versionOf(path: string, { size, mtime, mtimeMs }: Stats) {
  const ranges = RANGED.test(path);
  const etag = `${ranges ? '' : 'W/'}"${size.toString(36)}-${Math.floor(mtimeMs).toString(36)}"`;
  return { bytes: size, etag, ranges, last_modified: mtime };
}

/**
 * Opens a file, or its copy, to send it. The night and whoever writes files again replace them at any moment: where that has happened since it was
 * found, what it is now is answered instead, so that no answer says one length and has another. Throws ApiError `not_found` where there is no such file
 * any more.
 */
export async function openFile<File extends StaticFile>(file: File, copy: Copied | null): Promise<OpenFile | File> {
  const opened = await OpenFile.at((copy ?? file).path).catch(unlessGone);
  const found = await stat(file.path).catch(unlessGone);
  if (opened !== null && found !== null) {
    const now = await opened.stat();
    const same = now.size === (copy ?? file).bytes && found.mtime.getTime() === file.last_modified.getTime();
    if (same && (copy !== null || now.mtime.getTime() === file.last_modified.getTime())) return opened;
  }
  await opened?.close();
  if (found === null) throw new ApiError('not_found', 'There is nothing at this address any more.');
  return { ...file, ...versionOf(file.path, found) };
}

function unlessGone(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

type Copied = Pick<StaticFile, 'path' | 'bytes'>;
