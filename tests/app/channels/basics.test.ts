// Basics for every client: addresses, names of datasets, change times of records, and 404.
import { expect, test } from 'vitest';
import { OPERATIONS } from '../../../api/operations/table.ts';
import { appOfAll, BASE, testApp } from '../../support/app.ts';
import { verifies } from '../../support/verifies.ts';

const app = await appOfAll();

/** Pages for people, which have other addresses (specification section 1). */
const PAGES = /^\/(datasets|optout|claim|ops)(\/|$)/;

/** Every text within a value, with the name of its member. */
function texts(value: unknown, name = ''): [string, string][] {
  if (typeof value === 'string') return [[name, value]];
  if (Array.isArray(value)) return value.flatMap((each) => texts(each, name));
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([key, each]) => texts(each, key));
}

test.each([
  ['https://register.example', 'max-age=31536000'],
  ['http://register.example', null],
])('answers of %s have Strict-Transport-Security: %s', async (base, expected) => {
  const at = await testApp({ base, records: 12 });
  const paths = [
    '/v1/datasets',
    '/v1/nowhere',
    '/',
    '/datasets/tools/record-1',
    '/keys',
    '/account',
    '/ops',
    '/healthz',
  ];
  for (const path of [
    ...paths,
    '/mcp',
    '/oauth/token',
    '/oauth/authorize',
    '/.well-known/oauth-authorization-server',
  ]) {
    const { headers } = await at.ask(path);
    expect([path, headers.get('strict-transport-security')]).toEqual([path, expected]);
  }
  await at.close();
});

test('every data operation is under /v1, and so is the metadata of its authorization server', async () => {
  verifies('version.prefix', 'overview.base-url');
  expect(
    OPERATIONS.map(({ rest }) => rest.path).filter((path) => !path.startsWith('/v1/') && !PAGES.test(path)),
  ).toEqual([]);
  for (const path of ['/.well-known/oauth-authorization-server', '/.well-known/oauth-authorization-server/v1'])
    expect((await app.ask(path)).status, path).toBe(200);
});

test('all our links begin with the base address', async () => {
  verifies('overview.base-url');
  let ours = 0;
  for (const path of [
    '/',
    '/v1/datasets',
    '/v1/tools/schema',
    '/v1/tools/entities?limit=3',
    '/v1/tools/samples',
    '/v1/catalog',
  ]) {
    const { status, body } = await app.json(path, { headers: { Accept: 'application/json' } });
    expect([path, status]).toEqual([path, 200]);
    // Links to sources and licences are external; our own links have paths that we answer.
    for (const [name, text] of texts(body))
      for (const [link] of text.matchAll(/https?:\/\/[^\s"'<>)|]+/g))
        if (/\/(v1|datasets|mcp|docs|llms\.txt|healthz)\b/.test(link)) {
          expect(link.startsWith(BASE), `${path} ${name}: ${link}`).toBe(true);
          ours += 1;
        }
  }
  expect(ours).toBeGreaterThan(40);
});

test('a dataset is one case-sensitive segment of the path', async () => {
  verifies('dataset.id', 'error.404');
  for (const [path, code] of [
    ['/v1/tools/status', undefined],
    ['/v1/no-such/status', 'unknown_dataset'],
    ['/v1/tools%2Fharbours/status', 'unknown_dataset'],
    ['/v1/tools/harbours/status', 'not_found'],
  ] as const) {
    const { status, body } = await app.json(path);
    expect([path, status, body['error']]).toEqual([path, code === undefined ? 200 : 404, code]);
  }
});

test('an unknown record is 404 in every operation on a record', async () => {
  verifies('error.404');
  const named = OPERATIONS.filter(({ rest }) => rest.method === 'GET' && rest.path.includes(':entity_id'));
  expect(named.length).toBeGreaterThan(4);
  for (const { rest } of named) {
    const path = rest.path.replace(':ds', 'tools').replace(':entity_id', 'no-such-record');
    const { status, body } = await app.json(path, { admin: true });
    expect([path, status, body['error']]).toEqual([path, 404, 'unknown_entity']);
  }
});

test('Last-Modified, updated_since and sort=updated use updated_at', async () => {
  verifies('record.updated-at-used');
  interface Item {
    id: string;
    updated_at: string;
  }
  const list = async (query: string) =>
    (await app.json(`/v1/harbours/entities?limit=100&${query}`, { admin: true })).body['items'] as Item[];
  const rising = await list('sort=updated');
  const times = rising.map(({ updated_at }) => Date.parse(updated_at));
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  expect(new Set(times).size).toBeGreaterThan(2);
  const falling = (await list('sort=-updated')).map(({ updated_at }) => Date.parse(updated_at));
  expect(falling).toEqual(times.toReversed());
  const middle = rising[Math.floor(rising.length / 2)]!;
  const since = await list(`sort=updated&updated_since=${middle.updated_at}`);
  expect(since.map(({ id }) => id)).toEqual(
    rising.filter(({ updated_at }) => updated_at >= middle.updated_at).map(({ id }) => id),
  );
  const { headers } = await app.ask(`/v1/harbours/entities/${middle.id}`, { admin: true });
  expect(headers.get('last-modified')).toBe(new Date(middle.updated_at).toUTCString());
});

test('one more pack folder appears in every channel, without other changes', async () => {
  verifies('version.new-datasets');
  const more = await testApp({ packs: ['app/static/lanterns/input/lanterns'] });
  try {
    const { documents } = (await more.json('/', { headers: { Accept: 'application/json' } })).body as {
      documents: { url: string }[];
    };
    const paths = [
      ...documents.map(({ url }) => url.slice(BASE.length)),
      '/',
      '/v1/datasets',
      '/.well-known/x402.json',
    ];
    const listing: string[] = [];
    for (const path of new Set(paths)) {
      const text = await (await more.ask(path)).text();
      // A document of one dataset contains only that one's name.
      if (!/\btools\b/.test(text) || !/\bharbours\b/.test(text)) continue;
      expect(/\blanterns\b/.test(text), path).toBe(true);
      listing.push(path);
    }
    expect(listing).toEqual(
      expect.arrayContaining(['/llms.txt', '/openapi.json', '/sitemap.xml', '/v1/catalog', '/v1/datasets']),
    );
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
    const listed = await more.ask('/mcp', {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        Host: new URL(BASE).host,
      },
      body: JSON.stringify(call),
    });
    expect(await listed.text()).toContain('lanterns_search');
    expect((await more.json('/v1/lanterns/status')).status).toBe(200);
    expect((await more.ask('/v1/lanterns/llms.txt')).status).toBe(200);
  } finally {
    await more.close();
  }
});
