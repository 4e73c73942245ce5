// The answer of examples stays short, however many groups a dataset has.
import { afterAll, expect, test } from 'vitest';
import type { StoredRecord } from '../../../data/model/record.ts';
import { appOfAll } from '../../support/app.ts';
import { verifies } from '../../support/verifies.ts';

verifies('examples.get', 'examples.group');

const app = await appOfAll({ records: 80 });
afterAll(() => expect(app.faults).toEqual([]));

test('in a dataset with prominence, the most prominent record of each group is its example', async () => {
  const { items } = (await app.json('/v1/harbours/examples')).body as unknown as { items: StoredRecord[] };
  const depth = ({ attributes }: StoredRecord) => Number(attributes['depth'] ?? Number.NEGATIVE_INFINITY);
  expect(items.length).toBeGreaterThan(2);
  for (const item of items) {
    const group = app.records['harbours']!.filter(({ attributes }) => attributes['coast'] === item.attributes['coast']);
    expect(depth(item)).toBe(Math.max(...group.map(depth)));
  }
});

test('examples show the largest groups, name the others, and show those on request', async () => {
  const records = app.records['harbours']!.map((record, at) => ({
    ...record,
    attributes: { ...record.attributes, coast: `Coast ${at}` },
    provenance: { ...record.provenance, coast: Object.values(record.provenance)[0]! },
  }));
  expect((await app.json('/v1/harbours/examples')).body).not.toHaveProperty('further_groups');
  await app.publish('harbours', records);
  const { body } = await app.json('/v1/harbours/examples');
  const { items, further_groups: further } = body as {
    items: { attributes: { coast: string } }[];
    further_groups: string[];
  };
  const shown = items.map(({ attributes }) => attributes.coast);
  expect(items.length).toBeLessThanOrEqual(62);
  expect(further.length).toBeGreaterThan(0);
  expect(new Set([...shown, ...further]).size).toBe(80);
  expect(shown).not.toContain(further[0]);
  const named = await app.json(`/v1/harbours/examples?group=${encodeURIComponent(further[0]!)}`);
  expect((named.body as typeof body & { items: typeof items }).items.map((each) => each.attributes.coast)).toEqual([
    further[0],
  ]);
  expect(named.body).not.toHaveProperty('further_groups');
  expect(await (await app.ask('/v1/harbours/examples.md')).text()).toContain(further[0]);
});
