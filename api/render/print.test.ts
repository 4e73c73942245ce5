// Values, money and times as the pages print them.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  plural,
  printAge,
  printDate,
  printEuro,
  printNumber,
  printShare,
  printValue,
  printWithUnit,
  webAddress,
} from './print.ts';

test('a quantity is grouped, an identifier is not', () => {
  expect(printWithUnit(279993, 'people')).toBe('279,993 people');
  expect(printWithUnit(2950159, null)).toBe('2950159');
  expect(printWithUnit({ min: 1.25, max: 2000, currency: 'USD' }, 'USD/1M tokens')).toBe('1.25 to 2,000 USD/1M tokens');
  expect(printWithUnit(0.000000123, 'USD/token')).toBe('0.000000123 USD/token');
});

test('every kind of value has a text', () => {
  expect(printValue({ lat: -33.5, lng: 151.3 })).toBe('-33.5, 151.3');
  expect(printValue(['text', 'image'])).toBe('text, image');
  expect([printValue(true), printValue(false)]).toEqual(['yes', 'no']);
});

test('ages take the largest unit that fits', () => {
  expect([1, 30, 240, 2000, 60_000].map(printAge)).toEqual(['1 hour', '30 hours', '10 days', '3 months', '7 years']);
});

test('money keeps the decimals it needs, shares never round up to all', () => {
  expect([0.004, 0.5, 12, 0.000001].map(printEuro)).toEqual(['€0.004', '€0.50', '€12.00', '€0.000001']);
  expect([1, 0.9999, 0.5].map(printShare)).toEqual(['100 %', '99.9 %', '50 %']);
  expect([plural(1, 'record'), plural(1879, 'record')]).toEqual(['1 record', '1,879 records']);
});

test('dates are UTC, whatever the machine', () => {
  expect(printDate('2026-11-20T23:59:59Z')).toBe('Nov 20, 2026');
});

test('only web addresses become links', () => {
  expect(webAddress('https://a.example/x?y=1')).toBe('https://a.example/x?y=1');
  expect([webAddress('javascript:alert(1)'), webAddress('data:text/html,x'), webAddress('no address')]).toEqual([
    null,
    null,
    null,
  ]);
});

test('all digits of a number are printed', () => {
  const printed = [12345678901.55, 0.1234567890123, 123456789012345, 1e-7, -12345678901.55, 1e-13, 0.1, 99.9].map(
    printNumber,
  );
  expect(printed.join(' ')).toBe(
    '12,345,678,901.55 0.1234567890123 123,456,789,012,345 0.0000001 -12,345,678,901.55 1e-13 0.1 99.9',
  );
});

test('numbers are grouped as the formatter groups them', () => {
  const formatter = new Intl.NumberFormat('en', { maximumSignificantDigits: 17 });
  const numbers = fc.oneof(
    fc.integer(),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true }).filter((number) => number === 0 || Math.abs(number) >= 1e-12),
    fc.constantFrom(0, -0, 999, 1000),
  );
  fc.assert(
    fc.property(numbers, (number) => {
      expect(printNumber(number)).toBe(formatter.format(String(number) as `${number}`));
    }),
  );
});
