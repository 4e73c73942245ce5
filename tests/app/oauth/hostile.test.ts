// Hostile input on every address of the authorization server, on both databases: a clear refusal, no internal
// error, nothing lost.
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { guardedFetch, publicOnly } from '../../../data/model/guard.ts';
import { newKey } from '../../support/money-on-stores.ts';
import { authorizeUrl, bearer, connectClient, pkce, register } from '../../support/oauth-client.ts';
import { pageOf, person } from '../../support/oauth-person.ts';
import { type Listening, listen } from '../../support/oauth-server.ts';
import { describeStores } from '../../support/stores.ts';

const RECORD = '/v1/tools/entities/record-1';

/** Texts that break careless parsers. */
const TEXTS = [
  '',
  '\u0000',
  'a\r\nSet-Cookie: evil=1',
  "' or '1'='1",
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '\ud800',
  '\u202e\u0001self',
  '__proto__',
  '{"$ne":null}',
  '../../etc/passwd',
  '%00%0d%0a',
  '💥'.repeat(300),
  'x'.repeat(20_000),
];

const JSON_BODIES = [
  '',
  'null',
  '[]',
  '"text"',
  '1e999',
  '{',
  '{"redirect_uris":{"length":1}}',
  '{"redirect_uris":["https://a.example"],"__proto__":{"key_id":"x"},"constructor":{"prototype":{}}}',
  '{"redirect_uris":["https://a.example"],"client_name":{"toString":null}}',
  '{"redirect_uris":["https://a.example"],"grant_types":"authorization_code","response_types":{}}',
  '{"redirect_uris":["https://a.example"],"token_endpoint_auth_method":["none"],"client_id":"mine","client_secret":{}}',
  `{"redirect_uris":${'['.repeat(5000)}${']'.repeat(5000)}}`,
  `{"redirect_uris":["https://a.example"],"client_name":"${'x'.repeat(70_000)}"}`,
];

