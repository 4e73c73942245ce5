// Opening a release: the locked instance, older and damaged releases, and where bodies are read.
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadPack } from '../../packs/define/load.ts';
import { scratchOfAll } from '../../tests/support/night-pack.ts';
import { randomRecords } from '../../tests/support/random-records.ts';
import { writeRelease } from '../../tests/support/write-release.ts';
import { DEFAULT_LIMITS } from '../plan/limits.ts';
import { load, openEngine } from './engine.ts';

const dataDir = scratchOfAll();

const pack = await loadPack(join(import.meta.dirname, '../../tests/packs/tools'));
const written = await writeRelease(dataDir, pack, randomRecords(pack, 60, 5));

const open = (limits = {}) => load(written.folder, pack, 60, { ...DEFAULT_LIMITS, ...limits });

describe('after loading', () => {
  test('nothing outside the release folder can be read, and no setting changed', async () => {
    const outside = join(dataDir, 'outside.csv');
    writeFileSync(outside, 'a\n1\n');
    const { instance, connect } = await open();
    const connection = await connect();
    const inside = await connection.runAndReadAll(
      `SELECT count(*) FROM read_parquet('${written.folder}/bodies.parquet')`,
    );
    expect(Number(inside.getRows()[0]?.[0])).toBe(60);
    for (const statement of [
      `SELECT * FROM read_csv('${outside}')`,
      `SELECT * FROM read_csv('${written.folder}/../../../outside.csv')`,
      `SELECT * FROM read_text('/etc/passwd')`,
      `SELECT * FROM glob('/etc/*')`,
      `SELECT * FROM '${outside}'`,
      `ATTACH '${join(dataDir, 'x.db')}'`,
      `COPY records TO '${join(dataDir, 'x.csv')}'`,
      `EXPORT DATABASE '${join(dataDir, 'x')}'`,
      'INSTALL httpfs',
      'LOAD httpfs',
      `SELECT * FROM read_csv('https://example.com/a.csv')`,
      `SET enable_external_access = true`,
      `SET threads = 8`,
      `SET memory_limit = '100GB'`,
      `RESET lock_configuration`,
    ])
      await expect(connection.run(statement), statement).rejects.toThrow(
        /disabled|locked|Permission|cannot be (set|changed|disabled)|Cannot/u,
      );
    connection.closeSync();
    instance.closeSync();
  });

  test('columns with repeated values are ENUMs in code point order', async () => {
    const { instance, connect, shape } = await open();
    expect(shape.enums.has('kind:fold')).toBe(true);
    expect(shape.enums.has('summary:fold')).toBe(false);
    const connection = await connect();
    const members = await connection.runAndReadAll('SELECT unnest(enum_range(NULL::"kind:value"))');
    const values = members.getRows().map(([value]) => String(value));
    expect(values).toEqual([...values].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
    connection.closeSync();
    instance.closeSync();
  });
});

test('views of the file have the same rows as tables in memory', async () => {
  const [lists] = pack.attributes.filter(({ type }) => type === 'strings');
  const rows = async (tables: boolean) => {
    const { instance, connect, shape } = await open({ tables });
    const connection = await connect();
    const all = async (sql: string) => JSON.stringify((await connection.runAndReadAll(sql)).getRowsJson());
    const answer = {
      records: await all('FROM records ORDER BY ord'),
      entries: await all(`FROM "entries:${lists?.name}" ORDER BY fold, ord, value`),
      words: await all('FROM terms ORDER BY term, ord'),
      refs: await all('FROM refs ORDER BY ref'),
    };
    const loaded = Number(
      (
        await connection.runAndReadAll("SELECT count(*) FROM duckdb_tables() WHERE table_name = 'records'")
      ).getRows()[0]?.[0],
    );
    connection.closeSync();
    instance.closeSync();
    return { answer, loaded, enums: shape.enums.size };
  };
  const [loaded, viewed] = [await rows(true), await rows(false)];
  expect(viewed.answer).toEqual(loaded.answer);
  expect(loaded).toMatchObject({ loaded: 1, enums: expect.any(Number) });
  expect(loaded.enums).toBeGreaterThan(0);
  expect(viewed).toMatchObject({ loaded: 0, enums: 0 });
});

test('tables are packed', async () => {
  const { instance, connect } = await open();
  const connection = await connect();
  const found = await connection.runAndReadAll(
    "SELECT DISTINCT compression FROM pragma_storage_info('records') WHERE column_name IN ('ord', 'kind:fold') AND segment_type <> 'VALIDITY'",
  );
  expect(found.getRows().flat()).not.toContain('Uncompressed');
  connection.closeSync();
  instance.closeSync();
});

test('bodies are held in memory up to the limit and read from the file above it', async () => {
  const few = await openEngine(written.folder, pack, written.manifest);
  const many = await openEngine(written.folder, pack, written.manifest, { bodies: 0 });
  const { instance, bodies } = await open({ bodies: 0 });
  expect(bodies.text).toContain('read_parquet');
  expect(await many.bodies([7, 3, 59])).toEqual(await few.bodies([7, 3, 59]));
  instance.closeSync();
  await Promise.all([few.close(), many.close()]);
});

test('a release older than an attribute has no values for it', async () => {
  const { attributes } = pack;
  const added = (name: string, type: 'string' | 'strings' | 'price' | 'geo' | 'boolean') => ({
    ...attributes[0]!,
    name,
    type,
  });
  const types = ['string', 'strings', 'price', 'geo', 'boolean'] as const;
  const newer = { ...pack, attributes: [...attributes, ...types.map((type) => added(`new.${type}`, type))] };
  const engine = await openEngine(written.folder, newer, written.manifest);
  for (const type of types) {
    const where = [{ kind: 'has' as const, attribute: `new.${type}`, present: false }];
    const sort = { key: 'quality', descending: true };
    expect((await engine.search({ where, sort, after: null, limit: 100, total: false })).ordinals).toHaveLength(60);
  }
  for (const by of ['new.string', 'new.strings', 'new.boolean'])
    expect(await engine.facets({ where: [], by, limit: 5, floor: 0 })).toMatchObject({ values: [], missing: 60 });
  await engine.close();
});

test('an empty release answers', async () => {
  const { folder, manifest } = await writeRelease(dataDir, pack, [], false);
  const engine = await openEngine(folder, pack, manifest);
  const sort = { key: 'name', descending: false };
  expect(await engine.search({ where: [], sort, after: null, limit: 5, total: true })).toEqual({
    ordinals: [],
    next: null,
    total: 0,
  });
  expect(await engine.facets({ where: [], by: 'materials', limit: 5, floor: 0 })).toEqual({
    values: [],
    matched: 0,
    missing: 0,
    withheld: 0,
  });
  await engine.close();
});

test.each([
  ['a missing file', (folder: string) => rmSync(join(folder, 'terms.parquet'))],
  ['half a file', (folder: string) => truncateSync(join(folder, 'engine.parquet'), 2_000)],
  [
    'bodies of another release',
    (folder: string, other: string) => copyFileSync(join(other, 'bodies.parquet'), join(folder, 'bodies.parquet')),
  ],
])('%s: the release does not open', async (_, harm) => {
  const folder = mkdtempSync(join(dataDir, 'harmed-'));
  for (const file of ['engine', 'terms', 'bodies'])
    copyFileSync(join(written.folder, `${file}.parquet`), join(folder, `${file}.parquet`));
  const other = await writeRelease(dataDir, pack, randomRecords(pack, 3, 1), false);
  mkdirSync(folder, { recursive: true });
  harm(folder, other.folder);
  await expect(openEngine(folder, pack, written.manifest)).rejects.toThrow();
});
