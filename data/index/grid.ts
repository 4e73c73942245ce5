// Points on earth in cells of half a degree: 360 rows of latitude by 720 columns of longitude.
//
//   cells  u32 sorted distinct cell numbers (row × 720 + column)
//   postings per cell; lat, lng  numbers by ordinal (numbers.ts), NaN for a record without a point
import { type Box, boxTest, distanceKm, EARTH_KM, longitudeRanges } from '../model/geography.ts';
import type { Container, Packed } from './container.ts';
import { Numbers, packNumbers } from './numbers.ts';
import { Postings, packPostings } from './postings.ts';

const ROWS = 360;
const COLUMNS = 720;
const RAD = Math.PI / 180;

const rowOf = (lat: number) => Math.min(ROWS - 1, Math.max(0, Math.floor((lat + 90) * 2)));
const columnOf = (lng: number) => Math.min(COLUMNS - 1, Math.max(0, Math.floor((lng + 180) * 2)));

/** Packs points by ordinal; NaN latitude: no point. */
export function packGrid(name: string, lat: Float64Array, lng: Float64Array): Record<string, Packed> {
  const points: { cell: number; ordinal: number }[] = [];
  for (let ordinal = 0; ordinal < lat.length; ordinal += 1) {
    const y = lat[ordinal]!;
    if (!Number.isNaN(y)) points.push({ cell: rowOf(y) * COLUMNS + columnOf(lng[ordinal]!), ordinal });
  }
  points.sort((a, b) => a.cell - b.cell || a.ordinal - b.ordinal);
  const cells = [...new Set(points.map((p) => p.cell))];
  const index = new Map(cells.map((cell, i) => [cell, i]));
  const key = Uint32Array.from(points, (p) => index.get(p.cell) as number);
  const ordinal = Uint32Array.from(points, (p) => p.ordinal);
  return {
    [`${name}.cells`]: Uint32Array.from(cells),
    ...packPostings(`${name}.grid`, cells.length, { key, ordinal }),
    ...packNumbers(`${name}.lat`, lat),
    ...packNumbers(`${name}.lng`, lng),
  };
}

type VisitPoint = (ordinal: number, km: number) => void;

export class Grid {
  readonly lat: Numbers;
  readonly lng: Numbers;
  readonly #cells: Uint32Array;
  readonly #postings: Postings;

  constructor(container: Container, name: string) {
    this.#cells = container.get(`${name}.cells`, 'u32');
    this.#postings = new Postings(container, `${name}.grid`);
    this.lat = new Numbers(container, `${name}.lat`);
    this.lng = new Numbers(container, `${name}.lng`);
  }

  /** Distance of a record from a point in km; NaN for a record without a point. */
  distance(ordinal: number, lat: number, lng: number): number {
    return distanceKm(lat, lng, this.lat.at(ordinal), this.lng.at(ordinal));
  }

  /** Ordinals within `km` of a point, ascending. */
  near(lat: number, lng: number, km: number): Uint32Array {
    const ordinals: number[] = [];
    this.circle(lat, lng, km, (ordinal) => void ordinals.push(ordinal));
    return Uint32Array.from(ordinals).sort();
  }

  /** Visits the records within `km` of a point in no order, with their distances in km. */
  circle(lat: number, lng: number, km: number, visitPoint: VisitPoint): void {
    // Slightly larger than the exact angle, so that rounding never loses a record on the rim.
    const angle = km / EARTH_KM / RAD + 1e-9;
    const first = rowOf(lat - angle);
    const last = rowOf(lat + angle);
    const spread = longitudes(lat, angle);
    for (let row = first; row <= last; row += 1) {
      for (const [from, to] of columns(lng, spread))
        this.#scan(row * COLUMNS + from, row * COLUMNS + to, lat, lng, km, angle, visitPoint);
    }
  }

  /** Number of records in the cells that a box touches: at least those in the box. */
  countAround(box: Box): number {
    return this.#cellsOf(box).reduce((sum, cell) => sum + this.#postings.count(cell), 0);
  }

  /** Ordinals in a box, ascending. */
  box(box: Box): Uint32Array {
    const test = boxTest(box);
    const ordinals: number[] = [];
    for (const cell of this.#cellsOf(box))
      for (const ordinal of this.#postings.of(cell))
        if (test(this.lat.at(ordinal), this.lng.at(ordinal))) ordinals.push(ordinal);
    return Uint32Array.from(ordinals).sort();
  }

  /** Positions in `#cells` of the cells that a box touches. */
  #cellsOf(box: Box): number[] {
    const indices: number[] = [];
    const ranges = columnRanges(box);
    for (let row = rowOf(box.south); row <= rowOf(box.north); row += 1) {
      for (const [from, to] of ranges) {
        const last = row * COLUMNS + to;
        for (let i = lowerBound(this.#cells, row * COLUMNS + from); i < this.#cells.length; i += 1) {
          if (this.#cells[i]! > last) break;
          indices.push(i);
        }
      }
    }
    return indices;
  }

  #scan(from: number, to: number, lat: number, lng: number, km: number, angle: number, visitPoint: VisitPoint): void {
    for (let i = lowerBound(this.#cells, from); i < this.#cells.length && this.#cells[i]! <= to; i += 1) {
      for (let p = this.#postings.start(i); p < this.#postings.end(i); p += 1) {
        const ordinal = this.#postings.list[p]!;
        // A cell extends beyond the circle; latitude excludes most of its outer points cheaply.
        const y = this.lat.at(ordinal);
        if (Math.abs(y - lat) > angle) continue;
        const away = distanceKm(lat, lng, y, this.lng.at(ordinal));
        if (away <= km) visitPoint(ordinal, away);
      }
    }
  }
}

/** Half the width of a circle in degrees of longitude; 180 when it contains a pole. */
function longitudes(lat: number, angle: number): number {
  if (Math.abs(lat) + angle >= 90) return 180;
  return Math.asin(Math.min(1, Math.sin(angle * RAD) / Math.cos(lat * RAD))) / RAD + 1e-9;
}

/** One or two inclusive column ranges, split at the date line. */
function columns(lng: number, spread: number): [number, number][] {
  if (spread >= 180) return [[0, COLUMNS - 1]];
  const west = lng - spread;
  const east = lng + spread;
  if (west < -180)
    return [
      [0, columnOf(east)],
      [columnOf(west + 360), COLUMNS - 1],
    ];
  // Longitudes 180 and -180 are the same meridian, but in the last and the first column.
  if (east >= 180)
    return [
      [columnOf(west), COLUMNS - 1],
      [0, columnOf(east - 360)],
    ];
  if (west === -180)
    return [
      [0, columnOf(east)],
      [COLUMNS - 1, COLUMNS - 1],
    ];
  return [[columnOf(west), columnOf(east)]];
}

/** Column ranges of a box, each column once: both edges of a box around the earth may be in one. */
function columnRanges(box: Box): [from: number, to: number][] {
  const ranges = longitudeRanges(box).map(([from, to]): [number, number] => [columnOf(from), columnOf(to)]);
  const [[start = 0] = [], [, end = -1] = []] = ranges;
  return ranges.length === 2 && end >= start ? [[0, COLUMNS - 1]] : ranges;
}

/** First position with an element not below the value. */
export function lowerBound(sorted: Uint32Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
