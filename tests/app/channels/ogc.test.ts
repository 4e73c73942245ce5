// OGC API Features over the real app: its resources, pages, filters and errors, and GDAL as a client.
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Geo } from '../../../packs/define/model.ts';
import { appOfAll, BASE, testApp } from '../../support/app.ts';
import { blocksOf } from '../../support/docs-page.ts';
import { claimToken, edit, optOut, owned, verify } from '../../support/owners-stage.ts';
import { type Served, served } from '../../support/served.ts';

interface Link {
  rel: string;
  href: string;
  type: string;
}
interface Feature {
  type: string;
  id: string;
  geometry: { type: string; coordinates: [number, number] } | null;
  properties: Record<string, unknown>;
  links?: Link[];
}
interface Page {
  type: string;
  features: Feature[];
  numberMatched: number;
  numberReturned: number;
  timeStamp: string;
  links: Link[];
}

const app = await appOfAll({ records: 300 });
const items = async (query: string, dataset = 'harbours') => {
  const { status, body } = await app.json(`/ogc/collections/${dataset}/items?${query}`);
  expect([query, status, body['detail']]).toEqual([query, 200, undefined]);
  return body as unknown as Page;
};
const matched = async (filter: Record<string, string>, dataset?: string) =>
  (await items(`${new URLSearchParams({ limit: '1000', ...filter })}`, dataset)).features.map(({ id }) => id).sort();
const records = app.records['harbours']!;
const idsOf = (keep: (attributes: Record<string, unknown>) => boolean) =>
  records.flatMap(({ id, attributes }) => (keep(attributes) ? [id] : [])).sort();
const target = (links: Link[], rel: string) => links.find((link) => link.rel === rel)?.href.slice(BASE.length);

describe('resources', () => {
  test('a client that follows links from the landing page reaches every resource, each with its type', async () => {
    const seen = new Map<string, string>();
    const queue: Link[] = [{ rel: 'self', href: `${BASE}/ogc`, type: 'application/json' }];
    for (let link = queue.shift(); link !== undefined; link = queue.shift()) {
      const path = link.href.slice(BASE.length);
      if (seen.has(path) || !path.startsWith('/ogc')) continue;
      const answer = await app.ask(path);
      expect([path, answer.status, answer.headers.get('content-type')]).toEqual([path, 200, link.type]);
      seen.set(path, link.rel);
      const { links = [], collections = [] } = (await answer.json()) as {
        links?: Link[];
        collections?: { links: Link[] }[];
      };
      queue.push(...links, ...collections.flatMap((collection) => collection.links));
    }
    expect([...seen.keys()].filter((path) => !path.includes('?')).sort()).toEqual([
      '/ogc',
      '/ogc/api',
      '/ogc/collections',
      ...['harbours', 'tools'].flatMap((ds) =>
        ['', '/items', '/queryables'].map((part) => `/ogc/collections/${ds}${part}`),
      ),
      '/ogc/conformance',
    ]);
    expect((await app.ask('/ogc/')).status).toBe(200);
  });

  test('the description is valid OpenAPI 3.0 and has every parameter that is accepted', async () => {
    const { body } = await app.json('/ogc/api');
    const { valid, errors } = await new Validator().validate(structuredClone(body));
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
    const { paths, components } = body as {
      paths: Record<string, { get: { parameters: { name?: string; $ref?: string }[] } }>;
      components: { parameters: Record<string, { schema: Record<string, unknown> }> };
    };
    expect(components.parameters['limit']!.schema).toMatchObject({ minimum: 1, maximum: 1000, default: 100 });
    const names = paths['/collections/tools/items']!.get.parameters.map(
      ({ name, $ref }) => name ?? $ref!.split('/').at(-1),
    );
    expect(names).toEqual(
      expect.arrayContaining(['limit', 'bbox', 'datetime', 'filter', 'filter-lang', 'maker', 'max_mass']),
    );
    const paid = app.register.packs.get('tools')!.attributes.filter((attribute) => !attribute.public);
    for (const { name } of paid) expect(names).not.toContain(name);
  });

  test('the extent holds every point', async () => {
    const { body } = await app.json('/ogc/collections/harbours');
    const { bbox } = (body['extent'] as { spatial: { bbox: number[][] } }).spatial;
    const [west, south, east, north] = bbox[0] as [number, number, number, number];
    for (const { attributes } of records) {
      const point = attributes['position'] as Geo | undefined;
      if (point === undefined) continue;
      expect(point.lng >= west && point.lng <= east && point.lat >= south && point.lat <= north).toBe(true);
    }
  });

  test('the queryables are the public attributes that can be filtered, and nothing else', async () => {
    const { body } = await app.json('/ogc/collections/harbours/queryables');
    expect(body).toMatchObject({ $id: `${BASE}/ogc/collections/harbours/queryables`, additionalProperties: false });
    expect(Object.keys(body['properties'] as object)).toEqual(['code', 'name', 'coast', 'position', 'depth', 'fuel']);
    expect(body['properties']).toMatchObject({ position: { format: 'geometry-point' }, depth: { type: 'number' } });
  });

  test.each(['tools', 'harbours'])(
    'filter accepts the queryables of %s, both ends of prices too, and nothing else',
    async (dataset) => {
      const { body } = await app.json(`/ogc/collections/${dataset}/queryables`);
      const listed = Object.keys(body['properties'] as object);
      const names = app.register.packs
        .get(dataset)!
        .attributes.flatMap(({ name }) => [name, `${name}.min`, `${name}.max`]);
      const accepted: string[] = [];
      for (const name of names) {
        const filter = encodeURIComponent(`"${name}" IS NULL`);
        const { status } = await app.json(`/ogc/collections/${dataset}/items?limit=1&filter=${filter}`);
        expect([name, status]).toEqual([name, expect.toBeOneOf([200, 400])]);
        if (status === 200) accepted.push(name);
      }
      expect(accepted).toEqual(listed);
      if (dataset === 'tools') expect(listed).toContain('price.list.max');
      const ends = await app.json('/ogc/collections/tools/items?limit=1000&filter=price.list.max>price.list.min');
      const ranges = app.records['tools']!.filter(({ attributes }) => typeof attributes['price.list'] === 'object');
      expect(ends.body['numberMatched']).toBe(ranges.length);
    },
  );
});

