// Entity tags: stable, different per representation, weakly compared.
import { expect, test } from 'vitest';
import { etag, etagOf, matches } from './etag.ts';

test('a tag changes with the version and with the representation, and with nothing else', () => {
  expect(etag('v1', 'json')).toBe(etag('v1', 'json'));
  expect(etag('v1', 'json')).not.toBe(etag('v2', 'json'));
  expect(etag('v1', 'json')).not.toBe(etag('v1', 'markdown'));
  expect(etag('v1', '2')).not.toBe(etag('v', '12'));
  expect(etag('v', 'r')).toMatch(/^W\/"[\w-]{22}"$/);
  expect(etagOf('a')).not.toBe(etagOf('b'));
});

test('If-None-Match is a list, weak or strong, or a star', () => {
  const tag = etag('v', 'r');
  expect(matches(undefined, tag)).toBe(false);
  expect(matches(tag, tag)).toBe(true);
  expect(matches(tag.slice(2), tag)).toBe(true);
  expect(matches(`"other", ${tag}`, tag)).toBe(true);
  expect(matches('*', tag)).toBe(true);
  expect(matches('"other"', tag)).toBe(false);
  expect(matches('garbage', tag)).toBe(false);
  expect(matches('', tag)).toBe(false);
});
