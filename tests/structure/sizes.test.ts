// Sizes of files, and how each module begins. Biome limits functions to 60 lines.
import { expect, test } from 'vitest';
import { isTest, MODULES, read } from './tree.ts';

test('no file is over 500 lines', () => {
  const long = MODULES.filter((path) => !isTest(path) && read(path).trimEnd().split('\n').length > 500);
  expect(long).toEqual([]);
});

test('every module starts with a line on its purpose', () => {
  const silent = MODULES.filter((path) => {
    const [first = '', second = ''] = read(path).split('\n');
    const opening = first.startsWith('#!') || (path.endsWith('.astro') && first === '---') ? second : first;
    return !/^(\/\/|\/\*\*?) .*\w{2}/.test(opening);
  });
  expect(silent).toEqual([]);
});

test('a skipped test has a reason, inside the test', () => {
  const silent = MODULES.filter(isTest).filter((path) =>
    /\b(test|it|describe)\.(skip|skipIf|runIf|todo)\b|\.skip\(\)/.test(read(path).replace(/^.*RegExp.*$/gm, '')),
  );
  expect(
    silent.filter((path) => !path.startsWith('tests/structure/')),
    "use context.skip('why')",
  ).toEqual([]);
});
