// Times as sources write them, and values of type `datetime`: ISO 8601 in UTC with up to microseconds.

/** A time as written. */
export interface WrittenTime {
  /** The day as written, `YYYY-MM-DD`, whatever the offset. */
  day: string;
  /** The day and the clock as written, in seconds since 1970 as if they were UTC. */
  local: number;
  /** Microseconds of the second; further digits are cut. */
  micros: number;
  /** Seconds by which the written clock is ahead of UTC; null: no offset is written. */
  offset: number | null;
  /** Whether the second is written as 60. */
  leap: boolean;
}

const CLOCK = '(?<HH>\\d{2}):(?<mm>\\d{2})(?::(?<ss>\\d{2}(?:[.,]\\d{1,30})?))?';
const OFFSET = '(?:Z|z|UTC|GMT|[+-](?:[01]\\d|2[0-3])(?::?[0-5]\\d)?)';

/** ISO 8601; without a clock it is the first moment of the day. */
const ISO = new RegExp(`^(?<YYYY>\\d{4})-(?<MM>\\d{2})-(?<DD>\\d{2})(?:[Tt ]${CLOCK}\\s*(?<Z>${OFFSET})?)?$`);

/** Parts of a pattern. `ss` may have decimals; ` A` (AM or PM) and `Z` (an offset) are parts at the end only. */
const PLACES: Readonly<Record<string, string>> = {
  YYYY: '(?<YYYY>\\d{4})',
  MM: '(?<MM>\\d{1,2})',
  DD: '(?<DD>\\d{1,2})',
  HH: '(?<HH>\\d{1,2})',
  mm: '(?<mm>\\d{2})',
  ss: '(?<ss>\\d{2}(?:[.,]\\d{1,30})?)',
  ' A': '\\s?(?<A>[AaPp])\\.?[Mm]\\.?',
  Z: `\\s?(?<Z>${OFFSET})`,
};

/** Expressions by their pattern: a few for each source (docs/caches.md). */
const patterns = new Map<string, RegExp>();
patterns.set('YYYY-MM-DD', ISO);

/** The regular expression of a pattern such as `DD.MM.YYYY HH:mm`. */
function expressionOf(pattern: string): RegExp {
  let compiled = patterns.get(pattern);
  if (compiled === undefined) {
    const parts = pattern.split(/(YYYY|MM|DD|HH|mm|ss| A$|Z$)/);
    const source = parts.map((part) => PLACES[part] ?? part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    compiled = new RegExp(`^${source.join('')}$`);
    patterns.set(pattern, compiled);
  }
  return compiled;
}

/**
 * Reads a text or number in one of the patterns, the first that fits: `unix` (seconds), `unix_ms`, or one with YYYY,
 * MM, DD, HH, mm, ss and at the end ` A` or `Z`. `YYYY-MM-DD`, the only one unless set, is ISO 8601 with or without a
 * clock. Null: it is no such time, or one that does not exist, such as 30 February or 12:75.
 */
export function readTime(raw: unknown, accepted: string | readonly string[] = 'YYYY-MM-DD'): WrittenTime | null {
  if (raw instanceof Date) return sinceEpoch(raw.getTime() / 1000);
  const text = String(raw).trim();
  for (const pattern of [accepted].flat()) {
    const unit = pattern === 'unix' ? 1 : pattern === 'unix_ms' ? 1000 : null;
    const time = unit === null ? readParts(expressionOf(pattern).exec(text)?.groups) : readCount(text, unit);
    if (time !== null) return time;
  }
  return null;
}

const readCount = (text: string, unit: number): WrittenTime | null =>
  /^-?\d+(?:\.\d+)?$/.test(text) ? sinceEpoch(Number(text) / unit) : null;

/** A count of seconds since 1970, to the microsecond. */
function sinceEpoch(count: number): WrittenTime | null {
  // A double has microseconds only until the year 2255; later counts have the digits that it has.
  const whole = Math.floor(count);
  const micros = Math.round((count - whole) * 1e6);
  const local = whole + Math.floor(micros / 1e6);
  const day = dayOf(local);
  return day === null ? null : { day, local, micros: micros % 1e6, offset: 0, leap: false };
}

/** The day of seconds since 1970 as `YYYY-MM-DD`; null outside the years 0001 to 9999. */
function dayOf(seconds: number): string | null {
  return seconds >= FIRST && seconds <= LAST ? new Date(seconds * 1000).toISOString().slice(0, 10) : null;
}

const FIRST = Date.parse('0001-01-01T00:00:00Z') / 1000;
const LAST = Date.parse('9999-12-31T23:59:59Z') / 1000;

function readParts(parts: Record<string, string | undefined> | undefined): WrittenTime | null {
  if (parts?.['YYYY'] === undefined) return null;
  const { YYYY, MM = '01', DD = '01', HH = '0', mm = '0', ss = '0', A, Z } = parts;
  const [second = '', fraction = ''] = ss.split(/[.,]/);
  const leap = second === '60';
  const hour = A === undefined ? Number(HH) : hourOf(Number(HH), A);
  if (hour === null || hour > 23 || Number(mm) > 59 || Number(second) > 60) return null;
  const date = new Date(0);
  // Date.UTC reads the year 85 as 1985.
  date.setUTCFullYear(Number(YYYY), Number(MM) - 1, Number(DD));
  if (Number(YYYY) === 0 || date.getUTCMonth() + 1 !== Number(MM) || date.getUTCDate() !== Number(DD)) return null;
  const local = date.setUTCHours(hour, Number(mm), leap ? 59 : Number(second)) / 1000;
  const day = `${YYYY}-${MM.padStart(2, '0')}-${DD.padStart(2, '0')}`;
  return { day, local, micros: Number(fraction.slice(0, 6).padEnd(6, '0')), offset: offsetOf(Z), leap };
}

/** The hour of a clock of twelve hours; null outside 1 to 12. */
function hourOf(hour: number, half: string): number | null {
  if (hour < 1 || hour > 12) return null;
  return (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
}

/** Seconds of an offset such as `+02:00`. */
function offsetOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  const [, sign, hours, minutes = '0'] = /^([+-])(\d{2}):?(\d{2})?$/.exec(text) ?? [];
  if (sign === undefined) return 0;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60);
}

