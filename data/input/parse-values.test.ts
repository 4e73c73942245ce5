// Values of parameters: what parses, what is refused, and that lists survive any text.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { DataError, ValidationIssue } from '../model/errors.ts';
import {
  escapeListValue,
  parseBoolean,
  parseDate,
  parseInteger,
  parseList,
  parseNumber,
  parseNumberBetween,
  parseOneOf,
  parseText,
  parseTime,
  printable,
  splitList,
  ValidationIssues,
} from './parse-values.ts';
import { TIME_SCHEMA } from './rows.ts';

/** Type of the 422 line that a parser throws. */
function refusal(parse: () => unknown): string {
  try {
    parse();
  } catch (error) {
    expect((error as DataError).code).toBe('validation_failed');
    const [issue] = (error as DataError).detail as ValidationIssue[];
    expect(issue?.loc).toEqual(['query', 'p']);
    return issue?.type ?? '';
  }
  throw new Error('nothing was refused');
}

describe('lists', () => {
  test.each([
    ['a,b', ['a', 'b']],
    [' a , b ', ['a', 'b']],
    ['Portland\\, OR,Salem', ['Portland, OR', 'Salem']],
    ['a\\\\,b', ['a\\', 'b']],
    ['C:\\temp', ['C:\\temp']],
    ['tail\\', ['tail\\']],
    [',,', []],
    ['', []],
  ])('%s', (raw, values) => expect(splitList(raw)).toEqual(values));

  test('any value survives escaping and splitting', () => {
    const value = fc.string({ unit: fc.constantFrom('a', ',', '\\', ' ', 'é', '"', '\n'), minLength: 1 });
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 5 }), (values) => {
        const kept = values.map((one) => one.trim()).filter((one) => one !== '');
        expect(splitList(values.map(escapeListValue).join(','))).toEqual(kept);
      }),
    );
  });

  test('a repeated parameter adds values, repeats count once', () =>
    expect(parseList('p', ['a,b', 'b', 'c'])).toEqual(['a', 'b', 'c']));
  test('an empty list is refused', () => expect(refusal(() => parseList('p', [' , ']))).toBe('too_short'));
  test('a list beyond the bound is refused', () =>
    expect(refusal(() => parseList('p', [Array.from({ length: 101 }, (_, i) => i).join(',')]))).toBe('too_long'));
});

test.each([
  ['NUL', 'a\0b', 'string_unicode'],
  ['half a surrogate pair', 'a\ud800', 'string_unicode'],
  ['blanks', '  ', 'string_too_short'],
  ['501 characters', 'x'.repeat(501), 'string_too_long'],
])('a text of %s is refused', (_, raw, type) => expect(refusal(() => parseText('p', raw))).toBe(type));

test.each([
  ['0', 0],
  ['-1.50', -1.5],
  ['.5', 0.5],
  ['5.', 5],
  ['1e3', 1000],
  ['+2', 2],
  [' 7 ', 7],
])('the number %s', (raw, value) => expect(parseNumber('p', raw)).toBe(value));

test.each(['', 'x', '0x10', 'Infinity', '-Infinity', 'NaN', '1e999', '1,5', '1_000', '١', '1'.repeat(101), '1 2'])(
  'not a number: %s',
  (raw) => expect(refusal(() => parseNumber('p', raw))).toBe('float_parsing'),
);

test('minus zero is zero', () => expect(Object.is(parseNumber('p', '-0'), 0)).toBe(true));

test('bounds are inclusive and told apart', () => {
  expect([parseNumberBetween('p', '0', 0, 1), parseNumberBetween('p', '1', 0, 1)]).toEqual([0, 1]);
  expect(refusal(() => parseNumberBetween('p', '-0.1', 0, 1))).toBe('greater_than_equal');
  expect(refusal(() => parseNumberBetween('p', '1.1', 0, 1))).toBe('less_than_equal');
  expect(refusal(() => parseInteger('p', '0', 1, 5))).toBe('greater_than_equal');
  expect(refusal(() => parseInteger('p', '6', 1, 5))).toBe('less_than_equal');
  expect(refusal(() => parseInteger('p', '99999999999999999999'))).toBe('less_than_equal');
});

test.each(['1.0', '1e2', 'ten', '', '0x1'])('not a whole number: %s', (raw) =>
  expect(refusal(() => parseInteger('p', raw))).toBe('int_parsing'),
);

