// Tags of public texts: stable, and different for different texts.
import { expect, test } from 'vitest';
import { etagOf } from './etag.ts';

test('a tag changes with the text', () => {
  expect(etagOf('a')).toBe(etagOf(Buffer.from('a')));
  expect(etagOf('a')).not.toBe(etagOf('b'));
  expect(etagOf('a')).toMatch(/^W\/"[\w-]{22}"$/);
});
