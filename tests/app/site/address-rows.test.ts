// The page of a dataset and of results with what their address selects, from the running API: rows, counts, problems.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { MapPoints } from '../../../api/pages/clusters.ts';
import { html } from '../../../api/pages/html.ts';
import { viewerPart } from '../../../api/pages/viewer-html.ts';
import { type Model, orderOf } from '../../../api/pages/viewer-model.ts';
import { filterGrammar } from '../../../data/input/filters.ts';
import { spreadsOf } from '../../../data/queries/choices.ts';
import { editRecord, withEntry } from '../../../data/releases/overlay-edit.ts';
import type { Pack } from '../../../packs/define/model.ts';
import { type TestApp, testApp } from '../../support/app.ts';
import { newKey } from '../../support/money-on-stores.ts';
import { scratchOfAll } from '../../support/night-pack.ts';

const dist = scratchOfAll();
/** Free calls of an address in a minute, and its files. */
const CALLS = 8;
const FILES = 6;
let app: TestApp;
let key: Record<string, string>;
beforeAll(async () => {
  app = await testApp({ dist, calls: { free: CALLS, rows: FILES } });
  key = (await newKey(app, 5)).headers;
  for (const pack of app.register.packs.values()) {
    mkdirSync(join(dist, 'datasets', pack.id), { recursive: true });
    writeFileSync(join(dist, 'datasets', pack.id, 'index.html'), pageOf(pack));
  }
  mkdirSync(join(dist, 'search'), { recursive: true });
  writeFileSync(join(dist, 'search/index.html'), '<h1>Search</h1><div id="found"></div>');
});
afterAll(() => app.close());

const PUBLIC = { harbours: ['coast', 'depth'], tools: ['maker'] } as const;

/** What the page of a dataset has of it, as the build writes it. */
function pageOf(pack: Pack): string {
  const model = {
    dataset: pack.id,
    pages: `/datasets/${pack.id}/`,
    attributes: pack.attributes,
    filters: filterGrammar(pack, null),
    columns: [...PUBLIC[pack.id as keyof typeof PUBLIC]],
    stats: {},
    choices: {},
    sort: orderOf(pack),
    price: 0.008,
    files: [],
    geo: pack.attributes.find(({ type }) => type === 'geo')?.name ?? null,
  } as unknown as Model;
  return `<h1>${pack.id}</h1>${viewerPart(model, [])}<p>after</p>`;
}

let visitors = 0;
/** An address of a visitor of its own. */
function newAddress(): string {
  visitors += 1;
  return `2001:db8:77:${visitors.toString(16)}::1`;
}

/** The page at an address, for a visitor of its own. */
async function open(path: string) {
  const headers = { Accept: 'text/html' };
  const response = await app.ask(path, { headers, address: newAddress() });
  const text = await response.text();
  const part = (pattern: RegExp) => pattern.exec(text)?.[1] ?? '';
  return {
    status: response.status,
    text,
    slugs: [...text.matchAll(/data-slug="([^"]*)"/g)].map(([, slug]) => slug),
    served: text.includes('data-rows='),
    count: part(/id="viewer-count"[^>]*>([^<]*)/),
    problem: part(/id="viewer-problem" role="alert">([^<]*)/),
  };
}

/** Addresses that the API answers too. */
const VIEWS = [
  'sort=name',
  'coast=north&sort=-depth',
  'coast=north&coast=south&min_depth=1&sort=name',
  'not_coast=north&sort=name',
  'like_name=o&sort=name',
  'near=52,5,900&sort=name',
  'min_quality=0.5&sort=-quality',
];

test.each(VIEWS)('?%s has the rows of the API, and their number', async (view) => {
  const page = await open(`/datasets/harbours/?${view}`);
  const { body } = await app.json(`/v1/harbours/entities?${view}&limit=50&total=true`, { headers: key });
  expect(page.slugs).toEqual((body['items'] as { slug: string }[]).map(({ slug }) => slug));
  expect(page.slugs.length).toBeGreaterThan(0);
  expect(page.count).toMatch(new RegExp(`^${body['total']} (of|rows)`));
  expect(page.problem).toBe('');
});