test('booleans are true and false in any case, 1 and 0, nothing else', () => {
  expect(['True', 'false', '1', '0'].map((raw) => parseBoolean('p', raw))).toEqual([true, false, true, false]);
  for (const raw of ['2', '01', '1.0', '-0', 'yes', ''])
    expect(refusal(() => parseBoolean('p', raw))).toBe('bool_parsing');
});

test('dates are days of the calendar', () => {
  expect(parseDate('p', '2024-02-29')).toBe('2024-02-29');
  for (const raw of ['2025-02-29', '2025-13-01', '2025-1-1', '2025', '2025-01-01T00:00:00Z', '99999-01-01'])
    expect(refusal(() => parseDate('p', raw))).toBe('date_parsing');
});

test.each([
  ['2026-11-20', '2026-11-20T00:00:00.000Z'],
  ['2026-11-20T10:00', '2026-11-20T10:00:00.000Z'],
  ['2026-11-20T10:00:00Z', '2026-11-20T10:00:00.000Z'],
  ['2026-11-20 10:00:00.123456Z', '2026-11-20T10:00:00.123Z'],
  ['2026-11-20T10:00:00+05:45', '2026-11-20T04:15:00.000Z'],
  ['2026-11-20T10:00:00 05:45', '2026-11-20T04:15:00.000Z'],
  ['2026-11-20T10:00:00-0300', '2026-11-20T13:00:00.000Z'],
])('the time %s', (raw, iso) => expect(new Date(parseTime('p', raw)).toISOString()).toBe(iso));

test.each([
  'yesterday',
  '2026-02-30',
  '2026-02-30T10:00:00Z',
  '2026-11-20T25:00',
  '10:00',
  '1700000000',
  '2026-11-20T10',
])('not a time: %s', (raw) => expect(refusal(() => parseTime('p', raw))).toBe('datetime_parsing'));

test('a closed set of words', () => {
  expect(parseOneOf('p', 'MD', ['json', 'md'])).toBe('md');
  expect(refusal(() => parseOneOf('p', 'xml', ['json', 'md']))).toBe('enum');
});

test('a printable text is short and without control characters', () => {
  expect(printable(`a\u001b[31m${'x'.repeat(200)}`)).toMatch(/^a�\[31mx{74}…$/u);
});

test('one refusal names every wrong parameter', () => {
  const issues = new ValidationIssues();
  expect(issues.attempt(() => parseNumber('a', 'x'))).toBeUndefined();
  expect(issues.attempt(() => parseNumber('b', '1'))).toBe(1);
  issues.attempt(() => parseDate('c', 'x'));
  expect(() => issues.throwIfAny()).toThrow('a: must be a number (got "x") (and 1 more)');
  expect(issues.issues.map(({ loc }) => loc[1])).toEqual(['a', 'c']);
});

test('the pattern of times in documents is what the parser reads', () => {
  const times =
    '2026-11-20 2026-11-20T10:30 2026-11-20T10:30:01 2026-11-20T10:30:01.123456789Z 2026-11-20t10:30z'.split(' ');
  const zones = [
    '2026-11-20 10:30',
    '2026-11-20T10:30+01:00',
    '2026-11-20T10:30-0330',
    '2026-11-20T10:30 02:00',
    '2024-02-29',
  ];
  const wrong = [
    ...['2026-02-29', '2026-13-01', '2026-11-31', '2026-11-20T24:00Z', '2026-11-20T10:60Z', '2026-11-20T10:30+25:00'],
    ...['2026-11-20T10', '2026-11-20Z', '20261120', 'yesterday', '2026-11-20T10:30:01.Z', '2026-11-20T10:30+1:00', ''],
  ];
  const { pattern = '', format } = z.toJSONSchema(TIME_SCHEMA) as { pattern?: string; format?: string };
  expect(format).toBeUndefined();
  for (const [texts, accepted] of [
    [[...times, ...zones], true],
    [wrong, false],
  ] as const)
    for (const text of texts) {
      expect([text, new RegExp(pattern, 'u').test(text)]).toEqual([text, accepted]);
      let read = true;
      try {
        parseTime('updated_since', text);
      } catch {
        read = false;
      }
      expect([text, read]).toEqual([text, accepted]);
    }
});
