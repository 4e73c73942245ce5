// The operations over the real engine: shapes of contract section 2, prices, and guarantees.
import { countTokens } from 'gpt-tokenizer';
import { describe, expect, test } from 'vitest';
import { freshness } from '../../../api/operations/dataset/dataset_status.ts';
import { appOfAll, BASE, NOW, type TestApp } from '../../support/app.ts';
import { requiredQuery } from '../../support/required.ts';
import { verifies } from '../../support/verifies.ts';

const app = await appOfAll();

const admin = { admin: true };
type Body = Record<string, unknown>;
const body = async (path: string, init: Parameters<TestApp['ask']>[1] = admin): Promise<Body> =>
  (await app.json(path, init)).body;
const text = async (path: string) => (await app.ask(path, admin)).text();

const RECORD = [
  ...['id', 'slug', 'name', 'dataset', 'url', 'updated_at', 'attributes', 'provenance', 'freshness'],
  ...['quality_score', 'completeness', 'verified_owner', 'license', 'attribution'],
];
const HIDDEN = ['runtime', 'summary', 'tested_on', 'domain', 'price.rental'];

interface Item extends Body {
  url: string;
  attributes: Body;
  provenance: Body;
  freshness: Body;
}

/**
 * A record as in the contract: exactly these members, three maps with the same keys, a citation that ends
 * with its page.
 */
function sound(item: Item, more: string[] = []): void {
  expect(Object.keys(item)).toEqual([...RECORD, ...more]);
  expect(item['id']).toMatch(/^r-[0-9a-f]{16}$/);
  expect(item['slug']).toMatch(/^[a-z0-9-]+$/);
  expect(item.url).toBe(`${BASE}/datasets/${item['dataset']}/${item['slug']}`);
  expect(String(item['attribution']).endsWith(item.url)).toBe(true);
  expect(Object.keys(item.provenance)).toEqual(Object.keys(item.attributes));
  expect(Object.keys(item.freshness)).toEqual(Object.keys(item.attributes));
}

describe('the register', () => {
  verifies('shape.datasets', 'shape.datasets-prices', 'datasets.list');
  test('lists its datasets with links that answer, tools and prices', async () => {
    const { datasets } = (await body('/v1/datasets')) as { datasets: (Body & { links: Record<string, string> })[] };
    expect(datasets.map(({ id }) => id)).toEqual(['harbours', 'tools']);
    const [, tools] = datasets;
    const members = ['id', 'title', 'description', 'license', 'records', 'updated_at', 'links', 'tools', 'prices'];
    expect(Object.keys(tools ?? {})).toEqual(members);
    expect(tools).toMatchObject({
      records: 60,
      prices: { search: { eur: 0.008, usd: 0.0088 }, get: { eur: 0.004, usd: 0.0044 } },
    });
    expect(tools?.['tools']).toEqual(expect.arrayContaining(['entity_search', 'dataset_guide']));
    for (const [name, link] of Object.entries(tools?.links ?? {})) {
      const path = link.slice(BASE.length).replace('{entity_id}', 'record-1');
      const asked = path + requiredQuery(path);
      if (name !== 'page')
        expect([name, (await app.ask(asked, { ...admin, method: 'HEAD' })).status]).toEqual([name, 200]);
    }
  });
});

