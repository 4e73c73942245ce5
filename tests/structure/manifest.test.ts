// The manifest of requirements against the tests that cite them.
import { describe, expect, test } from 'vitest';
import { REQUIREMENTS } from '../requirements.ts';
import { MODULES, read } from './tree.ts';

const known = new Map(REQUIREMENTS.map((requirement) => [requirement.id as string, requirement]));

/** Requirement ids by the test files that cite them with `verifies('…')`. */
const cited = new Map<string, string[]>();
for (const file of MODULES.filter((path) => /\.test\.ts$/.test(path))) {
  for (const call of read(file).matchAll(/^\s*verifies\(([^)]*)\)/gm)) {
    for (const [, id] of (call[1] ?? '').matchAll(/'([^']+)'/g)) {
      cited.set(id ?? '', [...(cited.get(id ?? '') ?? []), file]);
    }
  }
}

describe('requirements', () => {
  test('ids are unique and well formed, texts are not empty', () => {
    const ids = REQUIREMENTS.map(({ id }) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    expect(ids.filter((id) => !/^[a-z0-9]+([.-][a-z0-9]+)*$/.test(id))).toEqual([]);
    expect(REQUIREMENTS.filter(({ text }) => text.length < 10).map(({ id }) => id)).toEqual([]);
  });

  test('tests cite only ids that exist', () => {
    const unknown = [...cited].filter(([id]) => !known.has(id)).map(([id, files]) => `${id} in ${files.join(', ')}`);
    expect(unknown).toEqual([]);
  });

  test('what is done is cited by a test', () => {
    const uncited = REQUIREMENTS.filter(({ id, state }) => state === 'done' && !cited.has(id)).map(({ id }) => id);
    expect(uncited).toEqual([]);
  });

  test('every section of the two documents is there', () => {
    const sections = new Set(REQUIREMENTS.map(({ from }) => from));
    const expected = [
      ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => `spec ${number}`),
      ...[1, 2, 3, 4, 5, 6, 7, 8].map((number) => `contract ${number}`),
    ];
    expect([...sections].sort()).toEqual(expected.sort());
  });
});
