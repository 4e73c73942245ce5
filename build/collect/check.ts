// Normalises values from collectors by the rules of packs/define/schema.ts, with a fast path for values that
// are already normal.
import { BoundedCache } from '../../data/model/bounded-cache.ts';
import type { Attribute, Value } from '../../packs/define/model.ts';
import { type CheckedValue, checkValue, cleanText, isDecoded, maxLength } from '../../packs/define/schema.ts';

/**
 * Words with single spaces, which `cleanText` leaves unchanged: printable ASCII, and letters of Latin, Cyrillic and
 * Chinese that are composed, visible and of fixed direction.
 */
const PLAIN =
  /^[!-~\u00c0-\u024f\u0400-\u0481\u048a-\u052f\u4e00-\u9fff]+(?: [!-~\u00c0-\u024f\u0400-\u0481\u048a-\u052f\u4e00-\u9fff]+)*$/;

/** Distinct values of an attribute that are kept: kinds, dates, countries and addresses repeat. */
const MOST_VALUES = 5000;

/** Returns a checker for one attribute with the results of `checkValue` at the time `now` for any input. */
export function checker(attribute: Attribute, now: Date): (raw: unknown) => CheckedValue {
  const { min, max } = attribute.range;
  const inRange = (n: number) => (min === null || n >= min) && (max === null || n <= max);
  const checked = new BoundedCache<string, CheckedValue>('checked values', { most: MOST_VALUES });
  const remembering = (raw: unknown): CheckedValue =>
    typeof raw === 'string' ? checked.of(raw, () => checkValue(attribute, raw, now)) : checkValue(attribute, raw, now);
  switch (attribute.type) {
    case 'string':
    case 'text': {
      const most = maxLength(attribute.type);
      return (raw) => {
        if (typeof raw !== 'string' || raw.length > most) return checkValue(attribute, raw, now);
        if (PLAIN.test(raw)) return { ok: true, value: raw };
        const value = isDecoded(raw) ? cleanText(raw) : '';
        return value === '' || value.length > most ? checkValue(attribute, raw, now) : { ok: true, value };
      };
    }
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

const LONGEST_ENTRY = maxLength('string');

/** The distinct entries of a list of texts that has no mistake; null for anything else. */
function cleanList(raw: unknown): string[] | null {
  if (!Array.isArray(raw)) return null;
  const entries = new Set<string>();
  for (const entry of raw as unknown[]) {
    if (typeof entry !== 'string' || entry.length > LONGEST_ENTRY) return null;
    if (PLAIN.test(entry)) {
      entries.add(entry);
      continue;
    }
    const value = isDecoded(entry) ? cleanText(entry) : '';
    if (value === '' || value.length > LONGEST_ENTRY) return null;
    entries.add(value);
  }
  return entries.size === 0 ? null : [...entries];
}
