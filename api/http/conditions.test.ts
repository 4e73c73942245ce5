// Preconditions of RFC 9110 section 13: comparison, precedence, dates, and the limit of compared tags.
import { describe, expect, test } from 'vitest';
import { etagOf, isRefused, isUnchanged, matches } from './conditions.ts';

const TAG = 'W/"abc"';
const AT = '2026-11-20T12:00:00.750Z';
const DATE = 'Fri, 20 Nov 2026 12:00:00 GMT';

const request = (headers: Record<string, string>) => ({ header: (name: string) => headers[name] });
const unchanged = (headers: Record<string, string>, selected = { tag: TAG, last_modified: AT }) =>
  isUnchanged(request(headers), selected);

test('If-None-Match is a list, weak or strong, or a star', () => {
  expect(matches(undefined, TAG)).toBe(false);
  expect(matches(TAG, TAG)).toBe(true);
  expect(matches('"abc"', TAG)).toBe(true);
  expect(matches(`"other", ${TAG}`, TAG)).toBe(true);
  expect(matches(' * ', TAG)).toBe(true);
  for (const header of ['"other"', 'garbage', 'abc', '']) expect(matches(header, TAG), header).toBe(false);
});

test('at most 10 tags of one header are compared', () => {
  const others = (count: number) => Array.from({ length: count }, (_, i) => `"other${i}"`).join(', ');
  expect(matches(`${others(9)}, ${TAG}`, TAG)).toBe(true);
  expect(matches(`${others(10)}, ${TAG}`, TAG)).toBe(false);
  const started = performance.now();
  expect(matches('"'.repeat(60_000), TAG)).toBe(false);
  expect(performance.now() - started).toBeLessThan(1_000);
});

describe('If-Modified-Since', () => {
  test.each([
    [DATE, true],
    ['Fri, 20 Nov 2026 12:00:01 GMT', true],
    ['Fri, 20 Nov 2026 11:59:59 GMT', false],
    ['Friday, 20-Nov-26 12:00:00 GMT', true],
    ['Fri Nov 20 12:00:00 2026', true],
    ['Sat Nov  7 12:00:00 2026', false],
    ['2026-11-20T12:00:01Z', false],
    ['tomorrow', false],
    ['', false],
    [`${DATE}, ${DATE}`, false],
    ['99999999999999', false],
  ])('%s: %s', (since, expected) => expect(unchanged({ 'if-modified-since': since })).toBe(expected));

  test('does not count beside If-None-Match, nor where no time is known', () => {
    expect(unchanged({ 'if-modified-since': DATE, 'if-none-match': '"other"' })).toBe(false);
    expect(unchanged({ 'if-modified-since': 'Fri, 20 Nov 2026 11:00:00 GMT', 'if-none-match': TAG })).toBe(true);
    expect(isUnchanged(request({ 'if-modified-since': DATE }), { tag: TAG })).toBe(false);
    expect(isUnchanged(request({ 'if-none-match': '*' }), {})).toBe(false);
  });
});

test('If-Match compares strongly, and If-Unmodified-Since counts without it alone', () => {
  const refused = (headers: Record<string, string>, tag = '"abc"') =>
    isRefused(request(headers), { tag, last_modified: AT });
  expect(refused({})).toBe(false);
  expect(refused({ 'if-match': '"abc"' })).toBe(false);
  expect(refused({ 'if-match': '*' })).toBe(false);
  expect(refused({ 'if-match': '"old", "abc"' })).toBe(false);
  expect(refused({ 'if-match': '"old"' })).toBe(true);
  expect(refused({ 'if-match': 'W/"abc"' })).toBe(true);
  expect(refused({ 'if-match': TAG }, TAG)).toBe(true);
  expect(refused({ 'if-unmodified-since': DATE })).toBe(false);
  expect(refused({ 'if-unmodified-since': 'Fri, 20 Nov 2026 11:00:00 GMT' })).toBe(true);
  expect(refused({ 'if-match': '"abc"', 'if-unmodified-since': 'Fri, 20 Nov 2026 11:00:00 GMT' })).toBe(false);
});

test('the tag of a public text changes with the text', () => {
  expect(etagOf('a')).toBe(etagOf(Buffer.from('a')));
  expect(etagOf('a')).not.toBe(etagOf('b'));
  expect(etagOf('a')).toMatch(/^W\/"[\w-]{22}"$/);
});
