// The shape of every answer, as in contract section 2 and the specification, over the real app.
import { describe, expect, test } from 'vitest';
import { ADMIN, appOfAll, BASE, NOW, type TestApp } from '../../support/app.ts';
import { newKey } from '../../support/money-on-stores.ts';
import { optOut, owned } from '../../support/owners-stage.ts';
import { verifies } from '../../support/verifies.ts';

const app = await appOfAll();

const admin = { admin: true };
type Item = Record<string, unknown> & { id: string; slug: string; attributes: Record<string, unknown> };

/** The body of a 200, as JSON. */
async function body(path: string, init: Parameters<TestApp['ask']>[1] = admin): Promise<Record<string, unknown>> {
  const answer = await app.json(path, init);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
}
const items = async (path: string) => (await body(path))['items'] as Item[];

/** Members of every object of an answer: exactly those of the contract. */
const ABOUT = ['attribution', 'license'];
const members = (value: unknown): string[] => Object.keys(value as object).sort();
const exactly = (...names: string[]): string[] => [...names, ...ABOUT].sort();

const RECORD = [
  ...['id', 'slug', 'name', 'dataset', 'url', 'updated_at', 'attributes', 'provenance', 'freshness'],
  ...['quality_score', 'completeness', 'verified_owner', 'license', 'attribution'],
].sort();
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

describe('the register', () => {
  test('datasets', async () => {
    verifies('shape.datasets', 'shape.datasets-prices', 'datasets.list', 'overview.dataset-per-pack');
    verifies('price.from-pack');
    const answer = await body('/v1/datasets', {});
    expect(members(answer)).toEqual(exactly('datasets'));
    const datasets = answer['datasets'] as Record<string, unknown>[];
    expect(datasets.map(({ id }) => id)).toEqual(['harbours', 'tools']);
    for (const dataset of datasets) {
      const known = ['id', 'title', 'description', 'license', 'records', 'updated_at', 'links', 'tools', 'prices'];
      expect(members(dataset)).toEqual(known.sort());
      for (const link of Object.values(dataset['links'] as object)) expect(link).toMatch(`${BASE}/`);
    }
    const tools = datasets[1] ?? {};
    expect(tools['records']).toBe(60);
    expect(tools['prices']).toMatchObject({ search: { eur: 0.008, usd: 0.0088 }, get: { eur: 0.004, usd: 0.0044 } });
  });

  test('healthz', async () => {
    verifies('shape.healthz', 'discovery.healthz');
    const answer = await body('/healthz', {});
    expect(members(answer)).toEqual(['cache_warm', 'release', 'started_at', 'status']);
    expect(answer).toMatchObject({ status: 'ok', started_at: NOW.toISOString(), cache_warm: true });
    expect(answer['release']).toEqual(app.releases);
  });

  test('readyz', async () => {
    verifies('shape.readyz');
    expect(await body('/readyz', {})).toEqual({ status: 'ready' });
  });

  test('the map for agents, the guide and the rules for crawlers', async () => {
    verifies('overview.root-map', 'overview.call-order', 'discovery.llms-txt', 'discovery.robots-txt');
    const map = await body('/', { headers: { Accept: 'application/json' } });
    expect(JSON.stringify(map)).toContain(`${BASE}/llms.txt`);
    const guide = await (await app.ask('/llms.txt')).text();
    const order = ['/v1/datasets', '/status', '/facets?by=', '/entities.md?q=', '/entities/batch?ids=', 'attribution'];
    const places = order.map((step) => guide.indexOf(step));
    expect(places.every((place) => place >= 0)).toBe(true);
    expect(places).toEqual([...places].sort((a, b) => a - b));
    const robots = await (await app.ask('/robots.txt')).text();
    expect(robots).toMatch(/^User-agent: \*$/m);
  });

  test('the metadata that a 401 names exists', async () => {
    verifies('discovery.oauth-resource', 'discovery.oauth-resource-path');
    const refused = await app.ask('/v1/datasets', { headers: { Authorization: 'Bearer nobody' } });
    const [, url = ''] = /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '') ?? [];
    const metadata = await body(url.replace(BASE, ''), {});
    expect(metadata).toMatchObject({ resource: `${BASE}/v1`, bearer_methods_supported: ['header'] });
    expect(await body('/.well-known/oauth-protected-resource?resource_path=/v1', {})).toEqual(metadata);
    expect((await body('/.well-known/oauth-protected-resource', {}))['resource']).toBe(BASE);
  });
});

