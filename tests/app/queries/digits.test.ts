// Numbers of many digits in each format, filter, statistic and order, by the index and by DuckDB.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tableFromIPC } from 'apache-arrow';
import { expect, test } from 'vitest';
import { openEngine } from '../../../data/duckdb/engine.ts';
import { statsParameters } from '../../../data/input/analysis-parameters.ts';
import { questionOf } from '../../../data/input/selection.ts';
import { type Manifest, paths, RELEASE_FILES } from '../../../data/model/layout.ts';
import { loadPack } from '../../../packs/define/load.ts';
import { appOfAll } from '../../support/app.ts';

/** Values of `mass`, by the record's place. */
const NUMBERS = [12345678901.55, 12345678901.56, 0.1234567890123, 123456789012345, 1e-7, -12345678901.55];
const ASCENDING = [-12345678901.55, 1e-7, 0.1234567890123, 12345678901.55, 12345678901.56, 123456789012345];

const app = await appOfAll();
const pack = await loadPack(join(import.meta.dirname, '../../packs/tools'));
const records = app.records['tools']!.slice(0, NUMBERS.length).map((record, i) => ({
  ...record,
  attributes: { ...record.attributes, mass: NUMBERS[i]!, 'price.list': Math.abs(NUMBERS[i]!) },
}));
const release = await app.publish('tools', records);

const text = async (query: string) => (await app.ask(`/v1/tools/${query}`, { admin: true })).text();
const masses = async (query: string) => {
  const { items } = JSON.parse(await text(`entities?fields=mass&${query}`)) as {
    items: { attributes: { mass: number } }[];
  };
  return items.map(({ attributes }) => attributes.mass);
};

test('each format has all digits', async () => {
  for (const format of ['csv', 'ndjson', 'md', 'json']) {
    const answer = await text(`entities?fields=mass,price.list&format=${format}&sort=mass`);
    for (const number of [
      '12345678901.55',
      '12345678901.56',
      '0.1234567890123',
      '123456789012345',
      '1e-7',
      '-12345678901.55',
    ])
      expect(answer, format).toContain(number);
  }
  const bytes = await (
    await app.ask('/v1/tools/entities?fields=mass&format=arrow&sort=mass', { admin: true })
  ).arrayBuffer();
  const table = tableFromIPC(new Uint8Array(bytes));
  expect(Array.from(table, (row) => row['mass'] as number)).toEqual(ASCENDING);
});

test('filters, bounds, order and pages compare all digits', async () => {
  expect(await masses('mass=12345678901.55')).toEqual([12345678901.55]);
  expect(await masses('min_mass=12345678901.555&sort=mass')).toEqual([12345678901.56, 123456789012345]);
  expect(await masses('max_mass=0.1234567890122&sort=mass')).toEqual([-12345678901.55, 1e-7]);
  expect(await masses('mass=0.12345678901230001')).toEqual([0.1234567890123]);
  const seen: number[] = [];
  for (let cursor = ''; ; ) {
    const page = await text(`entities?fields=mass&sort=mass&limit=1${cursor}`);
    const { items, next_cursor } = JSON.parse(page) as {
      items: { attributes: { mass: number } }[];
      next_cursor: string | null;
    };
    seen.push(items[0]!.attributes.mass);
    if (next_cursor === null) break;
    cursor = `&cursor=${next_cursor}`;
  }
  expect(seen).toEqual(ASCENDING);
});

test('JSON has 15 digits of computed figures; Markdown has exact bounds and six digits of others', async () => {
  const query = 'stats?attribute=mass&min_mass=12345678901&max_mass=12345678902';
  const [row] = (JSON.parse(await text(query)) as { rows: object[] }).rows;
  expect(row).toMatchObject({
    count: 2,
    min: 12345678901.55,
    max: 12345678901.56,
    median: 12345678901.555,
    mean: 12345678901.555,
  });
  const line = (await text(`${query}&format=md`)).split('\n').find((each) => each.includes('12345678901.55'));
  const six = '12345700000|'.repeat(5);
  expect(line).toBe(`|2|24691357803.11|12345678901.55|${six}12345678901.56|12345700000|record-20|record-49|`);
});

test('DuckDB answers alike', async () => {
  const folder = paths.release(app.dataDir, 'tools', release);
  const manifest = JSON.parse(readFileSync(join(folder, RELEASE_FILES.manifest), 'utf8')) as Manifest;
  const engine = await openEngine(folder, pack, manifest);
  const figures = async (raw: Record<string, string>) => {
    const {
      attributes: [attribute = ''],
      group_by: by,
      ...input
    } = statsParameters.parse({ attribute: 'mass', ...raw }, pack);
    return (await engine.stats({ where: questionOf(input), attribute, by, groups: 10 })).groups[0]?.figures;
  };
  expect(await figures({ mass: '12345678901.55' })).toMatchObject({ count: 1, mean: 12345678901.55 });
  const bounds = { min_mass: '12345678901', max_mass: '12345678902' };
  const expected = { count: 2, min: 12345678901.55, median: 12345678901.555, mean: 12345678901.555 };
  expect(await figures(bounds)).toMatchObject(expected);
  await engine.close();
});
