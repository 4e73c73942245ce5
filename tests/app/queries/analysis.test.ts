// Similar, compare, statistics and time series over the real app: shapes, prices, refusals, Markdown.

import { describe, expect, test } from 'vitest';
import { appOfAll } from '../../support/app.ts';
import { newKey } from '../../support/money-on-stores.ts';
import { verifies } from '../../support/verifies.ts';

verifies(
  'similar.get',
  'similar.price',
  'shape.similar',
  'compare.get',
  'compare.filters',
  'shape.compare',
  'shape.compare-filtered',
  'stats.get',
  'shape.stats',
  'timeseries.get',
  'timeseries.price',
  'timeseries.bound',
  'shape.timeseries',
);

const app = await appOfAll();

const admin = { admin: true };
type Body = Record<string, unknown>;

const ask = async (path: string): Promise<Body> => {
  const { status, body } = await app.json(path, admin);
  expect([path, status]).toEqual([path, 200]);
  return body;
};
const text = async (path: string) => (await app.ask(path, admin)).text();
const ABOUT = ['attribution', 'license'];

test.each([
  ['/v1/tools/entities/record-3/similar', 0.008],
  ['/v1/tools/compare?ids=record-1', 0.012],
  ['/v1/tools/stats?attribute=mass', 0.015],
  ['/v1/tools/timeseries?attribute=mass', 0.015],
])('%s costs %d without previews', async (path, price) => {
  const { status, body } = await app.json(path);
  expect([status, body['error'], body['price_eur']]).toEqual([402, 'payment_required', price]);
});

describe('similar', () => {
  test('records with a score, best first, of another maker', async () => {
    const body = await ask('/v1/tools/entities/record-3/similar?fields=name,maker&limit=20');
    expect(Object.keys(body)).toEqual(['items', ...ABOUT]);
    const items = body['items'] as (Body & { score: number; attributes: Body })[];
    expect(items.length).toBeGreaterThan(5);
    const scores = items.map(({ score }) => score);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    const [subject] = (await ask('/v1/tools/entities?ids=record-3'))['items'] as (Body & { attributes: Body })[];
    for (const item of items) {
      expect(Object.keys(item)).toEqual([...Object.keys(subject!), 'score']);
      expect(item.score).toBeGreaterThan(0);
      expect(item.score).toBeLessThanOrEqual(1);
      expect(item['slug']).not.toBe('record-3');
      expect(item.attributes['maker']).toBeDefined();
      expect(item.attributes['maker']).not.toBe(subject!.attributes['maker']);
      expect(Object.keys(item.attributes).every((name) => ['name', 'maker'].includes(name))).toBe(true);
    }
    expect(await text('/v1/tools/entities/record-3/similar.md?limit=2&fields=maker')).toMatchInlineSnapshot(`
      "|slug|score|maker|
      |-|-|-|
      |record-7|0.333333|42|
      |record-0|0.333333|東京|

      Source: source.example 2026-11-09 to 2026-11-16.

      score: share of all words of both records that both have.

      Tools of nowhere. Fictional data of the dataset register’s own tests. https://register.example/datasets/tools (a record: /<slug>) License: CC0-1.0 (https://creativecommons.org/publicdomain/zero/1.0/)
      "
    `);
  });

  test('an unknown record is 404 before any price is named', async () => {
    const { status, body } = await app.json('/v1/tools/entities/nobody/similar?limit=x');
    expect([status, body['error']]).toEqual([404, 'unknown_entity']);
  });
});

