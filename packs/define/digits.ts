// Digits of numbers: which decimal texts a double represents, and when two numbers are the same value (contract
// section 2, "Numbers").
import type { Attribute, PriceRange, Value } from './model.ts';

/** A number as text, with `.` as decimal sign. */
const DECIMAL = /^[+-]?(\d*)(?:\.(\d*))?(?:[eE][+-]?\d+)?$/;

/** The significant digits of a decimal text, without zeros at either end; null: not a decimal text. */
function significantDigits(text: string): string | null {
  const [, whole, fraction = ''] = DECIMAL.exec(text) ?? [];
  if (whole === undefined || whole + fraction === '') return null;
  // The second part fails at once inside a run of zeros, however long it is.
  return (whole + fraction).replace(/^0+|(?<!0)0+$/g, '');
}

/**
 * The double with the digits of a decimal text such as `-12345678901.55` or `1e-7`; null when there is none, or
 * the text is no number. Every text of up to 15 significant digits has one, and one of 16 or 17 digits has it when
 * it is the shortest text of a double.
 */
export function exactNumber(text: string): number | null {
  const number = Number(text);
  const digits = significantDigits(text);
  return digits !== null && Number.isFinite(number) && digits === significantDigits(String(number)) ? number : null;
}

/** Whether a value is the text of a finite number that no double represents: such texts keep what a number loses. */
export function hasTooManyDigits(value: unknown): value is string {
  if (typeof value !== 'string' || value === '' || significantDigits(value) === null) return false;
  return Number.isFinite(Number(value)) && exactNumber(value) === null;
}

/**
 * The form by which numbers are compared, and in which they are published: 15 significant digits; safe integers have
 * all of theirs. Never -0.
 */
export function comparedNumber(number: number): number {
  // Most numbers have few decimals, and formatting takes a microsecond.
  if (Number.isSafeInteger(number)) return number + 0;
  if (Math.abs(number) < 1e9 && Math.round(number * 1e4) / 1e4 === number) return number;
  const rounded = Number(number.toPrecision(15));
  // The largest doubles would become infinite.
  return Number.isFinite(rounded) ? rounded : number;
}

/** A value of an attribute with its numbers as they are compared and published. */
export function comparedValue({ type }: Pick<Attribute, 'type'>, value: Value): Value {
  if (type !== 'number' && type !== 'price') return value;
  if (typeof value === 'number') return comparedNumber(value);
  const range = value as PriceRange;
  return { ...range, min: comparedNumber(range.min), max: comparedNumber(range.max) };
}

/** `comparedValue` of the JSON text of a stored value. */
export function comparedText(attribute: Pick<Attribute, 'type'>, json: string): string {
  const { type } = attribute;
  if (json.length <= 15 || (type !== 'number' && type !== 'price')) return json;
  return JSON.stringify(comparedValue(attribute, JSON.parse(json) as Value));
}

/** Decimals of a coordinate: a centimetre. */
const COORDINATE_DECIMALS = 7;

/** A coordinate in degrees with 7 decimals; never -0. */
export function roundCoordinate(degrees: number): number {
  return Number(degrees.toFixed(COORDINATE_DECIMALS)) + 0;
}

/** A text may contain a number that a double cannot represent: 16 digits, or an exponent of 3 digits. */
const LONG_NUMBER = /(?:\d\.?){16}|[eE][+-]?\d{3}/;

/**
 * Parses JSON. A number that a double cannot represent, such as 9007199254740993, 0.12345678901234567890 or 1e400,
 * becomes a text with its digits. Throws SyntaxError, also for more than 100 levels of lists and objects.
 */
export function parseJson(text: string): unknown {
  let value: unknown;
  try {
    // A reviver is called for every value, which takes several times as long.
    value = LONG_NUMBER.test(text) ? JSON.parse(text, keepDigits as Reviver) : JSON.parse(text);
  } catch (error) {
    throw error instanceof RangeError ? new SyntaxError(TOO_DEEP) : error;
  }
  // Each level has two characters.
  if (text.length > 2 * MOST_LEVELS && isDeeper(value, MOST_LEVELS)) throw new SyntaxError(TOO_DEEP);
  return value;
}

/** Levels of lists and objects: functions that call themselves for each would run out of stack. */
const MOST_LEVELS = 100;
const TOO_DEEP = `lists and objects have more than ${MOST_LEVELS} levels`;

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
}

/** The type of TypeScript's library lacks the third parameter. */
type Reviver = (key: string, value: unknown) => unknown;

function keepDigits(_key: string, value: unknown, { source }: { source?: string }): unknown {
  return typeof value !== 'number' || source === undefined || exactNumber(source) !== null ? value : source;
}
