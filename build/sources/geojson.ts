// Rows of GeoJSON features (RFC 7946): their properties, points as latitude and longitude, other shapes as WKT.
import { maxLength } from '../../packs/define/schema.ts';
import { isJsonObject, type JsonObject } from './json-values.ts';

type Position = readonly [number, number];

/** Names of the columns that the geometry becomes. */
const COLUMNS = { lat: 'location.lat', lng: 'location.lng', wkt: 'geometry' } as const;

/** The features as rows, and how many shapes became a point because their text is too long. */
export function featureRows(features: readonly unknown[]): { rows: unknown[]; shortened: number } {
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
  if (text.length <= maxLength('text')) return { columns: { [COLUMNS.wkt]: text }, shortened: false };
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
