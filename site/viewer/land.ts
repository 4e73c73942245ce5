// The outlines of continents and borders as SVG paths, and the names of countries, drawn at build time (plate carrée).
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { feature, mesh } from 'topojson-client';
import type { MapOutlines } from '../../api/pages/viewer-model.ts';

type Topology = Parameters<typeof feature>[0];
type Line = [number, number][];

/** Scale of the world map, and of a zoomed one: files of world-atlas, and units of a degree. */
const DETAILS = { world: { scale: '110m', units: 10 }, zoomed: { scale: '50m', units: 40 } } as const;

const files = new Map<string, { name: string; text: string }>();

/** The outlines as a JSON file (MapOutlines), named by its content. */
export function outlines(detail: keyof typeof DETAILS = 'world'): { name: string; text: string } {
  let file = files.get(detail);
  if (file === undefined) {
    const text = JSON.stringify(worldPaths(detail));
    file = { name: `${detail}.${createHash('sha256').update(text).digest('hex').slice(0, 12)}.json`, text };
    files.set(detail, file);
  }
  return file;
}

interface Country {
  properties: { name: string };
  geometry: { type: string; coordinates: Line[][] | Line[][][] };
}

/** Paths in units of the map: x = units × (longitude + 180), y = units × (90 - latitude). */
function worldPaths(detail: keyof typeof DETAILS): MapOutlines {
  const { scale, units } = DETAILS[detail];
  const path = createRequire(import.meta.url).resolve(`world-atlas/countries-${scale}.json`);
  const world = JSON.parse(readFileSync(path, 'utf8')) as Topology;
  const land = feature(world, world.objects['land']!) as unknown as {
    features: { geometry: { coordinates: Line[][] } }[];
  };
  const countries = world.objects['countries'] as NonNullable<Parameters<typeof mesh>[1]>;
  const borders = mesh(world, countries, (a, b) => a !== b) as unknown as { coordinates: Line[] };
  const rings = land.features.flatMap(({ geometry }) => geometry.coordinates.flat());
  const shapes = (feature(world, countries) as unknown as { features: Country[] }).features;
  return {
    units,
    land: rings
      .flatMap(whole)
      .map((line) => drawn(line, units))
      .filter((path) => path !== '')
      .map((path) => `${path}z`)
      .join(''),
    borders: borders.coordinates.map((line) => drawn(line, units)).join(''),
    ...(detail === 'zoomed'
      ? {
          names: shapes
            .map(nameOf)
            .toSorted((a, b) => b.size - a.size)
            .map(({ name }) => name),
        }
      : {}),
  };
}

/** The name of a country in the middle of its largest part, and the size of that part on the map. */
function nameOf({ properties, geometry: { type, coordinates } }: Country) {
  const parts = (type === 'Polygon' ? [coordinates] : coordinates) as Line[][];
  const middles = parts.map(([ring]) => middleOf(ring!));
  const { lng, lat, size } = middles.reduce((a, b) => (a.size >= b.size ? a : b));
  return { size, name: [properties.name, Number(lng.toFixed(2)), Number(lat.toFixed(2))] as [string, number, number] };
}

/** The centre of mass of a polygon, and its size. */
function middleOf(ring: Line) {
  let [twice, x, y] = [0, 0, 0];
  for (const [at, [lng, lat]] of ring.entries()) {
    const [toLng, toLat] = ring[(at + 1) % ring.length]!;
    const cross = lng * toLat - toLng * lat;
    [twice, x, y] = [twice + cross, x + (lng + toLng) * cross, y + (lat + toLat) * cross];
  }
  return { size: Math.abs(twice), lng: x / (3 * twice), lat: y / (3 * twice) };
}

/** A ring that crosses the date line continues beyond the edge, and is drawn at the other edge too. */
function whole(ring: Line): Line[] {
  let turn = 0;
  const line = ring.map(([lng, lat], at): [number, number] => {
    const before = ring[at - 1]?.[0];
    // Antarctica follows the edge at the pole.
    if (before !== undefined && Math.abs(lng - before) > 180 && Math.abs(lat) < 84) turn += lng < before ? 360 : -360;
    return [lng + turn, lat];
  });
  const xs = line.map(([lng]) => lng);
  const shift = Math.max(...xs) > 180 ? -360 : Math.min(...xs) < -180 ? 360 : 0;
  return shift === 0 ? [line] : [line, line.map(([lng, lat]) => [lng + shift, lat])];
}

/** A line as relative steps from point to point, which are short; empty if it is one point at this scale. */
function drawn(line: Line, units: number): string {
  let [x, y] = [0, 0];
  const path = line
    .map(([lng, lat], at) => {
      const [toX, toY] = [Math.round((lng + 180) * units), Math.round((90 - lat) * units)];
      const step = at === 0 ? `M${toX} ${toY}l` : toX === x && toY === y ? '' : `${toX - x} ${toY - y} `;
      [x, y] = [toX, toY];
      return step;
    })
    .join('')
    .trimEnd();
  return path.endsWith('l') ? '' : path;
}
