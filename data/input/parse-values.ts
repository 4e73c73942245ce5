// Parsers of raw parameter texts: text, number, date, time, boolean, list. `name` is the parameter's name,
// for the message. Each throws DataError `validation_failed` (422, contract section 4) for an invalid text.
import { comparedNumber } from '../../packs/define/digits.ts';
import { comparedTime, readTime, timeValue } from '../../packs/define/times.ts';
import { DataError, type ValidationIssue, validationError } from '../model/errors.ts';
import { guessBoolean, guessDay, guessNumber, guessTime, guessWord } from './value-guesses.ts';

/** Documented limits of parameters. A request beyond them is 422 (`ids`: 400 too_many_ids). */
export const BOUNDS = {
  /** Characters of one value. */
  value: 500,
  /** Values in one list. */
  values: 100,
  /** Characters and distinct words of `q`. */
  q: 500,
  words: 16,
  /** Ids of one batch or one `ids` filter. */
  ids: 100,
  /** Characters of a cursor, which contains the last record's sort value. */
  cursor: 12_000,
  /** Records on a page in a bulk format. */
  limit: 1000,
  /** Records on a page in JSON and Markdown. */
  page: 100,
  /** Records of one group of a search. */
  group: 10,
  /** Values of a facet. */
  facets: 200,
  /** Attributes of one call that counts several, or computes statistics of several. */
  by: 10,
} as const;

/** Makes a text safe for a message: at most 80 characters, control characters replaced. */
export function printable(text: string): string {
  const plain = text.toWellFormed().replace(/\p{Cc}/gu, '�');
  return plain.length > 80 ? `${plain.slice(0, 80)}…` : plain;
}

const issue = (name: string, msg: string, type: string, input: string) =>
  validationError(name, msg, type, printable(input));

/** The trimmed text. Rejects NUL, lone surrogates, an empty text and more than `most` characters. */
export function parseText(name: string, raw: string, most: number = BOUNDS.value): string {
  if (raw.length > most) throw issue(name, `must have at most ${most} characters`, 'string_too_long', raw);
  if (raw.includes('\0') || !raw.isWellFormed())
    throw issue(name, 'must be well-formed text without NUL characters', 'string_unicode', raw);
  const trimmed = raw.trim();
  if (trimmed === '') throw issue(name, 'must not be empty', 'string_too_short', raw);
  return trimmed;
}

/**
 * Splits a list at its commas. `\,` is a comma and `\\` a backslash inside a value; any other backslash is
 * literal. Values are trimmed, empty ones dropped.
 */
export function splitList(raw: string): string[] {
  const values: string[] = [];
  let value = '';
  for (const piece of raw.match(/\\[,\\]|,|[^\\,]+|\\/gu) ?? []) {
    if (piece === ',') values.push(value);
    value = piece === ',' ? '' : value + (/^\\./u.test(piece) ? piece.slice(1) : piece);
  }
  values.push(value);
  return values.map((text) => text.trim()).filter((text) => text !== '');
}

/** Escapes one value for `splitList`, for channels whose arguments are JSON lists. */
export function escapeListValue(value: string): string {
  return value.replace(/[\\,]/gu, '\\$&');
}

