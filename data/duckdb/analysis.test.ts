// Analysis plans: their SQL text with values, and their rows on the real engine, in memory and from the file.
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { loadPack } from '../../packs/define/load.ts';
import type { Value } from '../../packs/define/model.ts';
import { scratchOfAll } from '../../tests/support/night-pack.ts';
import { randomRecords } from '../../tests/support/random-records.ts';
import { spellSql } from '../../tests/support/spell-sql.ts';
import { writeRelease } from '../../tests/support/write-release.ts';
import type { PublishedInterval, StoredRecord } from '../model/record.ts';
import type { Predicate, SeriesPlan, SimilarPlan, StatsPlan } from '../plan/plan.ts';
import { openEngine } from './engine.ts';
import { seriesStatement, statsStatement } from './questions.ts';
import type { Shape } from './shape.ts';
import { similarStatement } from './similar.ts';

const dataDir = scratchOfAll();

const VALUES: Record<string, Value>[] = [
  { name: 'Cordless saw', maker: 'Zürich Tools', kind: 'saw', mass: 2, materials: ['Steel', 'Oak'], 'price.list': 100 },
  {
    name: 'Bench saw',
    maker: 'zurich tools',
    kind: 'saw',
    mass: 20,
    'price.list': { min: 200, max: 900, currency: 'EUR' },
  },
  { name: 'Cordless drill', maker: 'Acme', kind: 'drill', mass: 2, materials: ['Steel'], 'price.list': 80 },
  { name: 'Gauge', materials: ['Glass'], 'price.list': 20 },
  { maker: 'Acme', kind: 'lamp', mass: 0.5 },
];

/** Day 0 is 1 November 2026. */
const DAY_0 = Date.UTC(2026, 10, 1);
const at = (day: number, clock = 0) => new Date(DAY_0 + day * 86_400_000 + clock).toISOString();
const first = DAY_0 / 86_400_000;

function intervals(record: StoredRecord, ...steps: [from: string, value: Value | null][]): PublishedInterval[] {
  return steps.map(([from, value], index) => ({
    entity: record.id,
    attribute: 'price.list',
    value,
    from,
    to: steps[index + 1]?.[0] ?? null,
    source_url: 'https://source.example/',
  }));
}

const pack = await loadPack(join(import.meta.dirname, '../../tests/packs/tools'));
const bare = randomRecords(pack, VALUES.length, 1);
const records = VALUES.map((attributes, index) => ({
  ...bare[index]!,
  // The best record has the highest id, so that order by id differs from order by rank.
  id: `r-${9 - index}`,
  slug: `tool-${index}`,
  attributes,
  quality_score: 0.9 - index / 10,
}));
const [one, two, three, four] = records as [StoredRecord, StoredRecord, StoredRecord, StoredRecord];
const history = [
  ...intervals(one, [at(-300), 90], [at(3, 86_399_999), 100]),
  ...intervals(two, [at(2), { min: 150, max: 160, currency: 'EUR' }], [at(5), null], [at(6), 200]),
  ...intervals(three, [at(1, 1), 70], [at(1, 2), 75], [at(1, 3), 80]),
  ...intervals(four, [at(40), 20]),
  ...intervals({ ...four, id: 'r-gone' }, [at(0), 1]),
];
const release = await writeRelease(dataDir, pack, records, true, history);
const { folder, manifest } = release;
const shape: Shape = { attributes: new Map(pack.attributes.map((one) => [one.name, one])), enums: new Map() };
const engine = await openEngine(folder, pack, manifest);
/** The same release with its history read from the file. */
const frugal = await openEngine(folder, pack, manifest, { history: 0 });
afterAll(() => Promise.all([engine.close(), frugal.close()]));

