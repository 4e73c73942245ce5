// Scripts of pages that the API renders are single files that a browser can run.
import { Script } from 'node:vm';
import { expect, test } from 'vitest';
import { COMPARE_ASSET, RECORD_ASSET } from './assets.ts';

test.each([
  ['comparisons', COMPARE_ASSET, 'compare-content'],
  ['records', RECORD_ASSET, 'load-button'],
])('the script of %s has all that it imports', (_, { text }, part) => {
  // A classic script: an import or export left in it is a syntax error.
  expect(() => new Script(text)).not.toThrow();
  expect(text).toContain(part);
  const defined = new Set(text.match(/(?<=^const )module\d+/gm));
  expect(text.match(/(?<= = )module\d+(?=;$)/gm)?.filter((name) => !defined.has(name))).toEqual([]);
});
