// Declared sources through complete nights: new files, changed files, rows with their own times, changed rules.
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { versionsFolder } from '../../../build/sources/store.ts';
import { ATTRIBUTES, HEADER, stage } from '../../support/declared-stage.ts';

test('a CSV becomes records; a file that changes in place is a new version with history', async () => {
  const shop = stage('stones.csv', { attributes: ATTRIBUTES }, { complete: true });
  shop.write('stones.csv', 10, [HEADER, 'a,Agate,"1,5",3', 'b,Beryl,2,4']);
  expect(await shop.night()).toMatchObject({ outcome: 'released', records: 2, messages: [] });
  expect(await shop.facts('mass')).toEqual(
    expect.arrayContaining(['1.5 11-10 11-10 line 2 of stones.csv', '2 11-10 11-10 line 3 of stones.csv']),
  );
  // Nothing new: the file is not read again.
  expect(await shop.night()).toMatchObject({ outcome: 'unchanged' });
  shop.write('stones.csv', 12, [HEADER, 'a,Agate,"1,7",3', 'b,Beryl,2,4']);
  expect(await shop.night()).toMatchObject({ outcome: 'released', records: 2 });
  const masses = await shop.facts('mass');
  expect(masses).toContain('1.5 11-10 11-10 line 2 of stones.csv');
  expect(masses).toContain('1.7 11-12 11-12 line 2 of stones.csv');
  expect(masses).toContain('2 11-10 11-12 line 3 of stones.csv');
  expect(await shop.versions()).toHaveLength(2);
});

test('each new file that matches a pattern is a version, also one that is older than the last', async () => {
  const observed_at = { file_name: 'YYYY-MM-DD' };
  const shop = stage('exports/*.csv', { attributes: ATTRIBUTES, observed_at });
  const file = (day: number) => `exports/stones-2026-11-${day}.csv`;
  shop.write(file(10), 15, [HEADER, 'a,Agate,1,3']);
  shop.write(file(12), 15, [HEADER, 'a,Agate,3,3']);
  expect(await shop.night()).toMatchObject({ outcome: 'released', records: 1 });
  shop.write(file(11), 16, [HEADER, 'a,Agate,2,3']);
  expect(await shop.night()).toMatchObject({ outcome: 'released', messages: [] });
  expect((await shop.facts('mass')).map((row) => row.split(' line')[0])).toEqual([
    '1 11-10 11-10',
    '2 11-11 11-11',
    '3 11-12 11-12',
  ]);
});

test('rows with their own times are facts at these times, each once', async () => {
  const shop = stage('log.csv', { attributes: ATTRIBUTES, observed_at: { column: 'checked' } });
  const header = `${HEADER},checked`;
  const rows = ['a,Agate,1,3,2026-11-01', 'b,Beryl,7,4,2026-11-02', 'a,Agate,2,3,2026-11-03'];
  shop.write('log.csv', 10, [header, ...rows]);
  expect(await shop.night()).toMatchObject({ outcome: 'released', records: 2 });
  const values = async () => (await shop.facts('mass')).map((row) => row.split(' line')[0]).sort();
  expect(await values()).toEqual(['1 11-01 11-01', '2 11-03 11-03', '7 11-02 11-02']);
  shop.write('log.csv', 11, [header, ...rows, 'a,Agate,2,3,2026-11-08']);
  expect(await shop.night()).toMatchObject({ outcome: 'released' });
  expect(await values()).toEqual(['1 11-01 11-01', '2 11-03 11-03', '2 11-08 11-08', '7 11-02 11-02']);
});

test('a changed rule reads the stored versions again', async () => {
  const shop = stage('stones.csv', { attributes: ATTRIBUTES });
  shop.write('stones.csv', 10, [HEADER, 'a,Agate,1,3']);
  await shop.night();
  shop.write('stones.csv', 11, [HEADER, 'a,Agate,2,3']);
  await shop.night();
  rmSync(join(shop.data, 'stones.csv'));
  const halved = { ...ATTRIBUTES, mass: { ...ATTRIBUTES.mass, multiply: 0.5 } };
  const night = await shop.night({ attributes: halved });
  expect(night.messages).toEqual([expect.stringContaining('stones.csv')]);
  expect((await shop.facts('mass')).map((row) => row.split(' ')[0])).toEqual(['0.5', '1']);
});

