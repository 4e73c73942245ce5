// Normalises and checks values of attributes (collection, samples, owners' edits), and describes them as JSON
// Schema.
import { z } from 'zod';
import { derive } from './derive.ts';
import { comparedNumber, hasTooManyDigits, roundCoordinate } from './digits.ts';
import { type Attribute, type AttributeType, DATED, type PriceRange, type Value } from './model.ts';
import { fold, hasAtMost, LONGEST_TEXT, storedText } from './text.ts';
import { readTime, timeValue } from './times.ts';

/** A value to store, or why it is invalid. `reason` completes the sentence "expected …". */
export type CheckedValue = { ok: true; value: Value } | { ok: false; reason: string };

const BYTES = `${LONGEST_TEXT.bytes.toLocaleString('en-US')} bytes`;

/** Whether a text has at most the bytes of a value. */
const fits = (text: string) => text.length * 3 <= LONGEST_TEXT.bytes || Buffer.byteLength(text) <= LONGEST_TEXT.bytes;

const MEMBER = `${LONGEST_TEXT.member.toLocaleString('en-US')} characters`;

const text = (expected: string) =>
  z
    .string({ error: expected })
    .transform(storedText)
    .pipe(z.string().min(1, expected).refine(fits, `${expected} of at most ${BYTES}`));

/** A number with more digits than a double has is a text (`parseJson` in digits.ts, `parseCell` in values.ts). */
const TOO_MANY_DIGITS =
  'of at most 15 significant digits, or the shortest text of a double; the pack can allow more with `round: true`';

const within = (number: z.ZodType<number>, range: Attribute['range'], expected: string) =>
  number
    // Never -0.
    .transform((n) => n + 0)
    .refine(Number.isFinite, { error: expected })
    .refine((n) => range.min === null || n >= range.min, { error: `${expected} of at least ${range.min}` })
    .refine((n) => range.max === null || n <= range.max, { error: `${expected} of at most ${range.max}` });

/** A number as it is; with `round`, also one of too many digits, with 15 of them. */
function numberIn({ range, round = false }: Pick<Attribute, 'range' | 'round'>, expected: string) {
  const digits = z.unknown().transform((value, issues) => {
    if (!hasTooManyDigits(value)) return round && typeof value === 'number' ? comparedNumber(value) : value;
    if (!round) issues.addIssue(`${expected} ${TOO_MANY_DIGITS}`);
    return round ? comparedNumber(Number(value)) : z.NEVER;
  });
  return within(digits.pipe(z.number({ error: expected })), range, expected);
}

/**
 * `http` and `https` addresses only, without credentials, normalised by URL (`https://a.example` gets a
 * slash).
 */
const url = z
  .string({ error: 'an http or https address' })
  .refine(fits, { error: `an http or https address of at most ${BYTES}`, abort: true })
  .transform((raw) => URL.parse(raw.trim()))
  .refine((at) => at !== null && /^https?:$/.test(at.protocol) && at.username === '' && at.password === '', {
    error: 'an http or https address',
  })
  .transform((at) => at!.href);

const date = z.iso.date({ error: 'a date, YYYY-MM-DD' });

const TIME = 'a time in ISO 8601, such as 2026-01-01T12:00:00Z, of the years 0001 to 9999';

/** A time without an offset is one in UTC: a declared source has read it in its own time zone before. */
const datetime = z.string({ error: TIME }).transform((raw, issues) => {
  const time = readTime(raw);
  const value = time && timeValue(time);
  if (value === null) issues.addIssue(TIME);
  return value ?? z.NEVER;
});

/** Hours by which the date of some place is ahead of UTC. */
const AHEAD = 14 * 3_600_000;

/** The bound of a date or time that a value is past, as what is expected; null when it is within both. */
function outsideDates({ type, date_range: range }: Attribute, value: string, now: Date): string | null {
  const { min = null, max = null } = range ?? {};
  if (type === 'datetime' && max === 'now' && Date.parse(value) > now.getTime())
    return `a time that is not in the future (it is ${now.toISOString()})`;
  if (min !== null && value < min) return `a date from ${min} on`;
  if (max === null) return null;
  const last = max === 'now' ? new Date(now.getTime() + AHEAD).toISOString().slice(0, 10) : max;
  if (value.slice(0, last.length) <= last) return null;
  return max === 'now'
    ? `a date that is not in the future (today is ${now.toISOString().slice(0, 10)})`
    : `a date until ${max}`;
}

