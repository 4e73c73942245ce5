// Reads a JSON document: a list of objects, or a document with such a list. It is parsed as a whole.
import { parseJson } from '../../packs/define/digits.ts';
import { nearestName } from '../../packs/define/mistakes.ts';
import type { DeclaredAs } from '../../packs/define/sources.ts';
import { changedFiles, fileBytes } from './files.ts';
import { featureRows } from './geojson.ts';
import { isJsonObject, ObjectColumns, valueAt } from './json-values.ts';
import type { RawRow, SourceContext, SourceVersion } from './reader.ts';

/** Largest document, in bytes: the longest text of V8 has 536,870,888 characters. */
const LARGEST = 512_000_000;

/** Versions of a JSON file. */
export async function* readJson(declared: DeclaredAs<'json'>, context: SourceContext): AsyncGenerator<SourceVersion> {
  for (const file of await changedFiles(declared, context)) {
    const { name, observed_at, mark } = file;
    const pieces: Buffer[] = [];
    let bytes = 0;
    for await (const piece of fileBytes(file, context.progress)) {
      bytes += piece.length;
      if (bytes > LARGEST) throw new Error(`${name} has more than ${LARGEST / 1_000_000} MB; use JSON Lines (jsonl)`);
      pieces.push(piece);
    }
    const { list, notes } = rowsInDocument(jsonDocument(name, Buffer.concat(pieces)), name, declared);
    yield { name, observed_at, ...objectTable(list, context), mark: () => mark, notes };
  }
}

/** The rows of a document: a list, the members of an object keyed by name, or features. */
function rowsInDocument(document: unknown, name: string, { items, entries, geojson }: DeclaredAs<'json'>) {
  if (entries !== undefined) {
    const members = items === undefined ? document : valueAt(document, items);
    if (!isJsonObject(members))
      throw new Error(`${name} has no object${items ? ` ${items}` : ''} of rows by name (entries)`);
    const list = Object.entries(members).map(([key, row]) => (isJsonObject(row) ? { ...row, [entries]: key } : row));
    return { list, notes: [] };
  }
  const list = listInDocument(document, name, items ?? (geojson ? 'features' : undefined));
  if (!geojson) return { list, notes: [] };
  const { rows, shortened } = featureRows(list);
  const shapes = shortened === 1 ? '1 shape' : `${shortened} shapes`;
  const note = `${shapes} of ${name} with a text of more than 50,000 characters became a point, the centroid`;
  return { list: rows, notes: shortened === 0 ? [] : [note] };
}

/** The value of a JSON text in UTF-8. Throws with the name and the position of the mistake. */
export function jsonDocument(name: string, bytes: Buffer): unknown {
  try {
    return parseJson(bytes.toString().replace(/^\ufeff/, ''));
  } catch (error) {
    const [place, problem] = jsonMistake(bytes.toString(), (error as Error).message);
    throw new Error(`${name} is not JSON: ${place}${problem}`);
  }
}

/** Characters before the mistake in the excerpt of V8's messages. */
const BEFORE = 10;

/** The place of a mistake, `line 3, column 9: `, and the message of V8 without its excerpt of several lines. */
function jsonMistake(text: string, message: string): [place: string, problem: string] {
  const [, problem = message, dots, excerpt] =
    /^(.*?), (\.\.\.)?"(.*?)"(?:\.\.\.)? is not valid JSON$/s.exec(message) ?? [];
  const [, position] = /at position (\d+)/.exec(message) ?? [];
  const start = excerpt === undefined ? -1 : text.indexOf(excerpt);
  // The excerpt begins with the text when nothing was cut before it; then only the message has the token.
  const token = /token '(.)'/.exec(message)?.[1];
  const cut = dots === undefined ? (token === undefined ? -1 : text.indexOf(token)) : start + BEFORE;
  const at = position !== undefined ? Number(position) : start < 0 ? -1 : cut;
  if (at < 0) return ['', problem.split(/[\r\n]/)[0]!];
  const lines = text.slice(0, at).split('\n');
  const place = `line ${lines.length}, column ${lines.at(-1)!.length + 1}: `;
  return [place, problem.replace(/ (in JSON )?at position .*/s, '')];
}

/** The list at a path of a document. Throws with the lists that the document contains. */
export function listInDocument(document: unknown, name: string, path: string | undefined): readonly unknown[] {
  const list = path === undefined ? document : valueAt(document, path);
  if (Array.isArray(list)) return list;
  const lists = listPaths(document, '', 3);
  const near = path === undefined ? undefined : nearestName(path, lists);
  const known = lists.length === 0 ? 'it contains no list' : `its lists are ${lists.slice(0, 10).join(', ')}`;
  const place =
    path === undefined ? `${name} is no list; set items to the path of its list` : `${name} has no list ${path}`;
  throw new Error(`${place}: ${known}${near === undefined ? '' : `; nearest: ${near}`}`);
}

/** Paths of the lists in a document, to a depth. */
function listPaths(value: unknown, prefix: string, depth: number): string[] {
  if (!isJsonObject(value) || depth === 0) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    Array.isArray(member) ? [prefix + name] : listPaths(member, `${prefix}${name}.`, depth - 1),
  );
}

/** Characters of a broken entry in a message. */
const SHOWN_TEXT = 200;

/**
 * The table of a list of objects; entries that are not objects are reported. The line of a row is its number,
 * from 1.
 */
export function objectTable(
  list: readonly unknown[],
  { wanted, broken }: Pick<SourceContext, 'wanted' | 'broken'>,
): { columns: readonly string[]; rows: AsyncIterable<RawRow> } {
  const table = new ObjectColumns(wanted);
  for (const entry of list) if (isJsonObject(entry)) table.add(entry);
  async function* rows(): AsyncGenerator<RawRow> {
    for (const [i, entry] of list.entries()) {
      if (isJsonObject(entry)) yield { line: i + 1, cells: table.cells(entry) };
      else broken({ line: i + 1, text: JSON.stringify(entry).slice(0, SHOWN_TEXT), expected: 'a JSON object' });
    }
  }
  return { columns: table.columns, rows: rows() };
}
