// Parses the text of a cell as a value of an attribute. What cannot be read is refused with the reason, never
// guessed: `0x10`, a blank and `1.000` are not numbers.
import { BoundedCache } from '../../data/model/bounded-cache.ts';
import { comparedNumber, hasTooManyDigits } from '../../packs/define/digits.ts';
import type { Attribute } from '../../packs/define/model.ts';
import type { ColumnRule } from '../../packs/define/sources.ts';

/** A parsed cell: a value, no value, or what was expected instead (completes "expected …"). */
export type ParsedCell = { value: unknown } | { expected: string } | null;

/** The members of a rule that decide how a text is read. */
export type ParseRule = Pick<
  ColumnRule,
  'decimal' | 'thousands' | 'date' | 'multiply' | 'separator' | 'trim' | 'truths'
> & {
  /** Texts that mean that there is no value. */
  missing: ReadonlySet<string>;
};

/** Character that a decoder puts in place of bytes that are not valid in the encoding. */
const INVALID = '\ufffd';

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Regular expressions of numbers and dates, by the signs or the pattern that a source declares. */
const patterns = new BoundedCache<string, RegExp>('cell patterns', { most: 1000 });

/** The texts that are numbers with the given signs. */
function numberPattern(point: string, thousands: string | undefined): RegExp {
  return patterns.of(`number ${point} ${thousands ?? ''}`, () => {
    const whole = thousands === undefined ? '\\d+' : `(?:\\d{1,3}(?:${escaped(thousands)}\\d{3})+|\\d+)`;
    const sign = escaped(point);
    return new RegExp(`^[+-]?(?:${whole}(?:${sign}\\d*)?|${sign}\\d+)(?:[eE][+-]?\\d+)?$`);
  });
}

/** A number that may as well have a point between thousands. */
const AMBIGUOUS_NUMBER = /^[+-]?[1-9]\d{0,2}\.\d{3}$/;

/** The decimal sign: a point, unless that is the sign between thousands. */
const decimalSign = ({ decimal, thousands }: Pick<ParseRule, 'decimal' | 'thousands'>) =>
  decimal ?? (thousands === '.' ? ',' : '.');

/**
 * Reads a number with the given decimal sign and sign between thousands. Without a decimal sign, a point is
 * the decimal sign, and a text that could also have a point between thousands, `1.000`, is ambiguous: null.
 * NaN: not a number. A number with more digits than a double has is returned as a text with a point.
 */
export function cellNumber(text: string, rule: Pick<ParseRule, 'decimal' | 'thousands'>): number | string | null {
  const { decimal, thousands } = rule;
  const point = decimalSign(rule);
  if (!numberPattern(point, thousands).test(text)) return Number.NaN;
  if (decimal === undefined && thousands === undefined && AMBIGUOUS_NUMBER.test(text)) return null;
  const plain = (thousands === undefined ? text : text.replaceAll(thousands, '')).replace(point, '.');
  return hasTooManyDigits(plain) ? plain : Number(plain);
}

/** Time zone designators and fractions after a date are allowed in the default pattern. */
const ISO = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?)?$/;

const PLACES = {
  YYYY: '(?<YYYY>\\d{4})',
  MM: '(?<MM>\\d{1,2})',
  DD: '(?<DD>\\d{1,2})',
  HH: '(?<HH>\\d{2})',
  mm: '(?<mm>\\d{2})',
  ss: '(?<ss>\\d{2})',
};

/** The regular expression of a date pattern such as `DD.MM.YYYY HH:mm`. */
function datePattern(pattern: string): RegExp {
  return patterns.of(`date ${pattern}`, () => {
    const parts = pattern.split(/(YYYY|MM|DD|HH|mm|ss)/);
    return new RegExp(parts.map((part) => PLACES[part as keyof typeof PLACES] ?? escaped(part)).join(''));
  });
}

