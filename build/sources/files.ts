// Files of a declared source: found by path or pattern, opened as streams of bytes, remembered by size and time.
import { createReadStream } from 'node:fs';
import { glob, readdir, stat } from 'node:fs/promises';
import { basename, dirname, matchesGlob, relative, resolve, sep } from 'node:path';
import { createGunzip } from 'node:zlib';
import { nearestName } from '../../packs/define/mistakes.ts';
import type { DeclaredKind } from '../../packs/define/sources.ts';
import { readTime } from '../../packs/define/times.ts';
import type { Mark, SourceContext } from './reader.ts';
import { type ZipEntry, zipBytes, zipEntries } from './zip.ts';

/** A file that was not read before, or that changed since. */
export interface SourceFile {
  /** Path from the folder of the source, with `/`; in a zip archive, followed by the path there. */
  name: string;
  path: string;
  /** Size in bytes, as stored. */
  size: number;
  observed_at: Date;
  mark: Mark;
  /** Where it is in the archive at `path`; absent: it is the file at `path`. */
  entry?: ZipEntry | undefined;
  /** Most bytes when unpacked. */
  max_bytes: number;
}

/** Kinds of files that may be in a zip archive. */
const PACKED: readonly DeclaredKind[] = ['csv', 'jsonl', 'json'];
/** Most bytes of a file when it is unpacked, unless the source declares another number. */
const MOST_BYTES = 1_000_000_000;

/** What a declaration contains about its files. */
interface DeclaredFile {
  file: string;
  kind: DeclaredKind;
  /** Names or a pattern in a zip archive. */
  inside?: string | undefined;
  /** Most bytes when unpacked; absent: `MOST_BYTES`. */
  max_bytes?: number | undefined;
  observed_at?: { file_name?: string | undefined } | undefined;
}

/**
 * The files of a source that are new or changed since the last run, by observation time, then by name. Throws
 * when no file exists, or when a name does not contain the declared date. `sizeAndTime` is for kinds whose data
 * is in several files.
 */
export async function changedFiles(
  declared: DeclaredFile,
  context: Pick<SourceContext, 'folder' | 'marks'>,
  sizeAndTime: (path: string) => Promise<{ size: number; mtimeMs: number }> = stat,
): Promise<SourceFile[]> {
  const { folder, marks } = context;
  const paths = await matchingPaths(folder, declared.file);
  if (paths.length === 0) throw new Error(await noSuchFile(folder, declared.file));
  const files: SourceFile[] = [];
  for (const path of paths) {
    const { size, mtimeMs } = await sizeAndTime(path);
    const { kind, max_bytes = MOST_BYTES } = declared;
    const place = relative(folder, path).split(sep).join('/');
    const packed = PACKED.includes(kind) && isZip(path);
    for (const entry of packed ? await entriesOf(path, place, declared.inside) : [undefined]) {
      const name = entry === undefined ? place : `${place}/${entry.name}`;
      const mark = { path: name, size, mtime: Math.round(mtimeMs) };
      // Only the newest mark counts: a file may return to an earlier size and time.
      const last = marks.findLast((candidate) => candidate['path'] === name);
      if (last !== undefined && last['size'] === mark.size && last['mtime'] === mark.mtime) continue;
      const pattern = declared.observed_at?.file_name;
      const observed_at = pattern === undefined ? new Date(mark.mtime) : dateInName(basename(name), pattern);
      files.push({ name, path, size, observed_at, mark, entry, max_bytes });
    }
  }
  const byName = (a: SourceFile, b: SourceFile) => (a.name < b.name ? -1 : 1);
  return files.sort((a, b) => a.observed_at.getTime() - b.observed_at.getTime() || byName(a, b));
}

const isZip = (path: string) => path.toLowerCase().endsWith('.zip');

/** Files of an archive that programs add. */
const ADDED_BY_PROGRAMS = /^__MACOSX\/|(?:^|\/)\.[^/]*$/;

/** The files of a zip archive that match a pattern, or its only one. Throws with their names when there are several. */
async function entriesOf(path: string, place: string, inside: string | undefined): Promise<ZipEntry[]> {
  const all = await zipEntries(path).catch((error: Error) => {
    throw new Error(`${place}: ${error.message}`, { cause: error });
  });
  const entries = all.filter(({ name }) => !ADDED_BY_PROGRAMS.test(name));
  const matching = inside === undefined ? entries : entries.filter(({ name }) => matchesGlob(name, inside));
  if (inside === undefined ? matching.length === 1 : matching.length > 0) return matching;
  const names = `it contains ${shortList(entries.map(({ name }) => name)) || 'no file'}`;
  throw new Error(
    inside === undefined
      ? `${place} is not one file: ${names}; set inside to one of them, or to a pattern such as *.csv`
      : `${place} has no file ${inside}: ${names}`,
  );
}

