// Entity tags: stable, different for each representation, and impossible to compute without the secret.
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { entityTags } from './entity-tags.ts';

const tags = entityTags('a secret');

test('a tag changes with the version, with the representation and with the secret, and with nothing else', () => {
  expect(tags.ofVersion('v1', ['json'])).toBe(entityTags('a secret').ofVersion('v1', ['json']));
  expect(tags.ofVersion('v1', ['json'])).not.toBe(tags.ofVersion('v2', ['json']));
  expect(tags.ofVersion('v1', ['json'])).not.toBe(tags.ofVersion('v1', ['markdown']));
  expect(tags.ofVersion('v1', ['2'])).not.toBe(tags.ofVersion('v', ['12']));
  expect(tags.ofVersion('v1', ['json'])).not.toBe(entityTags('another').ofVersion('v1', ['json']));
  expect(tags.ofVersion('v', ['r'])).toMatch(/^W\/"[\w-]{22}"$/);
  expect(tags.ofBody('a')).toBe(tags.ofBody(Buffer.from('a')));
  expect(tags.ofBody('a')).not.toBe(tags.ofBody('b'));
});

test('a body that somebody composes has not the tag of a version, and no digest without the secret is one', () => {
  const composed = 'v1\0json\0';
  expect(tags.ofBody(composed)).not.toBe(tags.ofVersion('v1', ['json']));
  const plain = createHash('sha256').update(composed).digest('base64url').slice(0, 22);
  expect(tags.ofVersion('v1', ['json'])).not.toContain(plain);
});
