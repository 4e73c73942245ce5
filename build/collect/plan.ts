// Plans the readings of a night: pins that were not read yet, all of them after a change of revision, and the
// newest version. Pure.
import { type ReadingRow, validReadings } from '../../data/write/facts.ts';
import type { Pack, Pin, Source } from '../../packs/define/model.ts';
import { byCodePoint } from '../../packs/define/text.ts';
import { declaredPackage } from '../sources/store.ts';

/** A reading to be made. `observed_at` in milliseconds since 1970. */
export interface Planned {
  source: string;
  package: string;
  version: string;
  integrity: string;
  observed_at: number;
  date_source: Pin['date_source'];
  /** File, address or query of a declared source, for messages. */
  name?: string;
}

/** A reading in messages: `places@1.2.0`, `towers.csv (2026-10-01)`. */
export const readingName = ({ package: pkg, version, name, observed_at }: Planned): string =>
  name === undefined ? `${pkg}@${version}` : `${name} (${new Date(observed_at).toISOString().slice(0, 10)})`;

/** The readings of earlier runs. */
export interface EarlierReadings {
  /** Those that a release contains. */
  made: readonly ReadingRow[];
  /** Those of the last run, if it was not released. */
  pending: readonly ReadingRow[];
  /** Those that a later reading replaced before any release contained them. */
  dropped: readonly ReadingRow[];
}

/** Readings of one source. `restart`: its earlier facts no longer count, and all its pins are read again. */
export interface SourcePlan {
  source: string;
  restart: boolean;
  readings: Planned[];
  /** What is read when not every reading of a restart is available; null: whatever is available. */
  otherwise: Planned[] | null;
}

/** Whether the rows of a source have their own times. */
export const timedRows = ({ from }: Source): boolean => from?.observed_at?.column !== undefined;

const planned = (source: Source, pin: Pin & Pick<Planned, 'name'>): Planned => ({
  source: source.id,
  ...pin,
  observed_at: Date.parse(pin.observed_at),
  date_source: timedRows(source) ? 'rows' : pin.date_source,
});

/** Whether a reading is a pin or a stored version of a declared source, and not a newest version or a crawl. */
export function isFixed(pack: Pack, { source, ...reading }: Pick<Planned, 'source' | 'package' | 'version'>): boolean {
  if (reading.package === declaredPackage(source)) return true;
  return pack.sources.some(({ id, pins }) => id === source && pins.some((pin) => same(pin, reading)));
}

/** Pins that are dated after `now`, as sentences. */
export function futurePins(pack: Pack, now: Date): string[] {
  return pack.sources.flatMap(({ id, pins }) =>
    pins.flatMap((pin, i) => {
      if (Date.parse(pin.observed_at) <= now.getTime()) return [];
      return [
        `${id}: pins.${i}.observed_at of ${pin.package}@${pin.version} is ${pin.observed_at}, ` +
          `expected a time in the past (it is ${now.toISOString()})`,
      ];
    }),
  );
}

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

/** The pack without pins that were dropped. */
export function withoutDropped(pack: Pack, dropped: readonly ReadingRow[]): Pack {
  if (dropped.length === 0) return pack;
  const isDropped = (source: string, pin: Pin) => dropped.some((row) => row.source === source && same(row, pin));
  const sources = pack.sources.map((source) => ({
    ...source,
    pins: source.pins.filter((pin) => !isDropped(source.id, pin)),
  }));
  return { ...pack, sources };
}

/** Plans the pins of every source, given all readings that a release contains. */
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
  // A declaration that reads other columns has another integrity: its versions are read again.
  const revised = standing.some(
    (row) => row.revision !== pack.revision || pins.some((pin) => same(row, pin) && row.integrity !== pin.integrity),
  );
  if (!revised && later.length === missing.length) {
    return { source: source.id, restart: false, readings: later, otherwise: null };
  }
  // A version of a declared source that is no longer stored was replaced by one with more columns.
  const unpinned = standing.filter((row) => !pins.some((pin) => same(row, pin)));
  const again = unpinned.filter((row) => row.package !== declaredPackage(row.source)).map(rowAsPlanned);
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

/**
 * The plans with the pending readings, which no release contains. A later reading replaces one that is newer than what was
 * published; others are made again.
 */
