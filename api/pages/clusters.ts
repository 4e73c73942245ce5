// Points of a map, gathered in the cells of a grid: by the service for an area, by the page for what it shows of it.

/** Records that are drawn as one, at their mean. */
export interface Cluster {
  lat: number;
  lng: number;
  count: number;
  /** The record, when it is a single one of few. */
  slug?: string;
  name?: string;
}

/** The answer of `/datasets/{ds}/points.json`. */
export interface MapPoints {
  /** Records with a point in the area. */
  total: number;
  /** Side of a cluster's cell in degrees; 0: each is a record. */
  cell: number;
  clusters: Cluster[];
}

/** Degrees. */
export type MapBox = [west: number, south: number, east: number, north: number];

/** Those inside a box, `cells` of them across, most records first; `total`: their records. */
export function gather(
  points: readonly Cluster[],
  [west, south, east, north]: MapBox,
  cells: number,
): { clusters: Cluster[]; total: number } {
  const size = (east - west) / cells;
  const inside = points.filter(({ lat, lng }) => lat >= south && lat <= north && lng >= west && lng <= east);
  const groups = Map.groupBy(
    inside,
    ({ lat, lng }) => Math.floor((lat - south) / size) * 4096 + Math.floor((lng - west) / size),
  );
  const clusters = [...groups.values()].map((group): Cluster => {
    if (group.length === 1) return group[0]!;
    const count = group.reduce((sum, point) => sum + point.count, 0);
    const mean = (of: 'lat' | 'lng') => group.reduce((sum, point) => sum + point[of] * point.count, 0) / count;
    return { lat: mean('lat'), lng: mean('lng'), count };
  });
  const total = inside.reduce((sum, { count }) => sum + count, 0);
  return { clusters: clusters.sort((a, b) => b.count - a.count), total };
}

/** The smallest box with all points; null without one. */
export function boundsOf(points: readonly Cluster[]): MapBox | null {
  if (points.length === 0) return null;
  const ends = (of: 'lat' | 'lng') => {
    return points.reduce(
      ([least, most], point) => [Math.min(least!, point[of]), Math.max(most!, point[of])],
      [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
    );
  };
  const [[west, east], [south, north]] = [ends('lng'), ends('lat')];
  return [west!, south!, east!, north!];
}
