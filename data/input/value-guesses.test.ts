// Values as other APIs write them, and what they mean here.
import { expect, test } from 'vitest';
import { guessBoolean, guessDay, guessNumber, guessWord } from './value-guesses.ts';

test.each([
  ['1,000', null, 1000],
  ['128k', null, 128_000],
  ['1.5M', null, 1_500_000],
  ['$5', 'USD/1M tokens', 5],
  ['2M', 'USD/1M tokens', 2_000_000],
  ['>=5', null, 5],
  ['300 ft', 'ft', 300],
  ['300 m', 'ft', 300_000_000],
  ['100 miles', 'ft', null],
  ['80%', null, 0.8],
  ['high', null, null],
  ['9'.repeat(400), null, 1e60],
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
  ['9999999999999', '2286-11-20'],
])('the day in %s is %s', (raw, day) => expect(guessDay(raw)).toBe(day));

test('yes and no, and words of closed lists', () => {
  expect(['yes', ' ON ', '1', 'off', '0', 'maybe'].map(guessBoolean)).toEqual([true, true, true, false, false, null]);
  expect(guessWord('weekly', ['day', 'week'])).toBe('week');
  expect(guessWord('jsonl', ['json', 'md', 'csv', 'ndjson'])).toBe('ndjson');
  expect(guessWord('increase', ['rise', 'fall'])).toBe('rise');
  expect(guessWord('Dropped', ['rise', 'fall'])).toBe('fall');
  expect(guessWord('__proto__', ['day', 'week'])).toBeNull();
});
