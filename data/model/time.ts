// Times as they are answered.

const times = new Map<number, string>();

/** ISO 8601 in UTC with `Z`, without milliseconds where they are zero. */
export function isoTime(at: number): string {
  let text = times.get(at);
  if (text === undefined) {
    text = new Date(at).toISOString().replace('.000Z', 'Z');
    if (times.size < 10_000) times.set(at, text);
  }
  return text;
}

/** The same time of day a calendar month later, UTC; the last day of that month where it has no such day. Milliseconds since 1970. */
export function monthAfter(at: number): number {
  const date = new Date(at);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + 1);
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  return date.setUTCDate(Math.min(day, last));
}
