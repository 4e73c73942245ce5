// Times as written: days, moments, zones, and texts that are no time.
import { expect, test } from 'vitest';
import { isTimeValue, isTimeZone, readTime, timeValue } from './times.ts';

const value = (raw: unknown, pattern?: string | string[], zone?: string) => {
  const time = readTime(raw, pattern);
  return time && timeValue(time, zone);
};

test.each([
  ['2024-03-15T00:30:00+02:00', '2024-03-14T22:30:00Z'],
  ['2024-03-15T00:30:00-0930', '2024-03-15T10:00:00Z'],
  ['2024-03-15 00:30 UTC', '2024-03-15T00:30:00Z'],
  ['2024-03-15t00:30:00z', '2024-03-15T00:30:00Z'],
  ['2024-03-15', '2024-03-15T00:00:00Z'],
  ['2024-03-15T00:30:00.100Z', '2024-03-15T00:30:00.1Z'],
  ['2024-03-15T00:30:00,123456Z', '2024-03-15T00:30:00.123456Z'],
  // Further digits are cut, never rounded into the next second.
  ['2024-03-15T23:59:59.999999999Z', '2024-03-15T23:59:59.999999Z'],
  ['2024-03-15T00:30:00.000000Z', '2024-03-15T00:30:00Z'],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
  ['9999-12-31T23:59:59.999999Z', '9999-12-31T23:59:59.999999Z'],
  ['0085-05-01T00:00:00Z', '0085-05-01T00:00:00Z'],
  ['2000-02-29T12:00:00Z', '2000-02-29T12:00:00Z'],
  // Leap seconds, also where the clock is ahead of UTC.
  ['2016-12-31T23:59:60Z', '2016-12-31T23:59:59Z'],
  ['2016-12-31T23:59:60.25Z', '2016-12-31T23:59:59.25Z'],
  ['2017-01-01T05:29:60+05:30', '2016-12-31T23:59:59Z'],
])('%s is %s', (text, expected) => {
  expect(value(text)).toBe(expected);
  expect(isTimeValue(expected)).toBe(true);
  expect(value(expected)).toBe(expected);
});

test.each([
  '0001-01-01T00:30:00+02:00',
  '9999-12-31T23:30:00-02:00',
  '0000-06-01T00:00:00Z',
  '2024-02-30T00:00:00Z',
  '1900-02-29T00:00:00Z',
  '2024-03-15T24:00:00Z',
  '2024-03-15T12:75Z',
  '2024-03-15T12:30:60Z',
  '2024-03-15T12:30:61Z',
  '2024-03-15T12:30:00+25:00',
  '2024-03-15T12:30:00 Europe/Berlin',
  '2024-03-15T12',
  '12024-03-15T12:30:00Z',
  '-2024-03-15T12:30:00Z',
  "2024-03-15T12:30:00Z'; DROP TABLE records; --",
  '2024-03-15T12:30:00Z\u0000',
  '٢٠٢٤-٠٣-١٥T١٢:٣٠:٠٠Z',
  `2024-03-15T12:30:00.${'9'.repeat(100_000)}Z`,
  '',
  'now',
])('%j is no time', (text) => {
  expect(value(text)).toBeNull();
});

test.each([
  // Berlin: 02:00 to 03:00 is skipped on 29 March 2026, and occurs twice on 25 October 2026.
  ['2026-03-29T01:59:59', 'Europe/Berlin', '2026-03-29T00:59:59Z'],
  ['2026-03-29T02:30:00.123456', 'Europe/Berlin', '2026-03-29T01:30:00.123456Z'],
  ['2026-03-29T03:00:00', 'Europe/Berlin', '2026-03-29T01:00:00Z'],
  ['2026-10-25T02:30:00', 'Europe/Berlin', '2026-10-25T00:30:00Z'],
  ['2026-10-25T03:00:00', 'Europe/Berlin', '2026-10-25T02:00:00Z'],
  ['2026-10-25T02:30:00+01:00', 'Europe/Berlin', '2026-10-25T01:30:00Z'],
  ['2026-04-05T01:45:00', 'Australia/Lord_Howe', '2026-04-04T14:45:00Z'],
  ['2026-01-01', 'Pacific/Kiritimati', '2025-12-31T10:00:00Z'],
])('%s in %s is %s', (text, zone, expected) => {
  expect(value(text, undefined, zone)).toBe(expected);
});

test.each([
  ['15.03.2024 0:30', 'DD.MM.YYYY HH:mm', '2024-03-15T00:30:00Z'],
  ['3/15/2024 12:05 AM', 'MM/DD/YYYY HH:mm A', '2024-03-15T00:05:00Z'],
  ['3/15/2024 12:05 pm', 'MM/DD/YYYY HH:mm A', '2024-03-15T12:05:00Z'],
  ['3/15/2024 13:05 PM', 'MM/DD/YYYY HH:mm A', null],
  ['20240315T003000Z', 'YYYYMMDDTHHmmssZ', '2024-03-15T00:30:00Z'],
  ['15/03/2024 00:30:05.25+02:00', 'DD/MM/YYYY HH:mm:ssZ', '2024-03-14T22:30:05.25Z'],
  ['1710455400.000001', 'unix', '2024-03-14T22:30:00.000001Z'],
  [1710455400123, 'unix_ms', '2024-03-14T22:30:00.123Z'],
  [-1, 'unix', '1969-12-31T23:59:59Z'],
  ['1e99', 'unix', null],
  [Number.NaN, 'unix', null],
])('%s in the pattern %s is %s', (raw, pattern, expected) => {
  expect(value(raw, pattern)).toBe(expected);
});

test('of several patterns the first that fits counts', () => {
  const mixed = ['YYYY-MM-DD', 'DD.MM.YYYY', 'MM/DD/YYYY'];
  expect(readTime('2024-03-15', mixed)?.day).toBe('2024-03-15');
  expect(readTime('15.03.2024', mixed)?.day).toBe('2024-03-15');
  expect(readTime('3/15/2024', mixed)?.day).toBe('2024-03-15');
  expect(readTime('15/03/2024', mixed)).toBeNull();
});

test('zones are IANA names', () => {
  expect(['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires'].every(isTimeZone)).toBe(true);
  expect(['', 'Berlin', 'CEST', '../etc/passwd'].some(isTimeZone)).toBe(false);
});
