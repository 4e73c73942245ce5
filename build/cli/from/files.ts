// What `from` finds out about files before their rows are read: which ones there are, their encoding and their form.
import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { changedFiles, dateInName, fileBytes } from '../../sources/files.ts';
import { jsonDocument } from '../../sources/json.ts';
import { isJsonObject } from '../../sources/json-values.ts';
import { zipEntries } from '../../sources/zip.ts';
import { ProposalError } from './choices.ts';
import { isSupported, suffixOf } from './flags.ts';

/**
 * The files of a folder as a pattern, those of the most frequent kind; a pattern and a file as they are. `inside` is
 * set for a zip archive: its file, or a pattern of its files.
 */
export async function filesOf(source: string, path: string): Promise<{ pattern: string; inside: string | null }> {
  const info = await stat(path).catch(() => null);
  if (info?.isDirectory()) {
    const suffix = commonSuffix(await readdir(path));
    if (suffix === null) throw new ProposalError(`no file in ${path} has a supported suffix`);
    return { pattern: join(source, `*${suffix}`), inside: null };
  }
  if (!path.toLowerCase().endsWith('.zip') || info === null) return { pattern: source, inside: null };
  const names = (await zipEntries(path)).map(({ name }) => name).filter((name) => !/^__MACOSX\/|(^|\/)\./.test(name));
  const suffix = commonSuffix(names);
  if (suffix === null)
    throw new ProposalError(`no file in ${basename(path)} has a supported suffix: ${names.join(', ')}`);
  const matching = names.filter((name) => suffixOf(name) === suffix);
  return { pattern: source, inside: matching.length === 1 ? matching[0]! : `**/*${suffix}` };
}

/** The supported suffix that most names have. */
function commonSuffix(names: readonly string[]): string | null {
  const counts = new Map<string, number>();
  for (const suffix of names.map(suffixOf).filter(isSupported)) counts.set(suffix, (counts.get(suffix) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? null;
}

/** Patterns of dates in names of files. */
const NAME_DATES = ['YYYY-MM-DD', 'YYYY_MM_DD', 'YYYYMMDD', 'YYYY-MM', 'YYYY_MM', 'YYYYMM'];

/** The pattern of the date that all names have; null when they have none, or the same. */
export function dateOfNames(names: readonly string[]): string | null {
  const days = (pattern: string) => new Set(names.map((name) => dateInName(name, pattern).getTime()));
  return (
    NAME_DATES.find((pattern) => {
      try {
        return days(pattern).size === names.length;
      } catch {
        return false;
      }
    }) ?? null
  );
}

type FileSource = Parameters<typeof changedFiles>[0];

/** The first bytes of the newest file, unpacked: at least `most` of them, unless it has fewer. */
export async function headOf(declared: FileSource, folder: string, most: number): Promise<Buffer> {
  const files = await changedFiles(declared, { folder, marks: [] });
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of fileBytes(files.at(-1)!)) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes >= most) break;
  }
  return Buffer.concat(pieces);
}

/** U+FFFD as UTF-8: a file with it is UTF-8 whose text was damaged before. */
const DAMAGED = Buffer.from('\uFFFD');

/**
 * `windows-1252` when the bytes have more that are not valid in UTF-8 than characters beyond ASCII that are; null for
 * UTF-8, also with some broken bytes, and for a byte order mark of UTF-16.
 */
export function legacyEncoding(head: Buffer): 'windows-1252' | null {
  if (head.length < 2 || [0xfffe, 0xfeff].includes(head.readUInt16BE()) || head.includes(DAMAGED)) return null;
  let [invalid, valid] = [0, 0];
  // An incomplete character at the end is not counted.
  for (const [char] of new TextDecoder().decode(head, { stream: true }).matchAll(/\P{ASCII}/gu)) {
    if (char === '\uFFFD') invalid++;
    else valid++;
  }
  return invalid > valid ? 'windows-1252' : null;
}

const DELIMITERS = [',', ';', '\t', '|'];
/** Lines among which the header is looked for. */
const HEAD_LINES = 60;

/** Lines above the header of a CSV: titles and comments, which have fewer fields than the lines of the table. */
export function linesAbove(text: string): number {
  // A quoted text is one field: without its delimiters, and with a mark for its line breaks.
  const lines = text
    .replace(/^\ufeff/, '')
    .replace(/(?<=^|[,;\t|\r\n])"(?:[^"]|"")*"(?=[,;\t|\r\n]|$)/g, (quoted) => (/[\r\n]/.test(quoted) ? '"' : 'x'))
    .split(/\r\n|\n|\r/)
    .slice(0, HEAD_LINES);
  if (/^sep=.$/i.test(lines[0] ?? '')) return 0;
  const fields = (line: string, delimiter: string) => (line.trim() === '' ? 0 : line.split(delimiter).length);
  const tables = DELIMITERS.map((delimiter) => {
    const counts = lines.map((line) => fields(line, delimiter));
    const often = new Map<number, number>();
    for (const count of counts) if (count > 1) often.set(count, (often.get(count) ?? 0) + 1);
    const [width = 0, rows = 0] = [...often].sort(([, a], [, b]) => b - a)[0] ?? [];
    return { rows, width, start: counts.indexOf(width), before: counts.slice(0, counts.indexOf(width)) };
  });
  const table = tables.sort((a, b) => b.rows - a.rows || b.width - a.width)[0]!;
  const filled = lines.filter((line) => line.trim() !== '').length;
  const above = lines.slice(0, table.start);
  const isTitle = table.before.every((count) => count < table.width) && !above.some((line) => line.includes('"'));
  return table.rows >= 2 && table.rows >= filled / 2 && isTitle ? Math.max(0, table.start) : 0;
}

/** Where the rows of a JSON document are: the only list in it, or an object keyed by name. */
export function rowsOfDocument(name: string, bytes: Buffer): { items?: string; entries?: string; geojson?: true } {
  const document = jsonDocument(name, bytes);
  if (!isJsonObject(document)) return {};
  if (document['type'] === 'FeatureCollection') return { geojson: true };
  const lists = Object.entries(document).filter(([, value]) => Array.isArray(value) && value.some(isJsonObject));
  if (lists.length === 1) return { items: lists[0]![0] };
  const isKeyedByName = (value: unknown) =>
    isJsonObject(value) && Object.keys(value).length >= 2 && Object.values(value).every(isJsonObject);
  const path = isKeyedByName(document) ? null : Object.keys(document).find((key) => isKeyedByName(document[key]));
  if (path === undefined || lists.length > 0) return {};
  const rows = Object.values((path === null ? document : document[path]) as object) as object[];
  const entries = ['key', 'name_key', 'row_key'].find((name) => !rows.some((row) => name in row))!;
  return path === null ? { entries } : { items: path, entries };
}
