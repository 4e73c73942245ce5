// Plans the readings of a night: pins that were not read yet, all of them after a change of revision, and the
// newest version. Pure.
import { type ReadingRow, validReadings } from '../../data/write/facts.ts';
import type { Pack, Pin, Source } from '../../packs/define/model.ts';
import { byCodePoint } from '../../packs/define/text.ts';

/** A reading to be made. `observed_at` in milliseconds since 1970. */
export interface Planned {
  source: string;
  package: string;
  version: string;
  integrity: string;
  observed_at: number;
  date_source: Pin['date_source'];
}

/** Readings of one source. `restart`: its earlier facts no longer count, and all its pins are read again. */
export interface SourcePlan {
  source: string;
  restart: boolean;
  readings: Planned[];
  /** What is read when not every reading of a restart is available; null: whatever is available. */
  otherwise: Planned[] | null;
}

const planned = (source: Source, pin: Pin): Planned => ({
  source: source.id,
  ...pin,
  observed_at: Date.parse(pin.observed_at),
});

/** Sorts by time, then by the order of the pack's sources, so that equal inputs give equal facts. */
export function sortReadings(pack: Pack, readings: Planned[]): Planned[] {
  const rank = new Map(pack.sources.map(({ id }, i) => [id, i]));
  return readings.sort(
    (a, b) =>
      a.observed_at - b.observed_at ||
      rank.get(a.source)! - rank.get(b.source)! ||
      byCodePoint(`${a.package}@${a.version}`, `${b.package}@${b.version}`),
  );
}

/** Plans the pins of every source, given all readings ever made. */
export function planPins(pack: Pack, made: readonly ReadingRow[]): SourcePlan[] {
  const standing = validReadings(made);
  return pack.sources.map((source) =>
    planSource(
      pack,
      source,
      standing.filter((row) => row.source === source.id),
    ),
  );
}

function planSource(pack: Pack, source: Source, standing: ReadingRow[]): SourcePlan {
  const pins = source.pins.map((pin) => planned(source, pin));
  const missing = pins.filter((pin) => !standing.some((row) => same(row, pin)));
  if (standing.length === 0) return { source: source.id, restart: true, readings: missing, otherwise: null };
  const newest = Math.max(...standing.map((row) => row.confirmed_at));
  const later = missing.filter((pin) => pin.observed_at > newest);
  const revised = standing.some((row) => row.revision !== pack.revision);
  if (!revised && later.length === missing.length) {
    return { source: source.id, restart: false, readings: later, otherwise: null };
  }
  const again = standing.filter((row) => !pins.some((pin) => same(row, pin))).map(rowAsPlanned);
  const readings = [...pins, ...again];
  return { source: source.id, restart: true, readings, otherwise: revised ? null : later };
}

/**
 * The plans without failed readings. A restart for a late pin is postponed until all its readings succeed.
 */
export function without(plans: readonly SourcePlan[], failed: ReadonlySet<Planned>): SourcePlan[] {
  const good = (readings: Planned[]) => readings.filter((reading) => !failed.has(reading));
  return plans.map((plan) => {
    const { source, restart, readings, otherwise } = plan;
    if (good(readings).length === readings.length) return plan;
    if (otherwise !== null) return { source, restart: false, readings: good(otherwise), otherwise: null };
    return { source, restart, readings: good(readings), otherwise: null };
  });
}

const same = (a: { package: string; version: string }, b: { package: string; version: string }) =>
  a.package === b.package && a.version === b.version;

function rowAsPlanned(row: ReadingRow): Planned {
  const { source, package: pkg, version, integrity, confirmed_at, date_source } = row;
  return { source, package: pkg, version, integrity, observed_at: confirmed_at, date_source };
}

/** Whether a newest version is new: neither pinned nor read, and dated later than all that are. */
export function isNews(
  pack: Pack,
  made: readonly ReadingRow[],
  found: { source: string; package: string; version: string; observed_at?: number },
): boolean {
  const source = pack.sources.find(({ id }) => id === found.source);
  const rows = validReadings(made).filter((row) => row.source === found.source);
  const pins = source?.pins ?? [];
  if (rows.some((row) => same(row, found)) || pins.some((pin) => same(pin, found))) return false;
  const times = [...rows.map((row) => row.confirmed_at), ...pins.map((pin) => Date.parse(pin.observed_at))];
  return found.observed_at === undefined || times.every((time) => time < found.observed_at!);
}