test('pages follow one another, and lists and charts count the rows of the filter', async () => {
  const all = [await open('/datasets/harbours/?page=1'), await open('/datasets/harbours/?page=2')];
  expect(new Set(all.flatMap(({ slugs }) => slugs)).size).toBe(app.records['harbours']!.length);
  const { text } = await open('/datasets/harbours/?coast=north');
  const served = JSON.parse((/data-rows="([^"]*)"/.exec(text)?.[1] ?? '').replaceAll('&quot;', '"'));
  const counts = Map.groupBy(app.records['harbours']!, ({ attributes }) => attributes['coast']);
  counts.delete(undefined);
  // The list of the filtered attribute has the other values, too.
  expect(Object.fromEntries(served.choices.coast)).toEqual(
    Object.fromEntries([...counts].map(([value, records]) => [value, records.length])),
  );
  const depths = counts.get('north')!.filter(({ attributes }) => attributes['depth'] !== undefined).length;
  expect(served.stats.depth.count).toBe(depths);
  expect(served.stats.depth.bins.reduce((sum: number, bin: number[]) => sum + bin[2]!, 0)).toBe(depths);
});

test('the chart of dates under a filter counts years', async () => {
  const { pack, engine } = app.register.current('harbours')!;
  const open = { ...pack, attributes: pack.attributes.map((attribute) => ({ ...attribute, public: true })) };
  const where = [{ kind: 'any' as const, attribute: 'coast', values: ['north'] }];
  const { surveyed } = await spreadsOf({ pack: open, engine }, where, ['surveyed'], {});
  const years = app.records['harbours']!.filter(({ attributes }) => attributes['coast'] === 'north').flatMap(
    ({ attributes }) =>
      attributes['surveyed'] === undefined ? [] : [Number(String(attributes['surveyed']).slice(0, 4))],
  );
  const counts = [...Map.groupBy(years, (year) => year)].sort(([a], [b]) => a - b);
  expect(counts.length).toBeGreaterThan(1);
  expect(surveyed).toEqual({
    ...{ count: years.length, distinct: null },
    bins: counts.map(([year, { length }]) => [year, year + 1, length]),
  });
});

test.each([
  ['colour=red', 'Not a filter of this dataset: colour.', 0],
  ['min_depth=deep', 'min_depth: must be a number of m', 0],
  ['page=99999', 'There is no page 99999; the last page is 2.', 0],
  ['sort=nope', 'The table cannot be sorted by nope; it is sorted by -depth.', 50],
  ['fields=nope', 'Not a column of this dataset: nope.', 50],
])('?%s is reported', async (view, problem, rows) => {
  const page = await open(`/datasets/harbours/?${view}`);
  expect(page.problem).toContain(problem);
  expect(page.slugs).toHaveLength(rows);
});

describe('what the page does not do', () => {
  test('it shows no paid value and selects by none', async () => {
    for (const view of ['min_runtime=1', 'sort=-runtime']) {
      const paid = await open(`/datasets/tools/?${view}`);
      expect(paid.served).toBe(true);
      expect(paid.text).not.toContain('<!--record tools/');
      expect(paid.text).toMatch(/<p id="viewer-count"[^>]*><\/p>/);
      expect(paid.text).toContain('Load 50 rows: €0.008');
      expect(paid.text).toContain('Runtime: not public, so the service selects the rows.');
    }
    const { text, served } = await open('/datasets/tools/?fields=maker,runtime');
    expect(served).toBe(true);
    expect(text.match(/viewer-lock/g)).toHaveLength(50);
    // The offer is in the HTML, so that no row moves when the script starts.
    expect(text).toContain('Load 1 column of 50 rows: €0.008');
  });

  test('over the limit of calls it says so, and has no row', async () => {
    const headers = { Accept: 'text/html' };
    const address = '2001:db8:78::1';
    const pages: string[] = [];
    for (let call = 0; call <= CALLS; call += 1) {
      const response = await app.ask('/datasets/harbours/?coast=north', { address, headers });
      expect(response.status).toBe(200);
      pages.push(await response.text());
    }
    expect(pages.map((page) => page.includes('data-rows='))).toEqual([...Array<boolean>(CALLS).fill(true), false]);
    expect(pages.at(-1)).not.toContain('data-slug=');
    expect(pages.at(-1)).toMatch(/role="alert">More than 8 free calls in a minute; try again in \d+ s\.</);
  });
});

