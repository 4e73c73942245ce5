// The balance of a night: what it prints is recomputed from the raw cells, for each kind of source.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { crc32, gzipSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import { writeXlsx } from 'hucre/xlsx';
import pg from 'pg';
import { expect, onTestFinished, type TestContext, test } from 'vitest';
import { Web } from '../../../build/crawl/web.ts';
import type { Effects } from '../../../build/effects/effects.ts';
import { datasetNight } from '../../../build/night/dataset.ts';
import { fixtureFolder } from '../../../packs/define/load.ts';
import type { Observed, Pack } from '../../../packs/define/model.ts';
import { DeclaredSourceShape } from '../../../packs/define/sources.ts';
import { scratch, still, stonesPack } from '../../support/night-pack.ts';
import { openWorld } from '../../support/overlay-world.ts';

const COLUMNS = ['code', 'Name', 'Mass', 'Price', 'Note', 'Kept'];

/** Rows with missing, wrong and dropped cells; the last one repeats the one before. */
const ROWS = Array.from({ length: 40 }, (_, row) => {
  const i = Math.min(row, 38);
  return [
    `c${String(i).padStart(2, '0')}`,
    `Stone ${i}`,
    i % 7 === 0 ? '' : i % 11 === 0 ? 'heavy' : String(i + 1),
    i % 5 === 0 ? '' : '3',
    'a note that nothing reads',
    i % 10 === 7 ? 'no' : 'yes',
  ];
});

const number = (count: number) => count.toLocaleString('en-US');

/** The balance that follows from raw rows: the cells before Note are read, Note and Kept are not, then `more` ones. */
function expected(night: 'first' | 'second', rows: readonly string[][] = ROWS): string {
  const width = rows[0]!.length;
  const kept = rows.filter((row) => row[5] === 'yes');
  const cells = kept.flatMap((row) => row.filter((_, i) => i !== 4 && i !== 5));
  const missing = cells.filter((cell) => cell === '').length;
  const rejected = cells.filter((cell) => cell === 'heavy').length;
  const dropped = (rows.length - kept.length) * width;
  const repeated = rows.at(-1)!.filter((cell, i) => i !== 4 && i !== 5 && cell !== '').length;
  const good = cells.length - missing - rejected;
  const fresh = night === 'first' ? good - repeated : 1;
  const read = rows.length * width;
  expect(good + missing + rejected + dropped + kept.length * 2).toBe(read);
  return (
    `shop: ${number(read)} cells read = ${fresh} published + ${good - fresh} confirmed unchanged + ${missing} missing + ` +
    `${rejected} rejected + ${dropped} dropped by rule + ${kept.length * 2} in columns not mapped`
  );
}

const objects = (rows: string[][]) =>
  rows.map((row) => Object.fromEntries(COLUMNS.map((column, i) => [column, row[i]])));
const literals = (rows: string[][]) => rows.map((row) => `(${row.map((cell) => `'${cell}'`).join(', ')})`).join(', ');
const csvText = (rows: string[][]) => [COLUMNS, ...rows].map((row) => row.join(',')).join('\n');
const jsonLines = (rows: string[][]) =>
  objects(rows)
    .map((row) => JSON.stringify(row))
    .join('\n');

/** A zip archive with one stored entry. */
function zipOf(name: string, text: string): Buffer {
  const [bytes, path] = [Buffer.from(text), Buffer.from(name)];
  const header = (signature: number, length: number, at: number) => {
    const record = Buffer.alloc(length);
    record.writeUInt32LE(signature);
    record.writeUInt32LE(crc32(bytes), at);
    record.writeUInt32LE(bytes.length, at + 4);
    record.writeUInt32LE(bytes.length, at + 8);
    record.writeUInt16LE(path.length, at + 12);
    return record;
  };
  const local = Buffer.concat([header(0x04034b50, 30, 14), path, bytes]);
  const directory = Buffer.concat([header(0x02014b50, 46, 16), path]);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50);
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(local.length, 16);
  return Buffer.concat([local, directory, end]);
}

