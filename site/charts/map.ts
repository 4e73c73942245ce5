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
const RADIUS = 2;

export function map({ name, cells }: SiteProfile, records: number): string {
  if (!cells || cells.counts.length === 0) return '';
  const { degrees, counts } = cells;
  const most = counts.reduce((best, cell) => (cell.count > best.count ? cell : best));
  const step = (count: number) => Math.min(STEPS - 1, Math.floor((Math.log1p(count) / Math.log1p(most.count)) * STEPS));
  const groups = Map.groupBy(counts, ({ count }) => step(count));
  const half = degrees / 2;
  const layers = [...groups].sort(([a], [b]) => a - b);
  const description = `World map of ${name}: ${plural(records, 'record')} in ${printNumber(counts.length)} cells of ${degrees} degrees, most in the one at ${place(most.lat, 'N', 'S')}, ${place(most.lng, 'E', 'W')}.`;
  const svg = drawChart(description, {
    width: 900,
    height: 440,
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
            r: RADIUS,
            fill: 'none',
            stroke: 'var(--plot-1)',
            strokeWidth: 2 * RADIUS,
            strokeLinecap: 'square',
            strokeOpacity: 0.25 + (0.75 * (density + 1)) / STEPS,
          },
        ),
      ),
    ],
  });
  // Draws each point as a stroke without length instead of two arcs, with a fifth of the bytes.
  return svg.replace(/m0,[\d.]+a[^z]*z/g, 'h0');
}

const place = (degrees: number, plus: string, minus: string): string =>
  `${Math.abs(degrees)}° ${degrees < 0 ? minus : plus}`;
