// Matches places of a later list with those of an earlier one by name and position: most certain matches
// first, each place once.
import { fold } from 'dataset-register/pack';

/** Common fields of both lists. `admin1` is a code within the country; degrees have five decimals. */
export interface Spot {
  name: string;
  country: string;
  admin1: string;
  lat: number;
  lng: number;
}

/** `position`: the same point. `name`: the same name within 0.1°. `nearness`: renamed, within 0.01°. */
export interface Match {
  /** Position among the earlier places. */
  index: number;
  by: 'position' | 'name' | 'nearness';
}

const NAME_DEGREES = 0.1;
const NEAR_DEGREES = 0.01;

/** A point as one number: both coordinates are multiples of 1e-5 degrees. */
function point(spot: Spot): number {
  return Math.round((spot.lat + 90) * 1e5) * 36_000_001 + Math.round((spot.lng + 180) * 1e5);
}

function degrees(a: Spot, b: Spot): number {
  return Math.max(Math.abs(a.lat - b.lat), Math.abs(a.lng - b.lng));
}

/**
 * Indexes of spots by key, in order. Linked lists instead of arrays: most keys have one spot, and there are
 * 170,000 keys.
 */
class Groups<K> {
  private readonly first = new Map<K, number>();
  private readonly next: Int32Array;

  constructor(spots: Spot[], open: (i: number) => boolean, key: (spot: Spot) => K) {
    this.next = new Int32Array(spots.length).fill(-1);
    for (let i = spots.length - 1; i >= 0; i--) {
      if (!open(i)) continue;
      const at = key(spots[i]!);
      this.next[i] = this.first.get(at) ?? -1;
      this.first.set(at, i);
    }
  }

  /** The first spot with a key; -1: none. */
  start(key: K): number {
    return this.first.get(key) ?? -1;
  }

  /** The next spot with the same key; -1: none. */
  after(i: number): number {
    return this.next[i]!;
  }

  *get(key: K): Generator<number> {
    for (let i = this.start(key); i >= 0; i = this.after(i)) yield i;
  }
}

/** Cell of the grid, wide enough that nearby places are in the same or an adjacent one. */
function square(spot: Spot, down = 0, right = 0): string {
  return `${spot.country}${Math.floor(spot.lat / NEAR_DEGREES) + down},${Math.floor(spot.lng / NEAR_DEGREES) + right}`;
}

/**
 * For every place of `rows` the same place of `spots`, or null. A match requires the same country; closest
 * pairs are first, then the order of the lists decides, so equal input gives equal matches. Places on
 * different sides of the date line do not match.
 */
export function match(spots: Spot[], rows: Spot[]): (Match | null)[] {
  const matches: (Match | null)[] = Array.from(rows, () => null);
  const taken = new Uint8Array(spots.length);
  const left = (i: number): boolean => taken[i] === 0;
  const waiting = (i: number): boolean => matches[i] === null;
  const take = (i: number, k: number, by: Match['by']): void => {
    matches[i] = { index: k, by };
    taken[k] = 1;
  };

  const points = new Groups(spots, left, point);
  for (const named of [true, false]) {
    for (const [i, spot] of rows.entries()) {
      if (!waiting(i)) continue;
      for (let k = points.start(point(spot)); k >= 0; k = points.after(k)) {
        if (!left(k) || spots[k]!.country !== spot.country || (named && spots[k]!.name !== spot.name)) continue;
        take(i, k, 'position');
        break;
      }
    }
  }

  const closest = (by: Match['by'], limit: number, candidates: (spot: Spot) => Iterable<number>) => {
    const pairs: { i: number; k: number; apart: number }[] = [];
    for (const [i, spot] of rows.entries()) {
      if (!waiting(i)) continue;
      for (const k of candidates(spot)) {
        const apart = degrees(spots[k]!, spot);
        if (apart <= limit) pairs.push({ i, k, apart });
      }
    }
    pairs.sort((a, b) => a.apart - b.apart || a.i - b.i || a.k - b.k);
    for (const { i, k } of pairs) if (waiting(i) && left(k)) take(i, k, by);
  };
  const inArea = (spot: Spot) => `${spot.country}|${spot.admin1}|${fold(spot.name)}`;
  const inCountry = (spot: Spot) => `${spot.country}|${fold(spot.name)}`;
  for (const key of [inArea, inCountry]) {
    const names = new Groups(spots, left, key);
    closest('name', NAME_DEGREES, (spot) => names.get(key(spot)));
  }
  const squares = new Groups(spots, left, (spot) => square(spot));
  const around = [-1, 0, 1].flatMap((down) => [-1, 0, 1].map((right) => [down, right] as const));
  closest('nearness', NEAR_DEGREES, (spot) => around.flatMap((by) => [...squares.get(square(spot, ...by))]));
  return matches;
}
