// Cron expressions: next times, and invalid expressions.
import { describe, expect, test } from 'vitest';
import { nextRun, parseSchedule } from './schedule.ts';

const next = (cron: string, after: string) => nextRun(parseSchedule(cron), new Date(after))?.toISOString();

describe('nextRun', () => {
  test.each([
    ['0 3 * * *', '2026-11-20T00:00:00Z', '2026-11-20T03:00:00.000Z'],
    ['0 3 * * *', '2026-11-20T03:00:00Z', '2026-11-21T03:00:00.000Z'],
    ['0 3 * * *', '2026-12-31T03:00:00.001Z', '2027-01-01T03:00:00.000Z'],
    ['*/20 * * * *', '2026-11-20T10:41:00Z', '2026-11-20T11:00:00.000Z'],
    ['5,35 8-10 * * *', '2026-11-20T10:36:00Z', '2026-11-21T08:05:00.000Z'],
    ['30 4 * * 1', '2026-11-20T00:00:00Z', '2026-11-23T04:30:00.000Z'],
    ['0 0 * * 7', '2026-11-20T00:00:00Z', '2026-11-22T00:00:00.000Z'],
    ['0 0 29 2 *', '2026-11-20T00:00:00Z', '2028-02-29T00:00:00.000Z'],
    ['0 0 1 */6 *', '2026-11-20T00:00:00Z', '2027-01-01T00:00:00.000Z'],
    ['10/25 0 * * *', '2026-11-20T00:10:00Z', '2026-11-20T00:35:00.000Z'],
  ])('%s after %s', (cron, after, due) => {
    expect(next(cron, after)).toBe(due);
  });

  test('with a day of the month and a weekday, either one matches', () => {
    expect(next('0 0 1 * 1', '2026-11-20T00:00:00Z')).toBe('2026-11-23T00:00:00.000Z');
    expect(next('0 0 1 * 1', '2026-11-30T00:00:00Z')).toBe('2026-12-01T00:00:00.000Z');
  });

  test('with a step on every day, the weekday still counts', () => {
    expect(next('0 0 */1 * 1', '2026-11-20T00:00:00Z')).toBe('2026-11-23T00:00:00.000Z');
  });
});

describe('parseSchedule', () => {
  test.each(['', '0 3 * *', '0 3 * * * *', '60 3 * * *', '0 24 * * *', '0 0 0 * *', '0 0 * 13 *', '0 0 * * 8'])(
    'rejects %j',
    (cron) => expect(() => parseSchedule(cron)).toThrow(RangeError),
  );
  test.each(['a * * * *', '5-1 * * * *', '*/0 * * * *', '1,, * * * *', '-1 * * * *', '1.5 * * * *', '@daily'])(
    'rejects %j',
    (cron) => expect(() => parseSchedule(cron)).toThrow(RangeError),
  );
  test('a day that does not exist is rejected', () => {
    expect(() => parseSchedule('0 0 30 2 *')).toThrow('a day that exists');
  });
});