describe('a dataset', () => {
  verifies('shape.schema', 'shape.schema-attributes', 'shape.schema-filters', 'shape.status', 'dataset.health');
  test('schema: JSON Schema, attributes, and working filters', async () => {
    const answer = await body('/v1/tools/schema');
    expect(answer['schema']).toMatchObject({ $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' });
    const attributes = answer['attributes'] as Body[];
    expect(attributes.find(({ name }) => name === 'price.list')).toEqual({
      name: 'price.list',
      type: 'price',
      unit: 'EUR/piece',
      description: 'List price; a range where it depends on the blade or bit',
      public: true,
      filterable: true,
      group: 'price',
    });
    const filters = answer['filters'] as { name: string; type: string }[];
    const values: Record<string, string> = {
      integer: '1',
      number: '1',
      boolean: 'true',
      date: '2026-01-01',
      string: 'a',
    };
    for (const { name, type } of filters) {
      const { status } = await app.json(`/v1/tools/entities?limit=1&${name}=${values[type]}`, admin);
      expect([name, status]).toEqual([name, 200]);
    }
  });

  test('status: counts and freshness of the values', async () => {
    expect(await body('/v1/tools/status')).toMatchObject({
      dataset: 'tools',
      records: 60,
      median_age_hours: null,
      within_sla: null,
      sla_hours: { 'price.list': 1440 },
      next_collection: '2026-11-21T03:00:00.000Z',
      snapshot: app.releases['tools'],
    });
    const pack = app.register.packs.get('tools')!;
    const aged = (attribute: string, hours: number, count: number) => ({
      attribute,
      observed_at: new Date(NOW.getTime() - hours * 3_600_000).toISOString(),
      count,
    });
    const ages = [aged('price.list', 1441, 1), aged('price.list', 100, 2), aged('name', 5000, 1), aged('kind', 10, 1)];
    expect(freshness({ ages }, pack, NOW)).toEqual({ median_age_hours: 100, within_sla: 0.8 });
  });

  test('facets: counts, withheld rare values of what is not public, and all of it for an operator', async () => {
    verifies('shape.facets', 'leak.facets-floor', 'leak.facets-anonymous', 'facets.get', 'facets.by');
    const open = await body('/v1/tools/facets?by=kind', {});
    expect(open).toMatchObject({ by: 'kind', matched: 60 });
    expect(open).not.toHaveProperty('withheld');
    const hidden = await body('/v1/tools/facets?by=runtime', {});
    expect(hidden['withheld']).toBeGreaterThan(0);
    expect((hidden['values'] as { count: number }[]).every(({ count }) => count >= 5)).toBe(true);
    const several = await body('/v1/tools/facets?by=kind,runtime&limit=2', {});
    const { attribution, license, hint } = open;
    const alone = await Promise.all(['kind', 'runtime'].map((by) => body(`/v1/tools/facets?by=${by}&limit=2`, {})));
    const facets = alone.map(({ attribution: _, license: __, hint: ___, ...facet }) => facet);
    expect(several).toEqual({ facets, hint, attribution, license });
    const operator = await body('/v1/tools/facets?by=runtime');
    expect(operator).not.toHaveProperty('withheld');
    expect((operator['values'] as unknown[]).length).toBeGreaterThan((hidden['values'] as unknown[]).length);
    expect((await app.json('/v1/tools/facets?by=kind&max_runtime=5')).status).toBe(402);
  });

  test('samples are fictional, complete and marked, but not as previews', async () => {
    verifies('record.sample', 'record.sample-flag', 'samples.get', 'record.members', 'record.same-keys');
    const { items } = (await body('/v1/tools/samples', {})) as { items: Item[] };
    expect(items).toHaveLength(2);
    for (const item of items) {
      sound(item, ['sample']);
      expect(item['sample']).toBe(true);
    }
    expect(Object.keys(items[0]?.attributes ?? {})).toEqual(
      expect.arrayContaining(['maker', 'model', 'price.rental', 'summary']),
    );
  });

  test('examples are real and complete: the best of each group, or of one', async () => {
    verifies('examples.get', 'examples.group', 'dataset.per-group');
    const { items, group_by } = (await body('/v1/tools/examples', {})) as { items: Item[]; group_by: string };
    expect(group_by).toBe('maker');
    const groups = Map.groupBy(items, ({ attributes }) => String(attributes['maker']).toLowerCase());
    expect(groups.size).toBeGreaterThan(5);
    for (const [group, shown] of groups) {
      expect(shown.length).toBeLessThanOrEqual(2);
      const all = app.records['tools']!.filter(({ attributes }) => String(attributes['maker']).toLowerCase() === group);
      expect(shown[0]?.['quality_score']).toBe(Math.max(...all.map(({ quality_score }) => quality_score)));
    }
    for (const item of items) sound(item);
    expect(items.some(({ attributes }) => HIDDEN.some((name) => attributes[name] !== undefined))).toBe(true);
    const one = (await body('/v1/tools/examples?group=AB', {})) as { items: Item[] };
    expect(new Set(one.items.map(({ attributes }) => attributes['maker']))).toEqual(new Set(['ab']));
    expect((await body('/v1/tools/examples?group=nobody', {}))['items']).toEqual([]);
  });

  test('the guide names every filter and field, prices, tools and the publisher’s words', async () => {
    verifies('guide.get');
    const guide = await text('/v1/tools/llms.txt');
    const { filters, attributes } = (await body('/v1/tools/schema')) as { filters: Body[]; attributes: Body[] };
    // The filters of a field are prefixes in its row.
    for (const { name } of filters) {
      const [, prefix = '=', field = name] = /^(not_|min_|max_|like_|has_)(.+)$/.exec(String(name)) ?? [];
      const row = guide.split('\n').find((line) => line.startsWith(`|${field}|`));
      expect(row ?? guide, String(name)).toContain(row === undefined ? `\`${name}=` : prefix);
    }
    for (const { name } of attributes) expect(guide).toContain(`|${name}|`);
    for (const part of [
      'Good first questions',
      '|entity_search|0.008|',
      '|entity_search|',
      'facets.md?by=maker',
      '20 records a day',
    ])
      expect(guide).toContain(part);
  });

  test('a guide offers no operation that its dataset cannot answer', async () => {
    expect(await text('/v1/tools/llms.txt')).toContain('entity_prices');
    expect(await text('/v1/harbours/llms.txt')).not.toContain('entity_prices');
  });

  test('the full text has the public values of every record, and no others', async () => {
    verifies('full-text.get', 'markdown.full-text');
    const full = await text('/v1/tools/llms-full.txt');
    for (const { slug } of app.records['tools']!) expect(full).toContain(`${BASE}/datasets/tools/${slug}\n`);
    for (const name of HIDDEN) expect(full).not.toContain(`\n- ${name}: `);
    expect(full).toContain('\n- price.list: ');
  });
});

describe('records', () => {
  verifies('shape.search', 'shape.batch', 'get.record', 'get.fields', 'batch.get', 'batch.missing', 'batch.limit');
  verifies('record.by-id', 'record.by-slug', 'record.preview-flag', 'batch.price', 'batch.access');
  test('search: pages to the end without repeating or losing one', async () => {
    const seen: unknown[] = [];
    let path: string | null = '/v1/tools/entities?limit=17&total=true';
    while (path !== null) {
      const page = await body(path);
      expect(page['total']).toBe(60);
      for (const item of page['items'] as Item[]) sound(item);
      seen.push(...(page['items'] as Item[]).map(({ id }) => id));
      path =
        page['next_cursor'] === null ? null : `/v1/tools/entities?limit=17&total=true&cursor=${page['next_cursor']}`;
    }
    expect(seen).toEqual(app.records['tools']?.map(({ id }) => id));
  });

  test('get: by id and by slug, complete or reduced by fields', async () => {
    const whole = (await body('/v1/tools/entities/record-3')) as Item;
    sound(whole);
    expect(await body(`/v1/tools/entities/${whole['id']}`)).toEqual(whole);
    expect(await body('/v1/tools/entities/RECORD-3')).toEqual(whole);
    const trimmed = (await body('/v1/tools/entities/record-3?fields=maker,price')) as Item;
    sound(trimmed);
    const wanted = Object.keys(whole.attributes).filter((name) => name === 'maker' || name.startsWith('price.'));
    expect(Object.keys(trimmed.attributes)).toEqual(wanted);
  });

  test('batch: in the requested order, unknown ones listed, up to 100', async () => {
    const answer = await body('/v1/tools/entities/batch?ids=record-9,nobody,record-2&fields=name');
    expect((answer['items'] as Item[]).map(({ slug }) => slug)).toEqual(['record-9', 'record-2']);
    expect(answer['missing']).toEqual(['nobody']);
    const hundred = Array.from({ length: 100 }, (_, index) => `record-${index}`).join(',');
    expect((await body(`/v1/tools/entities/batch?ids=${hundred}`))['items']).toHaveLength(60);
  });

  test('a cursor continues in its release; a new search gets the new one', async () => {
    const first = await app.json('/v1/harbours/entities?limit=10', admin);
    const before = app.records['harbours']!;
    const next = await app.publish('harbours', before.slice(5));
    const second = await app.json(`/v1/harbours/entities?limit=100&cursor=${first.body['next_cursor']}`, admin);
    expect(second.headers.get('x-dataset-version')).toBe(app.releases['harbours']);
    const ids = [...(first.body['items'] as Item[]), ...(second.body['items'] as Item[])].map(({ id }) => id);
    expect(ids).toEqual(before.map(({ id }) => id));
    const fresh = await app.json('/v1/harbours/entities', admin);
    expect(fresh.headers.get('x-dataset-version')).toBe(next);
    expect(app.lent()).toBe(0);
  });
});

describe('Markdown', () => {
  verifies('markdown.quarter', 'overview.markdown-search', 'overview.markdown-tokens', 'markdown.same-gate');
  test.each(['', '&fields=name,maker,kind', '&fields=summary,materials'])(
    'a search of 20 records takes at most a quarter of the tokens of its JSON%s',
    async (query) => {
      const json = await text(`/v1/tools/entities?limit=20${query}`);
      const markdown = await text(`/v1/tools/entities.md?limit=20${query}`);
      expect(countTokens(markdown) / countTokens(json)).toBeLessThan(0.25);
    },
  );

  test('of previews too', async () => {
    const from = (address: string) => ({ address });
    const json = await (await app.ask('/v1/tools/entities', from('203.0.113.1'))).text();
    const markdown = await (await app.ask('/v1/tools/entities.md', from('203.0.113.2'))).text();
    expect(countTokens(markdown) / countTokens(json)).toBeLessThan(0.25);
    expect(markdown).toContain('public values only');
  });

  test('every record is a row with all its values; a missing one is an empty cell', async () => {
    const { items } = (await body('/v1/tools/entities?limit=20')) as { items: Item[] };
    const [head = '', , ...rows] = (await text('/v1/tools/entities.md?limit=20')).split('\n\n')[0]!.split('\n');
    const cells = (line: string) => line.slice(1, -1).split(/(?<!\\)\|/);
    const kind = cells(head).indexOf('kind');
    expect(rows).toHaveLength(20);
    for (const [index, row] of rows.entries()) {
      expect(cells(row)).toHaveLength(cells(head).length);
      expect(cells(row)[0]).toBe(items[index]?.['slug']);
      const { status } = (items[index]?.provenance['kind'] ?? {}) as { status?: string };
      const mark = status === undefined ? '' : ' †';
      expect(cells(row)[kind]).toBe(`${items[index]?.attributes['kind'] ?? ''}${mark}`);
    }
  });
});
