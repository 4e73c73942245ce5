// Digits of numbers: exact texts, the compared form, and more digits than a stored number has, in JavaScript and SQL.
import { tmpdir } from 'node:os';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addsDigitsSql } from '../../data/duckdb/digits.ts';
import { Duck } from '../../data/duckdb/duck.ts';
import { addsDigits, comparedNumber, exactNumber, parseJson } from './digits.ts';

test('texts with the digits of a double, and texts without', () => {
  for (const text of ['12345678901.55', '-1e-7', '0.30000000000000004', '1.500', '9007199254740991', '1e22', '.5', '0'])
    expect(exactNumber(text), text).toBe(Number(text));
  for (const text of ['12345678901234567', '0.10000000000000001', '1e400', '1e-400', '1.23456789e-320', 'x', '', '.'])
    expect(exactNumber(text), text).toBeNull();
});

test('a long run of zeros takes no time', () => {
  const began = performance.now();
  expect(exactNumber(`0.1${'0'.repeat(60_000)}1`)).toBeNull();
  // Some 15 seconds if each zero were the start of another search.
  expect(performance.now() - began).toBeLessThan(2_000);
});

test('numbers are compared with 15 digits, and safe integers with all', () => {
  expect([0.14 / 0.7, 0.1 + 0.2, 12345678901.55, 1234567890.1234567].map(comparedNumber)).toEqual([
    0.2, 0.3, 12345678901.55, 1234567890.12346,
  ]);
  expect(comparedNumber(9007199254740991)).toBe(9007199254740991);
  expect(Object.is(comparedNumber(-0), 0)).toBe(true);
});

test('JSON keeps the digits that a number would lose as a text', () => {
  const json =
    '{"a":[12345678901234567890,1234567890.1234567,0.12345678901234567890,1e400],"b":"12345678901234567890"}';
  expect(parseJson(json)).toEqual({
    a: ['12345678901234567890', 1234567890.1234567, '0.12345678901234567890', '1e400'],
    b: '12345678901234567890',
  });
});

test('more digits of a stored number of ten, in JavaScript and in SQL', async () => {
  const pairs: [stored: number, read: number, adds: boolean][] = [
    [12345678900, 12345678901.55, true],
    [0.3333333333, 1 / 3, true],
    [-12345678900, -12345678901.55, true],
    [0.3, 0.1 + 0.2, true],
    [0.1 + 0.2, 0.3, true],
    [5, 5, true],
    [1.2, 1.23, false],
    [5, 5.000001, false],
    [12345678901.55, 12345678901.56, false],
    [12345678901.55, 12345678900, false],
    [12345678900, 12345678909, false],
    [5, 0, false],
    [0, 1e-9, false],
    [5, -5, false],
    // Whole numbers up to 2^53 keep all digits.
    [1234567890123456, 1234567890123457, false],
    [-9007199254740991, -9007199254740990, false],
    [9007199254740990, 9007199254740992, true],
    // A half of the fifteenth digit.
    [123456789012344.5, 123456789012345, true],
    [-123456789012344.5, -123456789012344, false],
    [2 ** -22, 2.38418579101563e-7, true],
    [Number.MAX_VALUE, 1.7976931348623155e308, false],
  ];
  const duck = await Duck.open(tmpdir());
  for (const [stored, read, adds] of pairs) {
    expect(addsDigits(stored, read), `${stored} ${read}`).toBe(adds);
    const [[found] = []] = await duck.rows(`SELECT ${addsDigitsSql(`(${stored})::DOUBLE`, `(${read})::DOUBLE`)}`);
    expect(found, `${stored} ${read}`).toBe(adds);
  }
  duck.close();
});

/** A number with a fixed count of digits, mostly whole or near 1, and one that is near it. */
const NEAR_PAIRS = fc
  .record({
    digits: fc.bigInt({ min: 0n, max: 99_999_999_999_999_999n }),
    length: fc.integer({ min: 1, max: 17 }),
    exponent: fc.oneof(fc.constant(0), fc.integer({ min: -20, max: 4 }), fc.integer({ min: -300, max: 280 })),
    negative: fc.boolean(),
    step: fc.constantFrom(0, 1, 2, 4, 5, 49, 50, 51, 100, 500_000),
    stored: fc.constantFrom(10, 15, 17),
  })
  .map(({ digits, length, exponent, negative, step, stored }): [number, number] => {
    const whole = BigInt(String(digits).slice(0, length));
    const number = (digit: bigint) => Number(`${negative ? '-' : ''}${digit}e${exponent}`);
    return [Number(number(whole).toPrecision(stored)), number(whole + BigInt(step))];
  });

test('the rule in SQL is the rule in JavaScript for any two numbers', { timeout: 60_000 }, async () => {
  const other = fc.tuple(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constantFrom(0, -0, 1, 5e-324));
  const pairs = fc.sample(fc.oneof({ arbitrary: NEAR_PAIRS, weight: 20 }, { arbitrary: other, weight: 1 }), 20_000);
  expect(pairs.filter(([stored, read]) => stored !== read && addsDigits(stored, read)).length).toBeGreaterThan(500);
  const duck = await Duck.open(tmpdir());
  // DuckDB reads a number as DECIMAL, from which another double may result, and a text as the nearest double.
  const values = pairs.map(([stored, read]) => `('${stored}'::DOUBLE, '${read}'::DOUBLE)`).join(', ');
  const rows = await duck.rows(`SELECT ${addsDigitsSql('stored', 'read')} FROM (VALUES ${values}) AS t(stored, read)`);
  duck.close();
  const differing = pairs.filter(([stored, read], i) => rows[i]?.[0] !== addsDigits(stored, read));
  expect(differing).toEqual([]);
});