describe('similar', () => {
  const plan = (rest: Partial<SimilarPlan> = {}): SimilarPlan => ({
    subject: 0,
    where: [],
    differBy: null,
    limit: 10,
    ...rest,
  });

  test('statement', () => {
    expect(spellSql(similarStatement(plan(), shape))).toMatchInlineSnapshot(
      `"WITH mine AS MATERIALIZED (SELECT term FROM terms WHERE compared AND ord = ?::UINTEGER), shared AS (SELECT ord, count(*) AS common FROM terms WHERE compared AND term IN (SELECT term FROM mine) AND ord <> ?::UINTEGER GROUP BY ord), candidates AS (SELECT ord, id FROM records WHERE true) SELECT ord, common / ((SELECT count(*) FROM mine)::DOUBLE + words - common) AS score FROM shared JOIN term_counts USING (ord) JOIN candidates USING (ord) WHERE score >= ?::DOUBLE ORDER BY score DESC, id LIMIT 10 -- [0,0,0]"`,
    );
    const asked = plan({ differBy: 'maker', where: [{ kind: 'any', attribute: 'kind', values: ['saw'] }] });
    expect(spellSql(similarStatement(asked, shape))).toMatchInlineSnapshot(
      `"WITH mine AS MATERIALIZED (SELECT term FROM terms WHERE compared AND ord = ?::UINTEGER), shared AS (SELECT ord, count(*) AS common FROM terms WHERE compared AND term IN (SELECT term FROM mine) AND ord <> ?::UINTEGER GROUP BY ord), candidates AS (SELECT ord, id FROM records WHERE "kind:fold" IN (?) AND "maker:fold" IS NOT NULL AND "maker:fold" IS DISTINCT FROM (SELECT "maker:fold" FROM records WHERE ord = ?::UINTEGER)) SELECT ord, common / ((SELECT count(*) FROM mine)::DOUBLE + words - common) AS score FROM shared JOIN term_counts USING (ord) JOIN candidates USING (ord) WHERE score >= ?::DOUBLE ORDER BY score DESC, id LIMIT 10 -- [0,0,"saw",0,0]"`,
    );
  });

  test('Jaccard index, highest first, ties by id, without the subject', async () => {
    // cordless saw zurich tools steel oak | bench saw zurich tools: 3 of 7; cordless drill acme steel: 2 of
    // 8.
    expect(await engine.similar(plan())).toEqual([
      { ordinal: 1, score: 3 / 7 },
      { ordinal: 2, score: 2 / 8 },
    ]);
    expect(await engine.similar(plan({ subject: 4 }))).toEqual([{ ordinal: 2, score: 1 / 4 }]);
    expect(await engine.similar(plan({ limit: 1 }))).toHaveLength(1);
  });

  test('only records that differ, texts compared folded; any value differs from none', async () => {
    expect(await engine.similar(plan({ differBy: 'maker' }))).toEqual([{ ordinal: 2, score: 2 / 8 }]);
    expect(await engine.similar(plan({ differBy: 'mass' }))).toEqual([{ ordinal: 1, score: 3 / 7 }]);
    expect(await engine.similar(plan({ subject: 3, differBy: 'maker' }))).toEqual([]);
  });

  test('only records that match', async () => {
    const drills = [{ kind: 'any' as const, attribute: 'kind', values: ['drill'] }];
    expect(await engine.similar(plan({ where: drills }))).toEqual([{ ordinal: 2, score: 2 / 8 }]);
  });
});

