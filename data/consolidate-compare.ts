// When two values agree, and when a value has jumped: the comparisons that consolidation rests on (contract section 5).
import type { Attribute, Geo, Value } from '../packs/model.ts';
import { fold, words } from '../packs/text.ts';

/** Lower and upper end of a numeric value: a plain number is a range of one point. Null for values that are not numeric. */
export function bounds(value: Value): { min: number; max: number } | null {
  if (typeof value === 'number') return { min: value, max: value };
  if (typeof value === 'object' && 'min' in value) return value;
  return null;
}

/**
 * Whether two sources say the same of an attribute, within its `tolerance`:
 * numbers and prices: both ends differ by at most that share of the larger; texts and lists: at most that share of their words or
 * entries is not common to both (0: equal but for case and accents); points: by at most that many degrees; the rest: equal.
 */
export function agrees(attribute: Attribute, a: Value, b: Value): boolean {
  const share = attribute.tolerance;
  switch (attribute.type) {
    case 'integer':
    case 'number':
    case 'price': {
      const x = bounds(a);
      const y = bounds(b);
      if (!x || !y) return false;
      const close = (m: number, n: number) => Math.abs(m - n) <= share * Math.max(Math.abs(m), Math.abs(n));
      return close(x.min, y.min) && close(x.max, y.max);
    }
    case 'geo':
      return near(a as Geo, b as Geo, share);
    case 'strings':
      return apart((a as string[]).map(fold), (b as string[]).map(fold)) <= share;
    case 'boolean':
    case 'date':
      return a === b;
    default: {
      if (a === b || fold(String(a)) === fold(String(b))) return true;
      return share > 0 && apart(words(String(a)), words(String(b))) <= share;
    }
  }
}

/** Both coordinates within so many degrees; longitudes compare across the date line. */
function near(a: Geo, b: Geo, degrees: number): boolean {
  const turn = Math.abs(a.lng - b.lng);
  return Math.abs(a.lat - b.lat) <= degrees && Math.min(turn, 360 - turn) <= degrees;
}

/** Share of entries that only one of two lists has, 0..1 (Jaccard distance). */
function apart(a: string[], b: string[]): number {
  const left = new Set(a);
  const right = new Set(b);
  let common = 0;
  for (const entry of left) if (right.has(entry)) common++;
  const all = left.size + right.size - common;
  return all === 0 ? 0 : 1 - common / all;
}

/**
 * Whether the step from one value to the next of the same source passes the attribute's jump bound, at either end of a range.
 * A step from or to zero, or across it, is a jump: no factor spans it.
 */
export function jumps(attribute: Attribute, from: Value, to: Value): boolean {
  if (attribute.jump === null) return false;
  const old = bounds(from);
  const next = bounds(to);
  return (
    old !== null &&
    next !== null &&
    (leaps(old.min, next.min, attribute.jump) || leaps(old.max, next.max, attribute.jump))
  );
}

function leaps(from: number, to: number, bound: number): boolean {
  if (from === to) return false;
  const factor = to / from;
  return !(factor <= bound && factor >= 1 / bound);
}