describe('a dataset', () => {
  test('schema', async () => {
    verifies('shape.schema', 'shape.schema-attributes', 'shape.schema-filters', 'schema.get', 'dataset.schema');
    const answer = await body('/v1/tools/schema', {});
    expect(members(answer)).toEqual(exactly('dataset', 'schema', 'attributes', 'filters'));
    expect(answer['schema']).toMatchObject({ $schema: 'https://json-schema.org/draft/2020-12/schema' });
    const attributes = answer['attributes'] as Record<string, unknown>[];
    for (const attribute of attributes)
      expect(members({ ...attribute, key: true })).toEqual(
        ['name', 'key', 'type', 'unit', 'description', 'public', 'filterable', 'group'].sort(),
      );
    expect(attributes.find(({ name }) => name === 'price.list')).toMatchObject({
      ...{ type: 'price', unit: 'EUR/piece', public: true, filterable: true, group: 'price' },
    });
    for (const filter of answer['filters'] as Record<string, unknown>[]) {
      const { values, ...rest } = filter;
      expect(members(rest)).toEqual(['name', 'attribute', 'operator', 'type', 'description'].sort());
      expect(values === undefined || Array.isArray(values)).toBe(true);
    }
  });

  test('schema answers carry ETag and Last-Modified', async () => {
    verifies('schema.etag', 'error.304', 'limit.caching');
    const first = await app.ask('/v1/tools/schema');
    expect(first.headers.get('last-modified')).toMatch(/ GMT$/);
    const tag = first.headers.get('etag') ?? '';
    const again = await app.ask('/v1/tools/schema', { headers: { 'If-None-Match': tag } });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });

  test('and have Last-Modified after a change of the overlay too, like every answer with the release as its version', async () => {
    const owner = await owned();
    try {
      const modified = async (path: string) => {
        const { headers } = await owner.ask(path, { admin: true });
        return Date.parse(headers.get('last-modified') ?? '');
      };
      const paths = ['schema', 'samples', 'profile', 'llms-full.txt', 'entities/harbour-7', 'entities/harbour-7/facts'];
      const before = await Promise.all(paths.map((path) => modified(`/v1/harbours/${path}`)));
      expect((await optOut(owner, 'harbour-8', 'office@null.example')).status).toBe(200);
      for (const [at, path] of paths.entries())
        expect(await modified(`/v1/harbours/${path}`), path).toBeGreaterThanOrEqual(before[at]!);
    } finally {
      await owner.close();
    }
  });

  test('status', async () => {
    verifies('shape.status', 'status.get', 'dataset.health', 'shape.times');
    const answer = await body('/v1/tools/status', {});
    const freshness = ['median_age_hours', 'within_sla', 'sla_hours', 'last_collection', 'next_collection', 'runs'];
    expect(members(answer)).toEqual(exactly('dataset', 'records', 'facts', 'snapshot', ...freshness));
    expect(answer).toMatchObject({ dataset: 'tools', records: 60, snapshot: app.releases['tools'] });
    expect(answer['last_collection']).toMatch(TIME);
    expect(answer['next_collection']).toBe('2026-11-21T03:00:00.000Z');
  });

  test('samples', async () => {
    verifies('samples.get', 'samples.md', 'record.sample', 'record.sample-flag');
    const samples = await items('/v1/tools/samples');
    expect(samples.length).toBeGreaterThan(0);
    for (const sample of samples) {
      expect(members(sample)).toEqual([...RECORD, 'sample'].sort());
      expect(sample['sample']).toBe(true);
      expect(members(sample['provenance'])).toEqual(members(sample.attributes));
    }
    expect(await (await app.ask('/v1/tools/samples.md')).text()).toContain(samples[0]?.['name']);
  });

  test('examples', async () => {
    verifies('examples.get', 'examples.group', 'examples.md', 'dataset.group-by', 'dataset.per-group');
    const answer = await body('/v1/tools/examples', {});
    const shown = answer['items'] as Item[];
    const groups = Map.groupBy(shown, ({ attributes }) => attributes['maker']);
    expect(groups.size).toBeGreaterThan(2);
    for (const [maker, group] of groups) {
      expect(group.length).toBeLessThanOrEqual(2);
      const best = (app.records['tools'] ?? []).filter(({ attributes }) => attributes['maker'] === maker).slice(0, 2);
      expect(group.map(({ id }) => id)).toEqual(best.map(({ id }) => id));
    }
    expect(shown.some(({ attributes }) => attributes['runtime'] !== undefined)).toBe(true);
    const [maker] = groups.keys();
    const kept = await items(`/v1/tools/examples?group=${encodeURIComponent(String(maker))}`);
    expect(kept.map(({ id }) => id)).toEqual(groups.get(maker)?.map(({ id }) => id));
    expect((await app.ask('/v1/tools/examples.md')).headers.get('content-type')).toMatch(/^text\/markdown/);
  });

  test('guide and full text', async () => {
    verifies('guide.get', 'full-text.get', 'overview.entry-points');
    const guide = await (await app.ask('/v1/tools/llms.txt')).text();
    const schema = await body('/v1/tools/schema', {});
    for (const { name, attribute } of schema['filters'] as { name: string; attribute: string }[]) {
      const [row = ''] = guide.split('\n').filter((line) => line.startsWith(`|${attribute}|`));
      expect(row.split('|')[4]?.split(' '), name).toContain(name.slice(0, -attribute.length) || '=');
    }
    for (const { name } of schema['attributes'] as { name: string }[])
      expect(guide.replaceAll('\\', '')).toContain(name);
    const text = await (await app.ask('/v1/tools/llms-full.txt')).text();
    for (const { slug, attributes } of app.records['tools'] ?? []) {
      expect(text).toContain(`/datasets/tools/${slug}`);
      const secret = attributes['summary'];
      if (typeof secret === 'string' && secret.length > 12) expect(text).not.toContain(secret);
    }
  });

  test('facets', async () => {
    verifies('shape.facets', 'facets.get');
    const answer = await body('/v1/tools/facets?by=kind', {});
    expect(members(answer)).toEqual(exactly('by', 'values', 'matched', 'missing', 'hint'));
    const values = answer['values'] as { value: string; count: number }[];
    const counts = values.map(({ count }) => count);
    expect(counts).toEqual([...counts].sort((a, b) => b - a));
    expect(counts.reduce((sum, count) => sum + count, Number(answer['missing']))).toBe(answer['matched']);
    const hidden = await body('/v1/tools/facets?by=runtime', {});
    expect(hidden['withheld']).toBeGreaterThan(0);
  });

  test('facets with a filter on what is not public need a key', async () => {
    verifies('leak.facets-anonymous');
    expect((await app.json('/v1/tools/facets?by=kind&min_runtime=1')).status).toBe(402);
    expect((await app.json('/v1/tools/facets?by=kind&min_runtime=1', admin)).status).toBe(200);
  });
});

