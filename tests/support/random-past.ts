// Seeded fictional sources over a year: records appear and disappear, values change, jump, are doubted,
// withdrawn and repeated.
import type { PriceRange } from '../../packs/define/model.ts';
import type { Issues, ObservedRow } from './night-pack.ts';
import { pickOne, type Random, random } from './random-records.ts';

const CODES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
const two = (n: number) => String(n).padStart(2, '0');

/**
 * Each value is present four times in five and drawn from a small set, so that sources agree, differ and
 * repeat.
 */
function observedRow(next: Random, code: string, date: string): ObservedRow {
  const range = (min: number): PriceRange => ({ min, max: min * 2, currency: 'EUR' });
  const values = {
    name: pickOne(next, [`Stone ${code}`, `Stein ${code}`]),
    status: pickOne(next, ['here', 'here', 'lost']),
    seen: `2026-${date}`,
    mass: pickOne(next, [1, 2, 3, 40, 600]),
    tags: pickOne(next, [['red'], ['red', 'flat'], ['old']]),
    place: { lat: pickOne(next, [10, 10.001, 50]), lng: pickOne(next, [179.999, -179.999]) },
    'price.sale': next() < 0.3 ? range(pickOne(next, [2, 3])) : pickOne(next, [2, 2.5, 3]),
  };
  const kept = Object.fromEntries(Object.entries(values).filter(() => next() < 0.8));
  return { code, ...kept, ...(next() < 0.15 ? { as: { confidence: 0.1 } } : {}) };
}

/** Up to six days of 2026 for each of three sources; two of them may have the same day. */
export function randomPast(seed: number): Record<string, Issues> {
  const next = random(seed);
  const issues = (): Issues => {
    const dates = Array.from({ length: 3 + Math.floor(next() * 4) }, () => {
      const month = 1 + Math.floor(next() * 10);
      return `${two(month)}-${pickOne(next, ['01', '15'])}`;
    });
    const sorted = [...new Set(dates)].sort();
    return Object.fromEntries(
      sorted.map((date) => [date, CODES.filter(() => next() < 0.75).map((code) => observedRow(next, code, date))]),
    );
  };
  return { gold: issues(), tin: issues(), rumour: issues() };
}