describe('features', () => {
  test('every page once, by the next links: all records with their public values', async () => {
    const found = new Map<string, Feature>();
    let path: string | undefined = '/ogc/collections/harbours/items?limit=70';
    let pages = 0;
    while (path !== undefined) {
      const answer = await app.ask(path);
      const page = (await answer.json()) as Page;
      expect([page.type, page.numberMatched]).toEqual(['FeatureCollection', 300]);
      expect(page.numberReturned).toBe(page.features.length);
      for (const feature of page.features) found.set(feature.id, feature);
      path = target(page.links, 'next');
      expect(answer.headers.get('link') !== null).toBe(path !== undefined);
      pages += 1;
    }
    expect([pages, found.size]).toEqual([5, 300]);
    for (const { id, attributes } of records) {
      const { geometry, properties } = found.get(id)!;
      const point = attributes['position'] as Geo | undefined;
      expect(geometry).toEqual(point ? { type: 'Point', coordinates: [point.lng, point.lat] } : null);
      expect(properties['depth']).toBe(attributes['depth']);
      for (const name of ['berths', 'languages', 'surveyed', 'domain']) expect(properties).not.toHaveProperty(name);
    }
  });

  test('one feature, by its id', async () => {
    const { id } = (await items('limit=1')).features[0]!;
    const { body } = await app.json(`/ogc/collections/harbours/items/${id}`);
    const { links, ...feature } = body as unknown as Feature;
    expect(feature).toEqual((await items('limit=1')).features[0]);
    expect(links!.map(({ rel }) => rel)).toEqual(['self', 'collection', 'alternate']);
  });

  test('HEAD, and 304 for the tag, although the time of the answer has passed', async () => {
    for (const path of [
      '/ogc',
      '/ogc/collections/harbours/items?limit=3',
      '/ogc/collections/harbours/items/harbour-3',
    ]) {
      const first = await app.ask(path);
      if (first.status === 404) continue;
      const etag = first.headers.get('etag')!;
      const head = await app.ask(path, { method: 'HEAD' });
      expect([head.status, head.headers.get('etag'), await head.text()]).toEqual([200, etag, '']);
      expect((await app.ask(path, { headers: { 'If-None-Match': etag } })).status).toBe(304);
      expect(first.headers.get('access-control-allow-origin')).toBe('*');
    }
  });

  test('is free for anybody: a thousand records a page, and no preview is counted', async () => {
    const address = '192.0.2.77';
    const page = await app.json('/ogc/collections/harbours/items?limit=100000', { address });
    expect([page.status, page.body['numberReturned']]).toEqual([200, 300]);
    expect(page.headers.get('ratelimit-policy')).toContain('"free"');
    const search = await app.json('/v1/harbours/entities?limit=20', { address });
    expect((search.body['items'] as unknown[]).length).toBe(20);
  });
});