/** Drops empty and repeated entries; the order stays. */
const strings = z
  .array(z.string({ error: 'a list of texts' }), { error: 'a list of texts' })
  .transform((list) => [...new Set(list.map(storedText).filter((entry) => entry !== ''))])
  .refine((list) => list.length > 0, { error: 'a list of at least one text' })
  .refine((list) => list.reduce((bytes, entry) => bytes + Buffer.byteLength(entry), 0) <= LONGEST_TEXT.bytes, {
    error: `a list of texts of at most ${BYTES}`,
  });

const degrees = (limit: number, name: string) =>
  z.preprocess(
    (value) => (hasTooManyDigits(value) ? Number(value) : value),
    z
      .number({ error: `${name} in degrees, -${limit} to ${limit}` })
      .min(-limit, `${name} in degrees, -${limit} to ${limit}`)
      .max(limit, `${name} in degrees, -${limit} to ${limit}`)
      .transform(roundCoordinate),
  );

const geo = z.strictObject(
  { lat: degrees(90, 'a latitude'), lng: degrees(180, 'a longitude') },
  { error: 'a point {lat, lng} in degrees' },
);

function price(attribute: Attribute) {
  const currency = attribute.currency ?? '';
  const range = { min: Math.max(0, attribute.range.min ?? 0), max: attribute.range.max };
  const amount = numberIn({ ...attribute, range }, 'a price');
  const between = z
    .strictObject(
      { min: amount, max: amount, currency: z.literal(currency, { error: `the currency ${currency}` }).optional() },
      { error: 'a price: a number, or {min, max, currency}' },
    )
    .refine((value) => value.min <= value.max, { error: 'a price range whose min is not above its max' })
    .transform(({ min, max }): number | PriceRange => (min === max ? min : { min, max, currency }));
  return z.unknown().transform((value, issues) => {
    const parsed = (typeof value === 'object' && value !== null ? between : amount).safeParse(value);
    if (parsed.success) return parsed.data;
    const wrong = typeof value === 'number' || (typeof value === 'object' && value !== null) || hasTooManyDigits(value);
    issues.addIssue(wrong ? firstReason(parsed.error) : 'a price: a number, or {min, max, currency}');
    return z.NEVER;
  });
}

function oneOf(values: string[] | null) {
  const member = (expected: string) =>
    text(expected).refine((value) => hasAtMost(value, LONGEST_TEXT.member), `${expected} of at most ${MEMBER}`);
  if (values === null) return member('a text');
  const byText = new Map(values.map((value) => [fold(value), value]));
  const expected = `one of ${values.join(', ')}`;
  return text(expected).transform((value, issues) => {
    const match = byText.get(fold(value));
    if (match === undefined) issues.addIssue(expected);
    return match ?? z.NEVER;
  });
}

/**
 * Zod schema that normalises and checks one value of an attribute. Messages complete the sentence "expected
 * …".
 */
function valueSchema(attribute: Attribute): z.ZodType<Value> {
  switch (attribute.type) {
    case 'string':
    case 'text':
      return text('a text');
    case 'enum':
      return oneOf(attribute.values);
    case 'url':
      return url;
    case 'boolean':
      return z.boolean({ error: 'true or false' });
    case 'integer':
      return within(z.int({ error: 'a whole number' }), attribute.range, 'a whole number');
    case 'number':
      return numberIn(attribute, 'a number');
    case 'date':
      return date;
    case 'datetime':
      return datetime;
    case 'strings':
      return strings;
    case 'geo':
      return geo;
    case 'price':
      return price(attribute);
  }
}

function firstReason(error: z.ZodError): string {
  return error.issues[0]?.message ?? 'another value';
}

/**
 * Normalises a value for the attribute, or returns what is expected. `now` is the time for `range.max: 'now'`.
 * Never throws.
 */
export function checkValue(attribute: Attribute, value: unknown, now = new Date()): CheckedValue {
  const parsed = derive(attribute, 'value schema', () => valueSchema(attribute)).safeParse(value);
  if (!parsed.success) return { ok: false, reason: firstReason(parsed.error) };
  const outside = DATED.includes(attribute.type) ? outsideDates(attribute, String(parsed.data), now) : null;
  return outside === null ? { ok: true, value: parsed.data } : { ok: false, reason: outside };
}

/** Attribute types whose values are numbers, for ranges, jumps, statistics and `min_`/`max_` filters. */
export const NUMERIC: readonly AttributeType[] = ['integer', 'number', 'price'];
/** Attribute types whose values are words, which `q` can search. */
export const WORDY: readonly AttributeType[] = ['string', 'text', 'url', 'enum', 'strings'];
