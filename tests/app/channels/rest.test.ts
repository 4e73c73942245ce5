// REST over the real app: negotiation, conditional requests, HEAD, headers, cursors, methods and addresses.
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { DATASET_OPERATIONS } from '../../../api/operations/table.ts';
import { ADMIN, appOfAll, BASE } from '../../support/app.ts';
import { newKey } from '../../support/money-on-stores.ts';
import { requiredQuery } from '../../support/required.ts';
import { verifies } from '../../support/verifies.ts';

const app = await appOfAll();

const admin = { admin: true };
const accept = (value: string) => ({ admin: true, headers: { Accept: value } });

/** An address of every operation that returns 200 to an operator. */
const address = (path: string) => path.replace(':ds', 'tools').replace(':entity_id', 'record-1') + requiredQuery(path);

describe.each(DATASET_OPERATIONS.filter(({ rest }) => rest.method === 'GET').map((each) => [each.name, each] as const))(
  '%s',
  (_, operation) => {
    const url = address(operation.rest.path);
    const [path = '', query = ''] = url.split('?');
    const twin = `${path.replace(/\.md$/, '')}.md${query === '' ? '' : `?${query}`}`;

    // Operations with Markdown only have no other format.
    if (operation.formats.length > 1)
      test('answers Markdown at .md and to Accept, with the headers of the JSON', async () => {
        verifies('overview.markdown-suffix', 'overview.markdown-accept', 'markdown.media-type', 'markdown.negotiated');
        // A caller is sent one long text at a time.
        const plain = await app.ask(url, admin);
        await plain.body?.cancel();
        const suffixed = await app.ask(twin, admin);
        const text = await suffixed.text();
        const accepted = await app.ask(url, accept('text/markdown'));
        expect([plain.status, suffixed.status, accepted.status]).toEqual([200, 200, 200]);
        expect(suffixed.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
        expect(accepted.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
        expect(plain.headers.get('vary')).toBe('Accept, Accept-Encoding');
        expect(accepted.headers.get('vary')).toBe('Accept, Accept-Encoding');
        expect(suffixed.headers.get('vary')).toBe('Accept-Encoding');
        const same = ['cache-control', 'x-dataset-version', 'last-modified'];
        for (const name of same) expect(suffixed.headers.get(name)).toBe(plain.headers.get(name));
        expect(text.length).toBeGreaterThan(50);
        expect((await accepted.text()).replaceAll('.md', '')).toBe(text.replaceAll('.md', ''));
      });

    test('has the attribution and the licence, in every form', async () => {
      verifies('shape.attribution-license', 'overview.attribution', 'overview.license');
      const response = await app.ask(url, admin);
      const text = await response.text();
      if (operation.formats[0] === 'json') {
        const body = JSON.parse(text) as Record<string, unknown>;
        expect(body['attribution']).toContain(BASE);
        expect(body['license']).toMatch(/\w/);
      } else expect(text).toContain('License: ');
      expect(await (await app.ask(twin, admin)).text()).toMatch(/licen[cs]e/i);
    });

    test('HEAD has the headers and no body', async () => {
      const get = await app.ask(url, admin);
      const head = await app.ask(url, { ...admin, method: 'HEAD' });
      expect(head.status).toBe(200);
      expect(await head.text()).toBe('');
      for (const name of ['content-type', 'etag', 'cache-control', 'vary', 'x-dataset-version'])
        expect(head.headers.get(name)).toBe(get.headers.get(name));
      await get.text();
    });

    test('an unknown parameter is refused, never ignored', async () => {
      verifies('filter.unknown');
      const { status, body } = await app.json(`${url}${query === '' ? '?' : '&'}nonsense=1`, admin);
      expect([status, body['error']]).toEqual([400, 'unknown_filter']);
      expect(body['message']).toContain('nonsense');
    });

    test('other methods are 405 with Allow', async () => {
      verifies('error.405-allow', 'code.method-not-allowed');
      for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'BREW']) {
        const { status, headers, body } = await app.json(url, { method, ...admin });
        expect([status, headers.get('allow'), body['error']]).toEqual([
          405,
          'GET, HEAD, OPTIONS',
          'method_not_allowed',
        ]);
      }
    });
  },
);

