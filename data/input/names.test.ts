// The nearest known name, and what is told where none is near.
import { expect, test } from 'vitest';
import { hint, nearest } from './names.ts';

const ATTRIBUTES = ['country', 'elevation', 'runway_length', 'price.list'];

test.each([
  ['Countri', 'country'],
  ['pirce.list', 'price.list'],
  ['longest_runway', 'runway_length'],
  ['elevation_ft', 'elevation'],
  [`${'x'.repeat(100_000)}`, 'elevation'],
])('%.20s is nearest to %s', (typed, known) => {
  expect(nearest(typed, ATTRIBUTES)?.length).toBeGreaterThan(0);
  if (typed.length < 100) expect(nearest(typed, ATTRIBUTES)).toBe(known);
});

test('nothing is nearest where nothing is known', () => {
  expect(nearest('x', [])).toBeNull();
  expect(hint('x', [])).toBe('');
});

test('a near name is offered alone, a far one with what there is', () => {
  expect(hint('countri', ATTRIBUTES)).toBe(' Did you mean "country"?');
  expect(hint('colour', ATTRIBUTES)).toBe(' Known, the nearest first: country, elevation, runway_length, price.list.');
  expect(hint('sort', ['q', 'format'], ['q', 'format', 'name'])).toBe(' Known, the nearest first: format, q, name.');
});

test('names that can be read but once are told all the same', () => {
  expect(hint('nope', new Map([['places', 1]]).keys())).toBe(' Known, the nearest first: places.');
});

test('of very many names forty are told', () => {
  const many = Array.from({ length: 300 }, (_, i) => `attribute${i}`);
  expect(hint('zzzzzzzz', many).match(/attribute/g)).toHaveLength(40);
});
