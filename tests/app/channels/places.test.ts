// Searches by place over the real app: distance_km in every format and channel, boxes in every operation that
// selects records.
import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PublicRecord } from '../../../data/model/record.ts';
import type { Geo } from '../../../packs/define/model.ts';
import { type TestApp, testApp } from '../../support/app.ts';
import { metres } from '../../support/evaluate.ts';
import { startListener } from '../../support/listening.ts';
import { connectMcp } from '../../support/mcp-clients.ts';
import { newKey } from '../../support/money-on-stores.ts';
import { parseCsv } from '../../support/parse-csv.ts';
import { verifies } from '../../support/verifies.ts';

verifies('search.distance-km', 'search.bbox');

const NEAR = '-17.7,179.999,20020';
const QUERY = `near=${NEAR}&sort=distance`;

let app: TestApp;
let key: Record<string, string>;
/** Slugs and distances, nearest first, computed from the records. */
let expected: { slug: string; distance_km: number }[];
beforeAll(async () => {
  app = await testApp({ records: 130 });
  ({ headers: key } = await newKey(app, 5));
  const pack = app.register.packs.get('harbours')!;
  expected = app.records['harbours']!.filter(({ attributes }) => attributes['position'] !== undefined)
    .sort((a, b) => metres(pack, a, NEAR) - metres(pack, b, NEAR) || (a.id < b.id ? -1 : 1))
    .map((record) => ({ slug: record.slug, distance_km: metres(pack, record, NEAR) / 1000 }));
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

const ask = async (query: string, headers = key) => {
  const answer = await app.ask(`/v1/harbours/entities?${query}`, { headers });
  expect(answer.status, query).toBe(200);
  return answer;
};
const page = async (query: string, headers = key) =>
  (await (await ask(query, headers)).json()) as { items: PublicRecord[]; next_cursor: string | null };
const shown = (items: readonly PublicRecord[]) =>
  items.map(({ slug, distance_km }) => ({ slug, distance_km }) as (typeof expected)[number]);

describe('sort=distance', () => {
  test.each(['', '&fields=name'])('pages of JSON%s have all records in order with distance_km', async (fields) => {
    const items: PublicRecord[] = [];
    for (let cursor = ''; ; ) {
      const { items: more, next_cursor } = await page(`${QUERY}${fields}&limit=17${cursor}`);
      items.push(...more);
      if (next_cursor === null) break;
      cursor = `&cursor=${next_cursor}`;
    }
    expect(shown(items)).toEqual(expected);
  });

  test('NDJSON, CSV, Arrow, GeoJSON and Markdown', async () => {
    const ten = expected.slice(0, 10);
    const lines = (await (await ask(`${QUERY}&limit=10&format=ndjson`)).text()).trim().split('\n');
    expect(shown(lines.map((line) => JSON.parse(line) as PublicRecord))).toEqual(ten);

    const [header = [], ...rows] = parseCsv(await (await ask(`${QUERY}&limit=10&format=csv&fields=name`)).text());
    const column = (row: readonly string[], name: string) => row[header.indexOf(name)];
    expect(rows.map((row) => [column(row, 'slug'), Number(column(row, 'distance_km'))])).toEqual(
      ten.map(({ slug, distance_km }) => [slug, distance_km]),
    );

    const table = tableFromIPC(await (await ask(`${QUERY}&limit=10&format=arrow`)).arrayBuffer());
    expect([...(table.getChild('distance_km') ?? [])]).toEqual(ten.map(({ distance_km }) => distance_km));

    const { features } = (await (await ask(`${QUERY}&limit=10&format=geojson`)).json()) as {
      features: { properties: PublicRecord }[];
    };
    expect(shown(features.map(({ properties }) => properties))).toEqual(ten);

    const markdown = await (await ask(`${QUERY}&limit=10&format=md&fields=fuel`)).text();
    expect(markdown).toMatch(/^\|slug\|distance_km\|/);
    for (const { distance_km } of ten) expect(markdown).toContain(`|${distance_km}|`);
  });

  test('an empty page has the column too, and another order has none', async () => {
    const empty = 'near=10,10,0&sort=distance';
    expect(await (await ask(`${empty}&format=csv`)).text()).toContain(',distance_km,url,');
    expect(await (await ask(`near=${NEAR}&format=csv`)).text()).not.toContain('distance_km');
    expect((await page(`near=${NEAR}&limit=1`)).items[0]).not.toHaveProperty('distance_km');
  });

  test('a preview shows it', async () => {
    const { items } = await page(`${QUERY}&limit=3`, {});
    expect(items.every(({ preview }) => preview)).toBe(true);
    expect(shown(items)).toEqual(expected.slice(0, 3));
  });

  test('tools and skills answer it', async () => {
    const at = await startListener(app);
    const client = await connectMcp('2025-11-25', `${at.base}/mcp`, key);
    const args = { near: NEAR, sort: 'distance', limit: 3 };
    const { structuredContent } = await client.call('harbours_search', { ...args, format: 'json' });
    const text = await client.call('harbours_search', args);
    await client.close();
    await at.stop();
    expect(shown(structuredContent?.['items'] as PublicRecord[])).toEqual(expected.slice(0, 3));
    expect(text.content[0]?.text).toContain('|slug|distance_km|');
    const data = { skill: 'entity_search', dataset: 'harbours', ...args };
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ data }] };
    const init = { method: 'POST', body: JSON.stringify({ message }), headers: key };
    const { body } = await app.json('/a2a/v1/message:send', init);
    expect(JSON.stringify(body)).toContain(`"distance_km":${expected[2]!.distance_km}`);
  });

  test.each([
    ['sort=distance', 'sort: distance needs a point; add near='],
    [`sort=-distance&near=${NEAR}`, 'sort: distance has one direction, nearest first'],
    ['bbox=1,2,3', 'bbox: must be "west,south,east,north"'],
  ])('%s: 400', async (query, message) => {
    const { status, body } = await app.json(`/v1/harbours/entities?${query}`, { headers: key });
    expect([status, body['error']]).toEqual([400, 'invalid_parameter']);
    expect(body['message']).toContain(message);
  });
});

describe('bbox across the antimeridian', () => {
  const BOX = 'bbox=150,-60,-140,60';
  const inside = ({ lng, lat }: Geo) => (lng >= 150 || lng <= -140) && Math.abs(lat) <= 60;
  const boxed = () =>
    app.records['harbours']!.filter(({ attributes }) => {
      const point = attributes['position'] as Geo | undefined;
      return point !== undefined && inside(point);
    });

  test.each([
    ['entities?total=true&limit=1', 'total'],
    ['facets?by=fuel', 'matched'],
  ])('%s counts the records in the box', async (path, member) => {
    expect(boxed().length).toBeGreaterThan(5);
    const { body } = await app.json(`/v1/harbours/${path}&${BOX}`, { headers: key });
    expect(body[member]).toBe(boxed().length);
  });

  test('statistics, time series, comparison and similar records', async () => {
    const slug = boxed()[0]!.slug;
    const { body: stats } = await app.json(`/v1/harbours/stats?attribute=depth&${BOX}`, { headers: key });
    const depths = boxed().filter(({ attributes }) => attributes['depth'] !== undefined);
    expect((stats['rows'] as { count: number }[])[0]?.count).toBe(depths.length);
    for (const path of ['timeseries?attribute=depth', `compare?ids=${slug}`, `entities/${slug}/similar?limit=5`])
      expect((await app.json(`/v1/harbours/${path}&${BOX}`, { headers: key })).status, path).toBe(200);
  });
});
