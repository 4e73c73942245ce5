// Plans: their SQL text with values, and their rows on the real engine.
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { loadPack } from '../../packs/define/load.ts';
import type { Value } from '../../packs/define/model.ts';
import { scratchOfAll } from '../../tests/support/night-pack.ts';
import { randomRecords } from '../../tests/support/random-records.ts';
import { spellSql } from '../../tests/support/spell-sql.ts';
import { writeRelease } from '../../tests/support/write-release.ts';
import type { StoredRecord } from '../model/record.ts';
import type { Predicate, SearchPlan } from '../plan/plan.ts';
import { countLiteral, identifier, join as joined, literal, sql } from '../plan/sql.ts';
import { openEngine } from './engine.ts';
import { bodiesStatement, facetStatement, resolveStatement, searchStatement } from './questions.ts';
import type { Shape } from './shape.ts';
import { conditions } from './where.ts';

const dataDir = scratchOfAll();

/** Five tools, best first; `maker` has few repeated values, so it stays a text unless there are more rows. */
const VALUES: Record<string, Value>[] = [
  {
    name: 'Cordless saw',
    maker: 'Zürich Tools',
    mass: 2,
    cordless: true,
    materials: ['Steel', 'Oak'],
    'price.list': 100,
    workshop: { lat: 47.38, lng: 8.54 },
    tested_on: '2026-01-10',
  },
  {
    name: 'Bench saw',
    maker: 'zurich tools',
    mass: 20,
    cordless: false,
    materials: ['steel'],
    'price.list': { min: 200, max: 300, currency: 'EUR' },
    summary: 'Cuts oak boards',
  },
  {
    name: 'Drill',
    maker: 'Acme',
    mass: 2,
    cordless: true,
    'price.list': 80,
    'price.rental': { min: 5, max: 9, currency: 'EUR' },
  },
  { name: 'Ångström gauge', materials: ['Glass'], workshop: { lat: 89.9, lng: 170 } },
  { maker: 'O\'Brien, "Sons"', mass: 0.5, workshop: { lat: -17, lng: 179.99 }, tested_on: '2025-12-31' },
];

const pack = await loadPack(join(import.meta.dirname, '../../tests/packs/tools'));
const bare = randomRecords(pack, VALUES.length, 1);
const records: StoredRecord[] = VALUES.map((attributes, index) => ({
  ...bare[index]!,
  id: `r-${index}`,
  slug: `tool-${index}`,
  attributes,
  quality_score: 0.9 - index / 10,
  updated_at: `2026-0${5 - index}-01T00:00:00Z`,
}));
const { folder, manifest } = await writeRelease(dataDir, pack, records);
const shape: Shape = {
  attributes: new Map(pack.attributes.map((attribute) => [attribute.name, attribute])),
  enums: new Map([['status:fold', 'status:fold']]),
};
const engine = await openEngine(folder, pack, manifest);
afterAll(() => engine.close());

const plan = (where: Predicate[], rest: Partial<SearchPlan> = {}): SearchPlan => ({
  where,
  sort: { key: 'quality', descending: true },
  after: null,
  limit: 20,
  total: false,
  ...rest,
});

/** Ordinals that the conditions match. */
const found = async (...where: Predicate[]) => (await engine.search(plan(where))).ordinals;
const compiled = (predicate: Predicate) => spellSql(conditions([predicate], shape));

