// Suggestions of known names for an unknown one.
import { expect, test } from 'vitest';
import { WorkBudget } from '../plan/budget.ts';
import { nameSuggestion, nearestValues } from './suggester.ts';

const ATTRIBUTES = ['country', 'elevation', 'runway_length', 'price.list'];

test.each([
  ['Countri', 'country'],
  ['pirce.list', 'price.list'],
  ['longest_runway', 'runway_length'],
  ['elevation_ft', 'elevation'],
  [`${'x'.repeat(100_000)}`, 'elevation'],
])('suggests for %.20s: %s', (typed, known) => {
  const suggestion = nameSuggestion(typed, ATTRIBUTES);
  if (typed.length < 100) expect(suggestion).toBe(` Did you mean "${known}"?`);
  else expect(suggestion).not.toBe('');
});

test('no names: no suggestion', () => {
  expect(nameSuggestion('x', [])).toBe('');
});

test('suggests a similar name, otherwise lists the known names', () => {
  expect(nameSuggestion('countri', ATTRIBUTES)).toBe(' Did you mean "country"?');
  expect(nameSuggestion('colour', ATTRIBUTES)).toBe(
    ' Known, the nearest first: country, elevation, runway_length, price.list.',
  );
  expect(nameSuggestion('sort', ['q', 'format'], ['q', 'format', 'name'])).toBe(
    ' Known, the nearest first: format, q, name.',
  );
});

test('accepts an iterator', () => {
  expect(nameSuggestion('nope', new Map([['places', 1]]).keys())).toBe(' Known, the nearest first: places.');
});

test('lists at most 40 names', () => {
  const many = Array.from({ length: 300 }, (_, i) => `attribute${i}`);
  expect(nameSuggestion('zzzzzzzz', many).match(/attribute/g)).toHaveLength(40);
});

test.each<[string, string[], string[]]>([
  ['xai', ['zai', 'x-ai'], ['x-ai']],
  ['xai', ['zai', 'openai'], []],
  ['sow', ['saw', 'drill'], ['saw']],
  ['nordwrk', ['Nordwerk', 'Leihgut'], ['Nordwerk']],
  ['large', ['large_airport', 'heliport'], ['large_airport']],
  ['berlin', ['Europe/Berlin', 'Europe/Paris'], ['Europe/Berlin']],
  ['???', ['a', 'b'], []],
  ['x'.repeat(100_000), ['abc'], []],
])('values meant %#', (typed, values, nearest) =>
  expect(nearestValues(typed, values, new WorkBudget())).toEqual(nearest),
);

test('the comparison of values stops when the budget is spent', () => {
  const budget = new WorkBudget();
  const values = Array.from({ length: 300_000 }, (_, i) => `value number ${i} of very many`);
  const before = process.threadCpuUsage();
  nearestValues('value numbre 299999 of very manny', values, budget);
  const { user, system } = process.threadCpuUsage(before);
  expect(budget.spent).toBe(true);
  expect((user + system) / 1000).toBeLessThan(50);
});
