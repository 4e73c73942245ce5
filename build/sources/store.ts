// Stores the versions of a declared source: the rows as found, so that a reading can be repeated when the
// file has changed since.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { link, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { isDeepStrictEqual } from 'node:util';
import { createZstdCompress, createZstdDecompress } from 'node:zlib';
import { z } from 'zod';
import { putInPlace, replaceFile, UNFINISHED } from '../../data/model/atomic.ts';
import { paths } from '../../data/model/layout.ts';
import { isoTime } from '../../data/model/time.ts';
import type { Pack } from '../../packs/define/model.ts';
import { byCodePoint } from '../../packs/define/text.ts';
import type { BrokenRow, Mark, RawRow, SourceContext, SourceVersion } from './reader.ts';
import { READERS } from './readers.ts';
import {
  absentColumns,
  DeclarationError,
  type DeclaringSource,
  declaredColumns,
  keepsRow,
  refuseUnread,
  unreadColumns,
} from './rows.ts';
import { cellTime } from './values.ts';

/** A stored version of a declared source: `version.json` in its folder. */
const Version = z.object({
  /** Name of the folder: time of observation, then a part of the hash of the rows. */
  version: z.string(),
  /** The file, address or query, for messages and evidence. */
  name: z.string(),
  columns: z.array(z.string()),
  /** Columns that nothing reads. */
  unread: z.array(z.string()),
  /** Declared columns that no row has. */
  absent: z.array(z.string()),
  /** ISO 8601: the time that the version describes; the latest time of its rows when each has its own. */
  observed_at: z.string(),
  rows: z.number(),
  broken: z.number(),
  /** Rows that `where` does not keep; absent: none. */
  dropped: z.number().exactOptional(),
  mark: z.record(z.string(), z.union([z.string(), z.number(), z.null()])),
  /** Hash of the rows. */
  content: z.string(),
  /** What of the source was stored: the columns and the filter. A declaration that needs more reads it again. */
  selection: z.string(),
  /** Sentences about what the source has and the rows lack; absent: none. */
  notes: z.array(z.string()).readonly().exactOptional(),
  /** Number of the version in the order of reading, which is not always that of the times. */
  read: z.number(),
});
export type StoredVersion = z.infer<typeof Version>;

/** The package name of the readings of a declared source. */
export const declaredPackage = (source: string) => `declared:${source}`;

/** Folder of the stored versions of a declared source. */
export const versionsFolder = (dataDir: string, dataset: string, source: string) =>
  join(paths.sources(dataDir), 'declared', dataset, source);

/**
 * The stored versions of a source, oldest first.
 *
 * @example
 * ```ts
 * const versions = await storedVersions(versionsFolder('data/var', 'stones', 'shop'));
 * const newest = versions.at(-1)?.observed_at;
 * ```
 */
export async function storedVersions(folder: string): Promise<StoredVersion[]> {
  const names = await readdir(folder).catch(() => [] as string[]);
  const versions = await Promise.all(names.sort(byCodePoint).map((name) => readVersion(join(folder, name))));
  return versions.filter((version) => version !== null);
}

/** A stored version, or null when the folder is not one or is damaged: its file then is read again. */
export async function readVersion(folder: string): Promise<StoredVersion | null> {
  try {
    return Version.parse(JSON.parse(await readFile(join(folder, VERSION), 'utf8')));
  } catch {
    return null;
  }
}

/** Whether a version is that of a later one which was read from the same state of the source with more columns. */
const isReplaced = (version: StoredVersion, all: readonly StoredVersion[]) =>
  all.some((later) => later.read > version.read && replaces(later.mark, later.selection, version));

/** With a cursor, equal marks are of different rows. */
const replaces = (mark: Mark, selection: string, earlier: StoredVersion) =>
  earlier.selection !== selection && !('cursor' in mark) && isDeepStrictEqual(earlier.mark, mark);

