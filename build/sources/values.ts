// Parses the text of a cell as a value of an attribute. What cannot be read is refused with the reason, never
// guessed: `0x10`, a blank and `1.000` are not numbers.
import { BoundedCache } from '../../data/model/bounded-cache.ts';
import { comparedNumber, hasTooManyDigits } from '../../packs/define/digits.ts';
import { type Attribute, DATED } from '../../packs/define/model.ts';
import type { ColumnRule } from '../../packs/define/sources.ts';
import { normalizeText } from '../../packs/define/text.ts';
import { readTime, timeValue, utcSeconds } from '../../packs/define/times.ts';

/** A parsed cell: a value, no value, or what was expected instead (completes "expected …"). */
export type ParsedCell = { value: unknown } | { expected: string } | null;

/** The members of a rule that decide how a text is read. */
export type ParseRule = Pick<
  ColumnRule,
  'decimal' | 'thousands' | 'date' | 'multiply' | 'separator' | 'trim' | 'truths'
> & {
  /** Texts that mean that there is no value. */
  missing: ReadonlySet<string>;
  /** Time zone of times without an offset; unset: UTC. */
  timezone?: string | undefined;
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

/** How a time is read: its patterns, and the time zone of times without an offset. */
type TimeRule = Partial<Pick<ParseRule, 'date' | 'timezone'>>;

/** Milliseconds since 1970 of a text or number (`readTime`); NaN: it is no time in the pattern. */
export function cellTime(raw: unknown, { date, timezone }: TimeRule = {}): number {
  const time = readTime(raw, date);
  return time === null ? Number.NaN : utcSeconds(time, timezone) * 1000 + Math.floor(time.micros / 1000);
}

const NUMBERS = new Set<Attribute['type']>(['integer', 'number', 'price']);

/** Parses one cell for an attribute; the bounds and the closed list are checked later (`checkValue`). */
export function parseCell(raw: unknown, attribute: Attribute, rule: ParseRule): ParsedCell {
  if (raw === undefined || raw === null || raw === '') return null;
  if (typeof raw !== 'string') return parseTyped(raw, attribute, rule);
  if (raw.includes(INVALID)) return { expected: 'text in the encoding of the source; some bytes are not valid' };
  const text = rule.trim ? raw.trim() : raw;
  const stored = normalizeText(text);
  if (rule.missing.has(stored)) return null;
  if (text === '') return NUMBERS.has(attribute.type) ? { expected: 'a number, or an empty cell for no value' } : null;
  switch (attribute.type) {
    case 'integer':
      return exactInteger(numberCell(text, attribute, rule));
    case 'number':
    case 'price':
      return numberCell(text, attribute, rule);
    case 'boolean':
      return booleanCell(stored, rule);
    case 'date':
    case 'datetime':
      return timeCell(text, attribute, rule);
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
  if (DATED.includes(attribute.type) && (typeof raw === 'number' || raw instanceof Date))
    return timeCell(raw, attribute, rule);
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
  if (truths.true.some((name) => name.toLowerCase() === word)) return { value: true };
  if (truths.false.some((name) => name.toLowerCase() === word)) return { value: false };
  return { expected: `one of ${[...truths.true, ...truths.false].join(', ')}` };
}

/** Reads a day or a time. A date is the day as written, whatever the offset. */
export function timeCell(raw: unknown, { type }: Attribute, { date, timezone }: TimeRule): ParsedCell {
  const time = readTime(raw, date);
  const value = type === 'date' ? time?.day : time && timeValue(time, timezone);
  if (value) return { value };
  const pattern = date ?? (type === 'date' ? 'YYYY-MM-DD' : 'ISO 8601');
  return { expected: `a ${type === 'date' ? 'date' : 'time'}, ${[pattern].flat().join(' or ')}` };
}

function listCell(entries: readonly unknown[], { missing }: ParseRule): ParsedCell {
  const texts = entries.map((entry) => (typeof entry === 'string' ? entry.trim() : entry));
  const value = texts.filter(
    (entry) => entry !== '' && entry !== null && !(typeof entry === 'string' && missing.has(normalizeText(entry))),
  );
  return value.length === 0 ? null : { value };
}