/** The texts of a JSON array, such as `["a","b"]`; null for every other text. */
function jsonList(raw: string): string[] | null {
  if (!/^\s*\[\s*".*\]\s*$/su.test(raw)) return null;
  try {
    const list: unknown = JSON.parse(raw);
    return Array.isArray(list) && list.every((item) => typeof item === 'string') ? list : null;
  } catch {
    return null;
  }
}

/**
 * Splits one occurrence of a list parameter: values separated by commas, or a JSON array as models write it.
 */
export function listValues(raw: string): string[] {
  return jsonList(raw) ?? splitList(raw);
}

/** The distinct values of a list parameter that may repeat: 1 to `most`. */
export function parseList(name: string, raw: string[], most: number = BOUNDS.values): string[] {
  const values = raw.flatMap(listValues).map((value) => parseText(name, value));
  if (values.length === 0) throw issue(name, 'needs at least one value', 'too_short', raw.join(','));
  if (values.length > most)
    throw issue(name, `must have at most ${most} values`, 'too_long', `${values.length} values`);
  return [...new Set(values)];
}

const got = (raw: string): string => ` (got "${printable(raw)}")`;
const didYouMean = (guess: string | number | boolean | null): string =>
  guess === null ? '' : `; did you mean ${guess}?`;

/** Numbers in a text, in the notation of `readDecimal`. */
export const DECIMALS = /[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,4})?/giu;
const DECIMAL = new RegExp(`^${DECIMALS.source}$`, 'iu');

/** A finite decimal number, with or without an exponent; NaN for any other text, also hexadecimal and `Infinity`. */
export function readDecimal(raw: string): number {
  const value = raw.length <= 100 && DECIMAL.test(raw.trim()) ? Number(raw) : Number.NaN;
  return Number.isFinite(value) ? value + 0 : Number.NaN;
}

/**
 * The number of `readDecimal`, between inclusive bounds, with 15 digits, as the values that it is compared with. It has
 * no unit: for `5 USD` the message suggests 5 if `unit` is `USD`.
 */
export function parseNumber(
  name: string,
  raw: string,
  unit: string | null = null,
  { min, max }: Bounds = UNBOUNDED,
): number {
  const value = readDecimal(raw);
  if (!Number.isNaN(value)) return within(name, comparedNumber(value), min, max);
  const guess = guessNumber(raw, unit);
  const meant = guess !== null && guess >= min && guess <= max ? guess : null;
  throw issue(name, `must be a number${ofUnit(unit)}${got(raw)}${didYouMean(meant)}`, 'float_parsing', raw);
}

/** A number between two inclusive bounds. */
export const parseNumberBetween = (name: string, raw: string, min: number, max: number): number =>
  parseNumber(name, raw, null, { min, max });

/** Inclusive bounds of a number. */
interface Bounds {
  min: number;
  max: number;
}

const UNBOUNDED: Bounds = { min: -Number.MAX_VALUE, max: Number.MAX_VALUE };
const ofUnit = (unit: string | null): string => (unit === null ? '' : ` of ${unit}`);

function within(name: string, value: number, min: number, max: number): number {
  const type = value < min ? 'greater_than_equal' : value > max ? 'less_than_equal' : null;
  if (type === null) return value;
  throw issue(name, `must be${bounds(min, max)} (got ${value})`, type, String(value));
}

/** ` between 1 and 100`, ` at least 0`, or an empty text without bounds. */
function bounds(min: number, max: number): string {
  if (max < Number.MAX_SAFE_INTEGER) return ` between ${min} and ${max}`;
  return min > Number.MIN_SAFE_INTEGER ? ` at least ${min}` : '';
}

/** A whole number between inclusive bounds. `unit` as for `parseNumber`. */
export function parseInteger(
  name: string,
  raw: string,
  min: number = Number.MIN_SAFE_INTEGER,
  max: number = Number.MAX_SAFE_INTEGER,
  unit: string | null = null,
): number {
  const trimmed = raw.trim();
  const value = /^[+-]?\d{1,30}$/u.test(trimmed) ? Number(trimmed) + 0 : Number.NaN;
  if (!Number.isNaN(value)) return within(name, value, min, max);
  const guess = raw.includes('%') ? null : guessNumber(raw, unit);
  const meant = guess !== null && Number.isSafeInteger(guess) && guess >= min && guess <= max ? guess : null;
  const wanted = `must be a whole number${ofUnit(unit)}${bounds(min, max)}`;
  throw issue(name, `${wanted}${got(raw)}${didYouMean(meant)}`, 'int_parsing', raw);
}

/** `true` or `false`, in any case, or `1` or `0`. */
export function parseBoolean(name: string, raw: string): boolean {
  const value = raw.trim().toLowerCase().replace(/^1$/, 'true').replace(/^0$/, 'false');
  if (value !== 'true' && value !== 'false')
    throw issue(name, `must be true or false${got(raw)}${didYouMean(guessBoolean(raw))}`, 'bool_parsing', raw);
  return value === 'true';
}

/** An existing day as `YYYY-MM-DD`. */
export function parseDate(name: string, raw: string): string {
  const value = raw.trim();
  if (!isDay(value))
    throw issue(name, `must be a date, YYYY-MM-DD${got(raw)}${didYouMean(guessDay(raw))}`, 'date_parsing', raw);
  return value;
}

function isDay(value: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/u.test(value)) return false;
  const at = new Date(`${value}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(value);
}

const HOUR = '(?:[01]\\d|2[0-3])';
const [CLOCK, ZONE] = [`${HOUR}:[0-5]\\d(?::[0-5]\\d(?:\\.\\d{1,9})?)?`, `[Zz]|[+ -]${HOUR}:?[0-5]\\d`];
/** An existing day, with the leap years. */
const DAY =
  '(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8]))';

/** Every time that `parseTime` reads. */
export const TIME = new RegExp(`^(${DAY})(?:[Tt ](${CLOCK})(${ZONE})?)?$`);

/**
 * An ISO 8601 date or date-time as milliseconds since 1970; UTC without a zone. Accepts a space for the `+`
 * of an offset, since query strings decode `+` to a space.
 */
export function parseTime(name: string, raw: string): number {
  const at = Date.parse(isoText(raw));
  if (Number.isNaN(at)) throw timeIssue(name, raw);
  return at;
}

/** A text that `TIME` accepts, in ISO 8601 with an offset; empty for any other text. */
function isoText(raw: string): string {
  const [, day, clock, zone = 'Z'] = TIME.exec(raw.trim()) ?? [];
  const offset = /^z$/iu.test(zone) ? 'Z' : zone.replace(' ', '+').replace(/^(.\d{2}):?(\d{2})$/u, '$1:$2');
  return day === undefined ? '' : `${day}T${clock ?? '00:00'}${offset}`;
}

const timeIssue = (name: string, raw: string) =>
  issue(
    name,
    `must be an ISO 8601 date or date-time, such as 2026-11-20T00:00:00Z${got(raw)}${didYouMean(guessTime(raw))}`,
    'datetime_parsing',
    raw,
  );

/** A time as engines compare it (`comparedTime`), or a day as `YYYY-MM-DD`; texts as for `parseTime`. */
export function parseMoment(name: string, raw: string): string {
  const time = readTime(isoText(raw));
  const value = time && timeValue(time);
  if (value === null) throw timeIssue(name, raw);
  return isDay(raw.trim()) ? raw.trim() : comparedTime(value);
}

/** One of the allowed words, in any case. */
export function parseOneOf<T extends string>(name: string, raw: string, allowed: readonly T[]): T {
  const match = allowed.find((word) => word === raw.trim().toLowerCase());
  if (match === undefined)
    throw issue(
      name,
      `must be one of ${allowed.join(', ')}${got(raw)}${didYouMean(guessWord(raw, allowed))}`,
      'enum',
      raw,
    );
  return match;
}

/** Collects the 422 issues of several parsers, so that one response lists every invalid parameter. */
export class ValidationIssues {
  readonly issues: ValidationIssue[] = [];

  /** The parser's value, or undefined after a `validation_failed` error. Throws other errors. */
  attempt<T>(parse: () => T): T | undefined {
    try {
      return parse();
    } catch (error) {
      if (!(error instanceof DataError) || error.code !== 'validation_failed') throw error;
      this.issues.push(...(error.detail as ValidationIssue[]));
      return undefined;
    }
  }

  /** Throws one `validation_failed` error with all issues, if there are any. */
  throwIfAny(): void {
    const [first] = this.issues;
    if (first === undefined) return;
    const more = this.issues.length > 1 ? ` (and ${this.issues.length - 1} more)` : '';
    throw new DataError('validation_failed', `${first.loc.slice(1).join('.')}: ${first.msg}${more}`, this.issues);
  }
}
