// Choice of the content coding for an Accept-Encoding header.
import { expect, test } from 'vitest';
import { codingFor } from './coding.ts';

const GIVEN: [header: string | undefined, coding: string | null][] = [
  [undefined, null],
  ['', null],
  ['gzip', 'gzip'],
  ['gzip, deflate, br', 'br'],
  ['br;q=0.5, gzip', 'gzip'],
  ['GZip', 'gzip'],
  ['*', 'br'],
  ['br;q=0, *', 'gzip'],
  ['gzip;q=0', null],
  ['identity', null],
  ['gzip;q=0.5, identity', null],
  ['deflate, zstd', null],
  ['nonsense;;;q=,,', null],
  ['gzip;q=nonsense', null],
];

test.each(GIVEN)('%s: %s', (header, coding) => {
  expect(codingFor(header)).toBe(coding);
});

test('of copies, one that is there', () => {
  expect(codingFor('br, gzip', ['gzip'])).toBe('gzip');
  expect(codingFor('br', ['gzip'])).toBeNull();
  expect(codingFor('br', [])).toBeNull();
});