describe('selections', () => {
  test('bbox with four or six numbers, and across the antimeridian', async () => {
    const inside = (west: number, south: number, east: number, north: number) =>
      idsOf(({ position }) => {
        const { lat, lng } = (position ?? { lat: NaN, lng: NaN }) as Geo;
        return lat >= south && lat <= north && (west <= east ? lng >= west && lng <= east : lng >= west || lng <= east);
      });
    expect(inside(1, 1, 170, 80).length).toBeGreaterThan(0);
    expect(await matched({ bbox: '1,1,170,80' })).toEqual(inside(1, 1, 170, 80));
    expect(await matched({ bbox: '1,1,-10,170,80,9000' })).toEqual(inside(1, 1, 170, 80));
    expect(await matched({ bbox: '100,-80,-100,80' })).toEqual(inside(100, -80, -100, 80));
  });

  test('datetime selects by any time of a collection and keeps records without one; else by the newest change', async () => {
    const tools = app.records['tools']!;
    const during = (from: string, to: string) =>
      tools
        .filter(({ attributes }) => {
          const day = attributes['first_seen'] as string | undefined;
          return day === undefined || (day >= from && day <= to);
        })
        .map(({ id }) => id)
        .sort();
    const days = tools.flatMap(({ attributes }) => (attributes['first_seen'] as string | undefined) ?? []).sort();
    const middle = days[Math.floor(days.length / 2)]!;
    expect(await matched({ datetime: `${middle}/..` }, 'tools')).toEqual(during(middle, '9999'));
    expect(await matched({ datetime: `/${middle}` }, 'tools')).toEqual(during('0000', middle));
    expect(await matched({ datetime: middle }, 'tools')).toEqual(during(middle, middle));
    expect(await matched({ datetime: `${middle}T00:00:00Z/${days.at(-1)}T23:59:59Z` }, 'tools')).toEqual(
      during(middle, days.at(-1)!),
    );
    // The harbours have no time of their own.
    const changes = app.records['harbours']!.map(({ id, updated_at }) => ({ id, at: updated_at }));
    const sorted = changes.map(({ at }) => at).sort();
    const half = sorted[Math.floor(sorted.length / 2)]!;
    const changed = (passes: (at: string) => boolean) =>
      changes
        .filter(({ at }) => passes(at))
        .map(({ id }) => id)
        .sort();
    expect(new Set(sorted).size).toBeGreaterThan(2);
    expect(await matched({ datetime: `${half}/..` })).toEqual(changed((at) => at >= half));
    expect(await matched({ datetime: `../${half}` })).toEqual(changed((at) => at <= half));
    const day = half.slice(0, 10);
    expect(await matched({ datetime: day })).toEqual(changed((at) => at.startsWith(day)));
    expect(await matched({ datetime: '2001-01-01/2001-02-01' })).toEqual([]);
  });

  test('1 and 0 are booleans in filters and expressions', async () => {
    const fuelled = idsOf(({ fuel }) => fuel === true);
    for (const query of [{ fuel: '1' }, { filter: 'fuel = 1' }, { filter: 'NOT fuel <> 1' }, { filter: 'fuel IN (1)' }])
      expect(await matched(query as Record<string, string>)).toEqual(fuelled);
    expect(await matched({ filter: 'fuel = 0' })).toEqual(idsOf(({ fuel }) => fuel === false));
    expect(await matched({ has_fuel: '0' })).toEqual(idsOf(({ fuel }) => fuel === undefined));
  });

  test('filters by property', async () => {
    expect(await matched({ coast: 'north' })).toEqual(idsOf(({ coast }) => coast === 'north'));
    expect(await matched({ min_depth: '10', coast: 'north,south' })).toEqual(
      idsOf(({ depth, coast }) => Number(depth ?? NaN) >= 10 && (coast === 'north' || coast === 'south')),
    );
  });

  test('CQL2 as text and as JSON, with the CRS of its positions, together with a box', async () => {
    const deep = idsOf(({ depth, coast }) => Number(depth ?? NaN) > 5 && coast === 'south');
    expect(deep.length).toBeGreaterThan(0);
    const json = JSON.stringify({
      op: 'and',
      args: [
        { op: '>', args: [{ property: 'depth' }, 5] },
        { op: '=', args: [{ property: 'coast' }, 'south'] },
      ],
    });
    expect(await matched({ filter: "depth > 5 AND coast = 'south'" })).toEqual(deep);
    expect(await matched({ filter: "depth > 5 AND coast = 'south'", 'filter-lang': 'cql2-text' })).toEqual(deep);
    expect(await matched({ filter: json, 'filter-lang': 'cql2-json' })).toEqual(deep);
    const north = { filter: 'S_INTERSECTS(position, BBOX(-180, 0, 180, 90))' };
    const crs = { 'filter-crs': 'http://www.opengis.net/def/crs/OGC/1.3/CRS84' };
    expect(await matched({ ...north, ...crs })).toEqual(await matched({ bbox: '-180,0,180,90' }));
    expect(await matched({ filter: 'depth > 5', bbox: '-180,0,180,90' })).toEqual(
      idsOf(
        ({ depth, position }) => Number(depth ?? NaN) > 5 && Number((position as Geo | undefined)?.lat ?? NaN) >= 0,
      ),
    );
  });
});

