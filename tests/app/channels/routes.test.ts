// Rules that all tables of routes share: counted methods, CORS, pages of errors, caching, forms of other sites.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN, BASE, type TestApp, testApp } from '../../support/app.ts';

const HTML = { Accept: 'text/html' };
let app: TestApp;
let few: TestApp;
beforeAll(async () => {
  app = await testApp({ records: 5 });
  few = await testApp({ records: 5, calls: { free: 2 } });
});
afterAll(async () => {
  await app.close();
  await few.close();
});

/** A route of each table with a limit, and a method that it lacks. */
const LACKING = [
  ['/ops/review', 'PUT', 'GET, HEAD, OPTIONS'],
  ['/ops/login', 'DELETE', 'GET, HEAD, POST, OPTIONS'],
  ['/oauth/token', 'GET', 'POST, OPTIONS'],
  ['/oauth/authorize', 'PUT', 'GET, HEAD, OPTIONS'],
  ['/keys', 'DELETE', 'GET, HEAD, POST, OPTIONS'],
  ['/claim', 'PUT', 'GET, HEAD, POST, OPTIONS'],
  ['/checkout/done', 'POST', 'GET, HEAD, OPTIONS'],
  ['/llms.txt', 'POST', 'GET, HEAD, OPTIONS'],
  ['/v1/tools/export/a.csv', 'POST', 'GET, HEAD, OPTIONS'],
  ['/v1/datasets', 'PATCH', 'GET, HEAD, OPTIONS'],
] as const;

describe('a method that a path lacks', () => {
  test.each(LACKING)('%s %s is 405 with Allow, and counted', async (path, method, allow) => {
    const address = `192.0.2.${LACKING.findIndex(([row]) => row === path) + 1}`;
    for (const left of ['1', '0']) {
      const { status, headers, body } = await few.json(path, { method, address });
      expect([status, headers.get('allow'), body['error']]).toEqual([405, allow, 'method_not_allowed']);
      expect(headers.get('x-ratelimit-remaining')).toBe(left);
    }
    const limited = await few.json(path, { method, address });
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '60']);
  });

  test('is a page for a browser, where the path is a page', async () => {
    for (const [path, type] of [
      ['/keys', 'text/html; charset=utf-8'],
      ['/ops/review', 'text/html; charset=utf-8'],
      ['/oauth/token', 'application/json'],
      ['/llms.txt', 'application/json'],
    ] as const) {
      const answer = await app.ask(path, { method: 'DELETE', headers: HTML });
      expect([path, answer.status, answer.headers.get('content-type')]).toEqual([path, 405, type]);
    }
  });
});

describe('scripts of other sites', () => {
  test('read documents and endpoints, and no page, redirect or error of a page', async () => {
    const readable = async (path: string, init: object = {}) =>
      (await app.ask(path, init)).headers.get('access-control-allow-origin');
    for (const path of ['/', '/llms.txt', '/oauth/jwks.json', '/.well-known/agent-card.json', '/nothing'])
      expect([path, await readable(path)]).toEqual([path, '*']);
    expect(
      await readable('/oauth/token', { method: 'POST', body: 'x', headers: { Origin: 'https://a.example' } }),
    ).toBe('*');
    for (const path of ['/ops', '/ops/nothing', '/keys', '/keys/recover', '/account', '/claim', '/checkout/done'])
      for (const headers of [{}, HTML]) expect([path, await readable(path, { headers })]).toEqual([path, null]);
    expect(await readable('/ops/stats.json', { admin: true })).toBeNull();
  });
});

describe('an error of a page', () => {
  test('is a page with the request and the next step', async () => {
    const answer = await few.ask('/account', { headers: HTML, address: '192.0.2.91' });
    expect(answer.status).toBe(200);
    await few.ask('/account', { headers: HTML, address: '192.0.2.91' });
    const limited = await few.ask('/account', {
      headers: { ...HTML, 'X-Request-Id': 'mine-1' },
      address: '192.0.2.91',
    });
    const text = await limited.text();
    expect([limited.status, limited.headers.get('retry-after'), limited.headers.get('cache-control')]).toEqual([
      429,
      '60',
      'no-store',
    ]);
    expect(text).toContain('<h1>Too many attempts</h1>');
    expect(text).toContain('Wait 60 seconds, then try again.');
    expect(text).toContain('<code>mine-1</code>');
    expect(text).toContain('href="/account"');
  });

  test('is the same for a form of another site in every table', async () => {
    for (const path of [
      '/keys',
      '/keys/recover',
      '/account/topup',
      '/claim',
      '/optout/restore',
      '/ops/login',
      '/oauth/approve/x',
    ]) {
      const answer = await app.ask(path, {
        method: 'POST',
        body: 'token=x',
        headers: { ...HTML, Origin: 'https://other.example', 'Sec-Fetch-Site': 'cross-site' },
      });
      expect([path, answer.status]).toEqual([path, 403]);
      expect(await answer.text()).toContain(`under another address than <code>${BASE}</code>`);
    }
  });
});

test('a credential in the address turns off every cache, whatever the route declares', async () => {
  for (const path of ['/llms.txt', '/oauth/jwks.json', '/.well-known/agent-card.json', '/v1/catalog', '/keys']) {
    const { headers } = await app.ask(`${path}?api_key=${ADMIN}`);
    expect([path, headers.get('cache-control'), headers.get('referrer-policy')]).toEqual([
      path,
      'no-store',
      'no-referrer',
    ]);
  }
});

test('a document is sent with its entity tag and not again', async () => {
  for (const path of [
    '/llms.txt',
    '/v1/catalog',
    '/.well-known/agent-card.json',
    '/.well-known/oauth-protected-resource',
  ]) {
    const first = await app.ask(path);
    const tag = first.headers.get('etag') ?? '';
    expect([path, first.status]).toEqual([path, 200]);
    const again = await app.ask(path, { headers: { 'If-None-Match': tag } });
    expect([path, again.status, await again.text(), again.headers.get('etag')]).toEqual([path, 304, '', tag]);
  }
});
