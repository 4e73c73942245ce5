// Keys in place of ids (contract section 9): in paths and lists, over every channel, and the nearest records of a 404.
import { afterAll, expect, test } from 'vitest';
import { fold } from '../../../packs/define/text.ts';
import { appOfAll } from '../../support/app.ts';
import { keysOf, recordNamed } from '../../support/evaluate.ts';

const app = await appOfAll();
const { pack } = app.register.current('tools')!;
const records = app.records['tools']!;
afterAll(() => expect(app.faults).toEqual([]));

const encoded = (key: string) => encodeURIComponent(key);
const keys = records.flatMap((record) => keysOf(pack, record).map((key) => ({ key, record })));
const unique = keys.filter(({ key, record }) => recordNamed(pack, records, key) === record);
const joined = unique.filter(({ key, record }) => key.endsWith(`/${record.attributes['model']}`));
const shared = keys.find(({ key }) => recordNamed(pack, records, key) === undefined)!;

test('a key or the identity joined by a slash names a record in the path, in any case', async () => {
  expect(joined.length).toBeGreaterThan(3);
  for (const { key, record } of [...unique.slice(0, 6), ...joined.slice(0, 6)])
    for (const text of [key, key.toUpperCase()]) {
      const path = `/v1/tools/entities/${encoded(text)}`;
      const { status, body } = await app.json(path, { admin: true });
      expect([path, status, body['id']]).toEqual([path, 200, record.id]);
    }
});

test('route words and .md at the end of a path win', async () => {
  const { key, record } = joined[0]!;
  const path = `/v1/tools/entities/${encoded(key)}`;
  const markdown = await app.ask(`${path}.md`, { admin: true });
  expect(markdown.headers.get('content-type')).toContain('text/markdown');
  expect(await markdown.text()).toContain(record.name);
  const { body } = await app.json(`${path}/facts`, { admin: true });
  expect(body['entity_id']).toBe(record.id);
  expect((await app.ask(`${path}/audit.md`)).status).toBe(200);
  expect((await app.ask(`/datasets/tools/${encoded(key)}`)).status).toBe(200);
});

test('lists take keys, with %2C for a comma', async () => {
  const [first, second] = [joined[0]!, unique.find(({ record }) => record !== joined[0]!.record)!];
  const refs = [first.key, second.key, 'nothing'].map((key) => key.replaceAll(',', '%2C'));
  const query = `ids=${encoded(refs.join(','))}&fields=name`;
  const batch = await app.json(`/v1/tools/entities/batch?${query}`, { admin: true });
  const ids = (items: unknown) => (items as { id: string }[]).map(({ id }) => id);
  expect(ids(batch.body['items'])).toEqual([first.record.id, second.record.id]);
  expect(batch.body['missing']).toEqual(['nothing']);
  const search = await app.json(`/v1/tools/entities?${query}`, { admin: true });
  expect(ids(search.body['items']).sort()).toEqual([first.record.id, second.record.id].sort());
  const facets = await app.json(`/v1/tools/facets?by=status&${query.replace('&fields=name', '')}`);
  expect(facets.body['matched']).toBe(2);
  const compared = await app.json(`/v1/tools/compare?${query.replace('&fields=name', '')}`, { admin: true });
  expect(ids(compared.body['items'])).toEqual([first.record.id, second.record.id]);
  const changes = await app.json(`/v1/tools/changelog?entity=${encoded(first.key)}`);
  expect(changes.status).toBe(200);
});

test('tools and skills take keys', async () => {
  const { key, record } = joined[0]!;
  const params = { name: 'tools_get', arguments: { entity_id: key, fields: ['status'], format: 'json' } };
  const mcp = await app.json('/mcp', {
    method: 'POST',
    admin: true,
    headers: {
      Host: 'register.example',
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  });
  expect(JSON.stringify(mcp.body)).toContain(record.id);
  const data = { skill: 'entity_get', dataset: 'tools', entity_id: key, fields: ['status'] };
  const a2a = await app.json('/a2a/v1/message:send', {
    method: 'POST',
    admin: true,
    headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0' },
    body: JSON.stringify({ message: { messageId: '1', role: 'ROLE_USER', parts: [{ data }] } }),
  });
  expect(JSON.stringify(a2a.body)).toContain(record.id);
});

test('a shared key names none, and the error names the records that share it', async () => {
  const { status, body } = await app.json(`/v1/tools/entities/${encoded(shared.key)}`, { admin: true });
  expect([status, body['error']]).toEqual([404, 'unknown_entity']);
  const { nearest } = body['detail'] as { nearest: { id: string }[] };
  expect(nearest.length).toBeGreaterThan(1);
  for (const { id } of nearest.slice(0, 2)) {
    const record = records.find((candidate) => candidate.id === id)!;
    expect(keysOf(pack, record).map(fold)).toContain(fold(shared.key));
  }
});

test('an error about an unknown slug names the records with its words', async () => {
  const { slug, id, name } = records.find(({ attributes }) => attributes['status'] !== 'discontinued')!;
  const { body } = await app.json(`/v1/tools/entities/${slug.replace('record-', 'record_')}/audit.md`);
  expect((body['detail'] as { nearest: unknown[] }).nearest).toContainEqual({ id, slug, name });
  const unknown = await app.json('/v1/tools/entities/xyzzy', { admin: true });
  expect(unknown.body['detail']).toEqual({ nearest: [] });
});
