// The outlines of continents and borders as SVG paths, drawn at build time: 3,600 by 1,800 units, a tenth of
// a degree each (plate carrée).
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { feature, mesh } from 'topojson-client';

type Topology = Parameters<typeof feature>[0];
type Line = [number, number][];

let file: { name: string; text: string } | null = null;

/** The outlines as a JSON file, named by its content. */
export function outlines(): { name: string; text: string } {
  if (file === null) {
    const text = JSON.stringify(worldPaths());
    file = { name: `world.${createHash('sha256').update(text).digest('hex').slice(0, 12)}.json`, text };
  }
  return file;
}

/** Paths in units of the map: x = 10 × (longitude + 180), y = 10 × (90 - latitude). */
function worldPaths(): { land: string; borders: string } {
  const path = createRequire(import.meta.url).resolve('world-atlas/countries-110m.json');
  const world = JSON.parse(readFileSync(path, 'utf8')) as Topology;
  const land = feature(world, world.objects['land']!) as unknown as {
    features: { geometry: { coordinates: Line[][] } }[];
  };
  const countries = world.objects['countries'] as Parameters<typeof mesh>[1];
  const borders = mesh(world, countries, (a, b) => a !== b) as unknown as { coordinates: Line[] };
  const rings = land.features.flatMap(({ geometry }) => geometry.coordinates.flat());
  return {
    land: rings
      .flatMap(whole)
      .map((line) => `${drawn(line)}z`)
      .join(''),
    borders: borders.coordinates.map(drawn).join(''),
  };
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

/** A line as relative steps from point to point, which are short. */
function drawn(line: Line): string {
  let [x, y] = [0, 0];
  return line
    .map(([lng, lat], at) => {
      const [toX, toY] = [Math.round((lng + 180) * 10), Math.round((90 - lat) * 10)];
      const step = at === 0 ? `M${toX} ${toY}l` : toX === x && toY === y ? '' : `${toX - x} ${toY - y} `;
      [x, y] = [toX, toY];
      return step;
    })
    .join('')
    .trimEnd();
}