describe('conditions', () => {
  test('any and none', async () => {
    const any: Predicate = { kind: 'any', attribute: 'maker', values: ['zurich tools', 'acme'] };
    expect(compiled(any)).toMatchInlineSnapshot(`""maker:fold" IN (?, ?) -- ["zurich tools","acme"]"`);
    expect(await found(any)).toEqual([0, 1, 2]);
    expect(compiled({ ...any, kind: 'none' })).toMatchInlineSnapshot(
      `"("maker:fold" IN (?, ?)) IS NOT TRUE -- ["zurich tools","acme"]"`,
    );
    expect(await found({ ...any, kind: 'none' }), 'a record without a maker is kept').toEqual([3, 4]);
    expect(await found({ kind: 'any', attribute: 'maker', values: ['nobody'] })).toEqual([]);
    expect(await found({ kind: 'any', attribute: 'mass', values: [2, 0.5] })).toEqual([0, 2, 4]);
    expect(await found({ kind: 'any', attribute: 'cordless', values: [false] })).toEqual([1]);
  });

  test('an ENUM is compared by member, so that an unknown value matches nothing', () => {
    expect(compiled({ kind: 'none', attribute: 'status', values: ['sold', 'lost'] })).toMatchInlineSnapshot(
      `"("status:fold" IN (TRY_CAST(? AS "status:fold"), TRY_CAST(? AS "status:fold"))) IS NOT TRUE -- ["sold","lost"]"`,
    );
  });

  test('lists', async () => {
    const any: Predicate = { kind: 'any', attribute: 'materials', values: ['oak', 'glass'] };
    expect(compiled(any)).toMatchInlineSnapshot(
      `"ord IN (SELECT ord FROM "entries:materials" WHERE fold IN (?, ?)) -- ["oak","glass"]"`,
    );
    expect(await found(any)).toEqual([0, 3]);
    expect(await found({ ...any, kind: 'none' })).toEqual([1, 2, 4]);
    expect(await found({ kind: 'like', attribute: 'materials', needle: 'tee' })).toEqual([0, 1]);
    expect(await found({ kind: 'has', attribute: 'materials', present: false })).toEqual([2, 4]);
  });

  test('contains', async () => {
    const like: Predicate = { kind: 'like', attribute: 'maker', needle: `"so` };
    expect(compiled(like)).toMatchInlineSnapshot(`"contains("maker:fold", ?) -- ["\\"so"]"`);
    expect(await found(like)).toEqual([4]);
    expect(await found({ kind: 'like', attribute: 'maker', needle: '%' }), 'no wildcards').toEqual([]);
  });

  test('bounds: ranges overlap, ends included', async () => {
    const min: Predicate = { kind: 'min', attribute: 'price.list', value: 300 };
    expect(compiled(min)).toMatchInlineSnapshot(`""price.list:max" >= ? -- [300]"`);
    expect(await found(min)).toEqual([1]);
    expect(compiled({ ...min, kind: 'max', value: 200 })).toMatchInlineSnapshot(`""price.list:min" <= ? -- [200]"`);
    expect(await found({ ...min, kind: 'max', value: 200 })).toEqual([0, 1, 2]);
    expect(await found({ ...min, value: 250 }, { kind: 'max', attribute: 'price.list', value: 250 })).toEqual([1]);
    expect(await found({ kind: 'min', attribute: 'tested_on', value: '2026-01-10' })).toEqual([0]);
    expect(await found({ kind: 'max', attribute: 'tested_on', value: '2025-12-31' })).toEqual([4]);
  });

  test('words begin words, all of them; a preview sees public ones', async () => {
    const words: Predicate = { kind: 'words', words: ['oak', 'sa'], scope: 'full' };
    expect(spellSql(conditions([words], shape))).toMatchInlineSnapshot(
      `"ord IN (SELECT ord FROM terms WHERE term >= ? AND term < ?) AND ord IN (SELECT ord FROM terms WHERE term >= ? AND term < ?) -- ["oak","oak􏿿","sa","sa􏿿"]"`,
    );
    expect(await found(words)).toEqual([0, 1]);
    expect(await found({ ...words, scope: 'public' }), 'the summary is not public').toEqual([0]);
    expect(await found({ ...words, words: ['angstrom'] })).toEqual([3]);
    expect(await found({ ...words, words: ['ak'] })).toEqual([]);
  });

  test('near: great circles over the date line and at the pole, the edge included', async () => {
    const near: Predicate = { kind: 'near', attribute: 'workshop', lat: 47.38, lng: 8.54, km: 0 };
    expect(conditions([near], shape).values).toMatchInlineSnapshot(`
      [
        47.379999999000006,
        47.380000001,
        6371.0088,
        47.38,
        47.38,
        8.54,
        0,
      ]
    `);
    expect(await found(near)).toEqual([0]);
    expect(await found({ ...near, lat: -17, lng: -179.99, km: 3 })).toEqual([4]);
    expect(await found({ ...near, lat: -17, lng: -179.99, km: 2 })).toEqual([]);
    expect(await found({ ...near, lat: 90, lng: 0, km: 12 })).toEqual([3]);
    expect(await found({ ...near, lat: 0, lng: 0, km: 20_100 })).toEqual([0, 3, 4]);
  });

  test('ids, age, quality, nothing', async () => {
    expect(compiled({ kind: 'ids', refs: ['r-1', 'tool-3', 'x'] })).toMatchInlineSnapshot(
      `"ord IN (SELECT ord FROM refs WHERE ref IN (?, ?, ?)) -- ["r-1","tool-3","x"]"`,
    );
    expect(await found({ kind: 'ids', refs: ['r-1', 'tool-3', 'x'] })).toEqual([1, 3]);
    expect(await found({ kind: 'updated_since', at: Date.UTC(2026, 2, 1) })).toEqual([0, 1, 2]);
    expect(await found({ kind: 'min_quality', value: 0.8 })).toEqual([0, 1]);
    expect(conditions([], shape).text).toBe('true');
    expect(await found()).toEqual([0, 1, 2, 3, 4]);
  });
});