describe('statistics', () => {
  const plan = (rest: Partial<StatsPlan> = {}): StatsPlan => ({
    where: [],
    attribute: 'price.list',
    by: [],
    groups: 100,
    ...rest,
  });
  const brief = async (rest: Partial<StatsPlan>) =>
    (await engine.stats(plan(rest))).groups.map(({ keys, figures }) => [...keys, figures.count]);

  test('statement', () => {
    expect(spellSql(statsStatement(plan(), shape))).toMatchInlineSnapshot(
      `"WITH matched AS MATERIALIZED (SELECT ord, "price.list:min" AS number FROM records WHERE true AND "price.list:min" IS NOT NULL) SELECT *, 1 AS total FROM (SELECT 0 AS depth, NULL AS key0, NULL AS key1, len(numbers) AS n, numbers[1], list_transform([0.1, 0.25, 0.5, 0.75, 0.9]::DOUBLE[], lambda share: numbers[floor((share * (len(numbers) - 1)))::BIGINT + 1] * (1 - ((share * (len(numbers) - 1)) - floor((share * (len(numbers) - 1))))) + coalesce(numbers[floor((share * (len(numbers) - 1)))::BIGINT + 2], 0) * ((share * (len(numbers) - 1)) - floor((share * (len(numbers) - 1))))), numbers[-1], sum, mean, lowest, highest, NULL FROM (SELECT NULL, list(number) AS numbers, fsum(number) AS sum, favg(number) AS mean, first(ord) AS lowest, arg_max(ord, number) AS highest FROM (SELECT * FROM (SELECT * FROM matched WHERE true) ORDER BY number, ord) GROUP BY ALL)) WHERE n >= 1 -- []"`,
    );
    expect(statsStatement(plan({ by: ['kind', 'materials'] }), shape).text).toMatchInlineSnapshot(
      `"WITH matched AS MATERIALIZED (SELECT ord, "price.list:min" AS number, "kind:value" AS key0 FROM records WHERE true AND "price.list:min" IS NOT NULL), sizes AS MATERIALIZED (SELECT 1 AS depth, key0, NULL AS key1, count(*) AS n FROM (SELECT * FROM matched WHERE true AND key0 IS NOT NULL) GROUP BY key0 HAVING n >= 1 UNION ALL SELECT 2 AS depth, key0, key1, count(*) AS n FROM (SELECT * FROM matched JOIN (SELECT ord, value AS key1 FROM "entries:materials") USING (ord) WHERE true AND key0 IS NOT NULL AND key1 IS NOT NULL) GROUP BY key0, key1 HAVING n >= 1), totals AS (SELECT count(*) AS total FROM sizes) SELECT answer.*, total FROM totals LEFT JOIN (SELECT 1 AS depth, key0, NULL AS key1, len(numbers) AS n, numbers[1], list_transform([0.1, 0.25, 0.5, 0.75, 0.9]::DOUBLE[], lambda share: numbers[floor((share * (len(numbers) - 1)))::BIGINT + 1] * (1 - ((share * (len(numbers) - 1)) - floor((share * (len(numbers) - 1))))) + coalesce(numbers[floor((share * (len(numbers) - 1)))::BIGINT + 2], 0) * ((share * (len(numbers) - 1)) - floor((share * (len(numbers) - 1))))), numbers[-1], sum, mean, lowest, highest, NULL FROM (SELECT key0, list(number) AS numbers, fsum(number) AS sum, favg(number) AS mean, first(ord) AS lowest, arg_max(ord, number) AS highest FROM (SELECT * FROM (SELECT * FROM matched WHERE true AND key0 IS NOT NULL) SEMI JOIN (SELECT key0 FROM sizes WHERE depth = 1 AND (SELECT total FROM totals) <= 100) USING (key0) ORDER BY number, ord) GROUP BY ALL) UNION ALL SELECT 2 AS depth, key0, key1, len(numbers) AS n, numbers[1], list_transform([0.1, 0.25, 0.5, 0.75, 0.9]::DOUBLE[], lambda share: numbers[floor((share * (len(numbers) - 1)))::BIGINT + 1] * (1 - ((share * (len(numbers) - 1)) - floor((share * (len(numbers) - 1))))) + coalesce(numbers[floor((share * (len(numbers) - 1)))::BIGINT + 2], 0) * ((share * (len(numbers) - 1)) - floor((share * (len(numbers) - 1))))), numbers[-1], sum, mean, lowest, highest, NULL FROM (SELECT key0, key1, list(number) AS numbers, fsum(number) AS sum, favg(number) AS mean, first(ord) AS lowest, arg_max(ord, number) AS highest FROM (SELECT * FROM (SELECT * FROM matched JOIN (SELECT ord, value AS key1 FROM "entries:materials") USING (ord) WHERE true AND key0 IS NOT NULL AND key1 IS NOT NULL) SEMI JOIN (SELECT key0, key1 FROM sizes WHERE depth = 2 AND (SELECT total FROM totals) <= 100) USING (key0, key1) ORDER BY number, ord) GROUP BY ALL)) AS answer ON true ORDER BY depth, n DESC, key0, key1"`,
    );
  });

  test('of all records: a range counts with its minimum, quartiles interpolate', async () => {
    expect(await engine.stats(plan())).toEqual({
      groups: [
        {
          keys: [],
          figures: { count: 4, sum: 400, min: 20, p10: 38, q1: 65, median: 90, q3: 125, p90: 170, max: 200, mean: 100 },
          ...{ lowest: 3, highest: 1 },
        },
      ],
      total: 1,
    });
    expect(await engine.stats(plan({ attribute: 'runtime' }))).toEqual({ groups: [], total: 0 });
  });

  test('digits of sums, and the records of equal bounds, do not depend on the order of the records', async () => {
    const numbers = [783.494, 869.128, 308.21, 1379.19, 72042.4, 3.50811, 3.50811, 72042.4];
    const orders = [numbers, numbers.toReversed(), numbers.toSorted((a, b) => a - b)];
    const answers = orders.map(async (masses, i) => {
      const some = randomRecords(pack, masses.length, 1).map((record, at) => ({
        ...record,
        attributes: { mass: masses[at]!, kind: 'saw' },
      }));
      const { folder, manifest } = await writeRelease(join(dataDir, `order-${i}`), pack, some);
      const ordered = await openEngine(folder, pack, manifest);
      const { groups } = await ordered.stats(plan({ attribute: 'mass', by: ['kind'] }));
      await ordered.close();
      const { figures, lowest, highest } = groups[0]!;
      expect([lowest, highest]).toEqual([masses.indexOf(3.50811), masses.indexOf(72042.4)]);
      return figures;
    });
    const [first, ...others] = await Promise.all(answers);
    for (const figures of others) expect(figures).toEqual(first);
  });

  test('groups by count, then by key; records without the key are in none', async () => {
    expect(await brief({ by: ['kind'] })).toEqual([
      ['saw', 2],
      ['drill', 1],
    ]);
    expect(await brief({ by: ['mass'] })).toEqual([
      [2, 2],
      [20, 1],
    ]);
  });

  test('a record is in the group of each entry of its list', async () => {
    expect(await brief({ by: ['materials'] })).toEqual([
      ['Steel', 2],
      ['Glass', 1],
      ['Oak', 1],
    ]);
  });

  test('nested groups; an outer group counts all its records', async () => {
    expect(await brief({ by: ['kind', 'materials'] })).toEqual([
      ['saw', 2],
      ['drill', 1],
      ['drill', 'Steel', 1],
      ['saw', 'Oak', 1],
      ['saw', 'Steel', 1],
    ]);
  });

  test('more groups than allowed are counted, not returned', async () => {
    expect(await engine.stats(plan({ by: ['kind', 'materials'], groups: 4 }))).toEqual({ groups: [], total: 5 });
    expect((await engine.stats(plan({ by: ['kind', 'materials'], groups: 5 }))).groups).toHaveLength(5);
  });
});

