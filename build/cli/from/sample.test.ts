// Samples of long sources: bounded rows, counted rows, repeated identities after the sample.
import { expect, test } from 'vitest';
import type { SourceVersion } from '../../sources/reader.ts';
import { readSample, repeatedKeys } from './sample.ts';

/** A version with `count` rows of a number and its remainder. */
function versionOf(count: number): SourceVersion {
  async function* rows() {
    for (let i = 0; i < count; i++) yield { line: i + 2, cells: [String(i), String(i % 7)] };
  }
  const observed_at = new Date('2026-11-20T00:00:00Z');
  return { name: 'long.csv', columns: ['n', 'rest'], observed_at, rows: rows(), mark: () => ({}) };
}

test('rows after the sample are counted and not stored', async () => {
  const sample = await readSample(versionOf(50), { rows: 10, cells: 1000, counted: 1000 });
  expect([sample.rows.length, sample.total, sample.whole]).toEqual([10, 50, true]);
  expect(sample.rows.at(-1)).toEqual(['9', '2']);
});

test('cells bound the sample of a file with many columns; counting stops at a bound', async () => {
  const sample = await readSample(versionOf(50), { rows: 40, cells: 12, counted: 30 });
  expect([sample.rows.length, sample.total, sample.whole]).toEqual([6, 30, false]);
});

test('repeated identities of all rows', async () => {
  expect(await repeatedKeys(versionOf(50), ['n'])).toBe(0);
  expect(await repeatedKeys(versionOf(50), ['rest'])).toBe(43);
  expect(await repeatedKeys(versionOf(50), ['rest', 'n'])).toBe(0);
});
