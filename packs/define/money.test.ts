// Money: exact decimals, and dollars rounded up without errors of binary fractions.
import { expect, test } from 'vitest';
import { verifies } from '../../tests/support/verifies.ts';
import { eur, usd } from './money.ts';

verifies('shape.money');

test('micro-euros are formatted as plain decimals', () => {
  expect([0, 1, 4000, 12_000, 1_500_000].map(eur)).toEqual([0, 0.000001, 0.004, 0.012, 1.5]);
});

test('dollars round up to a micro-dollar, and 4000 × 1.1 is 4400', () => {
  expect(usd(4000, 1.1)).toBe(0.0044);
  expect(usd(1, 1.0345)).toBe(0.000002);
  expect(usd(0, 1.1)).toBe(0);
});
