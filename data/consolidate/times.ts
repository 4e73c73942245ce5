// When a source listed a record, and until when it confirmed a fact (contract section 5, "confirmed_at").
import type { SourceKind } from '../model/record.ts';

/** From `at` (milliseconds) on, the source lists the record or stops listing it. */
export interface Listing {
  source: string;
  listed: boolean;
  at: number;
}

/** Whether a source lists the record at a time. A source without recorded listings counts as listing it. */
export function listedAt(listings: readonly Listing[], source: string, at: number): boolean {
  return eventBefore(listings, source, at)?.listed ?? true;
}

function eventBefore(listings: readonly Listing[], source: string, at: number): Listing | undefined {
  for (let i = listings.length - 1; i >= 0; i--) {
    const event = listings[i]!;
    if (event.source === source && event.at <= at) return event;
  }
  return undefined;
}

interface Timed {
  statements: readonly { source: string; source_kind: SourceKind; at: number }[];
  listings: readonly Listing[];
}

/**
 * Readings after the statement at `position` in which its source still had the value, oldest first: before
 * its next statement, and while it listed the record (a statement about a dropped record, such as `delisted`,
 * is valid while it stays dropped). Milliseconds.
 */
export function readingsOf(input: Timed, readings: ReadonlyMap<string, readonly number[]>, position: number): number[] {
  const { source, source_kind, at } = input.statements[position]!;
  if (source_kind === 'owner') return [];
  const next = input.statements.find(
    (later, i) => i > position && later.source === source && later.source_kind !== 'owner',
  );
  const end = next?.at ?? Number.POSITIVE_INFINITY;
  return (readings.get(source) ?? []).filter((reading) => {
    if (reading <= at || reading >= end) return false;
    const event = eventBefore(input.listings, source, reading);
    return event === undefined || event.listed || event.at <= at;
  });
}

/** The newest of `readingsOf` up to a time, or the time of the statement when there is none. Milliseconds. */
export function confirmedAt(
  input: Timed,
  readings: ReadonlyMap<string, readonly number[]>,
  position: number,
  until: number,
): number {
  const { source, source_kind, at } = input.statements[position]!;
  if (source_kind === 'owner') return at;
  let end = Number.POSITIVE_INFINITY;
  for (let next = position + 1; next < input.statements.length; next++) {
    const later = input.statements[next]!;
    if (later.source !== source || later.source_kind === 'owner') continue;
    end = later.at;
    break;
  }
  const times = readings.get(source) ?? [];
  for (let i = times.length - 1; i >= 0; i--) {
    const reading = times[i]!;
    if (reading > until || reading >= end) continue;
    if (reading <= at) break;
    const event = eventBefore(input.listings, source, reading);
    if (event === undefined || event.listed || event.at <= at) return reading;
  }
  return at;
}