test('a declaration that needs another column reads the file again', async () => {
  const { 'price.sale': _, ...two } = ATTRIBUTES;
  const shop = stage('stones.csv', { attributes: two });
  shop.write('stones.csv', 10, [HEADER, 'a,Agate,1,3']);
  expect((await shop.night()).messages).toEqual([
    expect.stringContaining("nothing reads these columns of stones.csv: 'Price'"),
  ]);
  expect((await shop.night()).messages).toEqual([]);
  expect(await shop.facts('price.sale')).toEqual([]);
  expect(await shop.night({ attributes: ATTRIBUTES })).toMatchObject({ outcome: 'released', messages: [] });
  expect((await shop.facts('price.sale')).map((row) => row.slice(0, 13))).toEqual(['3 11-10 11-10']);
  expect(await shop.versions()).toHaveLength(1);
});

test('a column that does not exist stops the run and names the nearest; the corrected file is read', async () => {
  const shop = stage('stones.csv', { attributes: ATTRIBUTES });
  shop.write('stones.csv', 10, ['code,Nmae,"Mass (kg)",Price', 'a,Agate,1,3']);
  await expect(shop.night()).rejects.toThrow("no column 'Name' for name (nearest 'Nmae')");
  shop.write('stones.csv', 10, [HEADER, 'a,Agate,1,3']);
  expect(await shop.night()).toMatchObject({ outcome: 'released', records: 1 });
});

test('a filter keeps rows, and only these are stored', async () => {
  const shop = stage('stones.csv', { attributes: ATTRIBUTES, where: (row) => row['Price'] !== '4' });
  shop.write('stones.csv', 10, [
    HEADER,
    'a,Agate,1,3',
    ...Array.from({ length: 1000 }, (_, i) => `x${i},Xenolith,1,4`),
  ]);
  expect(await shop.night()).toMatchObject({ outcome: 'released', records: 1 });
  const [version] = await shop.versions();
  expect(version).toMatchObject({ rows: 1, broken: 0 });
  const rows = join(versionsFolder(shop.data, 'stones', 'shop'), version!.version, 'rows.jsonl.zst');
  expect(statSync(rows).size).toBeLessThan(1000);
});

test('a later file whose rows have the same newest time is a later version', async () => {
  const shop = stage('log.csv', { attributes: ATTRIBUTES, observed_at: { column: 'checked' } });
  const rows = Array.from({ length: 6 }, (_, i) => `c${i},Agate,1,3,2026-11-01`);
  for (const day of [10, 11, 12]) {
    shop.write('log.csv', day, [`${HEADER},checked`, ...rows.slice(day - 10)]);
    await shop.night();
  }
  const versions = (await shop.versions()).sort((a, b) => Date.parse(a.observed_at) - Date.parse(b.observed_at));
  expect(versions.map(({ rows: count }) => count)).toEqual([6, 5, 4]);
  expect(new Set(versions.map(({ observed_at }) => observed_at)).size).toBe(3);
});

test('of two rows about one record at one time the first counts, and the record is reported', async () => {
  const shop = stage('log.csv', { attributes: ATTRIBUTES, observed_at: { column: 'checked' } });
  shop.write('log.csv', 10, [`${HEADER},checked`, 'a,Agate,1,3,2026-11-01', 'a,Agate,2,3,2026-11-01']);
  expect((await shop.night()).messages).toEqual([
    'shop: 1 record is listed more than once in a reading; the first value counts: a',
  ]);
  expect((await shop.facts('mass')).map((row) => row.split(' line')[0])).toEqual(['1 11-01 11-01']);
});
