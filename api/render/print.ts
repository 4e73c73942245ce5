// Values, money, times and counts for readers of the pages, in English and independent of the machine's
// locale.
import type { AttributeType, Geo, PriceRange, Value } from '../../packs/define/model.ts';

const DECIMALS = new Intl.NumberFormat('en', { maximumSignificantDigits: 17 });
const DATE = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });

/** `1234567.5` as `1,234,567.5`. */
export function printNumber(value: number): string {
  const digits = String(value);
  if (Number.isInteger(value) && value > 0 && value < 1e15) return grouped(digits);
  // The formatter writes all digits of a text; of a number it writes those of the binary fraction.
  return value !== 0 && Math.abs(value) < 1e-12 ? digits : DECIMALS.format(digits as `${number}`);
}

/** Digits in groups of three: a tenth of the time of the formatter. */
function grouped(digits: string): string {
  let text = digits.slice(0, digits.length % 3 || 3);
  for (let at = text.length; at < digits.length; at += 3) text += `,${digits.slice(at, at + 3)}`;
  return text;
}

/** `2026-11-20T00:00:00Z` as `Nov 20, 2026`. */
export function printDate(time: string | number): string {
  return DATE.format(new Date(time));
}

/** The same without its year, for the ticks of charts: `Nov 20`. */
export const printDay = (time: string | number): string => printDate(time).replace(/, .*/, '');

/** `2026-11-20T12:00:00Z` as `Nov 20, 2026, 12:00`, in UTC. */
export function printMinute(time: string | number): string {
  return `${printDate(time)}, ${new Date(time).toISOString().slice(11, 16)}`;
}

/** The name of a type for readers: `choice` for `enum`. */
export const typeWord = (type: AttributeType): string => TYPE_WORDS[type] ?? type;

const TYPE_WORDS: Partial<Record<AttributeType, string>> = {
  boolean: 'yes or no',
  datetime: 'date and time',
  enum: 'choice',
  geo: 'point',
  integer: 'whole number',
  string: 'text',
  strings: 'list',
  url: 'link',
};

/** An age in hours as the largest unit that fits: `5 hours`, `12 days`, `8 months`, `3 years`. */
export function printAge(hours: number): string {
  const days = hours / 24;
  if (hours < 48) return plural(Math.round(hours), 'hour');
  if (days < 60) return plural(Math.round(days), 'day');
  if (days < 730) return plural(Math.round(days / 30.44), 'month');
  return plural(Math.round(days / 365.25), 'year');
}

/** A count with its noun: `1 record`, `1,879 records`. */
export function plural(count: number, noun: string): string {
  return `${printNumber(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** A size in bytes: `2.1 MB`, `38 kB`. */
export function printBytes(bytes: number): string {
  return bytes < 999_500 ? `${Math.max(1, Math.round(bytes / 1e3))} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** A price in EUR with as many decimals as needed, at least two: `€0.004`, `€0.50`. */
export function printEuro(eur: number): string {
  const [euros, decimals = ''] = eur.toFixed(6).split('.');
  return `€${euros}.${decimals.replace(/0+$/, '').padEnd(2, '0')}`;
}

/** A share as a percentage, never rounded up to 100: `99.9 %`. */
export function printShare(share: number): string {
  const percent = Math.floor(share * 1000) / 10;
  return `${printNumber(percent)} %`;
}

/** A change in percent with its sign, rounded from 10 on: `+4.2 %`, `−20 %`. */
export function printPercent(percent: number): string {
  const size = Math.abs(percent);
  return `${percent < 0 ? '−' : '+'}${printNumber(size >= 10 ? Math.round(size) : size)} %`;
}

/** One value without its unit. A number is not grouped: it may be a year or an identifier. */
export function printValue(value: Value): string {
  return print(value, String);
}

/** A value with its unit. A number with a unit is a quantity, so its thousands are grouped. */
export function printWithUnit(value: Value, unit: string | null): string {
  return unit === null ? printValue(value) : `${print(value, printNumber)} ${unit}`;
}

function print(value: Value, number: (value: number) => string): string {
  if (typeof value === 'number') return number(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.join(', ');
  if (isGeo(value)) return `${value.lat}, ${value.lng}`;
  return `${number(value.min)} to ${number(value.max)}`;
}

function isGeo(value: Geo | PriceRange): value is Geo {
  return 'lat' in value;
}

/** A URL that is safe in a link; null for anything but http and https. */
export function webAddress(url: string): string | null {
  const parsed = URL.parse(url);
  return parsed !== null && /^https?:$/.test(parsed.protocol) ? parsed.href : null;
}