describe('records', () => {
  test('search', async () => {
    verifies('search.get', 'record.id', 'record.slug-pattern', 'record.scores', 'record.source-kind');
    verifies('record.quality-score', 'record.completeness', 'record.verified-owner', 'record.updated-at');
    const answer = await body('/v1/tools/entities?limit=100');
    expect(members(answer)).toEqual(exactly('items', 'next_cursor'));
    for (const item of answer['items'] as Item[]) {
      expect(members(item)).toEqual(RECORD);
      expect(item.id).toMatch(/^r-[0-9a-f]{16}$/);
      expect(item.slug).toMatch(/^[a-z0-9-]+$/);
      expect(item['url']).toBe(`${BASE}/datasets/tools/${item.slug}`);
      expect(item['updated_at']).toMatch(TIME);
      for (const score of ['quality_score', 'completeness']) {
        expect(item[score]).toBeGreaterThanOrEqual(0);
        expect(item[score]).toBeLessThanOrEqual(1);
      }
      expect(item['verified_owner']).toBeTypeOf('boolean');
      for (const { source } of Object.values(item['provenance'] as Record<string, { source: { kind: string } }>))
        expect(['collector', 'owner']).toContain(source.kind);
    }
  });

  test('get, by id and slug, with fields', async () => {
    verifies('get.record', 'get.fields', 'record.entity-md');
    const [first] = await items('/v1/tools/entities?limit=1');
    const { id = '', slug = '' } = first ?? {};
    const record = await body(`/v1/tools/entities/${id}`);
    expect(members(record)).toEqual(RECORD);
    expect(await body(`/v1/tools/entities/${slug}`)).toEqual(record);
    const trimmed = await body(`/v1/tools/entities/${id}?fields=name,maker`);
    for (const part of ['attributes', 'provenance', 'freshness'])
      expect(['name', 'maker']).toEqual(expect.arrayContaining(members(trimmed[part])));
    expect((await app.ask(`/v1/tools/entities/${id}.md`)).status).toBe(402);
  });

  test('accents and case do not matter', async () => {
    verifies('filter.accents');
    const makers = new Set((app.records['tools'] ?? []).map(({ attributes }) => String(attributes['maker'])));
    const accented = [...makers].find(
      (maker) => /[^\u0000-\u007f]/.test(maker.normalize('NFC')) && /^\p{Script=Latin}/u.test(maker),
    );
    expect(accented).toBeDefined();
    const plain = String(accented)
      .normalize('NFKD')
      .replace(/[\u0300-\u036f]/g, '')
      .toUpperCase();
    const found = await items(`/v1/tools/entities?limit=100&maker=${encodeURIComponent(plain)}`);
    expect(found.some(({ attributes }) => attributes['maker'] === accented)).toBe(true);
  });

  test('values are those of the release, and a missing one is absent', async () => {
    const all = await items('/v1/tools/entities?limit=100');
    expect(all.map(({ attributes }) => attributes)).toEqual(app.records['tools']?.map(({ attributes }) => attributes));
    const values = all.flatMap(({ attributes }) => Object.values(attributes));
    expect(values.filter((value) => value === null || value === '')).toEqual([]);
  });

  test('credentials in every place', async () => {
    verifies('auth.bearer', 'auth.x-api-key', 'auth.query-key', 'auth.anonymous');
    const path = '/v1/tools/entities?sort=runtime&limit=1';
    expect((await app.ask(path)).status).toBe(402);
    expect((await app.ask(path, { headers: { Authorization: `Bearer ${ADMIN}` } })).status).toBe(200);
    expect((await app.ask(path, { headers: { 'X-API-Key': ADMIN } })).status).toBe(200);
    const { key } = await newKey(app);
    expect((await app.ask(`${path}&api_key=${key}`)).status).toBe(200);
    expect((await app.ask('/v1/tools/entities?limit=1')).status).toBe(200);
  });
});
