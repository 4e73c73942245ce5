// Cells as values: numbers, dates, lists, booleans, and what is refused.
import { expect, test } from 'vitest';
import type { Attribute, AttributeType } from '../../packs/define/model.ts';
import { cellNumber, cellTime, type ParseRule, parseCell } from './values.ts';

const RULE: ParseRule = {
  decimal: undefined,
  thousands: undefined,
  date: undefined,
  multiply: undefined,
  separator: ';',
  trim: true,
  truths: { true: ['true', 'yes', '1'], false: ['false', 'no', '0'] },
  missing: new Set(['n/a']),
};
const parse = (raw: unknown, type: AttributeType, rule: Partial<ParseRule> = {}) =>
  parseCell(raw, { name: 'a', type } as Attribute, { ...RULE, ...rule });

test.each([
  ['12', 12],
  ['-1.5', -1.5],
  ['.5', 0.5],
  ['1e3', 1000],
  ['0.125', 0.125],
  ['1234.567', 1234.567],
])('%s is the number %d', (text, number) => {
  expect(parse(text, 'number')).toEqual({ value: number });
});

test.each([' ', '0x10', 'NaN', 'Infinity', '1,5', '12 kg', '1.000', '--1', '1e', '1_000'])(
  '%j is not a number',
  (text) => {
    expect(parse(text, 'number')).toEqual({ expected: expect.stringContaining('a number') });
  },
);

test.each([
  ['1.5', null],
  ['1.500', 1500],
  ['1.500,5', 1500.5],
])('with a point between thousands and no decimal sign %s is %d', (text, number) => {
  const expected = number === null ? { expected: expect.stringContaining('a number') } : { value: number };
  expect(parse(text, 'number', { thousands: '.' })).toEqual(expected);
});

test.each([
  ['2026-01-02T03:04:05.678Z', Date.UTC(2026, 0, 2, 3, 4, 5, 678)],
  ['2026-01-02 03:04:05,5', Date.UTC(2026, 0, 2, 3, 4, 5, 500)],
  ['2026-01-02T03:04:05.123456Z', Date.UTC(2026, 0, 2, 3, 4, 5, 123)],
  ['0085-05-01', Date.parse('0085-05-01')],
  ['2026-01-02T03:99', Number.NaN],
  ['2026-01-02T03:04:75', Number.NaN],
])('the time %s', (text, at) => {
  expect(cellTime(text)).toBe(at);
});

test('a whole number beyond 2^53 is refused as found, not rounded', () => {
  expect(parse('9007199254740991', 'integer')).toEqual({ value: 9007199254740991 });
  expect(parse('9007199254740993', 'integer')).toEqual({
    expected: 'a whole number of at most 9007199254740991; use a string for longer ids',
  });
});

test('a text that may have a point between thousands needs a declared decimal sign', () => {
  expect(parse('1.000', 'price')).toEqual({ expected: expect.stringContaining("set decimal to '.' or ','") });
  expect(parse('1.000', 'price', { decimal: '.' })).toEqual({ value: 1 });
  expect(parse('1.000', 'price', { decimal: ',', thousands: '.' })).toEqual({ value: 1000 });
  expect(parse('1.234.567,89', 'number', { decimal: ',', thousands: '.' })).toEqual({ value: 1234567.89 });
  expect(cellNumber('1.23.456', { decimal: ',', thousands: '.' })).toBeNaN();
  expect(cellNumber('1.000', { decimal: undefined, thousands: undefined })).toBeNull();
});

test('a factor converts the unit of the column', () => {
  expect(parse('10', 'number', { multiply: 0.5 })).toEqual({ value: 5 });
  expect(parse(10, 'number', { multiply: 0.5 })).toEqual({ value: 5 });
});

test('an empty cell and a listed text are no value', () => {
  for (const type of ['string', 'number', 'date', 'strings', 'boolean'] as const) {
    expect(parse('', type)).toBeNull();
    expect(parse(' n/a ', type)).toBeNull();
    expect(parse(undefined, type)).toBeNull();
  }
  expect(parse('  ', 'string')).toBeNull();
});