describe('compare', () => {
  test('values and their provenance by column, in the requested order; missing as written', async () => {
    const body = await ask('/v1/tools/compare?ids=record-2,Nobody,record-1');
    expect(Object.keys(body)).toEqual(['columns', 'items', 'missing', ...ABOUT]);
    expect(body['columns']).toEqual(['price.list', 'price.rental', 'kind', 'mass', 'runtime', 'cordless', 'status']);
    expect(body['missing']).toEqual(['Nobody']);
    const items = body['items'] as (Body & { values: Body; provenance: Body })[];
    expect(items.map(({ slug }) => slug)).toEqual(['record-2', 'record-1']);
    for (const item of items) {
      expect(Object.keys(item)).toEqual(['id', 'slug', 'name', 'values', 'provenance']);
      expect(Object.keys(item.provenance)).toEqual(Object.keys(item.values));
      const stored = app.records['tools']!.find(({ slug }) => slug === item['slug'])!;
      const compared = Object.entries(stored.attributes).filter(([name]) =>
        (body['columns'] as string[]).includes(name),
      );
      expect(item.values).toEqual(Object.fromEntries(compared));
    }
  });

  test('one column; records that the filters drop are missing', async () => {
    const [one, two] = (await ask('/v1/tools/compare?ids=record-1,record-2&attribute=mass'))['items'] as {
      values: Body;
    }[];
    expect([one!.values, two!.values]).toEqual([{ mass: 0.1 }, { mass: 0.2 }]);
    const kept = await ask('/v1/tools/compare?ids=record-1,record-2,RECORD-1&attribute=mass&min_mass=0.15');
    expect(kept).toMatchObject({ columns: ['mass'], items: [{ slug: 'record-2' }], missing: ['record-1'] });
    expect(await ask('/v1/tools/compare?ids=x&min_mass=1')).toMatchObject({ items: [], missing: ['x'] });
  });

  test('a record once, by whichever of its names comes first', async () => {
    const { id } = app.records['tools']!.find(({ slug }) => slug === 'record-1')!;
    const body = await ask(`/v1/tools/compare?ids=record-1,${id}&has_mass=true`);
    expect((body['items'] as Body[]).map((item) => item['id'])).toEqual([id]);
  });

  test('Markdown sets records side by side', async () => {
    expect(await text('/v1/tools/compare.md?ids=record-1,record-2,x')).toMatchInlineSnapshot(`
      "||Record 1|Record 2|
      |-|-|-|
      |slug|record-1|record-2|
      |price.list (EUR/piece)|||
      |price.rental (EUR/day)|2.875–5|2.125|
      |kind|gauge|gauge|
      |mass (kg)|0.1|0.2|
      |runtime (minutes)|5||
      |cordless|yes|yes|
      |status||discontinued|

      Missing: x

      Sources: runtime: source.example 2026-11-06; status: source.example 2026-11-01; other columns: source.example 2026-11-01 to 2026-11-06.

      Tools of nowhere. Fictional data of the dataset register’s own tests. https://register.example/datasets/tools (a record: /<slug>) License: CC0-1.0 (https://creativecommons.org/publicdomain/zero/1.0/)
      "
    `);
    expect(await text('/v1/tools/compare.md?ids=x')).toContain('Missing: x');
  });

  test('more than five ids', async () => {
    const { status, body } = await app.json('/v1/tools/compare?ids=a,b,c,d,e,f', admin);
    expect([status, body['error']]).toEqual([400, 'too_many_ids']);
  });
});

