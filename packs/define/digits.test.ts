// Digits of numbers: exact texts, and the compared form.
import { expect, test } from 'vitest';
import { comparedNumber, exactNumber, parseJson } from './digits.ts';

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
