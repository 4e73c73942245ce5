// Samples of long sources: bounded rows and cells.
import { expect, test } from 'vitest';
import type { SourceVersion } from '../../sources/reader.ts';
import { readSample } from './sample.ts';

/** A version with `count` rows of a number and its remainder. */
function versionOf(count: number): SourceVersion {
  async function* rows() {
    for (let i = 0; i < count; i++) yield { line: i + 2, cells: [String(i), String(i % 7)] };
  }
  const observed_at = new Date('2026-11-20T00:00:00Z');
  return { name: 'long.csv', columns: ['n', 'rest'], observed_at, rows: rows(), mark: () => ({}) };
}

test('a sample has the first rows, and shows whether there are more', async () => {
  const sample = await readSample(versionOf(50), { rows: 10, cells: 1000 });
  expect([sample.rows.length, sample.whole]).toEqual([10, false]);
  expect(sample.rows.at(-1)).toEqual(['9', '2']);
  expect((await readSample(versionOf(10), { rows: 10, cells: 1000 })).whole).toBe(true);
});

test('cells bound the sample of a file with many columns', async () => {
  const sample = await readSample(versionOf(50), { rows: 40, cells: 12 });
  expect([sample.rows.length, sample.whole]).toEqual([6, false]);
});
