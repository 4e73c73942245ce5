// format=geojson over the real app: a feature for each record of the JSON answer, at the same price and page
// size.
import { describe, expect, test } from 'vitest';
import type { PublicRecord } from '../../../data/model/record.ts';
import type { Geo } from '../../../packs/define/model.ts';
import { appOfAll, type TestApp } from '../../support/app.ts';
import { verifies } from '../../support/verifies.ts';

verifies('search.geojson');

const app = await appOfAll({ packs: ['app/static/lanterns/input/lanterns'] });

interface Collection {
  type: string;
  attribution: string;
  license: string;
  next_cursor: string | null;
  total?: number;
  features: { type: string; id: string; geometry: { coordinates: number[] } | null; properties: object }[];
}

const collection = async (query: string, init: Parameters<TestApp['ask']>[1] = { admin: true }) => {
  const answer = await app.ask(`/v1/harbours/entities?${query}`, init);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('application/geo+json');
  return (await answer.json()) as Collection;
};

const attributes = () => app.register.packs.get('harbours')!.attributes;
const pointName = () => attributes().find(({ type }) => type === 'geo')!.name;

test('has the records of the JSON answer, page by page, without provenance', async () => {
  const query = 'sort=name&limit=25&total=true';
  const features: Collection['features'] = [];
  let cursor = '';
  for (let page = 0; page < 3; page += 1) {
    const json = (await app.json(`/v1/harbours/entities?${query}${cursor}`, { admin: true })).body as unknown as {
      items: PublicRecord[];
      next_cursor: string | null;
      total: number;
      attribution: string;
      license: string;
    };
    const { type, features: made, ...rest } = await collection(`${query}${cursor}&format=geojson`);
    expect(type).toBe('FeatureCollection');
    expect(Object.keys(rest)).toEqual(['attribution', 'license', 'next_cursor', 'total']);
    expect(rest).toMatchObject({ attribution: json.attribution, license: json.license, total: 60 });
    expect(rest.next_cursor === null).toBe(json.next_cursor === null);
    const name = pointName();
    expect(made).toEqual(
      json.items.map(({ id, slug, name: title, url, updated_at, quality_score, attributes }) => {
        const { [name]: place, ...values } = attributes;
        const at = place as Geo | undefined;
        return {
          type: 'Feature',
          id,
          geometry: at ? { type: 'Point', coordinates: [at.lng, at.lat] } : null,
          properties: { slug, name: title, url, updated_at, quality_score, ...values },
        };
      }),
    );
    features.push(...made);
    cursor = `&cursor=${json.next_cursor}`;
  }
  expect(features).toHaveLength(60);
  expect(features.some(({ geometry }) => geometry !== null)).toBe(true);
});

describe('other requests', () => {
  test('by its media type', async () => {
    const { features } = await collection('limit=2', { admin: true, headers: { Accept: 'application/geo+json' } });
    expect(features).toHaveLength(2);
  });

  test('with chosen fields a feature keeps its point', async () => {
    const all = await collection('sort=name&limit=60&format=geojson');
    const few = await collection(`sort=name&limit=60&fields=${attributes()[0]!.name}&format=geojson`);
    expect(few.features.map(({ geometry }) => geometry)).toEqual(all.features.map(({ geometry }) => geometry));
  });

  test('without a key it shows public values within the quota, as JSON does', async () => {
    const address = '203.0.113.77';
    const { features } = await collection('limit=20&format=geojson', { address });
    expect(features).toHaveLength(20);
    expect((await app.ask('/v1/harbours/entities?format=geojson', { address })).status).toBe(402);
  });
});

describe('refusals', () => {
  test.each([
    ['/v1/lanterns/entities?format=geojson', 400, 'invalid_parameter', 'lanterns has no geography'],
    ['/v1/harbours/entities?format=geojson&limit=101', 400, 'invalid_parameter', 'at most 100 in json, md and geojson'],
  ])('%s: %i %s', async (path, status, error, message) => {
    const answer = await app.json(path, { admin: true });
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ error, message: expect.stringContaining(message) as string });
  });
});
