// Reads a JSON document: a list of objects, or a document with such a list. It is parsed as a whole.
import { parseJson } from '../../packs/define/digits.ts';
import { nearestName } from '../../packs/define/mistakes.ts';
import type { DeclaredAs } from '../../packs/define/sources.ts';
import { changedFiles, fileBytes } from './files.ts';
import { isJsonObject, type JsonObject, ObjectColumns, valueAt } from './json-values.ts';
import type { RawRow, SourceContext, SourceVersion } from './reader.ts';

/** Largest document, in bytes: the longest text of V8 has 536,870,888 characters. */
const LARGEST = 512_000_000;

/** Characters of a shape as text; of a longer one the middle is read. */
const LONGEST_SHAPE = 50_000;

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
  const hint = lists.length === 0 ? 'it contains no list' : `its lists are ${lists.slice(0, 10).join(', ')}`;
  const place =
    path === undefined ? `${name} is no list; set items to the path of its list` : `${name} has no list ${path}`;
  throw new Error(`${place}: ${hint}${near === undefined ? '' : `; nearest: ${near}`}`);
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

// Rows of GeoJSON features (RFC 7946): their properties, points as latitude and longitude, other shapes as WKT.

type Position = readonly [number, number];

/** Names of the columns that the geometry becomes. */
const COLUMNS = { lat: 'location.lat', lng: 'location.lng', wkt: 'geometry' } as const;

/** The features as rows, and how many shapes became a point because their text is too long. */
function featureRows(features: readonly unknown[]): { rows: unknown[]; shortened: number } {
  let shortened = 0;
  const rows = features.map((feature) => {
    if (!isJsonObject(feature) || feature['type'] !== 'Feature') return feature;
    const { id, properties, geometry } = feature;
    const members = isJsonObject(properties) ? properties : {};
    const shape = shapeColumns(geometry);
    if (shape.shortened) shortened++;
    const columns = Object.entries(members).map(([name, value]) => [
      name in shape.columns ? `properties.${name}` : name,
      value,
    ]);
    const identified = id === undefined || 'id' in members ? {} : { id };
    return { ...identified, ...Object.fromEntries(columns), ...shape.columns };
  });
  return { rows, shortened };
}

/** The columns of a geometry; none for null and for a geometry that is not one. */
function shapeColumns(geometry: unknown): { columns: JsonObject; shortened: boolean } {
  if (!isJsonObject(geometry)) return { columns: {}, shortened: false };
  const point = (position: Position | null) =>
    position === null ? {} : { [COLUMNS.lng]: position[0], [COLUMNS.lat]: position[1] };
  if (geometry['type'] === 'Point' && isPosition(geometry['coordinates']))
    return { columns: point(geometry['coordinates']), shortened: false };
  const text = wktOf(geometry);
  if (text === null) return { columns: { [COLUMNS.wkt]: JSON.stringify(geometry) }, shortened: false };
  if (text.length <= LONGEST_SHAPE) return { columns: { [COLUMNS.wkt]: text }, shortened: false };
  return { columns: point(centroidOf(geometry['coordinates'])), shortened: true };
}

const isPosition = (value: unknown): value is Position =>
  Array.isArray(value) && value.length >= 2 && Number.isFinite(value[0]) && Number.isFinite(value[1]);

/** Well-known text (OGC 06-103r4) of a shape in two dimensions; null for one that is not valid. */
function wktOf(geometry: JsonObject): string | null {
  const type = String(geometry['type']);
  if (type === 'GeometryCollection') {
    const members = Array.isArray(geometry['geometries']) ? geometry['geometries'] : [];
    const texts = members.map((member) => (isJsonObject(member) ? wktOf(member) : null));
    return texts.length === 0 || texts.includes(null) ? null : `GEOMETRYCOLLECTION (${texts.join(', ')})`;
  }
  const text = positionsText(geometry['coordinates']);
  if (text === null || !/^(?:Multi)?(?:Point|LineString|Polygon)$/.test(type)) return null;
  return `${type.toUpperCase()} ${type === 'Point' ? `(${text})` : text}`;
}

/** `1 2` for a position, `(1 2, 3 4)` for a list; null for anything else. */
function positionsText(coordinates: unknown): string | null {
  if (isPosition(coordinates)) return `${coordinates[0]} ${coordinates[1]}`;
  if (!Array.isArray(coordinates) || coordinates.length === 0) return null;
  const texts = coordinates.map(positionsText);
  return texts.includes(null) ? null : `(${texts.join(', ')})`;
}

/** The centroid of the largest ring, or the mean position of a line. */
function centroidOf(coordinates: unknown): Position | null {
  const rings: Position[][] = [];
  const collect = (value: unknown): void => {
    if (!Array.isArray(value)) return;
    if (value.length > 0 && value.every(isPosition)) rings.push(value as Position[]);
    else value.forEach(collect);
  };
  collect(coordinates);
  const largest = rings
    .map((ring) => ({ ring, area: areaOf(ring) }))
    .sort((a, b) => Math.abs(b.area) - Math.abs(a.area))[0];
  if (largest === undefined) return null;
  const { ring, area } = largest;
  if (area === 0)
    return [0, 1].map((i) => ring.reduce((sum, at) => sum + at[i]!, 0) / ring.length) as unknown as Position;
  const [x, y] = [0, 1].map(
    (i) => sumOfEdges(ring, (a, b) => (a[i]! + b[i]!) * (a[0] * b[1] - b[0] * a[1])) / (6 * area),
  );
  return [x!, y!];
}

const sumOfEdges = (ring: readonly Position[], of: (a: Position, b: Position) => number): number =>
  ring.reduce((sum, at, i) => sum + of(at, ring[(i + 1) % ring.length]!), 0);

/** Area of a closed ring, by the shoelace formula; 0 for an open line. */
function areaOf(ring: readonly Position[]): number {
  const [first, last] = [ring[0]!, ring.at(-1)!];
  if (first[0] !== last[0] || first[1] !== last[1]) return 0;
  return sumOfEdges(ring, (a, b) => a[0] * b[1] - b[0] * a[1]) / 2;
}