/** Milliseconds of a time in UTC; NaN for a day or time that does not exist, such as 30 February or 12:75. */
function timeOf(year: string, month = '1', day = '1', hour = '0', minute = '0', second = '0'): number {
  const date = new Date(0);
  // Date.UTC reads the year 85 as 1985.
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  const isDay = date.getUTCMonth() + 1 === Number(month) && date.getUTCDate() === Number(day);
  if (!isDay || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return Number.NaN;
  return date.setUTCHours(Number(hour), Number(minute), Number(second));
}

/**
 * Milliseconds since 1970 of a text or number in a pattern: `unix` (seconds), `unix_ms`, one with YYYY, MM,
 * DD, HH, mm, ss; unset: ISO 8601, in UTC where it names no zone. NaN: not such a time.
 */
export function cellTime(raw: unknown, pattern?: string): number {
  if (raw instanceof Date) return raw.getTime();
  if (pattern === 'unix' || pattern === 'unix_ms') {
    const count = typeof raw === 'number' ? raw : /^-?\d+(?:\.\d+)?$/.test(String(raw)) ? Number(raw) : Number.NaN;
    return Math.round(pattern === 'unix' ? count * 1000 : count);
  }
  const text = String(raw).trim();
  if (pattern === undefined || pattern === 'YYYY-MM-DD') {
    const parts = ISO.exec(text);
    if (parts === null) return Number.NaN;
    const [, year, month, day, hour, minute, second, fraction = '', zone] = parts;
    const at = timeOf(year!, month, day, hour, minute, second);
    return at + Number(fraction.slice(0, 3).padEnd(3, '0')) - offsetOf(zone);
  }
  const whole = datePattern(pattern).exec(text);
  if (whole?.groups === undefined || whole[0] !== text) return Number.NaN;
  const { YYYY, MM, DD, HH, mm, ss } = whole.groups;
  return YYYY === undefined ? Number.NaN : timeOf(YYYY, MM, DD, HH, mm, ss);
}

/** Milliseconds of a time zone such as `+02:00`. */
function offsetOf(zone: string | undefined): number {
  if (zone === undefined || zone === 'Z') return 0;
  const [, sign, hours, minutes = '0'] = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone)!;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

const NUMBERS = new Set<Attribute['type']>(['integer', 'number', 'price']);

/** Parses one cell for an attribute; the bounds and the closed list are checked later (`checkValue`). */
export function parseCell(raw: unknown, attribute: Attribute, rule: ParseRule): ParsedCell {
  if (raw === undefined || raw === null || raw === '') return null;
  if (typeof raw !== 'string') return parseTyped(raw, attribute, rule);
  if (raw.includes(INVALID)) return { expected: 'text in the encoding of the source; some bytes are not valid' };
  const text = rule.trim ? raw.trim() : raw;
  if (rule.missing.has(text)) return null;
  if (text === '') return NUMBERS.has(attribute.type) ? { expected: 'a number, or an empty cell for no value' } : null;
  switch (attribute.type) {
    case 'integer':
      return exactInteger(numberCell(text, attribute, rule));
    case 'number':
    case 'price':
      return numberCell(text, attribute, rule);
    case 'boolean':
      return booleanCell(text, rule);
    case 'date':
      return dateCell(text, rule);
    case 'strings':
      return listCell(text.split(rule.separator), rule);
    default:
      return { value: text };
  }
}

/** A cell that is not a text: a JSON value, or a value of a database. */
function parseTyped(raw: unknown, attribute: Attribute, rule: ParseRule): ParsedCell {
  if (NUMBERS.has(attribute.type) && typeof raw === 'number')
    return { value: rule.multiply === undefined ? raw : comparedNumber(raw * rule.multiply) };
  if (attribute.type === 'date' && (typeof raw === 'number' || raw instanceof Date)) return dateCell(raw, rule);
  if (attribute.type === 'boolean' && typeof raw === 'number') return booleanCell(String(raw), rule);
  const wordy = attribute.type === 'string' || attribute.type === 'text' || attribute.type === 'enum';
  if (wordy && (typeof raw === 'number' || typeof raw === 'boolean')) return { value: String(raw) };
  if (attribute.type === 'strings' && Array.isArray(raw)) return listCell(raw, rule);
  return { value: raw };
}

/** A number; one of too many digits stays a text, which `checkValue` rejects unless the attribute rounds it. */
function numberCell(text: string, { round }: Attribute, rule: ParseRule): ParsedCell {
  const { multiply } = rule;
  const number = cellNumber(text, rule);
  if (number === null) return { expected: "a number; it may mean thousands or decimals: set decimal to '.' or ','" };
  if (typeof number === 'number' && !Number.isFinite(number)) return { expected: numberExpected(rule) };
  if (multiply === undefined || (typeof number === 'string' && !round)) return { value: number };
  return { value: comparedNumber(Number(number) * multiply) };
}

/** Refuses a whole number that a double cannot represent, with its digits as found. */
function exactInteger(parsed: ParsedCell): ParsedCell {
  if (parsed === null || !('value' in parsed)) return parsed;
  const { value } = parsed;
  if (typeof value === 'number' && (!Number.isInteger(value) || Number.isSafeInteger(value))) return parsed;
  return { expected: `a whole number of at most ${Number.MAX_SAFE_INTEGER}; use a string for longer ids` };
}

function numberExpected(rule: ParseRule): string {
  const { thousands } = rule;
  const between = thousands === undefined ? '' : ` and '${thousands}' between thousands`;
  return `a number with '${decimalSign(rule)}' as decimal sign${between}`;
}

function booleanCell(text: string, { truths }: ParseRule): ParsedCell {
  const word = text.toLowerCase();
  if (truths.true.some((each) => each.toLowerCase() === word)) return { value: true };
  if (truths.false.some((each) => each.toLowerCase() === word)) return { value: false };
  return { expected: `one of ${[...truths.true, ...truths.false].join(', ')}` };
}

function dateCell(raw: unknown, { date }: ParseRule): ParsedCell {
  const at = cellTime(raw, date);
  if (!Number.isFinite(at) || Math.abs(at) > 8.64e15) return { expected: `a date, ${date ?? 'YYYY-MM-DD'}` };
  return { value: new Date(at).toISOString().slice(0, 10) };
}

function listCell(entries: readonly unknown[], { missing }: ParseRule): ParsedCell {
  const texts = entries.map((entry) => (typeof entry === 'string' ? entry.trim() : entry));
  const value = texts.filter(
    (entry) => entry !== '' && entry !== null && !(typeof entry === 'string' && missing.has(entry)),
  );
  return value.length === 0 ? null : { value };
}