describe('searches', () => {
  const sorted = async (key: string, descending: boolean) =>
    (await engine.search(plan([], { sort: { key, descending } }))).ordinals;

  test('order: records without the key are last in both directions, ties by id', async () => {
    expect(await sorted('mass', false)).toEqual([4, 0, 2, 1, 3]);
    expect(await sorted('mass', true)).toEqual([1, 0, 2, 4, 3]);
    expect(await sorted('name', false)).toEqual([3, 1, 0, 2, 4]);
    expect(await sorted('price.list', true)).toEqual([1, 0, 2, 3, 4]);
    expect(await sorted('cordless', false)).toEqual([1, 0, 2, 3, 4]);
    expect(await sorted('quality', false)).toEqual([4, 3, 2, 1, 0]);
    expect(await sorted('updated', true)).toEqual([0, 1, 2, 3, 4]);
  });

  test('statements', () => {
    expect(spellSql(searchStatement(plan([]), shape))).toMatchInlineSnapshot(
      `"SELECT ord, id, "quality" AS key FROM records WHERE true ORDER BY ord LIMIT 21 -- []"`,
    );
    const asked = plan([{ kind: 'any', attribute: 'cordless', values: [true] }], {
      sort: { key: 'status', descending: false },
      after: { value: 'listed', id: 'r-1' },
      limit: 5,
      total: true,
    });
    expect(spellSql(searchStatement(asked, shape))).toMatchInlineSnapshot(
      `"SELECT ord, id, key, total FROM (SELECT count(*) AS total FROM records WHERE "cordless:value" IN (?)) LEFT JOIN (SELECT ord, id, "status:fold" AS key FROM records WHERE "cordless:value" IN (?) AND ("status:fold"::VARCHAR > ? OR ("status:fold"::VARCHAR = ? AND id > ?) OR "status:fold" IS NULL) ORDER BY key ASC NULLS LAST, id LIMIT 6) ON true ORDER BY key ASC NULLS LAST, id -- [true,true,"listed","listed","r-1"]"`,
    );
    expect(
      searchStatement({ ...asked, total: false, after: { value: null, id: 'r-1' } }, shape).text,
    ).toMatchInlineSnapshot(
      `"SELECT ord, id, "status:fold" AS key FROM records WHERE "cordless:value" IN (?) AND "status:fold" IS NULL AND id > ? ORDER BY key ASC NULLS LAST, id LIMIT 6"`,
    );
  });

  test('the next page starts after the last record, also among those without the key', async () => {
    const walk = async (after: SearchPlan['after']): Promise<number[]> => {
      const page = await engine.search(
        plan([], { sort: { key: 'mass', descending: true }, limit: 1, after, total: true }),
      );
      expect(page.total).toBe(5);
      return [...page.ordinals, ...(page.next ? await walk(page.next) : [])];
    };
    expect(await walk(null)).toEqual([1, 0, 2, 4, 3]);
  });

  test('beyond the end there is nothing, and the total stays', async () => {
    const after = { value: null, id: 'r-9' };
    const page = await engine.search(plan([], { sort: { key: 'mass', descending: true }, after, total: true }));
    expect(page).toEqual({ ordinals: [], next: null, total: 5 });
  });
});

