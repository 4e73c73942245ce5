// A small map around a point: outlines of countries as inline SVG, without tiles or a script.
import { createRequire } from 'node:module';
import { feature } from 'topojson-client';
import type { Geo } from '../../packs/define/model.ts';
import { type Html, html } from './html.ts';

type Point = readonly [x: number, y: number];
interface World {
  type: 'Topology';
  objects: { countries: { type: 'GeometryCollection'; geometries: [] } };
  arcs: [];
}

/** Degrees of latitude from the point to the upper edge, and the ratio of width to height. */
const SPAN = 9;
const RATIO = 16 / 9;

/** The outline of a piece of land, longitude and latitude in degrees, and the latitudes that it covers. */
interface Ring {
  points: readonly Point[];
  south: number;
  north: number;
}

let outlines: readonly Ring[] | undefined;

/** Rings of all countries; loaded with the first map. */
function rings(): readonly Ring[] {
  if (outlines) return outlines;
  const world = createRequire(import.meta.url)('world-atlas/countries-110m.json') as World;
  outlines = feature(world, world.objects.countries).features.flatMap(({ geometry }) => {
    const { type, coordinates } = geometry as unknown as { type: string; coordinates: Point[][] | Point[][][] };
    const all = (type === 'Polygon' ? coordinates : (coordinates as Point[][][]).flat()) as Point[][];
    return all.map((points) => {
      const latitudes = points.map(([, y]) => y);
      return { points, south: Math.min(...latitudes), north: Math.max(...latitudes) };
    });
  });
  return outlines;
}

/** The part of a ring on one side of a line: `inside` measures the distance, positive inside. */
function clip(ring: readonly Point[], inside: (point: Point) => number): Point[] {
  return ring.flatMap((point, i): Point[] => {
    const before = ring.at(i - 1)!;
    const [a, b] = [inside(before), inside(point)];
    const cross = a / (a - b);
    const edge: Point = [before[0] + (point[0] - before[0]) * cross, before[1] + (point[1] - before[1]) * cross];
    if (b >= 0) return a >= 0 ? [point] : [edge, point];
    return a >= 0 ? [edge] : [];
  });
}

/** Units of the drawing per degree: half a pixel of a small map. */
const SCALE = 20;

/** A closed path in whole units, without the points that coincide. */
function outline(ring: readonly Point[]): string {
  const points = ring.map(([x, y]): Point => [Math.round(x * SCALE), Math.round(y * SCALE)]);
  const [first] = points;
  if (first === undefined) return '';
  let [x, y] = first;
  let path = `M${x} ${y}`;
  for (const [toX, toY] of points.slice(1)) {
    if (toX === x && toY === y) continue;
    path += `l${toX - x} ${toY - y}`;
    [x, y] = [toX, toY];
  }
  return path.includes('l') ? `${path}Z` : '';
}

/** The map; nothing near the poles, where the projection has no width. */
export function pointMap(name: string, { lat, lng }: Geo): Html {
  const shrink = Math.cos((lat * Math.PI) / 180);
  const half = SPAN * RATIO;
  if (half / shrink > 90) return html``;
  // Longitudes are shifted around the point, so that a map at the antimeridian has both sides.
  const project = ([x, y]: Point): Point => [(((((x - lng + 540) % 360) + 360) % 360) - 180) * shrink, lat - y];
  const paths = rings().flatMap(({ points, south, north }) => {
    if (south > lat + SPAN || north < lat - SPAN) return [];
    const drawn = points.map(project);
    // A ring that leaves the shifted world on one side comes back on the other: it is far from the point.
    if (drawn.some(([x], i) => Math.abs(x - drawn.at(i - 1)![0]) > 180 * shrink)) return [];
    const sides: ((point: Point) => number)[] = [
      ([x]) => x + half,
      ([x]) => half - x,
      ([, y]) => y + SPAN,
      ([, y]) => SPAN - y,
    ];
    const part = sides.reduce((points: readonly Point[], side) => clip(points, side), drawn);
    return outline(part);
  });
  const place = `${lat}, ${lng}`;
  return html`<section aria-labelledby="map"><h2 id="map">Map</h2><figure class="point-map"><svg viewBox="${-half * SCALE} ${-SPAN * SCALE} ${2 * half * SCALE} ${2 * SPAN * SCALE}" role="img" aria-label="${name} at ${place}"><path class="land" d="${paths.join('')}"/><path class="spot" d="M0 0h0"/></svg><figcaption>${place}</figcaption></figure></section>
`;
}
