// Points of the map, gathered in the cells of a grid.
import type { Cluster, MapBox } from './messages.ts';

/** A cluster with the position of its last row. */
export type Gathered = Cluster & { row: number };

/** Clusters of the rows inside a box of degrees, `cells` of them across. */
export function gather(
  rows: Uint32Array,
  { lat, lng }: { lat: Float64Array; lng: Float64Array },
  [west, south, east, north]: MapBox,
  cells: number,
): { clusters: Gathered[]; total: number } {
  const size = (east - west) / cells;
  const byCell = new Map<number, Gathered>();
  let total = 0;
  for (const row of rows) {
    const [y, x] = [lat[row]!, lng[row]!];
    if (!(y >= south && y <= north && x >= west && x <= east)) continue;
    total += 1;
    const key = Math.floor((y - south) / size) * 4096 + Math.floor((x - west) / size);
    const cluster = byCell.get(key);
    if (cluster === undefined) byCell.set(key, { lat: y, lng: x, count: 1, row });
    else {
      cluster.lat += y;
      cluster.lng += x;
      cluster.count += 1;
    }
  }
  const clusters = [...byCell.values()].map((cluster) => ({
    ...cluster,
    lat: cluster.lat / cluster.count,
    lng: cluster.lng / cluster.count,
  }));
  return { clusters: clusters.sort((a, b) => b.count - a.count), total };
}

/** The smallest box with all points; null without one. */
export function boundsOf(rows: Uint32Array, lat: Float64Array, lng: Float64Array): MapBox | null {
  const box: MapBox = [Infinity, Infinity, -Infinity, -Infinity];
  for (const row of rows) {
    const [y, x] = [lat[row]!, lng[row]!];
    if (Number.isNaN(y)) continue;
    box[0] = Math.min(box[0], x);
    box[1] = Math.min(box[1], y);
    box[2] = Math.max(box[2], x);
    box[3] = Math.max(box[3], y);
  }
  return box[0] === Infinity ? null : box;
}
