// near=<record>,<km>: the place of a record of this dataset or another (contract section 9).
import { afterAll, expect, test } from 'vitest';
import type { Geo } from '../../../packs/define/model.ts';
import { appOfAll } from '../../support/app.ts';
import { keysOf, recordNamed } from '../../support/evaluate.ts';

const app = await appOfAll();
const { pack } = app.register.current('tools')!;
const tools = app.records['tools']!;
const harbours = app.records['harbours']!;
afterAll(() => {
  expect(app.faults).toEqual([]);
  expect(app.lent()).toBe(0);
});

const placed = tools.filter(({ attributes }) => attributes['workshop'] !== undefined);
const tool = placed.find((record) => keysOf(pack, record).some((key) => recordNamed(pack, tools, key) === record))!;
const key = keysOf(pack, tool).find((text) => recordNamed(pack, tools, text) === tool)!;
const harbour = harbours.find(({ attributes }) => attributes['position'] !== undefined)!;

const ids = async (query: string) => {
  const { status, body } = await app.json(`/v1/tools/entities?${query}&sort=distance&limit=100`, { admin: true });
  expect([query, status]).toEqual([query, 200]);
  return (body['items'] as { id: string; distance_km: number }[]).map(({ id, distance_km }) => [id, distance_km]);
};
const around = ({ lat, lng }: Geo, km: number) => `near=${lat},${lng},${km}`;

test('an id, a slug or a key, also of another dataset, is the place of its record', async () => {
  const aroundPoint = await ids(around(tool.attributes['workshop'] as Geo, 9000));
  for (const ref of [tool.id, tool.slug.toUpperCase(), key.replaceAll(',', '%2C')])
    expect(await ids(`near=${encodeURIComponent(`${ref},9000`)}`)).toEqual(aroundPoint);
  const other = await ids(around(harbour.attributes['position'] as Geo, 9000));
  for (const ref of [harbour.id, harbour.slug])
    expect(await ids(`near=${encodeURIComponent(`harbours/${ref},9000`)}`)).toEqual(other);
  const facets = await app.json(`/v1/tools/facets?by=kind&near=harbours/${harbour.slug},9000`);
  expect(facets.body['matched']).toBe(other.length);
});

test('pages continue around the point of the first one, although the record moved', async () => {
  const query = `near=${tool.slug},20020&sort=distance&limit=5&fields=name`;
  const first = await app.json(`/v1/tools/entities?${query}`, { admin: true });
  const all = await ids(`near=${tool.slug},20020`);
  const cursor = `&cursor=${String(first.body['next_cursor'])}`;
  const moved = { ...tool, attributes: { ...tool.attributes, workshop: { lat: -45, lng: 100 } } };
  await app.publish(
    'tools',
    tools.map((record) => (record === tool ? moved : record)),
  );
  const second = await app.json(`/v1/tools/entities?${query}${cursor}`, { admin: true });
  expect((second.body['items'] as { id: string }[]).map(({ id }) => id)).toEqual(all.slice(5, 10).map(([id]) => id));
  await app.publish('tools', tools);
});

test('what names no place is 400, with the nearest records', async () => {
  for (const [near, message] of [
    ['nowhere,5', 'near: tools has no record "nowhere".'],
    ['harbours/nowhere,5', 'near: harbours has no record "nowhere".'],
    ['record_1,5', 'Nearest: Record 1'],
    [`${tool.slug},-1`, 'the radius in kilometres must be at least 0'],
    [`${tool.slug},far`, 'must be "lat,lng,km"'],
    ['52.5,13.4', 'Add the radius'],
  ] as const) {
    const { status, body } = await app.json(`/v1/tools/facets?by=kind&near=${encodeURIComponent(near)}`);
    expect([near, status]).toEqual([near, 400]);
    expect(String(body['message'])).toContain(message);
  }
  const unplaced = tools.find(({ attributes }) => attributes['workshop'] === undefined)!;
  const { body } = await app.json(`/v1/tools/facets?by=kind&near=${unplaced.slug},5`);
  expect(String(body['message'])).toContain('is not known');
});