test.each([
  ['/ogc?f=json', 400, 'f'],
  ['/ogc/collections?limit=3', 400, 'limit'],
  ['/ogc/collections/harbours/items?depht=3', 400, 'depth'],
  ['/ogc/collections/harbours/items?q=port', 400, 'q'],
  ['/ogc/collections/harbours/items?berths=3', 400, 'berths'],
  ['/ogc/collections/harbours/items?filter=berths%3E3', 400, 'berths'],
  ['/ogc/collections/harbours/items?filter=depth%3E', 400, 'filter'],
  ['/ogc/collections/harbours/items?filter-lang=ecql', 400, 'cql2-text'],
  ['/ogc/collections/harbours/items?filter-crs=EPSG:4326', 400, 'CRS84'],
  ['/ogc/collections/harbours/items?limit=0', 400, 'limit'],
  ['/ogc/collections/harbours/items?limit=ten', 400, 'limit'],
  ['/ogc/collections/harbours/items?bbox=1,2,3', 400, 'bbox'],
  ['/ogc/collections/harbours/items?datetime=yesterday', 400, 'datetime'],
  ['/ogc/collections/harbours/items?datetime=../..', 400, 'datetime'],
  ['/ogc/collections/harbours/items?datetime=/', 400, 'datetime'],
  ['/ogc/collections/harbours/items?datetime=2026-01-01/2026-01-02/2026-01-03', 400, 'datetime'],
  ["/ogc/collections/tools/items?filter=T_DURING(first_seen,INTERVAL('2026-01-02','2026-01-01'))", 400, 'interval'],
  ['/ogc/collections/tools/items?datetime=2026-01-02/2026-01-01', 400, 'must begin before it ends'],
  [
    '/ogc/collections/harbours/items?datetime=2026-01-02T10:00:00Z/2026-01-02T09:00:00Z',
    400,
    'must begin before it ends',
  ],
  ['/ogc/collections/harbours/items?cursor=x', 400, 'cursor'],
  ['/ogc/collections/harbours/items/r-0000000000000000', 404, 'r-0000000000000000'],
  ['/ogc/collections/ships', 404, 'ships'],
  ['/ogc/collections/ships/items', 404, 'ships'],
  ['/ogc/styles', 404, ''],
])('%s is %i as problem details', async (path, status, word) => {
  const { status: sent, headers, body } = await app.json(path);
  expect([sent, headers.get('content-type')]).toEqual([status, 'application/problem+json']);
  expect(body).toMatchObject({ status, title: expect.any(String), type: expect.stringContaining(BASE) });
  expect(body['detail']).toContain(word);
});

test('another method is 405', async () => {
  const answer = await app.ask('/ogc/collections', { method: 'POST' });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([405, 'application/problem+json']);
});

test('an edit of an owner and a removal take effect at once', async () => {
  const owner = await owned();
  try {
    const path = '/ogc/collections/harbours/items/harbour-8';
    const count = async () => (await owner.json('/ogc/collections/harbours/items?limit=1')).body['numberMatched'];
    const fuel = async () => ((await owner.json(path)).body['properties'] as { fuel?: boolean }).fuel;
    const [before, total] = [await fuel(), Number(await count())];
    const token = await claimToken(owner);
    expect((await verify(owner, token)).status).toBe(200);
    expect((await edit(owner, token, { fuel: !before })).status).toBe(200);
    expect(await fuel()).toBe(!before);
    expect((await optOut(owner, 'harbour-8', 'office@null.example')).status).toBe(200);
    expect([(await owner.ask(path)).status, await count()]).toEqual([404, total - 1]);
  } finally {
    await owner.close();
  }
});