/**
 * Seconds since 1970 in UTC. A time without an offset is read in the time zone, an IANA name, by the rule of RFC 5545:
 * of an hour that occurs twice it is the first, and in an hour that the clocks skip it is later by that hour.
 */
export function utcSeconds({ local, offset }: WrittenTime, zone = 'UTC'): number {
  if (offset !== null) return local - offset;
  if (zone === 'UTC') return local;
  const clock = Temporal.PlainDateTime.from(new Date(local * 1000).toISOString().slice(0, 19));
  return clock.toZonedDateTime(zone, { disambiguation: 'compatible' }).epochMilliseconds / 1000;
}

/**
 * The value of type `datetime`, such as `2026-01-01T12:00:00.5Z`; null outside the years 0001 to 9999 in UTC. A leap
 * second is the second before it, as in RFC 9557; a second 60 at any other time is none.
 */
export function timeValue(time: WrittenTime, zone?: string): string | null {
  const seconds = utcSeconds(time, zone);
  if (dayOf(seconds) === null) return null;
  const text = new Date(seconds * 1000).toISOString().slice(0, 19);
  if (time.leap && !text.endsWith('T23:59:59')) return null;
  const fraction = time.micros === 0 ? '' : `.${String(time.micros).padStart(6, '0').replace(/0+$/, '')}`;
  return `${text}${fraction}Z`;
}

/** Whether a text is a value of type `datetime`. */
export const isTimeValue = (text: string): boolean => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{0,5}[1-9])?Z$/.test(text);

/** A value of type `datetime` without `Z`: these texts have the order of their times, which engines compare. */
export const comparedTime = (value: string): string => value.slice(0, -1);

/** Microseconds since 1970 of a value of type `datetime`. */
export function microseconds(value: string): bigint {
  const time = readTime(value)!;
  return BigInt(utcSeconds(time)) * 1_000_000n + BigInt(time.micros);
}

/** Number of characters of a date or time that are its day, month or year. */
export const PERIOD_LENGTHS = { day: 10, month: 7, year: 4 } as const;

/** Whether a text names a time zone, such as `Europe/Berlin`. */
export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
