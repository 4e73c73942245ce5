// Amounts of a calculator: ranges, other attributes for missing values, locked and missing terms.
import { expect, test } from 'vitest';
import { endsOf, readInput, type TermResult, totalAmount } from './calculator.ts';
import type { Calculator } from './model.ts';

const calculator: Calculator = {
  title: 'Cost',
  unit: 'USD',
  inputs: [],
  terms: [
    { attribute: 'input', otherwise: null, input: 'sent', factor: 1e-6 },
    { attribute: 'cached', otherwise: 'input', input: 'reused', factor: 1e-6 },
    { attribute: 'output', otherwise: null, input: 'received', factor: 1e-6 },
  ],
};
const reader =
  (values: Record<string, TermResult>) =>
  (attribute: string): TermResult =>
    values[attribute] ?? 'missing';

test('sums attribute × input × factor at both ends of a range', () => {
  const values = reader({ input: { min: 1, max: 2 }, cached: { min: 0.5, max: 0.5 }, output: { min: 4, max: 4 } });
  const total = totalAmount(calculator, { sent: 2e6, reused: 1e6, received: 1e6 }, values);
  expect(total).toEqual({ min: 6.5, max: 8.5, locked: [], missing: [] });
});

test('a missing value counts as its other attribute; a locked one does not', () => {
  const inputs = { sent: 1e6, reused: 1e6, received: 1e6 };
  const one = { min: 1, max: 1 };
  expect(totalAmount(calculator, inputs, reader({ input: one }))).toEqual({
    ...{ min: 2, max: 2 },
    ...{ locked: [], missing: ['output'] },
  });
  expect(totalAmount(calculator, inputs, reader({ input: one, cached: 'locked', output: 'locked' }))).toEqual({
    ...{ min: 1, max: 1 },
    ...{ locked: ['cached', 'output'], missing: [] },
  });
});

test('an input of 0 needs no value', () => {
  expect(totalAmount(calculator, { sent: 0, reused: 0 }, reader({ output: 'locked' }))).toEqual({
    ...{ min: 0, max: 0 },
    ...{ locked: [], missing: [] },
  });
});

test('reads ends of numbers and ranges, and inputs of at least 0', () => {
  expect(endsOf(3)).toEqual({ min: 3, max: 3 });
  expect(endsOf({ min: 1, max: 2, currency: 'USD' })).toEqual({ min: 1, max: 2 });
  expect([endsOf('3'), endsOf({ lat: 1, lng: 2 }), endsOf(null), endsOf(['3'])]).toEqual([null, null, null, null]);
  expect(['7', ' 1e3 ', '0', '', null, '-1', 'x', 'Infinity', '1e16'].map((text) => readInput(text, 5))).toEqual([
    7, 1000, 0, 5, 5, 5, 5, 5, 5,
  ]);
});