const run = promisify(execFile);
const gdal = await run('ogrinfo', ['--version']).then(
  () => true,
  () => false,
);
/** A test with GDAL. */
const withGdal = (name: string, run: () => Promise<void>) =>
  test(name, async (context) => {
    if (!gdal) context.skip('no ogrinfo (Debian: gdal-bin)');
    await run();
  });

describe('GDAL', () => {
  let server: Served;
  let folder: string;
  /** Queries of pages that GDAL has requested. */
  const pages: string[] = [];
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ogc-'));
    server = await served((base) => testApp({ base, records: 300 }));
    const { fetch } = server.app;
    server.app.fetch = (request, ...more) => {
      const { pathname, search } = new URL(request.url);
      if (pathname.endsWith('/items')) pages.push(search);
      return fetch(request, ...more);
    };
  });
  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const ogr = async (program: string, ...options: string[]) =>
    (await run(program, [...options, `OAPIF:${server.base}/ogc`, 'harbours'], { cwd: folder })).stdout;
  const features = (name: string) =>
    (JSON.parse(readFileSync(join(folder, `${name}.geojson`), 'utf8')) as Page).features;

  withGdal('ogrinfo describes a collection', async () => {
    const layer = await ogr('ogrinfo', '-so');
    expect(layer).toContain('Feature Count: 300');
    for (const line of ['Geometry: Point', 'depth: Real', 'coast: String', 'code: Integer'])
      expect(layer).toMatch(new RegExp(`^${line}`, 'm'));
  });

  withGdal('ogr2ogr reads every page of a collection, and a part of it by box and by value', async () => {
    await ogr('ogr2ogr', '-oo', 'PAGE_SIZE=70', 'all.geojson');
    const slugs = features('all').map(({ properties }) => properties['slug']);
    expect(slugs.sort()).toEqual(records.map(({ slug }) => slug).sort());
    expect(pages.filter((query) => query.includes('cursor=')).length).toBeGreaterThanOrEqual(4);
    await ogr('ogr2ogr', '-spat', '1', '1', '170', '80', '-where', "coast = 'south'", 'part.geojson');
    const part = await matched({ bbox: '1,1,170,80', coast: 'south' });
    expect(features('part').length).toBe(part.length);
    expect(part.length).toBeGreaterThan(0);
    expect(pages.at(-1)).toContain('bbox=1');
  });

  withGdal('ogr2ogr -where selects by a value of each type', async () => {
    const { attributes } = app.register.packs.get('harbours')!;
    const values = new Map(attributes.map(({ name }) => [name, records.map((record) => record.attributes[name])]));
    const tried = new Set<string>();
    for (const { name, type } of attributes.filter((attribute) => attribute.public && attribute.filterable)) {
      const value = values.get(name)!.find((one) => one !== undefined);
      if (value === undefined || typeof value === 'object') continue;
      tried.add(type);
      const shown = typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : Number(value);
      await ogr('ogr2ogr', '-where', `"${name}" = ${shown}`, `where-${name}.geojson`);
      const expected = records.filter((record) => record.attributes[name] === value).map(({ slug }) => slug);
      const slugs = features(`where-${name}`).map(({ properties }) => properties['slug']);
      expect(slugs.sort(), `${name} = ${shown}`).toEqual(expected.sort());
    }
    expect([...tried]).toEqual(expect.arrayContaining(['boolean', 'integer', 'number', 'enum']));
  });

  withGdal('the commands of docs/gis.md work', async () => {
    const commands = blocksOf('docs/gis.md').filter(({ text }) => text.startsWith('ogr'));
    const script = commands
      .map(({ text }) => text)
      .join('')
      .replaceAll('http://localhost:8787', server.base);
    const ours = script.replaceAll('airports', 'harbours').replace("type = 'large_airport'", "coast = 'south'");
    const { stdout } = await run('sh', ['-ec', ours.replace('5.9 45.8 10.5 47.8', '1 1 170 80')], { cwd: folder });
    expect(stdout).toMatch(/1: harbours .*2: tools .*Feature Count: 300/s);
    expect(readdirSync(folder)).toContain('harbours.gpkg');
    expect(features('large').length).toBeGreaterThan(0);
  });
});