test('bytes that are not valid in the encoding are refused', () => {
  expect(parse('Z\ufffdrich', 'string')).toEqual({ expected: expect.stringContaining('encoding') });
});

test.each([
  ['2026-11-21', undefined, '2026-11-21'],
  ['2026-11-21T23:30:00-02:00', undefined, '2026-11-21'],
  ['2024-03-15T00:30:00+02:00', undefined, '2024-03-15'],
  ['21.11.2026', 'DD.MM.YYYY', '2026-11-21'],
  ['1.2.2026', 'DD.MM.YYYY', '2026-02-01'],
  ['11/21/2026', 'MM/DD/YYYY', '2026-11-21'],
  ['20261121', 'YYYYMMDD', '2026-11-21'],
  ['1795219200', 'unix', '2026-11-21'],
])('%s in the pattern %s is the date %s', (text, date, value) => {
  expect(parse(text, 'date', { date })).toEqual({ value });
});

test.each(['2026-02-30', '21.11.2026', '2026-13-01', 'tomorrow', '2026-11-21x'])('%s is not a date', (text) => {
  expect(parse(text, 'date')).toEqual({ expected: 'a date, YYYY-MM-DD' });
});

test('a datetime is in UTC, read in the time zone of the source where it has no offset', () => {
  expect(parse('2026-07-01T12:00:00', 'datetime')).toEqual({ value: '2026-07-01T12:00:00Z' });
  const berlin = { timezone: 'Europe/Berlin' };
  expect(parse('2026-07-01T12:00:00', 'datetime', berlin)).toEqual({ value: '2026-07-01T10:00:00Z' });
  expect(parse('2026-07-01T12:00:00Z', 'datetime', berlin)).toEqual({ value: '2026-07-01T12:00:00Z' });
  expect(parse('2026-07-01T00:30:00', 'date', berlin)).toEqual({ value: '2026-07-01' });
  expect(parse(1_782_900_000, 'datetime', { date: 'unix' })).toEqual({ value: '2026-07-01T10:00:00Z' });
  const mixed = { date: ['YYYY-MM-DD', 'DD.MM.YYYY'] };
  expect(parse('01.07.2026', 'date', mixed)).toEqual({ value: '2026-07-01' });
  expect(parse('2026-07-01', 'date', mixed)).toEqual({ value: '2026-07-01' });
  expect(parse('7/1/2026', 'date', mixed)).toEqual({ expected: 'a date, YYYY-MM-DD or DD.MM.YYYY' });
  expect(parse('soon', 'datetime')).toEqual({ expected: 'a time, ISO 8601' });
});

test('times are in UTC unless they name a zone', () => {
  expect(cellTime('2026-11-21 10:00')).toBe(Date.UTC(2026, 10, 21, 10));
  expect(cellTime('2026-11-21T10:00:30.5+0130')).toBe(Date.UTC(2026, 10, 21, 8, 30, 30, 500));
  expect(cellTime(1_000, { date: 'unix' })).toBe(1_000_000);
  expect(cellTime('21.11.2026 09:15', { date: 'DD.MM.YYYY HH:mm' })).toBe(Date.UTC(2026, 10, 21, 9, 15));
  expect(cellTime('2026-11-21', { date: 'DD.MM.YYYY' })).toBeNaN();
});

test('booleans, lists and typed cells', () => {
  expect(parse('Yes', 'boolean')).toEqual({ value: true });
  expect(parse('maybe', 'boolean')).toEqual({ expected: 'one of true, yes, 1, false, no, 0' });
  expect(parse(' a ;; b', 'strings')).toEqual({ value: ['a', 'b'] });
  expect(parse(['a', ''], 'strings')).toEqual({ value: ['a'] });
  expect(parse(12, 'string')).toEqual({ value: '12' });
  expect(parse(12, 'number')).toEqual({ value: 12 });
  expect(parse(false, 'boolean')).toEqual({ value: false });
});
