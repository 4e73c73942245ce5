// Seeded fictional sources over a year: records come and go, values change, jump, are doubted, withdrawn and said again.
import type { PriceRange } from '../../packs/define/model.ts';
import type { Issues, Told } from './night-pack.ts';
import { pick, type Random, random } from './random-records.ts';

const CODES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
const two = (n: number) => String(n).padStart(2, '0');

/** Each value is there four times in five, and taken from few, so that sources agree, differ and repeat themselves. */
function told(next: Random, code: string, date: string): Told {
  const range = (min: number): PriceRange => ({ min, max: min * 2, currency: 'EUR' });
  const values = {
    name: pick(next, [`Stone ${code}`, `Stein ${code}`]),
    status: pick(next, ['here', 'here', 'lost']),
    seen: `2026-${date}`,
    mass: pick(next, [1, 2, 3, 40, 600]),
    tags: pick(next, [['red'], ['red', 'flat'], ['old']]),
    place: { lat: pick(next, [10, 10.001, 50]), lng: pick(next, [179.999, -179.999]) },
    'price.sale': next() < 0.3 ? range(pick(next, [2, 3])) : pick(next, [2, 2.5, 3]),
  };
  const kept = Object.fromEntries(Object.entries(values).filter(() => next() < 0.8));
  return { code, ...kept, ...(next() < 0.15 ? { as: { confidence: 0.1 } } : {}) };
}

/** Up to six days of 2026 for each of three sources; two of them may speak on the same day. */
export function randomPast(seed: number): Record<string, Issues> {
  const next = random(seed);
  const issues = (): Issues => {
    const dates = Array.from({ length: 3 + Math.floor(next() * 4) }, () => {
      const month = 1 + Math.floor(next() * 10);
      return `${two(month)}-${pick(next, ['01', '15'])}`;
    });
    const sorted = [...new Set(dates)].sort();
    return Object.fromEntries(
      sorted.map((date) => [date, CODES.filter(() => next() < 0.75).map((code) => told(next, code, date))]),
    );
  };
  return { gold: issues(), tin: issues(), rumour: issues() };
}
