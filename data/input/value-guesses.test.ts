// Values as other APIs write them, and what they mean here.
import { expect, test } from 'vitest';
import { guessBoolean, guessComparison, guessDay, guessNumber, guessTime, guessWord } from './value-guesses.ts';

test.each([
  ['1,000', null, 1000],
  ['128k', null, 128_000],
  ['1.5M', null, 1_500_000],
  ['$5', 'USD/1M tokens', 5],
  ['2M', 'USD/1M tokens', 2_000_000],
  ['>=5', null, null],
  ['300 ft', 'ft', 300],
  ['400 m', 'ft', 1312.336],
  ['400m', 'ft', 1312.336],
  ['400 metres', 'm', 400],
  ['400 M', 'ft', null],
  ['2M', 'm', null],
  ['400 m', null, null],
  ['1.5 km', 'm', 1500],
  ['100 miles', 'ft', 528_000],
  ['5k ft', 'ft', 5000],
  ['2 lb', 'kg', 0.9071847],
  ['2M', 'kg', 2_000_000],
  ['2 h', 'minutes', 120],
  ['90m', 'minutes', 90],
  ['2 kg', 'ft', null],
  ['2 million people', 'people', 2_000_000],
  ['5 USD', 'USD/1M tokens', 5],
  ['5 USD per 1M tokens', 'USD/1M tokens', 5],
  ['5 EUR', 'USD/1M tokens', null],
  ['€5', 'USD/1M tokens', null],
  ['5 tokens', 'USD/1M tokens', null],
  ['$5', 'people', null],
  ['80%', null, 0.8],
  ['80%', 'ft', null],
  ['1,5', 'ft', 1.5],
  ['-1,5', 'ft', -1.5],
  ['0,500', null, 0.5],
  ['1.234.567,8', null, 1_234_567.8],
  ['1,234,567.8', null, 1_234_567.8],
  ["1'234'567", null, 1_234_567],
  ['1 234 567', null, 1_234_567],
  ['12,34,567', null, 1_234_567],
  ['1,2,3', null, null],
  ['1 2', null, null],
  ['000 people', 'people', null],
  ['1e3 m', 'm', 1000],
  ['1,234,567,890,123,456', null, null],
  ['high', null, null],
  ['9'.repeat(400), null, null],
])('the number in %.20s (%s) is %s', (raw, unit, number) => expect(guessNumber(raw, unit)).toBe(number));

test.each([
  ['20.09.2026', '2026-09-20'],
  ['09/20/2026', '2026-09-20'],
  ['20/09/2026', '2026-09-20'],
  ['04/05/2026', null],
  ['2026/9/5', '2026-09-05'],
  ['20260920', '2026-09-20'],
  ['1758326400', '2025-09-20'],
  ['1758326400000', '2025-09-20'],
  ['Sep 20, 2026', '2026-09-20'],
  ['20 September 2026', '2026-09-20'],
  ['31.02.2026', null],
  ['yesterday', null],
  ['10:30 Sep 20, 2026', null],
  ['202609201530', null],
  ['9999999999999', '2286-11-20'],
])('the day in %s is %s', (raw, day) => expect(guessDay(raw)).toBe(day));

test.each([
  ['>=5', { operator: 'min', strict: false, value: '5' }],
  [' ≥ 5', { operator: 'min', strict: false, value: '5' }],
  ['>5', { operator: 'min', strict: true, value: '5' }],
  ['=<5', { operator: 'max', strict: false, value: '5' }],
  ['<5 m', { operator: 'max', strict: true, value: '5 m' }],
  ['<>5', { operator: 'not', strict: false, value: '5' }],
  ['!=5', { operator: 'not', strict: false, value: '5' }],
  ['==5', { operator: 'any', strict: false, value: '5' }],
  ['~5', null],
  ['-5', null],
])('the comparison in %s', (raw, comparison) => expect(guessComparison(raw)).toEqual(comparison));

test('a number of seconds or milliseconds is a moment', () => {
  expect(['1758326400', '1758326461000', '20.09.2026', 'soon'].map(guessTime)).toEqual([
    '2025-09-20T00:00:00Z',
    '2025-09-20T00:01:01Z',
    '2026-09-20',
    null,
  ]);
});

test('yes and no, and words of closed lists', () => {
  expect(['yes', ' ON ', '1', 'off', '0', 'maybe', 'null'].map(guessBoolean)).toEqual([
    true,
    true,
    true,
    false,
    false,
    null,
    null,
  ]);
  expect(guessWord('weekly', ['day', 'week'])).toBe('week');
  expect(guessWord('jsonl', ['json', 'md', 'csv', 'ndjson'])).toBe('ndjson');
  expect(guessWord('increase', ['rise', 'fall'])).toBe('rise');
  expect(guessWord('Dropped', ['rise', 'fall'])).toBe('fall');
  expect(guessWord('__proto__', ['day', 'week'])).toBeNull();
});