export function withPending(
  plans: readonly SourcePlan[],
  made: readonly ReadingRow[],
  pending: readonly ReadingRow[],
): SourcePlan[] {
  const standing = validReadings(made);
  const isPending = (reading: Planned) => pending.some((row) => row.source === reading.source && same(row, reading));
  return plans.map((plan) => {
    const published = standing.filter(({ source }) => source === plan.source).map((row) => row.confirmed_at);
    const newest = Math.max(...published);
    const news = Math.max(
      ...plan.readings.filter((reading) => !isPending(reading)).map((reading) => reading.observed_at),
    );
    // Without a published reading, what the source still has is its history.
    const isReplaced = (reading: Planned) =>
      published.length > 0 && reading.observed_at > newest && news > reading.observed_at;
    // Stored versions of declared sources are planned as pins.
    const again = pending
      .filter((row) => row.source === plan.source && row.package !== declaredPackage(row.source))
      .map(rowAsPlanned)
      .filter((reading) => reading.observed_at > news && !plan.readings.some((other) => same(other, reading)));
    const complete = (readings: Planned[]) => [
      ...readings.filter((reading) => !isPending(reading) || !isReplaced(reading)),
      ...again,
    ];
    return { ...plan, readings: complete(plan.readings), otherwise: plan.otherwise && complete(plan.otherwise) };
  });
}

/** The pending readings that are not among the readings of a run. */
export const droppedReadings = (pending: readonly ReadingRow[], readings: readonly Planned[]): ReadingRow[] =>
  pending.filter((row) => !readings.some((reading) => reading.source === row.source && same(row, reading)));

/** A line about dropped readings; [] without any. */
export function droppedLine(dropped: readonly ReadingRow[]): string[] {
  if (dropped.length === 0) return [];
  const names = dropped.slice(0, NAMED).map((row) => {
    const day = new Date(row.confirmed_at).toISOString().slice(0, 10);
    return row.package === declaredPackage(row.source)
      ? `${row.source} of ${day}`
      : `${row.package}@${row.version} of ${day}`;
  });
  const more = dropped.length > names.length ? ` and ${dropped.length - names.length} more` : '';
  const readings = dropped.length === 1 ? '1 reading' : `${dropped.length} readings`;
  return [`${readings} of a run that was not released left no trace: ${names.join(', ')}${more}`];
}

/** Readings in a line. */
const NAMED = 5;

/**
 * Sentences on stored versions of declared sources that were collected and are no longer stored: when the source is
 * read again from the start, their values leave the history. A version with more columns has the same time.
 */
export function lostVersions(plans: readonly SourcePlan[], made: readonly ReadingRow[]): string[] {
  return plans.flatMap(({ source, restart, readings }) => {
    if (!restart) return [];
    const times = new Set(readings.map((reading) => reading.observed_at));
    const lost = validReadings(made).filter(
      (row) => row.source === source && row.package === declaredPackage(source) && !times.has(row.confirmed_at),
    );
    return lost.map(
      ({ version, confirmed_at }) =>
        `${source}: the version of ${new Date(confirmed_at).toISOString()} is no longer stored (${version}), and its ` +
        'values leave the history, because the source is read again from the start',
    );
  });
}

const same = (a: { package: string; version: string }, b: { package: string; version: string }) =>
  a.package === b.package && a.version === b.version;

function rowAsPlanned(row: ReadingRow): Planned {
  const { source, package: pkg, version, integrity, confirmed_at, date_source } = row;
  return { source, package: pkg, version, integrity, observed_at: confirmed_at, date_source };
}

/**
 * A warning about a newest version that is not read because it is older than one that was collected; null when
 * it is not.
 */
export function olderThanCollected(made: readonly ReadingRow[], plan: Planned): string | null {
  const rows = validReadings(made).filter(
    ({ source, confirmed_at }) => source === plan.source && confirmed_at > plan.observed_at,
  );
  const latest = rows.sort((a, b) => b.confirmed_at - a.confirmed_at)[0];
  if (latest === undefined) return null;
  const day = (time: number) => new Date(time).toISOString().slice(0, 10);
  return (
    `${plan.source}: the newest version ${plan.package}@${plan.version} of ${day(plan.observed_at)} is older than ` +
    `${latest.package}@${latest.version} of ${day(latest.confirmed_at)}, which was collected; it is not read`
  );
}

/** Whether a newest version is new: neither pinned nor read, and dated later than all that are. */
export function isNews(
  pack: Pack,
  made: readonly ReadingRow[],
  reading: { source: string; package: string; version: string; observed_at?: number },
): boolean {
  const source = pack.sources.find(({ id }) => id === reading.source);
  const rows = validReadings(made).filter((row) => row.source === reading.source);
  const pins = source?.pins ?? [];
  if (rows.some((row) => same(row, reading)) || pins.some((pin) => same(pin, reading))) return false;
  const times = [...rows.map((row) => row.confirmed_at), ...pins.map((pin) => Date.parse(pin.observed_at))];
  return reading.observed_at === undefined || times.every((time) => time < reading.observed_at!);
}