/** The stored versions without those that another declaration replaced. */
export async function currentVersions(folder: string): Promise<StoredVersion[]> {
  const versions = await storedVersions(folder);
  return versions.filter((version) => !isReplaced(version, versions));
}

/** Removes replaced versions, after the run has appended what replaces them. */
export async function removeReplaced(folder: string): Promise<void> {
  const versions = await storedVersions(folder);
  const replaced = versions.filter((version) => isReplaced(version, versions));
  await removeVersions(
    folder,
    replaced.map(({ version }) => version),
  );
}

/** Every column: what a function may read cannot be known. */
class AllColumns extends Set<string> {
  override has(): boolean {
    return true;
  }
}

/** What the store needs of the run; the rest of SourceContext follows from the source. */
export type StoreContext = Omit<SourceContext, 'wanted' | 'marks' | 'broken'> & {
  dataDir: string;
  /** Most rows of a version that are stored; absent: all. */
  row_limit?: number | undefined;
};

/** The columns that a reader must give. */
export function wantedColumns(pack: Pick<Pack, 'attributes'>, source: DeclaringSource): ReadonlySet<string> {
  const { named, all } = declaredColumns(source);
  const names = [...named.keys(), ...pack.attributes.map(({ name }) => name)];
  return all ? new AllColumns(names) : new Set(names);
}

