// `filter` over the real app: on every operation with filters, its errors, its cursor, access and mistakes of models.
import { describe, expect, it } from 'vitest';
import { OPERATIONS } from '../../../api/operations/table.ts';
import { inputSchema } from '../../../api/render/json-schema.ts';
import type { StoredRecord } from '../../../data/model/record.ts';
import { appOfAll, BASE, type TestApp } from '../../support/app.ts';
import { holdsFilter } from '../../support/evaluate-filter.ts';
import { verifies } from '../../support/verifies.ts';

verifies('filter.expression', 'code.invalid-filter');

const JSON_FILTER = JSON.stringify({
  op: 'or',
  args: [
    { op: '>', args: [{ property: 'price.list' }, { op: '*', args: [2, { property: 'price.rental' }] }] },
    { op: 'in', args: [{ op: 'casei', args: [{ property: 'kind' }] }, ['saw', 'drill']] },
  ],
});
const TEXT_FILTER = "price.list > 2 * price.rental OR CASEI(kind) IN ('saw', 'drill')";

type App = Pick<TestApp, 'json' | 'ask' | 'register' | 'records'>;

const query = (values: Record<string, string>) => new URLSearchParams(values).toString();

const app: App = await appOfAll();

describe('over REST', () => {
  const get = async (path: string, values: Record<string, string>, admin = true) =>
    app.json(`/v1/tools/${path}?${query(values)}`, { admin });
  const expected = (also: (record: StoredRecord) => boolean = () => true) => {
    const pack = app.register.packs.get('tools')!;
    return app.records['tools']!.filter((record) => also(record) && holdsFilter(pack, record, JSON_FILTER)).map(
      ({ id }) => id,
    );
  };

  it.each([{ filter: TEXT_FILTER }, { filter: JSON_FILTER }, { filter: JSON_FILTER, 'filter-lang': 'cql2-json' }])(
    'selects the same records by text and JSON: %j',
    async (filter) => {
      const { status, body } = await get('entities', { ...filter, limit: '100', total: 'true' });
      expect([status, body['total']]).toEqual([200, expected().length]);
      expect((body['items'] as { id: string }[]).map(({ id }) => id)).toEqual(expected());
      const cordless = await get('entities', { ...filter, cordless: 'true', limit: '100' });
      const cordlessIds = expected(({ attributes }) => attributes['cordless'] === true);
      expect(cordlessIds.length).toBeGreaterThan(0);
      expect((cordless.body['items'] as { id: string }[]).map(({ id }) => id)).toEqual(cordlessIds);
    },
  );

  it('counts in facets and statistics, and selects in every other operation with filters', async () => {
    const facets = await get('facets', { by: 'status', filter: TEXT_FILTER });
    expect(facets.body['matched']).toBe(expected().length);
    const stats = await get('stats', { attribute: 'mass', filter: TEXT_FILTER });
    const heavy = expected(({ attributes }) => attributes['mass'] !== undefined);
    expect(stats.body['rows']).toMatchObject([{ count: heavy.length }]);
    const [first] = expected();
    const changes = await get('changelog', { days: '365', filter: TEXT_FILTER, limit: '500' });
    const changed = (changes.body['items'] as { entity_id: string }[]).map(({ entity_id }) => entity_id);
    expect(changed.every((id) => expected().includes(id))).toBe(true);
    const similar = await get(`entities/${first}/similar`, { filter: TEXT_FILTER, limit: '100' });
    expect((similar.body['items'] as { id: string }[]).every(({ id }) => expected().includes(id))).toBe(true);
    const having = (name: string) =>
      OPERATIONS.filter(
        (operation) =>
          operation.rest.path.includes(':ds') &&
          Object.hasOwn((inputSchema(operation, null)['properties'] ?? {}) as object, name),
      );
    const others = having('filter');
    expect(others.map(({ rest }) => rest.path)).toEqual(having('bbox').map(({ rest }) => rest.path));
    expect(others.length).toBeGreaterThan(6);
  });

  it('is the same in bulk formats and in HEAD', async () => {
    const csv = await app.ask(`/v1/tools/entities?${query({ filter: TEXT_FILTER, format: 'csv', limit: '1000' })}`, {
      admin: true,
    });
    expect((await csv.text()).trim().split('\r\n').length).toBeGreaterThan(expected().length);
    const head = await app.ask(`/v1/tools/entities?${query({ filter: 'mass >' })}`, { method: 'HEAD', admin: true });
    expect(head.status).toBe(400);
  });

  it('is part of the cursor', async () => {
    const first = await get('entities', { filter: TEXT_FILTER, limit: '3' });
    const cursor = String(first.body['next_cursor']);
    const next = await get('entities', { filter: TEXT_FILTER, limit: '3', cursor });
    expect((next.body['items'] as { id: string }[]).map(({ id }) => id)).toEqual(expected().slice(3, 6));
    const other = await get('entities', { filter: `${TEXT_FILTER} OR mass > 1`, limit: '3', cursor });
    expect([other.status, other.body['error']]).toEqual([400, 'invalid_cursor']);
  });

  it('names every attribute in it', async () => {
    const open = await get('entities', { filter: "kind = 'saw' OR mass > 1" }, false);
    expect(open.status).toBe(200);
    const paid = await get('entities', { filter: "kind = 'saw' OR runtime > 1" }, false);
    expect([paid.status, paid.body['error']]).toEqual([402, 'payment_required']);
  });

  it('has the position and the nearest name in errors', async () => {
    const { status, body } = await get('entities', { filter: 'mass > 1 AND pirce.list < 5' });
    expect([status, body['error']]).toEqual([400, 'invalid_filter']);
    expect(body['message']).toBe(
      'filter: found pirce.list at character 14, expected an attribute of tools. Did you mean "price.list"?',
    );
    expect(body['detail']).toEqual({
      position: 14,
      found: 'pirce.list',
      expected: 'an attribute of tools',
      nearest: ['price.list'],
    });
    const language = await get('entities', { filter: 'mass > 1', 'filter-lang': 'sql' });
    expect([language.status, language.body['error']]).toEqual([422, 'validation_failed']);
  });
});

describe('mistakes of models', async () => {
  const app = await appOfAll();
  const search = async (input: Record<string, unknown>) => {
    const params = { name: 'entity_search', arguments: { dataset: 'tools', ...input } };
    const { body } = await app.json('/mcp', {
      method: 'POST',
      admin: true,
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        Host: new URL(BASE).host,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    });
    return (body['result'] as { structuredContent: Record<string, unknown> }).structuredContent;
  };

  it.each([
    [
      { filters: { or: [{ kind: 'saw' }, { kind: 'drill' }] } },
      'filter: "<attribute> = \'<value>\' OR <attribute> > 5"',
    ],
    [{ $and: [{ kind: 'saw' }] }, '{"op": "and", "args": […]}'],
    [{ filter: { or: [{ kind: 'saw' }] } }, 'Write {"op": "or", "args": ['],
    [{ near: { latitude: 47.4, longitude: 8.5, radius_km: 50 } }, 'near: "47.4,8.5,50"'],
    [{ filters: { mass: '>=5' } }, 'min_mass=5'],
    [{ where: "kind = 'saw'" }, 'filter=<expression>'],
  ])('%j is corrected', async (given, advice) => {
    expect((await search(given))['message']).toContain(advice);
  });
});
