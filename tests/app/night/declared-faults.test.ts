// Declared sources when something is wrong: damaged versions, stopped clocks, stopped runs, hostile texts.
import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { datasetNight } from '../../../build/night/dataset.ts';
import { versionsFolder } from '../../../build/sources/store.ts';
import { fixtureFolder } from '../../../packs/define/load.ts';
import { csv, DeclaredSourceShape } from '../../../packs/define/sources.ts';
import { ATTRIBUTES, factsOf, HEADER, stage } from '../../support/declared-stage.ts';
import { scratch, still, stonesPack } from '../../support/night-pack.ts';

const versionFolders = (data: string) => {
  const folder = versionsFolder(data, 'stones', 'shop');
  return readdirSync(folder).map((name) => join(folder, name));
};
const short = (rows: readonly string[]) => rows.map((row) => row.split(' line')[0]);

test.each(['', '{"version":'])('a version whose version.json is %j is read again', async (text) => {
  const shop = stage('stones.csv', { attributes: ATTRIBUTES });
  shop.write('stones.csv', 10, [HEADER, 'a,Agate,1,3']);
  await shop.night();
  writeFileSync(join(versionFolders(shop.data)[0]!, 'version.json'), text);
  expect(await shop.night()).toMatchObject({ records: 1, failures: [] });
  shop.write('stones.csv', 11, [HEADER, 'a,Agate,2,3']);
  expect(await shop.night()).toMatchObject({ outcome: 'released', records: 1 });
  expect(short(await shop.facts('mass'))).toEqual(['1 11-10 11-10', '2 11-11 11-11']);
});

test('a stored version whose rows are cut stops the run and is named', async () => {
  const shop = stage('stones.csv', { attributes: ATTRIBUTES });
  const lines = Array.from({ length: 300 }, (_, i) => `r${i},Stone ${(i * 7919) % 30_011},${i % 900},3`);
  shop.write('stones.csv', 10, [HEADER, ...lines]);
  await shop.night();
  const rows = join(versionFolders(shop.data)[0]!, 'rows.jsonl.zst');
  truncateSync(rows, readFileSync(rows).length >> 1);
  const halved = { ...ATTRIBUTES, mass: { ...ATTRIBUTES.mass, multiply: 0.5 } };
  await expect(shop.night({ attributes: halved })).rejects.toThrow(/the stored version is damaged/);
});

test('with a stopped clock a file that changes in place is read', async () => {
  const shop = stage('stones.csv', { attributes: ATTRIBUTES });
  shop.write('stones.csv', 28, [HEADER, 'a,Agate,1,3']);
  await shop.night(undefined, true);
  shop.write('stones.csv', 29, [HEADER, 'a,Agate,2,3']);
  expect(await shop.night(undefined, true)).toMatchObject({ outcome: 'released', records: 1 });
  expect(short(await shop.facts('mass'))).toEqual(['1 11-20 11-20', '2 11-20 11-20']);
});

test('a run that stops keeps the version that it would have replaced', async () => {
  const { 'price.sale': _, ...two } = ATTRIBUTES;
  const shop = stage('stones.csv', { attributes: two }, { tolerate: { values: 0, rows: 0 } });
  shop.write('stones.csv', 10, [HEADER, 'a,Agate,1,three']);
  await shop.night();
  await expect(shop.night({ attributes: ATTRIBUTES })).rejects.toThrow('three');
  shop.write('stones.csv', 12, [HEADER, 'a,Agate,2,3']);
  await shop.night({ attributes: ATTRIBUTES }).catch(() => undefined);
  const doubled = { ...two, mass: { ...two.mass, multiply: 2 } };
  await shop.night({ attributes: doubled });
  expect(short(await shop.facts('mass'))).toEqual(['2 11-10 11-10', '4 11-12 11-12']);
});

test('a declaration that needs another column keeps the time of the version', async () => {
  const { 'price.sale': _, ...two } = ATTRIBUTES;
  const shop = stage('stones.csv', { attributes: two });
  shop.write('stones.csv', 10, [HEADER, 'a,Agate,1,3']);
  await shop.night();
  const [before] = await shop.versions();
  await shop.night({ attributes: ATTRIBUTES });
  const after = await shop.versions();
  expect(after.map(({ observed_at }) => observed_at)).toEqual([before!.observed_at]);
  expect(short(await shop.facts('mass'))).toEqual(['1 11-10 11-10']);
});

test('two files with equal times are versions in the order of their names', async () => {
  const shop = stage('exports/*.csv', { attributes: ATTRIBUTES });
  for (const [i, name] of ['a', 'b', 'c', 'd'].entries())
    shop.write(`exports/${name}.csv`, 10, [HEADER, `a,Agate,${4 - i},3`]);
  await shop.night();
  expect(short(await shop.facts('mass'))).toEqual(['4', '3', '2', '1'].map((mass) => `${mass} 11-10 11-10`));
  expect(await shop.night()).toMatchObject({ outcome: 'unchanged' });
});

test('a header that changes over equal rows is a new version', async () => {
  const shop = stage('log.csv', { attributes: ATTRIBUTES, observed_at: { column: 'checked' } });
  shop.write('log.csv', 10, [`${HEADER},other,checked`, 'a,Agate,1,3,5,2026-11-01']);
  await shop.night();
  shop.write('log.csv', 11, ['code,Name,other,Price,Mass (kg),checked', 'a,Agate,1,3,5,2026-11-01']);
  await shop.night();
  expect(short(await shop.facts('mass'))).toContain('5 11-01 11-01');
});

