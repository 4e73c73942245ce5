// Comparison of values: agreement of sources, and jumps (contract section 5).
import type { Attribute, Geo, Value } from '../../packs/define/model.ts';
import { fold } from '../../packs/define/text.ts';
import { isTimeValue, PERIOD_LENGTHS } from '../../packs/define/times.ts';

/** Lower and upper end of a numeric value; a plain number is a range of one point. Null for other values. */
export function bounds(value: Value): { min: number; max: number } | null {
  if (typeof value === 'number') return { min: value, max: value };
  if (typeof value === 'object' && 'min' in value) return value;
  return null;
}

/** Points within this many degrees in both coordinates are the same place: about a kilometre. */
const SAME_PLACE = 0.01;

/**
 * Whether two sources agree on an attribute. Numbers and prices: both ends differ by at most the attribute's
 * `tolerance`, as a share of the larger, or one is a number inside the other's range, whose ends have the
 * same tolerance. Texts: equal without case and accents. Lists: the same entries in any order. Points: about
 * a kilometre apart.
 */
export function valuesAgree(attribute: Attribute, a: Value, b: Value): boolean {
  switch (attribute.type) {
    case 'integer':
    case 'number':
    case 'price': {
      const x = bounds(a);
      const y = bounds(b);
      if (!x || !y) return false;
      const close = (m: number, n: number) => isClose(attribute, m, n);
      // A number and a range that contains it agree; the range is just less precise.
      const inside = (one: typeof x, range: typeof x) =>
        one.min === one.max &&
        ((one.min >= range.min && one.min <= range.max) || close(one.min, range.min) || close(one.min, range.max));
      return (close(x.min, y.min) && close(x.max, y.max)) || inside(x, y) || inside(y, x);
    }
    case 'geo':
      return near(a as Geo, b as Geo);
    case 'strings': {
      const entries = (value: Value) => [...new Set((value as string[]).map(fold))].sort().join('\n');
      return entries(a) === entries(b);
    }
    case 'boolean':
    case 'date':
    case 'datetime':
      return a === b;
    default:
      return a === b || fold(String(a)) === fold(String(b));
  }
}

const isClose = ({ tolerance }: Attribute, m: number, n: number) =>
  Math.abs(m - n) <= tolerance * Math.max(Math.abs(m), Math.abs(n));

/**
 * Whether `a` is a range that begins at the plain number `b`: the same price, with a higher one that some
 * pay.
 */
export function isRangeFrom(attribute: Attribute, a: Value, b: Value): boolean {
  if (typeof b !== 'number' || typeof a !== 'object' || !('min' in a)) return false;
  return a.min < a.max && isClose(attribute, a.min, b);
}

/** Longitudes are compared across the date line. */
function near(a: Geo, b: Geo): boolean {
  const turn = Math.abs(a.lng - b.lng);
  return Math.abs(a.lat - b.lat) <= SAME_PLACE && Math.min(turn, 360 - turn) <= SAME_PLACE;
}

/**
 * Whether a difference in the attribute opens a review item. Sources that word a name or description
 * differently, or list different extras, do not contradict each other; different numbers, dates or enum
 * members do.
 */
export function isDisputable(attribute: Attribute): boolean {
  return !['string', 'text', 'url', 'strings'].includes(attribute.type);
}

/**
 * Whether the step between consecutive values of a source exceeds the attribute's jump bound, at either end
 * of a range. A step from, to or across zero is a jump, since it has no factor.
 */
export function isJump(attribute: Attribute, from: Value, to: Value): boolean {
  if (attribute.jump === null) return false;
  const old = bounds(from);
  const next = bounds(to);
  return (
    old !== null &&
    next !== null &&
    (leaps(old.min, next.min, attribute.jump) || leaps(old.max, next.max, attribute.jump))
  );
}

/**
 * Whether a first value differs from the median of its group by more than the attribute's jump bound; a range
 * counts with its lower end.
 */
export function isOutlier(attribute: Attribute, median: number, value: Value): boolean {
  const ends = bounds(value);
  return attribute.jump !== null && attribute.group_jump && ends !== null && leaps(median, ends.min, attribute.jump);
}

function leaps(from: number, to: number, bound: number): boolean {
  if (from === to) return false;
  const factor = to / from;
  return !(factor <= bound && factor >= 1 / bound);
}

/** Whether a stored value has the attribute's current type; the publisher may have changed the type since. */
export function fitsType(attribute: Attribute, value: Value | null): boolean {
  if (value === null) return true;
  switch (attribute.type) {
    case 'boolean':
      return typeof value === 'boolean';
    case 'integer':
    case 'number':
      return typeof value === 'number';
    case 'price':
      return typeof value === 'number' || (typeof value === 'object' && 'min' in value);
    case 'geo':
      return typeof value === 'object' && 'lat' in value;
    case 'strings':
      return Array.isArray(value);
    case 'date':
      return typeof value === 'string' && value.length === PERIOD_LENGTHS.day;
    case 'datetime':
      return typeof value === 'string' && isTimeValue(value);
    default:
      return typeof value === 'string';
  }
}