test('an owner’s edit and its withdrawal are in the rows at once, also without a query', async () => {
  const [record] = app.records['harbours']!;
  const change = async (name: string | null, at: number) => {
    const fact = {
      attribute: 'name',
      value: name === null ? null : JSON.stringify(name),
      source_url: 'https://o.example/',
      evidence: 'x',
      at,
    };
    const editing = {
      store: app.state,
      refresh: () => app.register.refresh(),
      current: (id: string) => app.register.current(id),
    };
    await editRecord(editing, {
      dataset: 'harbours',
      entity: record!.id,
      now: Date.now(),
      write: async (tx, version) => {
        const row = { dataset: 'harbours', entity_id: record!.id, claim_id: 'claim', version, ...fact };
        await tx.insertInto('owner_facts').values(row).execute();
      },
      alter: (overlay, version) => ({
        ...overlay,
        ownerFacts: withEntry(overlay.ownerFacts, record!.id, { entity: record!.id, version, ...fact }),
      }),
    });
  };
  const shown = async (path: string) => (await open(path)).text.includes('>Zanzibar<');
  await change('Zanzibar', 1);
  for (const path of ['/datasets/harbours/', '/datasets/harbours/?q=zanzibar', `/datasets/harbours/${record!.slug}`])
    expect((await open(path)).text, path).toContain('Zanzibar');
  await change(null, 2);
  expect(await shown('/datasets/harbours/')).toBe(false);
  // The settled name is that of the record's facts.
  const { body } = await app.json(`/v1/harbours/entities/${record!.slug}`, { headers: key });
  const { slugs, text } = await open(`/datasets/harbours/?ids=${record!.slug}`);
  expect(slugs).toEqual([record!.slug]);
  expect(text).toContain(String(html`${body['name'] as string}</a>`));
});

test('the results of a search have the numbers of all datasets, and of one', async () => {
  const q = app.records['harbours']![3]!.name;
  const { text } = await open(`/search/?q=${encodeURIComponent(q)}`);
  expect(text).toContain(`/datasets/harbours/${app.records['harbours']![3]!.slug}"`);
  const one = await open('/search/?q=o&dataset=tools');
  const { body } = await app.json('/v1/tools/entities?q=o&limit=1&total=true', { headers: key });
  if (Number(body['total']) > 0) expect(one.text).toMatch(/aria-current="page">\S[^<]*<small>\d+<\/small>/);
  expect(one.text).not.toContain('/datasets/harbours/');
  expect((await open('/search/?q=zzzz')).text).toContain('No results for “zzzz”');
  expect((await open('/search/?q=%3Cimg%20src=x%3E')).text).not.toContain('<img');
});