describe('statistics', () => {
  const FIGURES = ['count', 'sum', 'min', 'p10', 'q1', 'median', 'q3', 'p90', 'max', 'mean'];
  const ROW = ['group', ...FIGURES, 'min_record', 'max_record'];

  test('of all records', async () => {
    const body = await ask('/v1/tools/stats?attribute=price.list');
    expect(Object.keys(body)).toEqual(['attribute', 'unit', 'group_by', 'rows', 'hint', ...ABOUT]);
    expect(body).toMatchObject({ attribute: 'price.list', unit: 'EUR/piece', group_by: null });
    const [row, more] = body['rows'] as Body[];
    expect([Object.keys(row!), row!['group'], more]).toEqual([ROW, null, undefined]);
  });

  test('a row for each value of one key, nested rows for two', async () => {
    const one = (await ask('/v1/tools/stats?attribute=price.list&group_by=kind')) as { rows: Body[] };
    const two = (await ask('/v1/tools/stats?attribute=price.list&group_by=kind,cordless')) as { rows: Body[] };
    expect(two['group_by' as keyof typeof two]).toBe('kind,cordless');
    expect(two.rows.map(({ groups: _, ...row }) => row)).toEqual(one.rows);
    for (const row of two.rows) {
      expect(Object.keys(row)).toEqual([...ROW, 'groups']);
      for (const inner of row['groups'] as Body[]) {
        expect(Object.keys(inner)).toEqual(ROW);
        expect(inner['group']).toBeTypeOf('boolean');
      }
    }
  });

  test('rows in the order of a figure, the first of them, without rare ones, with a histogram', async () => {
    const all = (await ask('/v1/tools/stats?attribute=price.list&group_by=kind')) as { rows: Body[] };
    const path = '/v1/tools/stats?attribute=price.list&group_by=kind&order=-max&limit=2&having_min_count=3&buckets=2';
    const { rows } = (await ask(path)) as { rows: Body[] };
    const expected = all.rows
      .filter(({ count }) => Number(count) >= 3)
      .sort((a, b) => Number(b['max']) - Number(a['max']) || (String(a['group']) < String(b['group']) ? -1 : 1));
    expect(rows.map(({ histogram: _, ...row }) => row)).toEqual(expected.slice(0, 2));
    for (const { histogram, count, min, max, max_record } of rows) {
      const [low, high] = histogram as { from: number; to: number; count: number }[];
      expect([low!.from, low!.to, high!.to]).toEqual([min, high!.from, max]);
      expect(low!.count + high!.count).toBe(count);
      const { body } = await app.json(`/v1/tools/entities/${(max_record as { id: string }).id}`, admin);
      const price = (body['attributes'] as Record<string, { min: number } | number>)['price.list']!;
      expect(typeof price === 'object' ? price.min : price).toBe(max);
    }
    const markdown = await text(path.replace('stats?', 'stats.md?'));
    expect(markdown).toContain('|kind|from|to|count|');
  });

  test('several attributes cost one call each', async () => {
    const one = await ask('/v1/tools/stats?attribute=price.list&kind=saw');
    const two = await ask('/v1/tools/stats?attribute=price.list,mass&kind=saw');
    const { attribute, unit, rows } = one;
    expect(Object.keys(two)).toEqual(['attributes', 'group_by', 'hint', ...ABOUT]);
    expect(two['attributes']).toMatchObject([{ attribute, unit, rows }, { attribute: 'mass' }]);
    const { headers } = await newKey(app);
    const charge = async (query: string) =>
      (await app.ask(`/v1/tools/stats?${query}`, { headers })).headers.get('x-charge-eur');
    const once = Number(await charge('attribute=mass'));
    expect(once).toBeGreaterThan(0);
    expect(Number(await charge('attribute=mass,price.list'))).toBe(2 * once);
    expect(await charge('attribute=mass,price.list&maker=nobody')).toBeNull();
  });

  test('nothing to count', async () => {
    expect((await ask('/v1/tools/stats?attribute=mass&maker=nobody'))['rows']).toEqual([{ group: null, count: 0 }]);
    expect((await ask('/v1/tools/stats?attribute=mass&maker=nobody&group_by=kind'))['rows']).toEqual([]);
    expect(await text('/v1/tools/stats.md?attribute=mass&maker=nobody&group_by=kind')).toContain('No record');
  });

  test('Markdown', async () => {
    expect(await text('/v1/tools/stats.md?attribute=price.list&group_by=cordless,status')).toMatchInlineSnapshot(`
      "price.list (EUR/piece) by cordless, then status

      |cordless|status|count|sum|min|p10|q1|median|q3|p90|max|mean|min record|max record|
      |-|-|-|-|-|-|-|-|-|-|-|-|-|-|
      |no|(all)|17|40.875|0|0.125|1.625|2.5|3.625|3.975|4.75|2.40441|record-32|record-3|
      |no|discontinued|8|23.375|0.875|1.4|1.8125|3.25|3.75|4.3125|4.75|2.92188|record-16|record-3|
      |no|listed|6|8.75|0|0.0625|0.125|1.125|2.40625|3.1875|3.875|1.45833|record-32|record-21|
      |yes|(all)|16|35.5|0.125|0.4375|0.84375|1.9375|3.15625|4.5625|4.75|2.21875|record-23|record-39|
      |yes|discontinued|7|16.25|0.75|1.35|1.75|2.125|2.625|3.65|4.625|2.32143|record-28|record-24|
      |yes|listed|6|9.25|0.125|0.125|0.3125|1.3125|2.78125|3.1875|3.25|1.54167|record-23|record-58|

      count: values, one a record. Quantiles interpolate linearly. Of a price range the lower end counts.

      Tools of nowhere. Fictional data of the dataset register’s own tests. https://register.example/datasets/tools License: CC0-1.0 (https://creativecommons.org/publicdomain/zero/1.0/)
      "
    `);
  });
});

