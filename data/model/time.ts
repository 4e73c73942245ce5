// Times as answers contain them.

const MINUTE = 60_000;

/** Whole minutes since 1970. Ages in answers are computed from them, so answers within a minute are equal. */
export const minuteOf = (now: Date): number => Math.floor(now.getTime() / MINUTE);

/** ISO 8601 in UTC with `Z`; milliseconds are omitted when zero. */
export const isoTime = (at: number): string => new Date(at).toISOString().replace('.000Z', 'Z');

/**
 * The same time of day one calendar month later in UTC, or on the last day of a shorter month. Milliseconds
 * since 1970.
 */
export function monthAfter(at: number): number {
  const date = new Date(at);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + 1);
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  return date.setUTCDate(Math.min(day, last));
}