describe('rows of an address without its page', () => {
  /** Requests a path below the page of `harbours`, for a visitor of its own. */
  const below = (path: string, address = newAddress()) => app.ask(`/datasets/harbours/${path}`, { address });
  const north = () => app.records['harbours']!.filter(({ attributes }) => attributes['coast'] === 'north');

  test('the table is the one of the page, with its counts', async () => {
    const query = 'coast=north&sort=-depth&sources=1';
    const part = await (await below(`rows/html?${query}`)).text();
    expect((await open(`/datasets/harbours/?${query}`)).text).toBe(
      pageOf(app.register.packs.get('harbours')!).replace(/<section[\s\S]*<\/section>/, () => part),
    );
    const wrong = await below('rows/html?colour=red');
    expect([wrong.status, await wrong.text()]).toEqual([
      200,
      expect.stringContaining('Not a filter of this dataset: colour.'),
    ]);
  });

  test('CSV, JSON and GeoJSON have the rows in order with the named columns', async () => {
    const query = 'coast=north&sort=name&fields=coast,position';
    const names = (await open(`/datasets/harbours/?${query}`)).text.match(/(?<=data-slug=")[^"]*/g);
    const csv = await below(`rows/csv?${query}`);
    expect(csv.headers.get('content-disposition')).toBe('attachment; filename="harbours.csv"');
    const [head, ...lines] = (await csv.text()).trimEnd().split('\r\n');
    expect(head).toBe('slug,record,coast,position.lat,position.lng');
    expect(lines.map((line) => line.split(',')[0])).toEqual(names);
    const json = (await (await below(`rows/json?${query}`)).json()) as { items: { slug: string }[]; total: number };
    expect([json.items.map(({ slug }) => slug), json.total]).toEqual([names, names!.length]);
    expect(json).toMatchObject({ attribution: expect.stringContaining('Fictional') });
    const geo = (await (await below('rows/geojson?coast=north&fields=coast')).json()) as {
      features: { geometry: { coordinates: number[] } | null; properties: object }[];
    };
    expect(geo.features).toHaveLength(north().length);
    const { lat, lng } = north()[0]!.attributes['position'] as { lat: number; lng: number };
    expect(geo.features.map(({ geometry }) => geometry?.coordinates)).toContainEqual([lng, lat]);
    expect(geo.features[0]!.properties).toMatchObject({ coast: 'north' });
  });

  test('public attributes only are answered, sorted by and filtered by', async () => {
    const paid = (path: string) => app.json(`/datasets/tools/rows/json?${path}`, { address: newAddress() });
    const { body } = await paid('');
    const [item] = body['items'] as { attributes: object }[];
    const open = app.register.packs.get('tools')!.attributes.filter((attribute) => attribute.public);
    const names = open.map(({ name }) => name);
    expect(Object.keys(item!.attributes).filter((name) => !names.includes(name))).toEqual([]);
    for (const query of [
      'min_runtime=1',
      'sort=-runtime',
      'fields=runtime',
      'colour=red',
      'as_of=2026-01-01',
      'filter=runtime>1',
    ])
      expect([query, (await paid(query)).status]).toEqual([query, 400]);
  });

  test('points have names where they are few, and an area limits them', async () => {
    const placed = north().filter(({ attributes }) => attributes['position'] !== undefined);
    const points = async (query: string) => (await (await below(`points.json?${query}`)).json()) as MapPoints;
    const { total, cell, clusters } = await points('coast=north');
    expect([total, cell, clusters.length]).toEqual([placed.length, 0, placed.length]);
    expect(clusters.map(({ name }) => name).sort()).toEqual(placed.map(({ name }) => name).sort());
    const { lat, lng } = placed[0]!.attributes['position'] as { lat: number; lng: number };
    const { clusters: near } = await points(`coast=north&box=${[lng - 0.01, lat - 0.01, lng + 0.01, lat + 0.01]}`);
    expect(near.map(({ slug }) => slug)).toContain(placed[0]!.slug);
    expect((await below('points.json?box=1,2,3')).status).toBe(400);
  });

  test('an address gets so many files in a minute, one at a time', async () => {
    const statuses = async (address: string, calls: number) =>
      (await Promise.all(Array.from({ length: calls }, () => below('rows/csv', address)))).map(({ status }) => status);
    // One runs and three wait for it.
    expect((await statuses('2001:db8:7c::1', 5)).toSorted()).toEqual([200, 200, 200, 200, 503]);
    expect(await statuses('2001:db8:7c::1', 2)).toEqual([200, 429]);
    expect(await statuses('2001:db8:7d::1', 1)).toEqual([200]);
  });
});
