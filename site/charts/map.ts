// World map of records: dots for cells of a few degrees on the outlines of the land, without map tiles.
import { createRequire } from 'node:module';
import { feature } from 'topojson-client';
import type { SiteProfile } from '../../api/pages/site.ts';
import { plural, printNumber } from '../../api/render/print.ts';
import { drawChart, Plot } from './svg.ts';

const require = createRequire(import.meta.url);
const world = require('world-atlas/land-110m.json');
const land = feature(world, world.objects.land);

/** Levels of density; each is one path. */
const STEPS = 5;

/** Pixels. `degrees` is the side of a drawn cell, a multiple of the profile's; `coarse` rounds outlines. */
interface MapSize {
  width: number;
  height: number;
  radius: number;
  degrees: number;
  coarse: boolean;
}
/** For the cards of the home page: a fifth of the bytes. */
export const SMALL_MAP: MapSize = { width: 400, height: 196, radius: 2.3, degrees: 4, coarse: true };
const FULL_MAP: MapSize = { width: 900, height: 440, radius: 2, degrees: 2, coarse: false };

export function map({ name, cells }: SiteProfile, records: number, size = FULL_MAP): string {
  if (!cells || cells.counts.length === 0) return '';
  const { width, height, radius } = size;
  const { degrees, counts } = mergeCells(cells, size.degrees);
  const most = counts.reduce((best, cell) => (cell.count > best.count ? cell : best));
  const step = (count: number) => Math.min(STEPS - 1, Math.floor((Math.log1p(count) / Math.log1p(most.count)) * STEPS));
  const groups = Map.groupBy(counts, ({ count }) => step(count));
  const half = degrees / 2;
  const layers = [...groups].sort(([a], [b]) => a - b);
  const description = `World map of ${name}: ${plural(records, 'record')} in ${printNumber(counts.length)} cells of ${degrees} degrees, most in the one at ${place(most.lat, 'N', 'S')}, ${place(most.lng, 'E', 'W')}.`;
  const svg = drawChart(description, {
    width,
    height,
    projection: { type: 'equal-earth', domain: { type: 'Sphere' } },
    marks: [
      Plot.geo(land, { fill: 'var(--plot-land)' }),
      ...layers.map(([density, cells]) =>
        Plot.geo(
          {
            type: 'MultiPoint',
            coordinates: cells.map(({ lat, lng }) => [lng + half, lat + half]),
          },
          {
            r: radius,
            fill: 'none',
            stroke: 'var(--plot-1)',
            strokeWidth: 2 * radius,
            strokeLinecap: 'square',
            strokeOpacity: 0.25 + (0.75 * (density + 1)) / STEPS,
          },
        ),
      ),
    ],
  });
  // Draws each point as a stroke without length instead of two arcs, with a fifth of the bytes.
  const strokes = svg.replace(/m0,[\d.]+a[^z]*z/g, 'h0');
  return size.coarse ? strokes.replace(/ d="[^"]*L[^"]*"/, coarsePath) : strokes;
}

/** Rounds the points of an outline to two pixels, and drops repeated ones. */
function coarsePath(path: string): string {
  const points = path.replace(/-?\d+\.\d+/g, (number) => String(2 * Math.round(Number(number) / 2)));
  let last = '';
  const lines = points.replace(/([ML])(-?\d+,-?\d+)/g, (step, kind: string, point: string) => {
    if (kind === 'L' && point === last) return '';
    last = point;
    return step;
  });
  // Islands of a single point.
  return lines.replace(/M-?\d+,-?\d+Z/g, '');
}

/** Sums the counts of smaller cells. */
function mergeCells({ degrees, counts }: NonNullable<SiteProfile['cells']>, side: number) {
  if (side <= degrees) return { degrees, counts };
  const corner = (angle: number) => Math.floor(angle / side) * side;
  const groups = Map.groupBy(counts, ({ lat, lng }) => `${corner(lat)},${corner(lng)}`);
  const merged = [...groups.values()].map((group) => {
    const { lat, lng } = group[0]!;
    return { lat: corner(lat), lng: corner(lng), count: group.reduce((sum, { count }) => sum + count, 0) };
  });
  return { degrees: side, counts: merged };
}

const place = (degrees: number, plus: string, minus: string): string =>
  `${Math.abs(degrees)}° ${degrees < 0 ? minus : plus}`;