describe('time series', () => {
  const POINT = ['date', 'count', 'median', 'min', 'max', 'mean'];

  test('a point for each day, the last one today', async () => {
    const body = await ask('/v1/tools/timeseries?attribute=price.list');
    expect(Object.keys(body)).toEqual(['attribute', 'unit', 'step', 'days', 'series', ...ABOUT]);
    expect(body).toMatchObject({ attribute: 'price.list', unit: 'EUR/piece', step: 'day', days: 90 });
    const series = body['series'] as Body[];
    expect([series.length, series[0]!['date'], series.at(-1)!['date']]).toEqual([90, '2026-08-23', '2026-11-20']);
    expect(Object.keys(series.at(-1)!)).toEqual(POINT);
  });

  test('today’s values are those of statistics', async () => {
    const last = ((await ask('/v1/tools/timeseries?attribute=price.list&days=1'))['series'] as Body[])[0]!;
    const [row] = (await ask('/v1/tools/stats?attribute=price.list'))['rows'] as Body[];
    for (const name of ['count', 'min', 'median', 'max', 'mean'])
      expect([name, last[name]]).toEqual([name, row![name]]);
  });

  test('weeks, groups, and days without any value', async () => {
    const body = await ask('/v1/tools/timeseries?attribute=runtime&days=30&step=week&group_by=kind');
    expect(Object.keys(body)).toEqual(['attribute', 'unit', 'step', 'days', 'groups', ...ABOUT]);
    const groups = body['groups'] as { group: string; series: Body[] }[];
    expect(groups.map(({ group }) => group)).toEqual([...groups.map(({ group }) => group)].sort());
    for (const { series } of groups)
      expect(series.map(({ date }) => date)).toEqual([
        '2026-10-23',
        '2026-10-30',
        '2026-11-06',
        '2026-11-13',
        '2026-11-20',
      ]);
    const none = await ask('/v1/tools/timeseries?attribute=mass&days=2&maker=nobody');
    expect(none['series']).toEqual([
      { date: '2026-11-19', count: 0 },
      { date: '2026-11-20', count: 0 },
    ]);
  });

  test('Markdown joins days with the same figures', async () => {
    expect(
      await text('/v1/tools/timeseries.md?attribute=price.rental&days=20&ids=record-1,record-2'),
    ).toMatchInlineSnapshot(`
      "price.rental (EUR/day) at the end of each day, UTC

      |from|to|count|median|min|max|mean|
      |-|-|-|-|-|-|-|
      |2026-11-01|2026-11-16|1|2.875|2.875|2.875|2.875|
      |2026-11-17|2026-11-20|2|2.5|2.125|2.875|2.5|

      Points with the same figures share a line. count: values, one a record that matches now. Of a price range the lower end counts.

      Tools of nowhere. Fictional data of the dataset register’s own tests. https://register.example/datasets/tools License: CC0-1.0 (https://creativecommons.org/publicdomain/zero/1.0/)
      "
    `);
    expect(await text('/v1/tools/timeseries.md?attribute=mass&group_by=kind&maker=nobody')).toContain('No record');
  });

  test('more than 5,000 records, more points than are answered', async () => {
    const [model] = app.records['harbours']!;
    const many = Array.from({ length: 5001 }, (_, index) => ({
      ...model!,
      id: `r-${index.toString(16).padStart(16, '0')}`,
      slug: `many-${index}`,
      attributes: { code: index + 1, coast: index === 0 ? 'north' : 'south' },
    }));
    await app.publish('harbours', many);
    const refusal = async (query: string) => {
      const { status, body } = await app.json(`/v1/harbours/timeseries?attribute=depth&${query}`, admin);
      return `${status} ${body['error'] as string} ${body['message'] as string}`;
    };
    expect(await refusal('')).toMatchInlineSnapshot(
      `"400 too_many_records More than 5000 records match, the maximum for a time series. Narrow the query with filters."`,
    );
    expect(await refusal('min_code=2&group_by=code')).toMatchInlineSnapshot(
      `"400 invalid_parameter group_by: code makes more than 111 groups, the maximum for 90 points each. Use filters, fewer days or step=week."`,
    );
    expect((await app.json('/v1/harbours/timeseries?attribute=depth&coast=south', admin)).status).toBe(200);
    const grouped = await app.json('/v1/harbours/stats?attribute=code&group_by=code', admin);
    expect([grouped.status, grouped.body['message']]).toMatchInlineSnapshot(`
      [
        400,
        "group_by: code makes more than 1000 groups, the maximum. Narrow the query with filters, or raise having_min_count.",
      ]
    `);
  });
});

test('statistics name records whose names contain JSON', async () => {
  const name = 'Saw","dataset":"tools';
  await app.publish(
    'tools',
    app.records['tools']!.map((record) => ({ ...record, name })),
  );
  const [row] = (await ask('/v1/tools/stats?attribute=mass'))['rows'] as Body[];
  expect([row!['min_record'], row!['max_record']]).toMatchObject([{ name }, { name }]);
});