/** Existing files at a path or matching a pattern. A file whose name contains `[` or `*` is a path first. */
async function matchingPaths(folder: string, file: string): Promise<string[]> {
  const path = resolve(folder, file);
  if (await isFile(path)) return [path];
  if (!/[*?[{]/.test(file)) return [];
  const paths: string[] = [];
  for await (const match of glob(file, { cwd: folder })) {
    const matchPath = resolve(folder, match);
    if (await isFile(matchPath)) paths.push(matchPath);
  }
  return paths;
}

const isFile = async (path: string) => (await stat(path).catch(() => null))?.isFile() === true;

/** Most names that a message lists. */
const SHOWN_NAMES = 10;

function shortList(names: readonly string[]): string {
  const more = names.length > SHOWN_NAMES ? ` and ${names.length - SHOWN_NAMES} more` : '';
  return `${names.slice(0, SHOWN_NAMES).join(', ')}${more}`;
}

async function noSuchFile(folder: string, file: string): Promise<string> {
  let parent = dirname(resolve(folder, file));
  let entries = await readdir(parent).catch(() => null);
  while (entries === null && parent !== dirname(parent)) {
    parent = dirname(parent);
    entries = await readdir(parent).catch(() => null);
  }
  const names = (entries ?? []).sort();
  const list = names.length === 0 ? 'is empty' : `contains ${shortList(names)}`;
  const nearest = nearestName(basename(file), names);
  const hint = nearest === undefined ? '' : `; nearest: ${nearest}`;
  return `no file ${file} in ${folder}: ${parent === resolve(folder) ? 'the folder' : parent} ${list}${hint}`;
}

/** Parts of a date in a pattern, with their digits. */
const PARTS = { YYYY: 4, MM: 2, DD: 2, HH: 2, mm: 2, ss: 2 } as const;

/** The time (UTC) in a file name, by a pattern such as `YYYY-MM-DD`. Throws when the name does not contain it. */
export function dateInName(name: string, pattern: string): Date {
  const source = pattern.replace(/YYYY|MM|DD|HH|mm|ss|[^A-Za-z0-9]/g, (part) =>
    part in PARTS ? `\\d{${PARTS[part as keyof typeof PARTS]}}` : `\\u{${part.codePointAt(0)!.toString(16)}}`,
  );
  const text = new RegExp(`(?<!\\d)${source}(?!\\d)`, 'u').exec(name)?.[0];
  const time = text === undefined ? null : readTime(text, pattern);
  if (time === null) throw new Error(`the file name ${name} contains no date like ${pattern} (observed_at.file_name)`);
  return new Date(time.local * 1000);
}

/** Bytes per chunk: large chunks, because each costs a few turns of the event loop. */
const CHUNK = 1 << 18;

/** Bytes in a million, the unit of progress. */
const MB = 1_000_000;

/**
 * The bytes of a file, unpacked when its name ends with `.gz` or it is in a zip archive. Reports progress of large files in MB. Throws
 * when the file is changed while it is read, because the rows would be of two versions.
 */
export async function* fileBytes(file: SourceFile, progress?: SourceContext['progress']): AsyncGenerator<Buffer> {
  const stream = createReadStream(file.path, { highWaterMark: CHUNK });
  const unit = `MB of ${file.name}`;
  const compressed = file.entry === undefined && file.path.endsWith('.gz');
  const unpacked = compressed ? stream.pipe(createGunzip({ chunkSize: CHUNK })) : stream;
  const bytes = file.entry === undefined ? unpacked : zipBytes(file.path, file.entry);
  // `pipe` does not forward errors.
  if (compressed) stream.on('error', (error) => unpacked.destroy(error));
  const { max_bytes } = file;
  let size = 0;
  try {
    for await (const chunk of bytes) {
      size += chunk.length;
      if (size > max_bytes && (compressed || file.entry !== undefined)) throw new Error(tooLarge('it', max_bytes));
      if (file.size >= MB) progress?.(Math.round(stream.bytesRead / MB), Math.round(file.size / MB), unit);
      yield chunk as Buffer;
    }
    await checkUnchanged(file);
  } catch (error) {
    throw new Error(`${file.name}: ${(error as Error).message}`, { cause: error });
  } finally {
    stream.destroy();
    unpacked.destroy();
  }
}

/** The message about a part that is larger than a source may be. */
export const tooLarge = (name: string, most: number): string =>
  `${name} has more than ${most.toLocaleString('en-US')} bytes when unpacked, the most that the source declares (max_bytes); set max_bytes to more if the file is right`;

/** Throws when a file no longer has the size and time of its mark. */
export async function checkUnchanged({ path, mark }: SourceFile): Promise<void> {
  const { size, mtimeMs } = await stat(path);
  if (size !== mark['size'] || Math.round(mtimeMs) !== mark['mtime'])
    throw new Error('the file was changed while it was read; run again when it is complete');
}
