// A CSV with planted mistakes of every kind: each is counted and named, none is published, and above the
// tolerated share nothing is. 20,000 rows; `npm run test:long` takes 1,000,000.

import { once } from 'node:events';
import { createWriteStream, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { datasetNight } from '../../../build/night/dataset.ts';
import { Duck, quotedText } from '../../../data/duckdb/duck.ts';
import { paths } from '../../../data/model/layout.ts';
import { currentRelease } from '../../../data/model/manifest.ts';
import { loadPack } from '../../../packs/define/load.ts';
import type { Pack } from '../../../packs/define/model.ts';
import { csv } from '../../../packs/define/sources.ts';
import { LONG } from '../../support/draws.ts';
import { scratch, still } from '../../support/night-pack.ts';

const ROWS = LONG ? 1_000_000 : 20_000;
/** Planted mistakes of each kind. */
const EACH = ROWS / 1000 / 2;

/** Kinds of mistakes: how a row becomes wrong, and the sentence that must name it. */
const KINDS: Record<string, { spoil: (row: string[], i: number) => string; expected: RegExp; broken?: true }> = {
  'a short row': { spoil: (row) => row.slice(0, 3).join(','), expected: /fields/, broken: true },
  'a long row': { spoil: (row) => [...row, 'more', 'more'].join(','), expected: /fields/, broken: true },
  'invalid bytes': {
    spoil: (row) => row.with(1, 'Z\u0001rich').join(','),
    expected: /name in line \d+, .*bytes are not valid/,
  },
  'a blank number': { spoil: (row) => row.with(2, ' ').join(','), expected: /stock in line \d+, .*is " "/ },
  'a hexadecimal number': {
    spoil: (row) => row.with(3, '0x10').join(','),
    expected: /price.list in line \d+, .*is "0x10"/,
  },
  NaN: { spoil: (row) => row.with(4, 'NaN').join(','), expected: /mass in line \d+, .*is "NaN"/ },
  'an ambiguous number': {
    spoil: (row) => row.with(5, '1.000').join(','),
    expected: /depth in line \d+, .*is "1.000"/,
  },
  'a date in the future': { spoil: (row) => row.with(6, '3026-01-01').join(','), expected: /opened .*3026-01-01/ },
  'a word that the list lacks': {
    spoil: (row) => row.with(7, 'huge').join(','),
    expected: /kind .*"huge", expected one of/,
  },
  'no identity': { spoil: (row) => row.with(0, '').join(','), expected: /rows without `id`/ },
  'an address of another scheme': { spoil: (row) => row.with(8, 'ftp://x').join(','), expected: /website .*"ftp:/ },
  'another value of one record': { spoil: (row) => row.with(0, 's1').join(','), expected: /one value in a reading/ },
  'a quote in a cell': { spoil: (row) => row.with(1, '"a" b').join(','), expected: /quote/, broken: true },
  'an unknown place': { spoil: (row) => row.with(9, '95').join(','), expected: /position .*latitude/ },
};

const HEADER = 'id,name,stock,price.list,mass,depth,opened,kind,website,lat,lng';
const names = Object.keys(KINDS);

/** Row number to the kind of its mistake: spread over the file, apart from the first rows. */
const planted = new Map(
  names.flatMap((name, k) => Array.from({ length: EACH }, (_, i): [number, string] => [100 + i * 900 + k * 7, name])),
);

async function writeShops(path: string): Promise<void> {
  const file = createWriteStream(path);
  let chunk = `${HEADER}\n`;
  for (let i = 0; i < ROWS; i++) {
    const kind = i % 3 === 0 ? 'small' : 'large';
    const row = [`s${i}`, `Shop ${i}`, `${i % 50}`, `${i % 90}.5`, `${(i % 9) + 1}`, '2.25', '2026-05-01', kind];
    const whole = [...row, `https://s${i}.example/`, `${i % 80}.5`, `${i % 170}.5`];
    const mistake = planted.get(i);
    chunk += `${mistake === undefined ? whole.join(',') : KINDS[mistake]!.spoil(whole, i)}\n`;
    if (chunk.length < 1 << 20 && i < ROWS - 1) continue;
    // A byte that no text in UTF-8 has.
    const bytes = Buffer.from(chunk).map((byte) => (byte === 1 ? 0xfc : byte));
    if (!file.write(bytes)) await once(file, 'drain');
    chunk = '';
  }
  file.end();
  await once(file, 'close');
}

/** Writes and loads a pack that tolerates a share of mistakes. A folder on disk, because large datasets use threads. */
async function shopPack(folder: string, tolerate: number): Promise<Pack> {
  const at = join(folder, `packs-${tolerate}`, 'shops');
  mkdirSync(at, { recursive: true });
  const attribute = { description: 'A column', public: true, sla: 8760 };
  const settings = {
    title: 'Shops',
    description: 'Fictional shops.',
    license: { name: 'CC0-1.0', url: 'https://creativecommons.org/publicdomain/zero/1.0/' },
    attribution: 'Example',
    sources: {
      shops: {
        ...{ title: 'Shops', url: 'https://shops.example/', license: 'CC0-1.0', trust: 0.9, complete: true },
        tolerate: { values: tolerate, rows: tolerate },
        from: csv(join(folder, 'shops.csv'), { attributes: { position: { lat: 'lat', lng: 'lng' } } }),
      },
    },
    attributes: {
      id: { ...attribute, type: 'string', example: 's1' },
      name: { ...attribute, type: 'string', example: 'Shop' },
      stock: { ...attribute, type: 'integer', example: 1 },
      'price.list': { ...attribute, type: 'price', unit: 'EUR/piece', currency: 'EUR', example: 1 },
      mass: { ...attribute, type: 'number', example: 1 },
      depth: { ...attribute, type: 'number', example: 1 },
      opened: { ...attribute, type: 'date', example: '2026-01-01', range: { max: 'now' } },
      kind: { ...attribute, type: 'enum', values: ['small', 'large'], example: 'small' },
      website: { ...attribute, type: 'url', example: 'https://shops.example/' },
      position: { ...attribute, type: 'geo', example: { lat: 1, lng: 2 } },
    },
    identity: { attributes: ['id'] },
    group_by: 'kind',
    serving: { showcase: { per_group: 1 } },
    compare: ['mass'],
    prices: { search: 0.008, get: 0.004, facts: 0.01, compare: 0.012, stats: 0.015 },
    schedule: '0 3 * * *',
  };
  const text = `import { definePack } from 'dataset-register/pack';\nexport default definePack(${JSON.stringify(settings)});\n`;
  writeFileSync(join(at, 'pack.ts'), text);
  writeFileSync(join(at, 'samples.json'), JSON.stringify([{ identity: { id: 'x' }, values: { name: 'Sample' } }]));
  writeFileSync(join(at, 'record.md'), '# {{ record.name }}\n');
  writeFileSync(join(at, 'guide.md'), 'Shops.\n');
  return loadPack(at);
}

test('planted mistakes are counted and named, and none is published', async () => {
  const folder = scratch();
  await writeShops(join(folder, 'shops.csv'));
  const night = async (tolerate: number) =>
    datasetNight(await shopPack(folder, tolerate), folder, still(), { accept: false });

  // Above the tolerated share nothing is published, and the message names every kind.
  const stopped = await night(0).then(() => '', String);
  expect(await currentRelease(folder, 'shops')).toBeNull();
  const rows = `${(EACH * 3).toLocaleString('en-US')} of ${ROWS.toLocaleString('en-US')} rows`;
  expect(stopped).toContain(rows);

  const { messages, records } = await night(0.01);
  const report = messages.join('\n');
  for (const [name, { expected }] of Object.entries(KINDS)) expect(report, name).toMatch(expected);
  expect(report).toContain(rows);
  expect(report).toContain(`${EACH.toLocaleString('en-US')} row${EACH === 1 ? '' : 's'} without \`id\``);
  // A repeated record has another name, stock, price, mass, place and address: the report counts each value.
  const counted = [...report.matchAll(/\(([\d,]+) such values\)/g)].map(([, n]) => Number(n!.replaceAll(',', '')));
  expect(counted.filter((n) => n === EACH).length).toBeGreaterThanOrEqual(9);
  expect(records).toBe(ROWS - EACH * 5);

  const release = paths.release(folder, 'shops', (await currentRelease(folder, 'shops'))!);
  const duck = await Duck.open(join(folder, 'spill'));
  const value = async (where: string) => {
    const file = quotedText(join(release, 'facts.parquet'));
    const [[count] = []] = await duck.rows(`SELECT count(*) FROM read_parquet(${file}) WHERE ${where}`);
    return Number(count);
  };
  const all = records;
  expect(await value("attribute = 'id'")).toBe(all);
  for (const attribute of ['name', 'stock', 'price.list', 'mass', 'depth', 'opened', 'kind', 'website', 'position'])
    expect(await value(`attribute = '${attribute}'`), attribute).toBe(all - EACH);
  expect(
    await value("value LIKE '%\ufffd%' OR value LIKE '%3026-%' OR value LIKE '%huge%' OR value LIKE '%ftp:%'"),
  ).toBe(0);
  duck.close();
  const rejected = readdirSync(paths.facts(folder, 'shops')).find((name) => name.endsWith('.rejected.jsonl'))!;
  expect(readFileSync(join(paths.facts(folder, 'shops'), rejected), 'utf8').split('\n').length).toBeGreaterThan(10);
}, 900_000);