describe('conditional requests', () => {
  verifies('get.etag', 'header.record-cache', 'header.free-cache');
  test('record: weak tag per version and representation; 304 for it; private', async () => {
    const url = '/v1/tools/entities/record-1';
    const first = await app.ask(url, admin);
    const tag = first.headers.get('etag') ?? '';
    expect(tag).toMatch(/^W\/"/);
    expect(first.headers.get('cache-control')).toBe('private, no-cache');
    expect(first.headers.get('last-modified')).toMatch(/ GMT$/);
    const tags = await Promise.all(
      [`${url}.md`, `${url}?fields=name`, '/v1/tools/entities/record-2'].map(async (other) =>
        (await app.ask(other, admin)).headers.get('etag'),
      ),
    );
    expect(new Set([tag, ...tags]).size).toBe(4);
    const same = await app.ask(url, { ...admin, headers: { 'If-None-Match': `"x", ${tag}` } });
    expect([same.status, same.headers.get('etag'), await same.text()]).toEqual([304, tag, '']);
    const other = await app.ask(url, { ...admin, headers: { 'If-None-Match': '"x"' } });
    expect(other.status).toBe(200);
  });

  test.each([
    '/v1/datasets',
    '/v1/tools/schema',
    '/v1/tools/status',
    '/v1/tools/facets?by=kind',
    '/v1/tools/llms-full.txt',
  ])('free: %s may be kept, and asked again about', async (url) => {
    const first = await app.ask(url);
    expect(first.headers.get('cache-control')).toBe('public, no-cache');
    await first.text();
    const again = await app.ask(url, { headers: { 'If-None-Match': first.headers.get('etag') ?? '' } });
    expect([again.status, await again.text()]).toEqual([304, '']);
    const operators = await app.ask(url, admin);
    expect(operators.headers.get('cache-control')).toBe('private, no-cache');
    await operators.body?.cancel();
  });
});

describe('headers', () => {
  verifies('header.request-id', 'header.dataset-version', 'header.link-next', 'header.cors');
  test('a request id on every answer, in error bodies too; the caller may bring one', async () => {
    const own = await app.json('/v1/nowhere/schema', { headers: { 'X-Request-Id': 'trace-1' } });
    expect([own.headers.get('x-request-id'), own.body['request_id']]).toEqual(['trace-1', 'trace-1']);
    const made = await app.json('/v1/nowhere/schema', { headers: { 'X-Request-Id': 'no spaces, no \u00e9' } });
    expect(made.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(made.body['request_id']).toBe(made.headers.get('x-request-id'));
    expect((await app.ask('/healthz')).headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('the dataset version is the snapshot of the status', async () => {
    const { headers, body } = await app.json('/v1/tools/status');
    expect(headers.get('x-dataset-version')).toBe(app.releases['tools']);
    expect(body['snapshot']).toBe(app.releases['tools']);
    expect((await app.ask('/v1/tools/entities/record-1')).headers.get('x-dataset-version')).toBe(app.releases['tools']);
  });

  test('a Link to the next page with every cursor, in both forms, without the credential', async () => {
    const { key } = await newKey(app);
    const { headers, body } = await app.json(`/v1/tools/entities?limit=2&total=true&api_key=${key}`);
    const url = `${BASE}/v1/tools/entities?limit=2&total=true&cursor=${body['next_cursor']}`;
    expect(headers.get('link')).toBe(`<${url}>; rel="next"`);
    const twin = await app.ask('/v1/tools/entities.md?limit=2', admin);
    const next = /<([^>]+)>; rel="next"/.exec(twin.headers.get('link') ?? '')?.[1] ?? '';
    expect(next).toMatch(/\/v1\/tools\/entities\.md\?limit=2&cursor=/);
    expect(await twin.text()).toContain(`Next page: ${next}\n`);
    const last = await app.json('/v1/tools/entities?limit=100', admin);
    expect([last.headers.get('link'), last.body['next_cursor']]).toEqual([null, null]);
  });

  test('a browser agent may ask and read', async () => {
    const preflight = await app.ask('/v1/tools/entities', {
      method: 'OPTIONS',
      headers: { Origin: 'https://agent.example', 'Access-Control-Request-Headers': 'x-api-key' },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-headers')).toMatch(/X-API-Key/);
    const refused = await app.ask('/v1/tools/entities/record-1', { headers: { Origin: 'https://agent.example' } });
    expect(refused.headers.get('access-control-allow-origin')).toBe('*');
    for (const name of ['PAYMENT-REQUIRED', 'X-Request-Id', 'ETag', 'Link', 'Retry-After', 'RateLimit'])
      expect(refused.headers.get('access-control-expose-headers')).toContain(name);
  });
});

describe('credentials', () => {
  verifies('credential.order', 'credential.query', 'credential.query-hidden');
  test('api_key works for GET, is not stored and not logged', async () => {
    const { key } = await newKey(app);
    const { status, headers, body } = await app.json(`/v1/tools/entities?sort=runtime&limit=1&api_key=${key}`);
    expect(status).toBe(200);
    expect([headers.get('cache-control'), headers.get('referrer-policy')]).toEqual(['no-store', 'no-referrer']);
    expect(JSON.stringify([...headers]) + JSON.stringify(body)).not.toContain(key);
  });

  test("an operator's key in a URL is refused everywhere, and spends the bucket of the address", async () => {
    verifies('credential.operator-url');
    const paths = ['/v1/keys', '/v1/tools/entities', '/v1/tools/entities/record-1', '/v1/datasets', '/v1/keys/me'];
    for (const path of [...paths, '/v1/nowhere', '/ops/stats.json', '/ops/metrics', '/v1/tools/export'])
      for (const method of ['GET', 'HEAD']) {
        const { status, headers, body } = await app.json(`${path}?api_key=${ADMIN}`, { method });
        expect([status, headers.get('www-authenticate') !== null], `${method} ${path}`).toEqual([401, true]);
        expect(JSON.stringify([...headers]) + JSON.stringify(body)).not.toContain(ADMIN);
        if (method === 'GET') expect(body['message']).toContain("an operator's key is not accepted in a URL");
        if (path.startsWith('/v1')) expect(headers.get('x-ratelimit-limit')).not.toBeNull();
      }
    expect((await app.ask('/v1/keys', admin)).status).toBe(200);
  });

  test('Authorization decides before X-API-Key, and that before api_key', async () => {
    const url = '/v1/tools/entities/record-1';
    const ask = async (path: string, headers: Record<string, string>) => (await app.ask(path, { headers })).status;
    expect(await ask(url, { 'X-API-Key': ADMIN })).toBe(200);
    expect(await ask(url, { Authorization: 'Bearer wrong', 'X-API-Key': ADMIN })).toBe(401);
    const { key } = await newKey(app);
    expect(await ask(`${url}?api_key=${key}`, { 'X-API-Key': 'wrong' })).toBe(401);
    expect(await ask(`${url}?api_key=wrong`, { 'X-API-Key': ADMIN })).toBe(200);
  });

  test('a parameter of the path cannot be named in the query', async () => {
    expect((await app.json('/v1/tools/entities?ds=harbours', admin)).body['error']).toBe('unknown_filter');
    expect((await app.json('/v1/tools/schema?ds=harbours', admin)).body['error']).toBe('unknown_filter');
  });
});

test('the tag of a query does not depend on the order of its parameters', async () => {
  const tags = ['fields=name&format=json', 'format=json&fields=name'].map(async (query) =>
    (await app.ask(`/v1/tools/entities/record-1?${query}`, admin)).headers.get('etag'),
  );
  expect(new Set(await Promise.all(tags)).size).toBe(1);
});

test('every lease was returned, and there was no internal error', () => {
  expect(app.lent()).toBe(0);
  expect(app.faults).toEqual([]);
});

describe('paths without a route', () => {
  test.each(['/v1', '/v1/', '/v1/foo', '/v1/datasets/', '/v1/foo/bar/baz', '//v1//x', '/v1/%00', '/nowhere/'])(
    '%s: 404 that leads to the datasets',
    async (path) => {
      const { status, body } = await app.json(path);
      expect([status, body['error']]).toEqual([404, 'not_found']);
      expect(body['message']).toMatch(/^Not found: \//);
      expect(body['alternative_action']).toContain(`${BASE}/v1/datasets`);
      expect(body['documentation_url']).toBe(`${BASE}/llms.txt`);
    },
  );

  test('one below a dataset leads to its guide, one with a slash at the end to the path without it', async () => {
    for (const path of ['/v1/tools', '/v1/tools/', '/v1/tools/nowhere', '/v1/tools/schema/']) {
      const { status, body } = await app.json(path);
      expect([status, body['documentation_url']], path).toEqual([404, `${BASE}/v1/tools/llms.txt`]);
      expect(body['alternative_action'], path).toContain(`GET ${BASE}/v1/tools/llms.txt`);
      const plain = path.replace(/\/$/, '');
      if (plain !== path) expect(body['alternative_action']).toContain(`${BASE}${plain}.`);
      else expect(body['alternative_action']).not.toContain('slash');
    }
    expect((await app.ask('/v1/tools/llms.txt')).status).toBe(200);
    const long = await app.json(`/v1/${'x'.repeat(5_000)}`);
    expect(String(long.body['message']).length).toBeLessThan(300);
  });
});

test.each(['/v1/keys', '/v1/keys/recover', '/mcp', '/a2a/v1/message:send', '/oauth/token'])(
  'a compressed body is 415 at %s',
  async (path) => {
    const body = gzipSync('{"email":"zipped@example.org"}');
    const type = path.startsWith('/oauth') ? 'application/x-www-form-urlencoded' : 'application/json';
    const headers = { 'Content-Type': type, 'Content-Encoding': 'gzip', Host: new URL(BASE).host };
    const response = await app.ask(path, { method: 'POST', headers, body: body as never });
    expect([response.status, await response.text()]).toEqual([415, expect.stringMatching(/Content-Encoding|coding/i)]);
  },
);

describe('tables', () => {
  test.each([
    ['csv', 'tools.csv'],
    ['ndjson', 'tools.ndjson'],
    ['arrow', 'tools.arrow'],
  ])('%s is saved as %s', async (format, file) => {
    for (const method of ['GET', 'HEAD']) {
      const response = await app.ask(`/v1/tools/entities?format=${format}&limit=2`, { ...admin, method });
      expect([response.status, response.headers.get('content-disposition')]).toEqual([
        200,
        `attachment; filename="${file}"`,
      ]);
    }
    expect((await app.ask('/v1/tools/entities?limit=2', admin)).headers.get('content-disposition')).toBeNull();
  });

  test('bom=true begins a CSV with a byte order mark, and is refused elsewhere', async () => {
    const bytes = async (query: string) =>
      Buffer.from(await (await app.ask(`/v1/tools/entities?limit=2&format=csv${query}`, admin)).arrayBuffer());
    const plain = await bytes('');
    expect(await bytes('&bom=false')).toEqual(plain);
    expect(await bytes('&bom=true')).toEqual(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), plain]));
    for (const format of ['json', 'ndjson', 'md']) {
      const { status, body } = await app.json(`/v1/tools/entities?bom=true&format=${format}`, admin);
      expect([status, body['message']]).toEqual([400, expect.stringContaining('bom: only a CSV')]);
    }
  });
});
