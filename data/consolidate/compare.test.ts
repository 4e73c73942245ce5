// Agreement of two values, and jumps.
import { describe, expect, test } from 'vitest';
import type { Attribute, Value } from '../../packs/define/model.ts';
import { price } from '../../tests/support/night-consolidation.ts';
import { isDisputable, isJump, valuesAgree } from './compare.ts';

const of = (type: Attribute['type'], tolerance = 0): Attribute => ({ ...price, type, tolerance });
const range = (min: number, max: number): Value => ({ min, max, currency: 'EUR' });

const AGREE: [about: string, attribute: Attribute, a: Value, b: Value, expected: boolean][] = [
  ['numbers within the tolerance', of('number', 0.05), 200_000, 209_000, true],
  ['numbers beyond it', of('number', 0.05), 200_000, 211_000, false],
  ['no tolerance: equal numbers only', of('integer'), 7, 7, true],
  ['no tolerance: the next number', of('integer'), 7, 8, false],
  ['negative numbers', of('number', 0.1), -100, -95, true],
  ['numbers on either side of zero', of('number', 0.9), 1, -1, false],
  ['zero and zero', of('number', 0.1), 0, 0, true],
  ['a price and a range of one price', of('price'), 5, range(5, 5), true],
  ['a price inside the other source’s range', of('price'), 5, range(3, 6), true],
  ['a price outside the other source’s range', of('price'), 7, range(3, 6), false],
  ['a price just below the range, within the tolerance', of('price', 0.01), 2.98, range(3, 6), true],
  ['a price just above the range, within the tolerance', of('price', 0.01), 6.05, range(3, 6), true],
  ['a price below the range, beyond the tolerance', of('price', 0.01), 2.96, range(3, 6), false],
  ['a range inside a range', of('price'), range(4, 5), range(3, 6), false],
  ['ranges with the same low end', of('price', 0.01), range(5, 10), range(5, 12), false],
  ['ranges close at both ends', of('price', 0.01), range(5, 10), range(5.01, 10.1), true],
  ['texts but for case and accents', of('string'), 'Zürich  Sägen', 'zurich sagen', true],
  ['other texts', of('string'), 'Zürich', 'Basel', false],
  ['lists in any order', of('strings'), ['Text', 'image'], ['image', 'text'], true],
  ['a longer list', of('strings'), ['text'], ['text', 'image'], false],
  ['truths', of('boolean'), true, true, true],
  ['truth and falsehood', of('boolean'), true, false, false],
  ['dates', of('date'), '2026-01-01', '2026-01-02', false],
  ['points a stone’s throw apart', of('geo'), { lat: 47.37, lng: 8.54 }, { lat: 47.371, lng: 8.541 }, true],
  ['points in two towns', of('geo'), { lat: 47.37, lng: 8.54 }, { lat: 47.05, lng: 8.3 }, false],
  ['points on either side of the date line', of('geo'), { lat: -17, lng: 179.999 }, { lat: -17, lng: -179.999 }, true],
];

test.each(AGREE)('%s', (_, attribute, a, b, expected) => {
  expect(valuesAgree(attribute, a, b)).toBe(expected);
  expect(valuesAgree(attribute, b, a)).toBe(expected);
});

describe('jumps', () => {
  const JUMPS: [from: Value, to: Value, expected: boolean][] = [
    [10, 50, false],
    [10, 50.01, true],
    [10, 2, false],
    [10, 1.99, true],
    [10, 10, false],
    [0, 0, false],
    [0, 1, true],
    [1, 0, true],
    [-4, 4, true],
    [-10, -51, true],
    [range(1, 10), range(1, 60), true],
    [range(1, 10), 5, false],
    [1, range(1, 6), true],
  ];
  test.each(JUMPS)('%j to %j', (from, to, expected) => {
    expect(isJump({ ...price, jump: 5 }, from, to)).toBe(expected);
  });

  test('without a bound there is no jump, and texts never jump', () => {
    expect(isJump({ ...price, jump: null }, 1, 1e9)).toBe(false);
    expect(isJump({ ...of('string'), jump: 5 }, 'a', 'b')).toBe(false);
  });
});

test('differences of numbers and enums open a review item, wordings do not', () => {
  const asked = (['string', 'text', 'url', 'strings'] as const).filter((type) => isDisputable(of(type)));
  expect(asked).toEqual([]);
  expect(
    (['enum', 'boolean', 'integer', 'number', 'date', 'geo', 'price'] as const).every((type) => isDisputable(of(type))),
  ).toBe(true);
});