describe('facets', () => {
  const facets = (by: string, floor = 0, where: Predicate[] = []) => engine.facets({ where, by, limit: 3, floor });

  test('statements', () => {
    expect(spellSql(facetStatement({ where: [], by: 'cordless', limit: 3, floor: 0 }, shape))).toMatchInlineSnapshot(
      `"WITH matched AS MATERIALIZED (SELECT ord, "cordless:value" AS subject FROM records WHERE true), groups AS MATERIALIZED (SELECT subject AS value, count(*) AS n FROM matched WHERE subject IS NOT NULL GROUP BY subject), sums AS (SELECT count(*) AS matched, count(*) FILTER (subject IS NULL) AS missing, (SELECT count(*) FROM groups WHERE n < 0) AS withheld FROM matched), best AS (SELECT value, n FROM groups WHERE n >= 0 ORDER BY n DESC, value LIMIT 3) SELECT best.value, n, matched, missing, withheld FROM sums LEFT JOIN best ON true ORDER BY n DESC, best.value -- []"`,
    );
    const where: Predicate[] = [{ kind: 'min', attribute: 'mass', value: 1 }];
    expect(spellSql(facetStatement({ where, by: 'materials', limit: 3, floor: 5 }, shape))).toMatchInlineSnapshot(
      `"WITH matched AS MATERIALIZED (SELECT ord, "materials:fold" AS subject FROM records WHERE "mass:value" >= ?), groups AS MATERIALIZED (SELECT value, count(*) AS n FROM "entries:materials" WHERE ord IN (SELECT ord FROM matched) GROUP BY value), sums AS (SELECT count(*) AS matched, count(*) FILTER (subject IS NULL) AS missing, (SELECT count(*) FROM groups WHERE n < 5) AS withheld FROM matched), best AS (SELECT value, n FROM groups WHERE n >= 5 ORDER BY n DESC, value LIMIT 3) SELECT best.value, n, matched, missing, withheld FROM sums LEFT JOIN best ON true ORDER BY n DESC, best.value -- [1]"`,
    );
  });

  test('values as published, by count descending, ties by code point', async () => {
    expect((await facets('maker')).values).toEqual([
      { value: 'Acme', count: 1 },
      { value: 'O\'Brien, "Sons"', count: 1 },
      { value: 'Zürich Tools', count: 1 },
    ]);
    expect(await facets('cordless')).toEqual({
      values: [
        { value: true, count: 2 },
        { value: false, count: 1 },
      ],
      matched: 5,
      missing: 2,
      withheld: 0,
    });
    expect((await facets('mass')).values[0]).toEqual({ value: 2, count: 2 });
    expect((await facets('tested_on')).values.map(({ value }) => value)).toEqual(['2025-12-31', '2026-01-10']);
  });

  test('entries of lists, of matching records', async () => {
    expect(await facets('materials', 0, [{ kind: 'any', attribute: 'cordless', values: [true] }])).toEqual({
      values: [
        { value: 'Oak', count: 1 },
        { value: 'Steel', count: 1 },
      ],
      matched: 2,
      missing: 1,
      withheld: 0,
    });
  });

  test('values below the floor are withheld and counted', async () => {
    expect(await facets('mass', 2)).toEqual({ values: [{ value: 2, count: 2 }], matched: 5, missing: 1, withheld: 2 });
    expect(await facets('mass', 5)).toEqual({ values: [], matched: 5, missing: 1, withheld: 3 });
    expect(await facets('mass', 0, [{ kind: 'ids', refs: ['x'] }])).toEqual({
      values: [],
      matched: 0,
      missing: 0,
      withheld: 0,
    });
  });
});

test('lookups keep the order of the request', async () => {
  expect(spellSql(resolveStatement(['r-1', 'x'], shape))).toMatchInlineSnapshot(
    `"SELECT ref, ord FROM refs WHERE ref IN (?, ?) -- ["r-1","x"]"`,
  );
  expect(bodiesStatement([3, 1], sql`bodies`)).toMatchInlineSnapshot(`
    {
      "text": "SELECT ord, version, body FROM bodies WHERE ord IN (?::UINTEGER, ?::UINTEGER)",
      "values": [
        3,
        1,
      ],
    }
  `);
  expect(await engine.resolve(['tool-3', 'x', 'r-0', 'r-3'])).toEqual([3, null, 0, 3]);
  expect((await engine.bodies([3, 0])).map(({ body }) => JSON.parse(body))).toEqual([records[3], records[0]]);
  const head = ({ slug, updated_at }: { slug: string; updated_at: string }) => ({ slug, updated_at });
  expect(await engine.heads([3, 0])).toEqual([records[3]!, records[0]!].map(head));
  expect([await engine.resolve([]), await engine.bodies([]), await engine.heads([])]).toEqual([[], [], []]);
  await expect(engine.bodies([99])).rejects.toThrow('no record for ordinal 99');
});

describe('fragments of statements', () => {
  test('values are bound, identifiers quoted', () => {
    expect(
      sql`SELECT ${identifier('a"b')} WHERE x = ${`'; --`} AND ${joined([sql`y = ${1}`, sql`z`], ' OR ')}`,
    ).toEqual({
      text: 'SELECT "a""b" WHERE x = ? AND y = ? OR z',
      values: [`'; --`, 1],
    });
    expect(literal(`it's`).text).toBe(`'it''s'`);
  });

  test('NUL and invalid counts are rejected', () => {
    expect(() => identifier('a\0')).toThrow('NUL');
    expect(() => literal('a\0')).toThrow('NUL');
    for (const count of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => countLiteral(count)).toThrow('must be an integer');
  });
});
