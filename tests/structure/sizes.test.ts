// Sizes of files, as the codebases we admire have them, and how each module begins.
import { expect, test } from 'vitest';
import { isTest, MODULES, read } from './tree.ts';

const lines = (path: string): number => read(path).trimEnd().split('\n').length;

const product = MODULES.filter((path) => !isTest(path))
  .map((path) => ({ path, lines: lines(path) }))
  .sort((a, b) => a.lines - b.lines);

const told = (file: { path: string; lines: number }): string => `${file.path}: ${file.lines} lines`;

test('no file is over 400 lines', () => {
  expect(product.filter((file) => file.lines > 400).map(told), 'usually two rooms in one').toEqual([]);
});

test('nine files in ten are at most 250 lines', () => {
  const long = product.filter((file) => file.lines > 250);
  expect(long.length / product.length, long.map(told).join('\n')).toBeLessThanOrEqual(0.1);
});

test('the median file is at most 90 lines', () => {
  const median = product[Math.floor(product.length / 2)];
  expect(median?.lines, median ? told(median) : '').toBeLessThanOrEqual(90);
});

test('no test file is 500 lines or more', () => {
  const long = MODULES.filter(isTest).map((path) => ({ path, lines: lines(path) }));
  expect(long.filter((file) => file.lines >= 500).map(told)).toEqual([]);
});

test('every module starts with a line that says what it is for', () => {
  const silent = MODULES.filter((path) => {
    const [first = '', second = ''] = read(path).split('\n');
    const opening = first.startsWith('#!') || (path.endsWith('.astro') && first === '---') ? second : first;
    return !/^(\/\/|\/\*\*?) .*\w{2}/.test(opening);
  });
  expect(silent).toEqual([]);
});

test('a skipped test says why, inside the test', () => {
  const silent = MODULES.filter(isTest).filter((path) =>
    /\b(test|it|describe)\.(skip|skipIf|runIf|todo)\b|\.skip\(\)/.test(read(path).replace(/^.*RegExp.*$/gm, '')),
  );
  expect(
    silent.filter((path) => !path.startsWith('tests/structure/')),
    "use context.skip('why')",
  ).toEqual([]);
});