/** Text that changes when more columns or other rows are needed. */
function selectionOf(wanted: ReadonlySet<string>, { from }: DeclaringSource): string {
  const columns = wanted instanceof AllColumns ? '*' : [...wanted].sort(byCodePoint).join('\n');
  const query = 'query' in from ? from.query : '';
  const text = JSON.stringify([columns, query, from.where?.toString() ?? '', from.observed_at ?? null]);
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/**
 * Reads the versions of a source that were not read before and stores them. Returns the versions stored now.
 * Throws when the source cannot be read, and DeclarationError when a declared column is missing.
 */
export async function storeVersions(pack: Pack, source: DeclaringSource, run: StoreContext): Promise<StoredVersion[]> {
  const folder = versionsFolder(run.dataDir, pack.id, source.id);
  await mkdir(folder, { recursive: true });
  const wanted = wantedColumns(pack, source);
  const selection = selectionOf(wanted, source);
  const before = await storedVersions(folder);
  const marks = before
    .filter((version) => version.selection === selection)
    .sort((a, b) => a.read - b.read || byCodePoint(a.version, b.version));
  const stored: StoredVersion[] = [];
  const broken: BrokenRows = { count: 0, some: [] };
  const context: SourceContext = {
    ...run,
    wanted,
    marks: marks.map(({ mark }) => mark),
    timeout: source.timeout_minutes * 60_000,
    broken(row) {
      if (++broken.count <= MOST_BROKEN) broken.some.push(row);
    },
  };
  // Typed per kind in READERS; the kind of `from` chooses the reader for it.
  const read = READERS[source.from.kind] as (
    from: typeof source.from,
    context: SourceContext,
  ) => AsyncIterable<SourceVersion>;
  for await (const version of read(source.from, context)) {
    const earlier = [...before, ...stored];
    const work = { folder, selection, earlier, broken, run };
    const kept = await storeVersion(pack, source, version, work);
    Object.assign(broken, { count: 0, some: [] });
    if (kept !== null) stored.push(kept);
  }
  return stored;
}

/** Broken rows of a version that are stored. A file of another format has millions. */
const MOST_BROKEN = 1000;

interface BrokenRows {
  count: number;
  /** The first ones. */
  some: BrokenRow[];
}

interface Work {
  folder: string;
  selection: string;
  /** Versions stored before this one, oldest first. */
  earlier: readonly StoredVersion[];
  /** Rows of this version that could not be read; filled while its rows are read. */
  broken: Readonly<BrokenRows>;
  run: StoreContext;
}

/** Stores one version; null when it adds nothing to one that is stored. */
async function storeVersion(
  pack: Pack,
  source: DeclaringSource,
  version: SourceVersion,
  { folder, selection, earlier, broken, run }: Work,
): Promise<StoredVersion | null> {
  const work = await mkdtemp(join(paths.sources(run.dataDir), UNFINISHED));
  try {
    const { rows, dropped, content, latest } = await writeRows(join(work, ROWS), source, version, run);
    const unread = unreadColumns(pack, source, version);
    refuseUnread(source, version.name, unread);
    const mark = version.mark();
    const current = earlier.filter((candidate) => !isReplaced(candidate, earlier));
    const replaced = current.find((candidate) => replaces(mark, selection, candidate));
    const others = current.filter((candidate) => candidate !== replaced);
    const observed_at = isoTime(observationTime(source, version, { replaced, others, latest, now: run.now() }));
    const read = Math.max(0, ...earlier.map((candidate) => candidate.read ?? 0)) + 1;
    const same = others.find((other) => other.content === content && other.selection === selection);
    // Equal rows with their own times are nothing new, whenever they were read.
    if (same !== undefined && same.name === version.name && source.from.observed_at?.column !== undefined) {
      // Without the new mark, the source would be read again by every run.
      await replaceFile(join(folder, same.version, VERSION), versionText({ ...same, mark, read }));
      return null;
    }
    const id = createHash('sha256').update(`${content} ${selection}`).digest('hex').slice(0, 12);
    const name = `${observed_at.replace(/[-:]/g, '')}-${id}`;
    const stored: StoredVersion = {
      ...{ version: name, name: version.name, columns: [...version.columns], unread },
      absent: absentColumns(source, version.columns),
      ...{ observed_at, rows, broken: broken.count, mark, content, selection, read },
      ...(dropped === 0 ? {} : { dropped }),
      ...(version.notes?.length ? { notes: version.notes } : {}),
    };
    await writeFile(join(work, BROKEN), broken.some.map((row) => `${JSON.stringify(row)}\n`).join(''));
    await writeFile(join(work, VERSION), versionText(stored));
    // Equal rows are stored once: the version has another time only.
    const equal = earlier.find((candidate) => candidate.content === content);
    if (equal !== undefined && (await stat(join(folder, equal.version, ROWS)).catch(() => null)) !== null) {
      await rm(join(work, ROWS));
      await link(join(folder, equal.version, ROWS), join(work, ROWS));
    }
    await rm(join(folder, name), { recursive: true, force: true });
    await putInPlace(work, join(folder, name));
    return stored;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

const ROWS = 'rows.jsonl.zst';
const BROKEN = 'broken.jsonl';
const VERSION = 'version.json';

const versionText = (version: StoredVersion) => `${JSON.stringify(version)}\n`;

/** What the time of a version follows from, besides the version. */
interface TimeInput {
  /** The version of the same state of the source that this one replaces. */
  replaced: StoredVersion | undefined;
  others: readonly StoredVersion[];
  /** Latest time of the rows with own times, or -Infinity. */
  latest: number;
  now: Date;
}

const DAY = 86_400_000;

/**
 * Milliseconds of the time that a version describes: the latest of its rows, else that of the file, the
 * header or the query. A file that changed in place is newer than its last version, whatever its clock says, and
 * no two versions have one time: the order of files with equal times is that of their names.
 */
function observationTime(
  { from }: DeclaringSource,
  { name, observed_at }: SourceVersion,
  { replaced, others, latest, now }: TimeInput,
): number {
  // A file may be named after the day in a time zone that is ahead of UTC.
  if (from.observed_at?.file_name !== undefined && observed_at.getTime() > now.getTime() + DAY) {
    const date = isoTime(observed_at.getTime()).slice(0, 10);
    throw new DeclarationError(`${name} has the date ${date} in its name, expected a date that is not in the future`);
  }
  const timed = from.observed_at?.column !== undefined && Number.isFinite(latest);
  if (replaced !== undefined && !timed) return Date.parse(replaced.observed_at);
  const times = new Map(others.map((other) => [Date.parse(other.observed_at), other]));
  const newest = Math.max(...[...times].flatMap(([time, version]) => (version.name === name ? [time] : [])));
  const described = timed ? latest : Math.min(observed_at.getTime(), now.getTime());
  let at = Math.max(described, newest + 1);
  while (times.has(at)) at++;
  return at;
}

/** Characters that are compressed together. */
const CHUNK = 1 << 16;

/** Writes the rows that the declaration keeps, one JSON list on each line: the line number, then the cells. */
async function writeRows(
  path: string,
  source: DeclaringSource,
  version: SourceVersion,
  { progress, now, row_limit }: StoreContext,
) {
  const { from } = source;
  const compress = createZstdCompress();
  const output = createWriteStream(path);
  const ended = finished(compress.pipe(output));
  // It is awaited below; until then, a full disk must not end the process.
  ended.catch(() => undefined);
  const hash = createHash('sha256');
  const time = from.observed_at?.column;
  let chunk = '';
  let rows = 0;
  let dropped = 0;
  let latest = Number.NEGATIVE_INFINITY;
  const flush = async () => {
    hash.update(chunk);
    const full = !compress.write(chunk);
    chunk = '';
    if (full) await Promise.race([once(compress, 'drain'), ended]);
  };
  try {
    for await (const row of version.rows) {
      if (!keepsRow(source, row, version)) {
        dropped++;
        continue;
      }
      if (time !== undefined) {
        const at = cellTime(row.cells[version.columns.indexOf(time)] ?? '', {
          date: from.observed_at?.date,
          timezone: from.timezone,
        });
        if (at <= now().getTime()) latest = Math.max(latest, at);
      }
      chunk += `${JSON.stringify([row.line, ...row.cells.map(storedCell)])}\n`;
      if (chunk.length > CHUNK) await flush();
      if (++rows === row_limit) break;
      if (rows % 10_000 === 0) progress(rows, null, `rows of ${version.name}`);
    }
    await flush();
  } finally {
    compress.end();
    await ended;
  }
  // JSON gets columns while it is read. Another header over equal rows is another content.
  hash.update(JSON.stringify(version.columns));
  return { rows, dropped, content: hash.digest('hex'), latest };
}

/** Bytes are no value, and as JSON would take ten times their size. */
const storedCell = (cell: unknown) => (cell instanceof Uint8Array ? { bytes: cell.length } : cell);

/** The rows of a stored version, as they were read. Throws when there are not `expected` ones. */
export async function* storedRows(folder: string, expected: number): AsyncGenerator<RawRow> {
  const input = createReadStream(join(folder, ROWS));
  const text = input.pipe(createZstdDecompress()).setEncoding('utf8');
  input.on('error', (error) => text.destroy(error));
  let rest = '';
  let rows = 0;
  try {
    for await (const piece of text as AsyncIterable<string>) {
      const lines = (rest + piece).split('\n');
      rest = lines.pop()!;
      for (const lineText of lines) {
        const [line, ...cells] = JSON.parse(lineText) as [number, ...unknown[]];
        rows++;
        yield { line, cells };
      }
    }
  } catch (error) {
    throw new Error(`the stored version is damaged: ${ROWS}: ${(error as Error).message}`, { cause: error });
  } finally {
    input.destroy();
    text.destroy();
  }
  if (rows !== expected) throw new Error(`the stored version is damaged: ${ROWS} has ${rows} of ${expected} rows`);
}

/** Removes stored versions, so that the next run reads the source again. */
export async function removeVersions(folder: string, versions: readonly string[]): Promise<void> {
  for (const version of versions) await rm(join(folder, version), { recursive: true, force: true });
}

const Broken = z.object({ line: z.number(), text: z.string(), expected: z.string() });

/** The rows of a stored version that could not be read. */
export async function brokenRows(folder: string): Promise<BrokenRow[]> {
  const text = await readFile(join(folder, BROKEN), 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => Broken.parse(JSON.parse(line)));
}
