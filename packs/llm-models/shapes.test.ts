// Prices on a day: tiers and times of day as ranges; start dates in the past, in the future, and none.
import { expect, test } from 'vitest';
import { Prices, pricesOn } from './shapes.ts';

const on = (day: string, prices: unknown) => Object.fromEntries(pricesOn(Prices.parse(prices), day));

const from = (start_date: string, prices: object) => ({ constraint: { type: 'start_date', start_date }, prices });
const between = (start: string, end: string, prices: object) => ({
  constraint: { type: 'time_of_date', start_time: `${start}:00Z`, end_time: `${end}:00Z` },
  prices,
});
const always = (prices: object) => ({ prices });

test('a number stays a number', () => {
  expect(on('2026-01-01', { input_mtok: 0.4 })).toEqual({ input_mtok: { value: 0.4, words: '0.4' } });
  expect(on('2026-01-01', {})).toEqual({});
});

test('tiers become a range with an explanation', () => {
  const price = { base: 1.25, tiers: [{ start: 200000, price: 2.5 }] };
  expect(on('2026-01-01', { input_mtok: price })).toEqual({
    input_mtok: { value: { min: 1.25, max: 2.5, currency: 'USD' }, words: '1.25, 2.5 above 200000 tokens' },
  });
});

test('a tier that costs the same is no range', () => {
  const price = { base: 2, tiers: [{ start: 1000, price: 2 }] };
  expect(on('2026-01-01', { input_mtok: price })['input_mtok']?.value).toBe(2);
});

test('the last set that has begun is current; a later one never is', () => {
  const sets = [
    always({ input_mtok: 2, cache_read_mtok: 1 }),
    from('2026-03-13', { input_mtok: 1 }),
    from('2027-01-01', { input_mtok: 3 }),
  ];
  expect(on('2026-03-12', sets)['input_mtok']?.value).toBe(2);
  expect(on('2026-03-13', sets)).toEqual({ input_mtok: { value: 1, words: '1 from 2026-03-13; 3 from 2027-01-01' } });
  expect(on('2027-01-01', sets)['input_mtok']?.value).toBe(3);
});

test('times of day and the price of other hours become a range', () => {
  const sets = [always({ input_mtok: 0.135 }), between('00:30', '16:30', { input_mtok: 0.27 })];
  expect(on('2026-01-01', sets)['input_mtok']).toEqual({
    value: { min: 0.135, max: 0.27, currency: 'USD' },
    words: '0.135; 0.27 at 00:30-16:30 UTC',
  });
});

test('a set that has begun ends the times of day before it, not those after it', () => {
  const sets = [
    always({ input_mtok: 1 }),
    between('00:00', '02:00', { input_mtok: 9 }),
    from('2026-08-17', { input_mtok: 2 }),
    between('01:00', '04:00', { input_mtok: 4 }),
  ];
  expect(on('2026-08-18', sets)['input_mtok']?.value).toEqual({ min: 2, max: 4, currency: 'USD' });
  expect(on('2026-08-16', sets)['input_mtok']?.value).toEqual({ min: 1, max: 9, currency: 'USD' });
});

test('nothing is current before the first set begins', () => {
  expect(on('2026-01-01', [from('2026-05-01', { input_mtok: 1 })])).toEqual({});
});

test('a price below zero or of an unknown shape is rejected', () => {
  expect(Prices.safeParse({ input_mtok: -1 }).success).toBe(false);
  expect(Prices.safeParse({ input_mtok: { per: 'call' } }).success).toBe(false);
});
