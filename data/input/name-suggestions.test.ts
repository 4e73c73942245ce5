// Suggestions of known names for an unknown one.
import { expect, test } from 'vitest';
import { nameSuggestion } from './name-suggestions.ts';

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