describe('time series', () => {
  const plan = (rest: Partial<SeriesPlan> = {}): SeriesPlan => ({
    ...{ where: [], attribute: 'price.list', by: null, first, step: 1, points: 7, records: 100, groups: 100 },
    ...rest,
  });
  /** Count and median by point. */
  const brief = async (rest: Partial<SeriesPlan>, asked = engine) =>
    (await asked.timeseries(plan(rest))).spans.flatMap(({ key, from, until, figures }) =>
      Array.from({ length: until - from }, (_, i) => [
        ...(key === null ? [] : [key]),
        from + i,
        figures.count,
        figures.median,
      ]),
    );

  test('statement', () => {
    expect(spellSql(seriesStatement(plan({ step: 7 }), shape))).toMatchInlineSnapshot(
      `"WITH matched AS MATERIALIZED (SELECT ord FROM records WHERE true), keyed AS MATERIALIZED (SELECT ord, NULL AS key FROM matched), sums AS MATERIALIZED (SELECT (SELECT count(*) FROM matched) AS matched, (SELECT count(DISTINCT key) FROM keyed) AS groups), spans AS MATERIALIZED (SELECT * FROM (SELECT key, value, (greatest(since, 20758) - 20758 + 6) // 7 AS since, least((greatest(until, 20758) - 20758 + 6) // 7, 7) AS until FROM "steps:price.list" JOIN keyed USING (ord) WHERE since <= 20800 AND until > 20758 AND (SELECT matched <= 100 AND groups <= 100 FROM sums)) WHERE since < until), marks AS MATERIALIZED (SELECT point, lead(point) OVER (ORDER BY point) AS next, row_number() OVER (ORDER BY point) AS mark FROM (SELECT since AS point FROM spans UNION SELECT until FROM spans)), counted AS (SELECT key, value, unnest(range(a.mark, b.mark)) AS mark FROM spans JOIN marks AS a ON a.point = since JOIN marks AS b ON b.point = until ORDER BY value), figures AS (SELECT key, mark, count(*) AS n, min(value) AS low, quantile_cont(value, 0.5) AS middle, max(value) AS high, favg(value) AS mean FROM counted GROUP BY key, mark), found AS (SELECT key, point, next, n, low, middle, high, mean FROM figures JOIN marks USING (mark)) SELECT matched, groups, found.* FROM sums LEFT JOIN found ON true ORDER BY key, point -- []"`,
    );
    expect(seriesStatement(plan({ by: 'materials' }), shape).text).toContain('"entries:materials"');
  });

  test('the values at the end of each day, in memory and over the file', async () => {
    const expected = [
      [0, 1, 90],
      [1, 2, 85],
      [2, 3, 90],
      [3, 3, 100],
      [4, 3, 100],
      [5, 2, 90],
      [6, 3, 100],
    ];
    expect(await brief({})).toEqual(expected);
    expect(await brief({}, frugal)).toEqual(expected);
    expect(await engine.timeseries(plan())).toEqual(await frugal.timeseries(plan()));
  });

  test('points several days apart', async () => {
    expect(await brief({ first: first - 8, step: 7, points: 3 })).toEqual([
      [0, 1, 90],
      [1, 1, 90],
      [2, 3, 100],
    ]);
  });

  test('by group; a group without values has no span', async () => {
    const spans = await brief({ by: 'kind', points: 2 });
    expect(spans).toEqual([
      ['drill', 1, 1, 80],
      ['saw', 0, 1, 90],
      ['saw', 1, 1, 90],
    ]);
    expect((await engine.timeseries(plan({ by: 'materials', points: 1 }))).spans.map(({ key }) => key)).toEqual([
      'Oak',
      'Steel',
    ]);
  });

  test('too many records or groups are counted, not returned', async () => {
    expect(await engine.timeseries(plan({ records: 4 }))).toEqual({ matched: 5, groups: 0, spans: [] });
    expect(await engine.timeseries(plan({ by: 'kind', groups: 2 }))).toEqual({ matched: 5, groups: 3, spans: [] });
    expect((await engine.timeseries(plan({ records: 5 }))).spans.length).toBeGreaterThan(0);
    expect(await engine.timeseries(plan({ first: first - 9_000, points: 2 }))).toEqual({
      matched: 5,
      groups: 0,
      spans: [],
    });
  });
});