describeStores('hostile input', ({ options: { databaseUrl, schema }, open }) => {
  let at: Listening;
  let key: string;
  beforeAll(async () => {
    await open();
    const store = { ...(databaseUrl ? { databaseUrl } : {}), ...(schema ? { schema } : {}) };
    at = await listen({ store, fetch: guardedFetch(publicOnly, 10) });
    key = (await newKey(at.app)).key;
  });
  afterAll(() => at.close());

  const form = (path: string, body: string, headers: Record<string, string> = {}) =>
    fetch(at.base + path, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
      body,
    });

  /** Checks a refusal: its status, without internals and without the unescaped input. */
  async function refused(response: Response, what: string): Promise<void> {
    const text = await response.text();
    expect(
      [400, 401, 403, 404, 405, 413, 415, 422, 431],
      `${what}: ${response.status} ${text.slice(0, 200)}`,
    ).toContain(response.status);
    expect(text).not.toMatch(/<script>|<img src=x|node_modules|at .*\.(js|ts):\d+/);
    expect(response.headers.get('set-cookie') ?? '').not.toContain('evil');
  }

  test('a client ID with a private address makes no connection, whatever its form', async () => {
    let connections = 0;
    const inside = createServer(() => (connections += 1)).listen(0);
    await new Promise((resolve) => inside.once('listening', resolve));
    const { port } = inside.address() as AddressInfo;
    const hosts = [
      '127.0.0.1',
      'localhost',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '0.0.0.0',
      '2130706433',
      '127.1',
      '0x7f000001',
    ];
    for (const host of hosts)
      for (const id of [`https://${host}:${port}/c`, `https://${host}/c`]) {
        const response = await fetch(authorizeUrl(at.base, id, pkce().challenge), { redirect: 'manual' });
        await refused(response, id);
      }
    expect(connections).toBe(0);
    await new Promise((resolve) => inside.close(resolve));
  });

  describe('the authorization endpoint', () => {
    test('refuses it in each parameter', async () => {
      const { body } = await register(at.base);
      const names = [
        'client_id',
        'redirect_uri',
        'response_type',
        'code_challenge',
        'code_challenge_method',
        'resource',
        'prompt',
        'response_mode',
      ];
      for (const name of names)
        for (const text of TEXTS.slice(1)) {
          const url = authorizeUrl(at.base, body.client_id, pkce().challenge, { [name]: text });
          const response = await fetch(url, { redirect: 'manual' });
          // Nobody has signed in, so no error is redirected.
          await refused(response, `${name}=${text.slice(0, 30)}`);
        }
    });

    test('refuses repeated parameters, and returns the state unchanged', async () => {
      const { body } = await register(at.base);
      const url = authorizeUrl(at.base, body.client_id, pkce().challenge);
      for (const name of ['client_id', 'redirect_uri', 'code_challenge', 'state', 'scope']) {
        const response = await fetch(`${url}&${name}=other`, { redirect: 'manual' });
        await refused(response, name);
      }
      for (const state of TEXTS.slice(1, 13)) {
        const who = person(at.base);
        const arrival = await who.submit(
          pageOf(await who.open(authorizeUrl(at.base, body.client_id, pkce().challenge, { state }))),
          { action: 'deny' },
        );
        if (!('left' in arrival)) throw new Error(arrival.page.html);
        expect(arrival.left.searchParams.get('state')).toBe(
          new URLSearchParams({ state }).get('state')?.toWellFormed(),
        );
        expect(arrival.left.searchParams.get('error')).toBe('access_denied');
      }
    });
  });

  describe('token and revocation endpoint', () => {
    test.each(['/oauth/token', '/oauth/revoke'])('%s refuses it', async (path) => {
      const { client_id, exchange } = await connectClient(at.base, key);
      const good = { ...exchange, client_id, token: 'x' };
      for (const name of ['grant_type', 'client_id', 'code', 'code_verifier', 'redirect_uri', 'token', 'client_secret'])
        for (const text of TEXTS) {
          const response = await form(path, new URLSearchParams({ ...good, [name]: text }).toString());
          // An unknown token counts as revoked (RFC 7009 section 2.2).
          if (path === '/oauth/revoke' && response.status === 200) continue;
          await refused(response, `${name}=${text.slice(0, 30)}`);
        }
      for (const body of [
        '',
        '&&&==',
        '%',
        '%ff%fe',
        'grant_type=a&grant_type=b',
        `grant_type=${'x'.repeat(70_000)}`,
        `a=1${'&a=1'.repeat(3000)}`,
      ])
        await refused(await form(path, body), body.slice(0, 30));
      for (const authorization of [
        'Basic',
        'Basic %%%',
        'Basic Og==',
        `Basic ${btoa('a:b:c')}`,
        `Basic ${'A'.repeat(9000)}`,
        'Bearer x',
        'Digest x',
      ])
        await refused(
          await form(path, 'grant_type=client_credentials&token=x', { Authorization: authorization }),
          authorization.slice(0, 30),
        );
      await refused(await form(path, '{}', { 'Content-Type': 'application/json' }), 'JSON');
      await refused(await form(path, 'x', { 'Content-Type': 'text/plain' }), 'text');
    });
  });

  describe('registration', () => {
    test('refuses it, and registers no client with another’s key', async () => {
      for (const body of JSON_BODIES) {
        const response = await fetch(`${at.base}/oauth/register`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body,
        });
        if (response.status === 201) {
          const made = (await response.json()) as Record<string, unknown>;
          expect([made['client_secret'], made['key_id'], made['token_endpoint_auth_method']]).toEqual([
            undefined,
            undefined,
            'none',
          ]);
          expect(made['client_id']).toMatch(/^dcr_[\w-]{32}$/);
        } else await refused(response, body.slice(0, 60));
      }
      for (const text of TEXTS) {
        const { status } = await register(at.base, { client_name: text, client_uri: text, contacts: [text] });
        expect([201, 400, 413], text.slice(0, 30)).toContain(status);
      }
      expect(({} as Record<string, unknown>)['key_id']).toBeUndefined();
    });
  });

  describe('the pages', () => {
    test('refuse what is no page of this person, or comes from elsewhere', async () => {
      const { body } = await register(at.base);
      for (const uid of ['x', 'a'.repeat(5000), '%00', '..%2f..', '__proto__', '%F0%9F%92%A5']) {
        await refused(await fetch(`${at.base}/oauth/approve/${uid}`), uid);
        await refused(await fetch(`${at.base}/oauth/authorize/${uid}`, { redirect: 'manual' }), uid);
      }
      const [victim, attacker] = [person(at.base), person(at.base)];
      const theirs = pageOf(await victim.open(authorizeUrl(at.base, body.client_id, pkce().challenge)));
      // Another browser lacks its cookie.
      expect(pageOf(await attacker.open(theirs.url)).html).toContain('This page has expired');
      expect(pageOf(await attacker.submit(theirs, { action: 'signin', key })).html).toContain('This page has expired');
      for (const headers of [
        { origin: 'https://evil.example' },
        { origin: 'null' },
        {},
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
      ])
        expect(
          pageOf(await victim.submit(theirs, { action: 'signin', key }, headers as Record<string, string>)).status,
        ).toBe(403);
      for (const text of TEXTS.slice(0, 13)) {
        expect(pageOf(await victim.submit(theirs, { action: 'signin', key: text })).status).toBe(422);
        expect(pageOf(await victim.submit(theirs, { action: text, key: text })).status).toBe(422);
      }
      const consent = pageOf(await victim.submit(theirs, { action: 'signin', key }));
      for (const cap of [
        '-1',
        '0',
        '0.0000001',
        '1e3',
        'Infinity',
        'NaN',
        '0x10',
        '1,000.00',
        '99999999',
        '１',
        ...TEXTS.slice(1, 13),
      ]) {
        const again = pageOf(await victim.submit(consent, { action: 'allow', cap }));
        expect(again.status, cap).toBe(422);
        expect(again.html).not.toMatch(/<script>|<img src=x/);
      }
      const grants = await at.app.state.db
        .selectFrom('grants')
        .select('id')
        .where('client_id', '=', body.client_id)
        .execute();
      expect(grants).toEqual([]);
    });
  });

  test('other methods and addresses are refused as everywhere', async () => {
    for (const [method, path, allow] of [
      ['POST', '/oauth/authorize', 'GET, HEAD, OPTIONS'],
      ['GET', '/oauth/token', 'POST, OPTIONS'],
      ['PUT', '/oauth/register', 'POST, OPTIONS'],
      ['DELETE', '/oauth/revoke', 'POST, OPTIONS'],
      ['POST', '/oauth/jwks.json', 'GET, HEAD, OPTIONS'],
    ] as const) {
      const response = await fetch(at.base + path, { method });
      expect([path, response.status, response.headers.get('allow')]).toEqual([path, 405, allow]);
    }
    for (const path of [
      '/oauth',
      '/oauth/',
      '/oauth/register/dcr_x',
      '/oauth/interaction/x',
      '/oauth/session/end',
      '/oauth/session/end/confirm',
    ])
      expect((await fetch(at.base + path)).status, path).toBe(404);
    const forged = { 'X-Forwarded-Host': 'evil.example', 'X-Forwarded-Proto': 'https', Forwarded: 'host=evil.example' };
    const { body } = await register(at.base);
    const sent = await fetch(authorizeUrl(at.base, body.client_id, pkce().challenge), {
      redirect: 'manual',
      headers: forged,
    });
    expect(sent.headers.get('location')).toMatch(new RegExp(`^${at.base}/oauth/approve/`));
  });

  test('there was no internal error, and the service still works', async () => {
    expect(at.app.faults).toEqual([]);
    const { access_token } = await connectClient(at.base, key);
    expect((await fetch(at.base + RECORD, { headers: bearer(access_token) })).status).toBe(200);
  });
});