test('a date in the future in the name of a file stops the run', async () => {
  const shop = stage('exports/*.csv', { attributes: ATTRIBUTES, observed_at: { file_name: 'YYYY-MM-DD' } });
  shop.write('exports/stones-2062-11-10.csv', 10, [HEADER, 'a,Agate,1,3']);
  await expect(shop.night()).rejects.toThrow('stones-2062-11-10.csv has the date 2062-11-10 in its name');
});

test('a filter that throws stops the run and names the line', async () => {
  const shop = stage('stones.csv', {
    attributes: ATTRIBUTES,
    where: (row) => (row['Missing'] as string).length > 0,
  });
  shop.write('stones.csv', 10, [HEADER, 'a,Agate,1,3']);
  await expect(shop.night()).rejects.toThrow(/where of source shop throws at line 2 of stones.csv/);
});

test('of very many broken rows some are stored, and all are counted', async () => {
  const shop = stage('stones.csv', { attributes: ATTRIBUTES });
  shop.write('stones.csv', 10, [HEADER, ...Array.from({ length: 20_000 }, () => 'x'), 'a,Agate,1,3']);
  const { messages } = await shop.night();
  expect(messages).toEqual([expect.stringContaining('20,000 of 20,001 rows'), expect.anything()]);
  const [version] = await shop.versions();
  expect(version).toMatchObject({ broken: 20_000 });
  const file = readFileSync(join(versionFolders(shop.data)[0]!, 'broken.jsonl'), 'utf8');
  expect(file.split('\n').length).toBeLessThanOrEqual(1001);
});

test('hostile texts are values, also as names of columns', async () => {
  const shop = stage('stones.csv', { attributes: ATTRIBUTES });
  shop.write('stones.csv', 10, [
    `${HEADER},__proto__,constructor`,
    '__proto__,constructor,1,3,x,y',
    'constructor,"a\tb\0c\\N\n""d""",2,4,x,y',
    `toString,${'z'.repeat(100)},2,4,x,y`,
  ]);
  expect(await shop.night({ attributes: { ...ATTRIBUTES, tags: '__proto__', status: 'constructor' } })).toMatchObject({
    records: 3,
  });
  expect((await shop.facts('name')).map((row) => row.split(' 11-')[0])).toEqual([
    `"${'z'.repeat(100)}"`,
    '"constructor"',
    String.raw`"a\tb�c\\N\n\"d\""`,
  ]);
  expect((await shop.facts('tags')).map((row) => row.split(' 11-')[0])).toEqual(['["x"]', '["x"]', '["x"]']);
});

test('rows with their own times in pinned versions are facts once', async () => {
  const folder = scratch();
  const base = stonesPack(folder, { shop: { '11-10': [], '11-12': [] } });
  const from = DeclaredSourceShape.parse(
    csv('log.csv', { attributes: ATTRIBUTES, observed_at: { column: 'checked' } }),
  );
  const rows = ['a,Agate,1,3,2026-11-01', 'a,Agate,2,3,2026-11-09'];
  const write = (version: string, lines: readonly string[]) =>
    writeFileSync(
      join(fixtureFolder(folder, 'shop', version), 'log.csv'),
      `${[`${HEADER},checked`, ...lines].join('\n')}\n`,
    );
  write('1.11.10', rows);
  write('1.11.12', [...rows, 'a,Agate,3,3,2026-11-11']);
  const sources = base.sources.map((each) => ({ ...each, from }));
  await datasetNight({ ...base, collector: { read: ({ rows }) => rows! }, sources }, folder, still(), { accept: true });
  expect(short(await factsOf(folder, 'mass'))).toEqual(['1 11-01 11-01', '2 11-09 11-09', '3 11-11 11-11']);
});

test('rows with impossible times are left out', async () => {
  const shop = stage('log.csv', { attributes: ATTRIBUTES, observed_at: { column: 'checked', date: 'unix_ms' } });
  shop.write('log.csv', 10, [`${HEADER},checked`, 'a,Agate,1,3,-99999999999999999', 'b,Beryl,1,3,1793000000000']);
  const { messages, records } = await shop.night();
  expect(records).toBe(1);
  expect(messages.join()).toContain('checked: -99999999999999999');
});

test('a version that is no longer stored is named when its values leave the history', async () => {
  const shop = stage('stones.csv', { attributes: ATTRIBUTES });
  shop.write('stones.csv', 10, [HEADER, 'a,Agate,1,3']);
  await shop.night();
  shop.write('stones.csv', 11, [HEADER, 'a,Agate,2,3']);
  await shop.night();
  rmSync(versionFolders(shop.data).sort()[0]!, { recursive: true });
  expect((await shop.night()).messages).toEqual([]);
  const { messages } = await shop.night({ attributes: { ...ATTRIBUTES, mass: { ...ATTRIBUTES.mass, multiply: 2 } } });
  expect(messages).toEqual([
    expect.stringContaining('shop: the version of 2026-11-10T00:00:00.000Z is no longer stored'),
  ]);
  expect(short(await shop.facts('mass'))).toEqual(['4 11-11 11-11']);
});

test('a file with own times that was only touched is no version, and is not read again', async () => {
  const shop = stage('log.csv', { attributes: ATTRIBUTES, observed_at: { column: 'checked' } });
  const lines = [`${HEADER},checked`, 'a,Agate,1,3,2026-11-01'];
  shop.write('log.csv', 10, lines);
  await shop.night();
  shop.write('log.csv', 11, lines);
  expect(await shop.night()).toMatchObject({ outcome: 'unchanged' });
  expect(await shop.versions()).toMatchObject([{ mark: { mtime: Date.UTC(2026, 10, 11) } }]);
});
