// States of rows, best numbers and amounts of a comparison.
import { expect, test } from 'vitest';
import { amountText, bestOf, rowState, totalText } from './comparison.ts';

test('a row differs when two values differ, or one is missing', () => {
  expect(rowState(['1', '1'])).toBe('same');
  expect(rowState(['1', '2'])).toBe('differs');
  expect(rowState(['1', null])).toBe('differs');
  expect(rowState([null, null])).toBe('same');
  expect(rowState(['1', undefined])).toBe('locked');
});

const of = (...ends: (number | [number, number] | null)[]) =>
  ends.map((each) =>
    each === null ? null : typeof each === 'number' ? { min: each, max: each } : { min: each[0], max: each[1] },
  );

test.each([
  ['the lowest', of(1, 2, 3), 'low', [true, false, false]],
  ['the highest', of(1, 2, 3), 'high', [false, false, true]],
  ['both of two equal ones', of(1, 1, 3), 'low', [true, true, false]],
  ['none of equal ones', of(2, 2), 'low', [false, false]],
  ['none without a direction', of(1, 2), undefined, [false, false]],
  ['none alone', of(1, null), 'low', [false, false]],
  ['a range below all others', of([1, 2], 3, null), 'low', [true, false, false]],
  ['none of overlapping ranges', of([1, 4], 3), 'low', [false, false]],
] as const)('the best number is %s', (_, numbers, better, best) => {
  expect(bestOf(numbers, better)).toEqual(best);
});

test('prints amounts and totals', () => {
  expect(amountText({ min: 12.345, max: 12.345 }, 'USD')).toBe('12.35 USD');
  expect(amountText({ min: 0.012345, max: 1234.5 }, 'USD')).toBe('0.0123 to 1,234.5 USD');
  const total = { min: 5, max: 5, locked: ['price.output'], missing: ['price.input'] };
  expect(totalText(total, 'USD')).toBe('5 USD + price.output (locked) + price.input (no value)');
  expect(totalText({ ...total, min: 0, max: 0, missing: [] }, 'USD')).toBe('price.output (locked)');
});
