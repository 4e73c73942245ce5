// Geometry on the sphere that both engines share.

/** Mean radius of the earth in kilometres (IUGG). */
export const EARTH_KM = 6371.0088;

const RAD = Math.PI / 180;

/** Great-circle distance in kilometres (haversine) of two points in degrees. */
export function distanceKm(lat1: number, lng1: number, lat2: number, lng2: number): number {
  const a = Math.sin(((lat2 - lat1) * RAD) / 2) ** 2;
  const b = Math.cos(lat1 * RAD) * Math.cos(lat2 * RAD) * Math.sin(((lng2 - lng1) * RAD) / 2) ** 2;
  return 2 * EARTH_KM * Math.asin(Math.sqrt(Math.min(1, a + b)));
}

/** A distance in whole metres, the precision of orders by distance. */
export const wholeMetres = (km: number): number => Math.round(km * 1000);

/** A box in degrees, edges included. `west` > `east`: it crosses the antimeridian. */
export interface Box {
  west: number;
  south: number;
  east: number;
  north: number;
}

/**
 * Inclusive longitude ranges of a box. A box that reaches 180 or starts at -180 contains points at both, since
 * they are the same meridian.
 */
export function longitudeRanges({ west, east }: Box): [from: number, to: number][] {
  if (west > east) {
    return [
      [west, 180],
      [-180, east],
    ];
  }
  const other = east === 180 ? -180 : west === -180 ? 180 : null;
  return other === null
    ? [[west, east]]
    : [
        [west, east],
        [other, other],
      ];
}

/** A test of points in degrees; NaN, for a record without a point, is in no box. */
export function boxTest(box: Box): (lat: number, lng: number) => boolean {
  const { south, north } = box;
  const ranges = longitudeRanges(box);
  return (lat, lng) => lat >= south && lat <= north && ranges.some(([from, to]) => lng >= from && lng <= to);
}
