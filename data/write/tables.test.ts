// Queries over the lines of a build.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratchOfAll } from '../../tests/support/night-pack.ts';
import { Duck, fromParquet } from '../duckdb/duck.ts';
import { LineWriter, NULL } from '../duckdb/lines.ts';
import { FACT_COLUMNS } from './facts.ts';
import { factsQuery, storedQuery, termsQuery } from './tables.ts';

const folder = scratchOfAll();

async function withDuck<T>(use: (duck: Duck) => Promise<T>): Promise<T> {
  const duck = await Duck.open(join(folder, 'spill'));
  try {
    return await use(duck);
  } finally {
    duck.close();
  }
}

function lines(name: string, rows: readonly string[]): string {
  const writer = new LineWriter(join(folder, name));
  for (const row of rows) writer.line(row);
  writer.close();
  return writer.path;
}

test('facts with verdicts are the same from stored lines and from Parquet, without those that have none', async () => {
  const names = { attributes: ['colour', '@slug'], sources: ['s', 't'], runs: ['run-1'] };
  const count = 50_000;
  const stored: string[] = [];
  const verdicts: string[] = [];
  for (let i = 0; i < count; i++) {
    const own = i % 5 === 0;
    const value = i % 7 === 0 ? NULL : `"värde ${i}"`;
    stored.push(
      [`r-${i}`, own ? 2 : 1, 1 + (i % 2), 1, 'collector', i, 0.5, value, 'https://a.example/', `row ${i}`].join('\t'),
    );
    verdicts.push(own ? `${NULL}\t${NULL}\t${NULL}\t${NULL}` : `${i}\t${i % 3 === 0}\tonly_source\t${NULL}`);
  }
  const half = count / 2;
  const parts = [lines('v0', verdicts.slice(0, half)), lines('v1', verdicts.slice(half))];
  await withDuck(async (duck) => {
    const fromLines = storedQuery(lines('stored', stored), names);
    const parquet = join(folder, 'stored.parquet');
    await duck.parquet(`SELECT * FROM ${fromLines}`, parquet);
    const found = await duck.rows(factsQuery(fromLines, parts));
    expect(await duck.rows(factsQuery(fromParquet([parquet], FACT_COLUMNS), parts))).toEqual(found);
    expect(found).toHaveLength((count * 4) / 5);
    expect(
      found.every(
        ([id, , value], i) =>
          id === `r-${i + Math.floor(i / 4) + 1}` && (value === null || value === `"värde ${String(id).slice(2)}"`),
      ),
    ).toBe(true);
  });
});

test('terms have the rank of their record and are sorted by it', async () => {
  const records = lines('records', ['0\tr-a\t1', '1\tr-b\t0', `2\tr-c\t${NULL}`]);
  const terms = lines('terms', [
    '0\tzoo\ttrue\tfalse\t9\t3\t5',
    '0\tart\tfalse\ttrue\t1\t0\t6',
    '1\tzoo\ttrue\ttrue\t2\t2\t7',
  ]);
  expect(await withDuck((duck) => duck.rows(termsQuery([terms], records)))).toEqual([
    ['art', 1, false, true, 1, 0, expect.objectContaining({ micros: 6_000n })],
    ['zoo', 0, true, true, 2, 2, expect.objectContaining({ micros: 7_000n })],
    ['zoo', 1, true, false, 9, 3, expect.objectContaining({ micros: 5_000n })],
  ]);
});