type Write = (rows: string[][]) => Promise<void> | void;

/** A source of the test: the members of its declaration, what it needs of the run, and how its rows are replaced. */
interface Stage {
  members: object;
  effects?: Partial<Effects>;
  write: Write;
}

const fileOf = (name: string, members: object, write: (path: string, rows: string[][]) => Promise<void> | void) => {
  return (folder: string): Stage => ({
    members: { file: name, ...members },
    write: (rows) => write(join(folder, name), rows),
  });
};

/** An API with pages of 15 rows; the first page has no notes. */
async function api(format: 'json' | 'ndjson' | 'csv', by: 'query' | 'cursor' | 'link' = 'query'): Promise<Stage> {
  let rows: string[][] = [];
  const server = createServer((request, response) => {
    const page = Number(new URL(request.url!, 'http://localhost').searchParams.get('page'));
    const some = rows.slice(page * 15, page * 15 + 15);
    const items = objects(some).map(({ Note, ...row }) => (page === 0 ? row : { ...row, Note }));
    const next = rows.length > page * 15 + 15 ? page + 1 : null;
    if (some.length === 0) response.statusCode = 404;
    if (by === 'link' && next !== null) response.setHeader('Link', `</stones?page=${next}>; rel="next"`);
    if (format === 'json') response.end(JSON.stringify({ data: { items }, ...(by === 'cursor' && { next }) }));
    else response.end(format === 'csv' ? csvText(some) : items.map((item) => JSON.stringify(item)).join('\n'));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const web = async () =>
    new Web({
      allowed: () => true,
      ports: null,
      sign: async () => ({ Signature: 'signed' }),
      base_url: 'https://register.example',
      now: () => new Date(),
      wait: async () => {},
      random: () => 0,
    });
  const pages = {
    query: { by: 'query', parameter: 'page', from: 0 },
    cursor: { by: 'cursor', parameter: 'page', at: 'next' },
    link: { by: 'link' },
  }[by];
  const items = format === 'json' ? { items: 'data.items' } : {};
  const urls = [`http://127.0.0.1:${(server.address() as AddressInfo).port}/stones`];
  return {
    members: { urls, format, pages, ...items },
    effects: { web },
    write(next) {
      rows = next;
    },
  };
}

/** A table of PostgreSQL in a schema of its own. */
async function table(context: TestContext, members: object = {}): Promise<Stage & { run: (sql: string) => unknown }> {
  const url = process.env['TEST_DATABASE_URL'];
  if (!url) context.skip('no PostgreSQL at TEST_DATABASE_URL');
  const schema = `balance_${randomBytes(6).toString('hex')}`;
  const client = new pg.Client(url!);
  await client.connect();
  onTestFinished(async () => {
    await client.query(`DROP SCHEMA ${schema} CASCADE`);
    await client.end();
  });
  const run = (sql: string) => client.query(sql.replaceAll('{stones}', `${schema}.stones`));
  const columns = COLUMNS.map((column) => `"${column}" text`).join(', ');
  await run(`CREATE SCHEMA ${schema}; CREATE TABLE {stones} (${columns}, changed int DEFAULT 1)`);
  const list = COLUMNS.map((column) => `"${column}"`).join(', ');
  return {
    members: { query: `SELECT ${list} FROM ${schema}.stones`, url_env: 'STONES', ...members },
    effects: { environment: () => url },
    run,
    async write(rows) {
      await run(`TRUNCATE {stones}; INSERT INTO {stones} (${list}) VALUES ${literals(rows)}`);
    },
  };
}

/** A source of each kind, made in a folder. */
const KINDS: Record<string, (folder: string, context: TestContext) => Stage | Promise<Stage>> = {
  csv: fileOf('stones.csv', {}, (path, rows) => writeFileSync(path, csvText(rows))),
  'csv in gzip': fileOf('stones.csv.gz', {}, (path, rows) => writeFileSync(path, gzipSync(csvText(rows)))),
  'csv in zip': fileOf('stones.zip', {}, (path, rows) => writeFileSync(path, zipOf('s.csv', csvText(rows)))),
  jsonl: fileOf('stones.jsonl', {}, (path, rows) => writeFileSync(path, jsonLines(rows))),
  json: fileOf('stones.json', {}, (path, rows) => writeFileSync(path, JSON.stringify(objects(rows)))),
  xlsx: fileOf('stones.xlsx', {}, async (path, rows) =>
    writeFileSync(path, await writeXlsx({ sheets: [{ name: 'S', rows: [COLUMNS, ...rows] }] })),
  ),
  parquet: fileOf('stones.parquet', {}, async (path, rows) => {
    const connection = await (await DuckDBInstance.create()).connect();
    await connection.run(`COPY (SELECT * FROM (VALUES ${literals(rows)}) AS t(${COLUMNS.join(', ')})) TO '${path}'`);
    connection.closeSync();
  }),
  sqlite: fileOf('stones.sqlite', { table: 'stones' }, (path, rows) => {
    const database = new DatabaseSync(path);
    database.exec(`DROP TABLE IF EXISTS stones; CREATE TABLE stones (${COLUMNS.join(', ')})`);
    database.exec(`INSERT INTO stones VALUES ${literals(rows)}`);
    database.close();
  }),
  postgres: (_, context) => table(context),
  'http of json': () => api('json'),
  'http of ndjson': () => api('ndjson'),
  'http of csv': () => api('csv'),
  'http with a cursor': () => api('json', 'cursor'),
  'http with Link, of ndjson': () => api('ndjson', 'link'),
};

const kindOf = (name: string) => name.split(' ')[0]!;

const ATTRIBUTES = { name: 'Name', mass: 'Mass', 'price.sale': 'Price' };

/** A pack with one source, of whose rows and values all may be wrong. */
function packOf(folder: string, kind: string, members: object, collector?: Pack['collector']): Pack {
  const base = stonesPack(folder, { shop: { '01-01': [] } });
  const where = (row: Readonly<Record<string, unknown>>) => row['Kept'] === 'yes';
  const from = DeclaredSourceShape.parse({ kind, attributes: ATTRIBUTES, where, ...members });
  const tolerate = { values: 1, rows: 1 };
  return {
    ...base,
    collector: collector ?? { read: ({ rows }) => rows! },
    sources: base.sources.map((source) => ({ ...source, pins: [], from, tolerate })),
  };
}

const DAY = (day: number) => `2026-12-0${day}T00:00:00Z`;
const renamed = (rows: readonly string[][]) =>
  rows.map((row) => (row[0] === 'c01' ? row.with(1, 'Another stone') : row));

test.for(Object.keys(KINDS))('%s: each cell that was read has one outcome', async (name, context) => {
  const folder = scratch();
  const { members, effects, write } = await KINDS[name]!(folder, context);
  const night = (day: number) => {
    const run = { ...still(DAY(day)), ...effects };
    return datasetNight(packOf(folder, kindOf(name), members), folder, run, { accept: true });
  };
  await write(ROWS);
  expect((await night(1)).balance).toEqual([expected('first')]);
  await write(renamed(ROWS));
  expect((await night(2)).balance).toEqual([expected('second')]);
});

test('geojson: the coordinates of a point are two cells', async () => {
  const folder = scratch();
  const withPoints = ROWS.map((row) => [...row, ...(Number(row[0]!.slice(1)) % 4 === 0 ? ['', ''] : ['7.5', '47.5'])]);
  const features = objects(ROWS).map((properties, i) => {
    const [lng, lat] = withPoints[i]!.slice(6);
    return {
      type: 'Feature',
      properties,
      geometry: lng === '' ? null : { type: 'Point', coordinates: [+lng!, +lat!] },
    };
  });
  writeFileSync(join(folder, 'stones.geojson'), JSON.stringify({ type: 'FeatureCollection', features }));
  const attributes = { ...ATTRIBUTES, place: { lat: 'location.lat', lng: 'location.lng' } };
  const pack = packOf(folder, 'json', { file: 'stones.geojson', geojson: true, attributes });
  const { balance } = await datasetNight(pack, folder, still(DAY(1)), { accept: true });
  expect(balance).toEqual([expected('first', withPoints)]);
});

test('postgres with a cursor: only the cells of newer rows are read', async (context) => {
  const folder = scratch();
  const { members, effects, run, write } = await table(context);
  const query = (members as { query: string }).query.replace('SELECT ', 'SELECT changed, ');
  const pack = packOf(folder, 'postgres', { ...members, query, cursor: 'changed', where: undefined });
  const night = (day: number) => datasetNight(pack, folder, { ...still(DAY(day)), ...effects }, { accept: true });
  const rows = [ROWS[1]!, ROWS[2]!, ROWS[3]!];
  await write(rows);
  expect((await night(1)).balance).toEqual([`shop: 21 cells read = 12 published + 9 in columns not mapped`]);
  await run(`UPDATE {stones} SET changed = 2, "Price" = '4' WHERE code = 'c02'`);
  expect((await night(2)).balance).toEqual([
    'shop: 7 cells read = 1 published + 3 confirmed unchanged + 3 in columns not mapped',
  ]);
});

test('rows that cannot be read, and members that only late rows have, are counted', async () => {
  const folder = scratch();
  const version = fixtureFolder(folder, 'stones', '1.0.0');
  const rows = Array.from({ length: 1500 }, (_, i) => ({ code: `c${i}`, name: `Stone ${i}` }));
  const lines = [...rows.map((row) => JSON.stringify(row)), '{"code":"late","name":"Late","mass":5,"more":1}', 'torn'];
  const write = (path: string) => writeFileSync(path, lines.join('\n'));
  const pin = { package: 'stones', version: '1.0.0', integrity: '', observed_at: DAY(1), date_source: 'pin' as const };
  const members = { file: 'stones.jsonl', where: undefined, attributes: {} };
  const stored = packOf(folder, 'jsonl', members);
  mkdirSync(version, { recursive: true });
  write(join(version, 'stones.jsonl'));
  write(join(folder, 'stones.jsonl'));
  // 1,502 rows with the members code, name, mass and more; the torn one has no cell that is a value.
  const sum = 'shop: 6,008 cells read = 3,003 published + 1,500 missing + 4 rejected + 1,501 in columns not mapped';
  for (const [pack, place] of [
    [stored, 'stored'],
    [{ ...stored, sources: stored.sources.map((source) => ({ ...source, pins: [pin] })) }, 'package'],
  ] as const) {
    const { balance } = await datasetNight(pack, join(folder, place), still(DAY(2)), { accept: true });
    expect([place, ...balance!]).toEqual([place, sum]);
  }
});

test('a collector that drops rows, and adds some of its own, changes no sum', async () => {
  const folder = scratch();
  writeFileSync(join(folder, 'stones.csv'), 'code,Name,Mass\na,Agate,1\nb,Beryl,2\nc,Citrine,\n');
  const members = { file: 'stones.csv', where: undefined, attributes: { name: 'Name', mass: 'Mass' } };
  const collector = {
    async *read({ rows }: { rows?: AsyncIterable<Observed> }) {
      for await (const row of rows!) {
        if (row.identity!['code'] === 'a') continue;
        yield { ...row, values: { ...row.values, mass: 7 } };
        const code = `${row.identity!['code']}2`;
        yield { ...row, identity: { code }, values: { ...row.values, code } };
      }
    },
  };
  const pack = packOf(folder, 'csv', members, collector);
  const { balance, records } = await datasetNight(pack, folder, still(DAY(1)), { accept: true });
  // Of 4 records, 2 rows were cells: 3 + 3, and one of these has no mass. The row `a` was left out, but the
  // collector gave more names and codes than it left out.
  expect(records).toBe(4);
  expect(balance).toEqual(['shop: 9 cells read = 8 published + 1 missing']);
});

test('a value that a more trusted source has too is lost to it', async () => {
  const folder = scratch();
  writeFileSync(join(folder, 'a.csv'), 'code,Name,Mass\na,Agate,1\nb,Beryl,2\n');
  writeFileSync(join(folder, 'b.csv'), 'code,Name,Mass\na,Agate,5\nc,Citrine,\n');
  const base = packOf(folder, 'csv', { file: 'a.csv' });
  const [source] = base.sources;
  const declared = (id: string, trust: number): Pack['sources'][number] => ({
    ...source!,
    id,
    trust,
    from: DeclaredSourceShape.parse({ kind: 'csv', file: `${id}.csv`, attributes: { name: 'Name', mass: 'Mass' } }),
  });
  const pack = { ...base, sources: [declared('a', 0.9), declared('b', 0.5)] };
  const { balance } = await datasetNight(pack, folder, still(DAY(1)), { accept: true });
  expect(balance).toEqual([
    'a: 6 cells read = 6 published',
    'b: 6 cells read = 4 published + 1 lost to another source or held + 1 missing',
  ]);
});

test('new values of an opted-out record, and those that an owner replaced, are lost', async () => {
  const folder = scratch();
  const write = (mass: number) => {
    const rows = ['a', 'b', 'c'].map((code) => `${code},Stone ${code},${mass}`);
    writeFileSync(join(folder, 'stones.csv'), `${['code,Name,Mass', ...rows].join('\n')}\n`);
    utimesSync(join(folder, 'stones.csv'), mass, mass);
  };
  write(1);
  const members = { file: 'stones.csv', where: undefined, attributes: { name: 'Name', mass: 'Mass' } };
  const world = await openWorld(join(folder, 'data'), packOf(folder, 'csv', members), DAY(1));
  const [a, b] = [...(await world.records()).values()].toSorted((x, y) => x.slug.localeCompare(y.slug));
  await world.optOut(a!.id, DAY(1));
  await world.say(b!.id, { mass: 9 }, DAY(1));
  write(2);
  expect((await world.night(DAY(2))).balance).toEqual([
    'shop: 9 cells read = 1 published + 6 confirmed unchanged + 2 lost to another source or held',
  ]);
  await world.close();
});

test('a refused night and a stopped one print what was not published', async () => {
  const folder = scratch();
  const rows = Array.from({ length: 300 }, (_, i) => [`c${i}`, `Stone ${i}`, '1']);
  const write = (mass: string, wrong: string) =>
    writeFileSync(
      join(folder, 'stones.csv'),
      ['code,Name,Mass', ...rows.map(([code, name], i) => `${code},${name},${i < 10 ? wrong : mass}`)].join('\n'),
    );
  const members = { file: 'stones.csv', where: undefined, attributes: { name: 'Name', mass: 'Mass' } };
  const lenient = packOf(folder, 'csv', members);
  const strict = { ...lenient, sources: lenient.sources.map((s) => ({ ...s, tolerate: { values: 0, rows: 0 } })) };
  const night = async (pack: Pack, day: number) => {
    const effects = still(DAY(day));
    const outcome = await datasetNight(pack, folder, effects, { accept: false }).then(
      (night) => night.outcome,
      () => 'stopped',
    );
    return [outcome, ...effects.lines.filter((line) => line.includes('cells read'))];
  };
  write('1', '1');
  expect(await night(strict, 1)).toEqual(['released', 'stones: shop: 900 cells read = 900 published']);
  write('2', 'heavy');
  expect(await night(strict, 2)).toEqual([
    'stopped',
    'stones: shop: 900 cells read = 290 new and not added + 600 unchanged and not added + 10 rejected',
  ]);
  expect(await night(lenient, 3)).toEqual([
    'refused',
    'stones: shop: 900 cells read = 290 held in the refused release + 600 confirmed unchanged + 10 rejected',
  ]);
});
