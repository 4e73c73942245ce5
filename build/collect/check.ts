// Normalises values from collectors by the rules of packs/define/schema.ts, with a fast path for values that
// are already normal.
import { BoundedCache } from '../../data/model/bounded-cache.ts';
import type { Attribute, Value } from '../../packs/define/model.ts';
import { type CheckedValue, checkValue } from '../../packs/define/schema.ts';
import { LONGEST_TEXT, storedText } from '../../packs/define/text.ts';

/**
 * Words with single spaces, which `storedText` leaves unchanged: printable ASCII, and letters of Latin, Cyrillic and
 * Chinese that are composed, visible and of fixed direction.
 */
const PLAIN =
  /^[!-~\u00c0-\u024f\u0400-\u0481\u048a-\u052f\u4e00-\u9fff]+(?: [!-~\u00c0-\u024f\u0400-\u0481\u048a-\u052f\u4e00-\u9fff]+)*$/;

/** Distinct values of an attribute that are kept: kinds, dates, countries and addresses repeat. */
const MOST_VALUES = 5000;

/** Characters of texts that are remembered, or surely short enough: one has at most three bytes in UTF-8. */
const SHORT = LONGEST_TEXT.bytes / 1000;

const DECODED = 'a text without U+FFFD, which bytes become that are not valid in the encoding';

const isDamaged = (raw: unknown) => typeof raw === 'string' && raw.includes('\ufffd');

/**
 * Returns a checker for one attribute with the results of `checkValue` at the time `now` for any input. A text with U+FFFD
 * is rejected: its source was read in another encoding than its own.
 */
export function checker(attribute: Attribute, now: Date): (raw: unknown) => CheckedValue {
  const check = valueChecker(attribute, now);
  return (raw) => {
    const damaged = typeof raw === 'string' ? isDamaged(raw) : Array.isArray(raw) && raw.some(isDamaged);
    return damaged ? { ok: false, reason: DECODED } : check(raw);
  };
}

function valueChecker(attribute: Attribute, now: Date): (raw: unknown) => CheckedValue {
  const { min, max } = attribute.range;
  const inRange = (n: number) => (min === null || n >= min) && (max === null || n <= max);
  const checked = new BoundedCache<string, CheckedValue>('checked values', { most: MOST_VALUES });
  const remembering = (raw: unknown): CheckedValue =>
    typeof raw === 'string' && raw.length <= SHORT
      ? checked.of(raw, () => checkValue(attribute, raw, now))
      : checkValue(attribute, raw, now);
  switch (attribute.type) {
    case 'string':
    case 'text':
      return (raw) => {
        if (typeof raw !== 'string' || raw.length > SHORT) return checkValue(attribute, raw, now);
        if (PLAIN.test(raw)) return { ok: true, value: raw };
        const value = storedText(raw);
        return value === '' ? checkValue(attribute, raw, now) : { ok: true, value };
      };
    case 'integer':
    case 'number':
    case 'price':
      return (raw) => {
        const plain = typeof raw === 'number' && Number.isInteger(raw) && raw > 0 && raw < 1e9 && inRange(raw);
        return plain ? { ok: true, value: raw as Value } : checkValue(attribute, raw, now);
      };
    case 'boolean':
      return (raw) => (typeof raw === 'boolean' ? { ok: true, value: raw } : checkValue(attribute, raw, now));
    case 'geo':
      return (raw) => {
        const point = raw as { lat?: unknown; lng?: unknown } | null;
        if (typeof point !== 'object' || point === null || Object.keys(point).length !== 2)
          return checkValue(attribute, raw, now);
        const { lat, lng } = point;
        const plain = fewDecimals(lat) && fewDecimals(lng) && Math.abs(lat) <= 90 && Math.abs(lng) <= 180;
        return plain ? { ok: true, value: { lat, lng } } : checkValue(attribute, raw, now);
      };
    case 'strings':
      return (raw) => {
        const value = cleanList(raw);
        return value === null ? checkValue(attribute, raw, now) : { ok: true, value };
      };
    default:
      return remembering;
  }
}

/**
 * Whether a coordinate needs no rounding: a number, not 0 (or -0), below 1000, with at most five decimals. `checkValue`
 * handles the rest.
 */
function fewDecimals(value: unknown): value is number {
  return typeof value === 'number' && value !== 0 && Math.abs(value) < 1000 && Math.round(value * 1e5) / 1e5 === value;
}

/** The distinct entries of a list of texts that has no mistake; null for anything else. */
function cleanList(raw: unknown): string[] | null {
  if (!Array.isArray(raw) || raw.length > SHORT / 4) return null;
  const entries = new Set<string>();
  for (const entry of raw as unknown[]) {
    if (typeof entry !== 'string' || entry.length > SHORT) return null;
    if (PLAIN.test(entry)) {
      entries.add(entry);
      continue;
    }
    const value = storedText(entry);
    if (value === '') return null;
    entries.add(value);
  }
  return entries.size === 0 ? null : [...entries];
}