test('only names of attributes become identifiers', async () => {
  const odd = `odd'"; DROP TABLE records; --`;
  const attributes = [...shape.attributes.values()];
  const kinds = (['number', 'strings'] as const).map((type) => ({ ...attributes[0]!, name: `${type} ${odd}`, type }));
  const { folder, manifest } = release;
  const hostile = await openEngine(folder, { ...pack, attributes: [...attributes, ...kinds] }, manifest);
  const [number, list] = [`number ${odd}`, `strings ${odd}`];
  const where: Predicate[] = [];
  const series = { where, attribute: number, by: list, first, step: 1, points: 2, records: 9, groups: 9 };
  expect(await hostile.stats({ where, attribute: number, by: [list, number], groups: 9 })).toEqual({
    groups: [],
    total: 0,
  });
  expect(await hostile.timeseries(series)).toEqual({ matched: 5, groups: 0, spans: [] });
  expect(await hostile.similar({ subject: 0, where, differBy: number, limit: 9 })).toEqual([]);
  await hostile.close();
  for (const unknown of [odd, 'ord', '']) {
    expect(() => statsStatement({ where, attribute: unknown, by: [], groups: 9 }, shape)).toThrow(
      'the pack has no attribute',
    );
    expect(() => statsStatement({ where, attribute: 'mass', by: [unknown], groups: 9 }, shape)).toThrow(
      'the pack has no attribute',
    );
    expect(() => seriesStatement({ ...series, by: null, attribute: unknown }, shape)).toThrow(
      'the pack has no attribute',
    );
    expect(() => similarStatement({ subject: 0, where, differBy: unknown, limit: 9 }, shape)).toThrow(
      'the pack has no attribute',
    );
  }
});
