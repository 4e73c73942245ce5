// Refusals of an authorization, on both databases: wrong, late, altered, reused, revoked.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newKey } from '../../support/money-on-stores.ts';
import {
  allowCode,
  authorizeUrl,
  bearer,
  connectClient,
  pkce,
  post,
  REDIRECT,
  register,
  token,
} from '../../support/oauth-client.ts';
import { allow, pageOf, person } from '../../support/oauth-person.ts';
import { type Listening, listen } from '../../support/oauth-server.ts';
import { describeStores } from '../../support/stores.ts';
import { verifies } from '../../support/verifies.ts';

verifies('credential.oauth-where', 'credential.oauth-no-signin', 'auth.no-openid', 'auth.oauth-refresh');

const RECORD = '/v1/tools/entities/record-1';
const HOUR = 3_600_000;

describeStores('refusals', ({ options: { databaseUrl, schema }, open }) => {
  let late = 0;
  let at: Listening;
  let key: string;
  let base: string;
  beforeAll(async () => {
    await open();
    const store = { ...(databaseUrl ? { databaseUrl } : {}), ...(schema ? { schema } : {}) };
    at = await listen({ store, late: () => late });
    base = at.base;
    key = (await newKey(at.app, 5)).key;
  });
  afterAll(() => at.close());

  /** Status of a paid call with a token. */
  const call = async (access_token: string, path = RECORD) =>
    (await fetch(base + path, { headers: bearer(access_token) })).status;
  /** `status error` of the token endpoint. */
  const refused = async (fields: Record<string, string | undefined>, headers?: Record<string, string>) => {
    const { status, body } = await token(base, fields, headers);
    return `${status} ${body['error']}`;
  };
  /** The error at the client's redirect, or the page when there is no valid redirect. */
  const asked = async (client_id: string, changed: Record<string, string | undefined>) => {
    const arrival = await person(base).open(authorizeUrl(base, client_id, pkce().challenge, changed));
    if ('left' in arrival) {
      const { search, hash } = arrival.left;
      return `sent back: ${new URLSearchParams(hash.slice(1) || search).get('error')}`;
    }
    const title = /<h1>(.*)<\/h1>/.exec(arrival.page.html)?.[1];
    return `told: ${title === 'Authorization failed' ? /<pre><code>(\w+)/.exec(arrival.page.html)?.[1] : title}`;
  };

  describe('an authorization request', () => {
    test('without PKCE, or with plain, is sent back', async () => {
      const { body } = await register(base);
      const none = { code_challenge: undefined, code_challenge_method: undefined };
      for (const changed of [
        none,
        { code_challenge_method: 'plain' },
        { code_challenge_method: undefined },
        { code_challenge: undefined },
        { code_challenge: 'short' },
      ])
        expect(await asked(body.client_id, changed)).toBe('sent back: invalid_request');
    });

    test('with another redirect shows an error page and does not redirect', async () => {
      const { body } = await register(base, { redirect_uris: ['https://client.example/callback'] });
      for (const redirect_uri of [
        'https://client.example/callback/',
        'https://client.example/callback?x=1',
        'https://client.example/Callback',
        'https://client.example:444/callback',
        'https://client.example.evil.example/callback',
        'https://client.example@evil.example/callback',
        'http://client.example/callback',
        'https://evil.example/callback',
        'javascript:alert(1)',
        '//client.example/callback',
      ])
        expect(await asked(body.client_id, { redirect_uri }), redirect_uri).toBe('told: invalid_redirect_uri');
      expect(await asked('dcr_unknown', {})).toBe('told: invalid_client');
      expect(await asked(body.client_id, { redirect_uri: 'https://client.example/callback' })).toBe(
        'told: Sign in with your API key',
      );
    });

    test('of a program on the same machine may come from any port, and from no other path', async () => {
      const { body } = await register(base);
      expect(await asked(body.client_id, { redirect_uri: 'http://127.0.0.1:59999/callback' })).toContain('Sign in');
      for (const redirect_uri of [
        'http://127.0.0.1:3000/other',
        'http://127.0.0.2:3000/callback',
        'http://localhost:3000/callback',
      ])
        expect(await asked(body.client_id, { redirect_uri })).toBe('told: invalid_redirect_uri');
    });

    test('for an unknown resource is sent back', async () => {
      const { body } = await register(base);
      for (const resource of [
        `${base}/mcp/other`,
        `${base}/mcp#x`,
        `${base}/mcp?x=1`,
        'https://other.example/mcp',
        'mcp',
      ])
        expect(await asked(body.client_id, { resource }), resource).toBe('sent back: invalid_target');
      for (const resource of [base, `${base}/`, `${base}/v1`, `${base}/mcp/`, `${base}/mcp/account`, '', undefined])
        expect(await asked(body.client_id, { resource }), String(resource)).toContain('Sign in');
    });

    test('for another response type is sent back, and OpenID is not offered', async () => {
      const { body } = await register(base);
      for (const response_type of ['token', 'id_token', 'code id_token', 'none'])
        expect(await asked(body.client_id, { response_type })).toBe('sent back: unsupported_response_type');
      for (const response_mode of ['fragment', 'form_post', 'web_message'])
        expect(await asked(body.client_id, { response_mode })).toBe('sent back: unsupported_response_mode');
      expect(await asked(body.client_id, { request: 'x.y.z' })).toBe('sent back: request_not_supported');
      expect(await asked(body.client_id, { request_uri: 'https://x.example' })).toBe(
        'sent back: request_uri_not_supported',
      );
      expect(await asked(body.client_id, { prompt: 'none' })).toBe('sent back: login_required');
      for (const path of [
        '/.well-known/openid-configuration',
        '/oauth/me',
        '/oauth/userinfo',
        '/oauth/token/introspection',
      ])
        expect((await fetch(base + path)).status).toBe(404);
      // OpenID parameters are ignored: there is no id_token.
      const exchange = await allowCode(base, key, {
        changed: { scope: 'openid profile offline_access', nonce: 'n', max_age: '0', claims: '{"id_token":{}}' },
      });
      const { body: tokens } = await token(base, exchange);
      expect(Object.keys(tokens).sort()).toEqual([
        'access_token',
        'expires_in',
        'refresh_token',
        'scope',
        'token_type',
      ]);
      expect(tokens['scope']).toBe('read');
    });
  });

  describe('a code', () => {
    test('with the wrong verifier, redirect, client or resource is invalid', async () => {
      const other = (await register(base)).body.client_id;
      for (const [changed, error] of [
        [{ code_verifier: pkce().verifier }, 'invalid_grant'],
        [{ code_verifier: undefined }, 'invalid_grant'],
        [{ code_verifier: 'short' }, 'invalid_request'],
        [{ redirect_uri: 'http://127.0.0.1:3001/callback' }, 'invalid_grant'],
        [{ redirect_uri: `${REDIRECT}/` }, 'invalid_grant'],
        [{ client_id: other }, 'invalid_grant'],
        [{ resource: `${base}/v1` }, 'invalid_target'],
        [{ resource: 'https://other.example' }, 'invalid_target'],
        [{ code: 'none' }, 'invalid_grant'],
        [{ code: undefined }, 'invalid_request'],
        [{ grant_type: 'password' }, 'unsupported_grant_type'],
      ] as const) {
        const exchange = await allowCode(base, key);
        expect(await refused({ ...exchange, ...changed }), JSON.stringify(changed)).toBe(`400 ${error}`);
      }
    });

    test('expires after a minute', async () => {
      const exchange = await allowCode(base, key);
      const { db } = at.app.state;
      const codes = () =>
        db.selectFrom('oauth_items').select(['id', 'payload']).where('model', '=', 'AuthorizationCode');
      for (const { id, payload } of await codes().execute()) {
        const [exp, iat] = [/"exp":(\d+)/, /"iat":(\d+)/].map((part) => Number(part.exec(payload)?.[1]));
        expect((exp ?? 0) - (iat ?? 0)).toBe(60);
        const aged = payload.replace(/"exp":\d+/, `"exp":${Math.floor(Date.now() / 1000) - 1}`);
        await db.updateTable('oauth_items').set({ payload: aged }).where('id', '=', id).execute();
      }
      expect(await refused(exchange)).toBe('400 invalid_grant');
    });

    test('used twice revokes all its tokens', async () => {
      const connected = await connectClient(base, key);
      expect(await call(connected.access_token)).toBe(200);
      expect(await refused(connected.exchange)).toBe('400 invalid_grant');
      expect(await call(connected.access_token)).toBe(401);
      const { client_id, refresh_token } = connected;
      expect(await refused({ grant_type: 'refresh_token', client_id, refresh_token })).toBe('400 invalid_grant');
    });

    test('exchanged five times at once gives at most one answer, and nothing that lasts', async () => {
      for (let round = 0; round < 3; round++) {
        const exchange = await allowCode(base, key);
        const answers = await Promise.all(Array.from({ length: 5 }, () => token(base, exchange)));
        const good = answers.filter(({ status }) => status === 200);
        expect(good.length).toBeLessThanOrEqual(1);
        for (const { status, body } of answers)
          if (status !== 200) expect([status, body['error']]).toEqual([400, 'invalid_grant']);
        for (const { body } of good) {
          expect(await call(body['access_token'] ?? '')).toBe(401);
          const { client_id } = exchange;
          expect(await refused({ grant_type: 'refresh_token', client_id, refresh_token: body['refresh_token'] })).toBe(
            '400 invalid_grant',
          );
        }
      }
    });
  });

  describe('a refresh token', () => {
    test('used twice revokes all its tokens, also those of its successors', async () => {
      const { client_id, access_token, refresh_token } = await connectClient(base, key);
      const renew = (refresh_token: string | undefined) =>
        token(base, { grant_type: 'refresh_token', client_id, refresh_token });
      const next = await renew(refresh_token);
      expect(next.status).toBe(200);
      expect(await call(next.body['access_token'] ?? '')).toBe(200);
      expect((await renew(refresh_token)).body['error']).toBe('invalid_grant');
      expect([await call(access_token), await call(next.body['access_token'] ?? '')]).toEqual([401, 401]);
      expect((await renew(next.body['refresh_token'])).body['error']).toBe('invalid_grant');
    });

    test('used five times at once gives at most one answer, and nothing that lasts', async () => {
      const { client_id, refresh_token } = await connectClient(base, key);
      const all = Array.from({ length: 5 }, () =>
        token(base, { grant_type: 'refresh_token', client_id, refresh_token }),
      );
      const good = (await Promise.all(all)).filter(({ status }) => status === 200);
      expect(good.length).toBeLessThanOrEqual(1);
      for (const { body } of good) expect(await call(body['access_token'] ?? '')).toBe(401);
    });

    test('of another client, for another resource or a wider scope is invalid', async () => {
      const other = (await register(base)).body.client_id;
      for (const [changed, error] of [
        [{ client_id: other }, 'invalid_grant'],
        [{ resource: `${base}/v1` }, 'invalid_target'],
        [{ scope: 'read write' }, 'invalid_scope'],
      ] as const) {
        const { client_id, refresh_token } = await connectClient(base, key);
        expect(await refused({ grant_type: 'refresh_token', client_id, refresh_token, ...changed })).toBe(
          `400 ${error}`,
        );
      }
    });

    test('that is revoked ends its access tokens; that of another client stays', async () => {
      const { client_id, access_token, refresh_token } = await connectClient(base, key);
      const other = (await register(base)).body.client_id;
      expect((await post(base, '/oauth/revoke', { token: refresh_token, client_id: other })).status).toBe(200);
      expect(await call(access_token)).toBe(200);
      expect((await post(base, '/oauth/revoke', { token: refresh_token })).status).toBe(400);
      expect((await post(base, '/oauth/revoke', { token: 'unknown', client_id })).status).toBe(200);
      expect((await post(base, '/oauth/revoke', { token: refresh_token, client_id })).status).toBe(200);
      expect(await call(access_token)).toBe(401);
    });
  });

  describe('an access token', () => {
    test('expires after an hour', async () => {
      const { access_token } = await connectClient(base, key);
      expect(await call(access_token)).toBe(200);
      late = HOUR + 10_000;
      const { status, headers } = await fetch(base + RECORD, { headers: bearer(access_token) });
      late = 0;
      expect([status, headers.get('www-authenticate')]).toEqual([401, expect.stringContaining('resource_metadata=')]);
    });

    test('works on data and on its own account, and on no other key', async () => {
      const { app } = at;
      const { access_token } = await connectClient(base, key);
      const headers = bearer(access_token);
      expect([
        await call(access_token, '/v1/datasets'),
        await call(access_token),
        await call(access_token, '/v1/keys/me'),
      ]).toEqual([200, 200, 200]);
      const id = '00000000-0000-4000-8000-000000000000';
      for (const [method, path, body] of [
        ['POST', '/v1/keys', { email: 'other@example.org' }],
        ['GET', '/v1/keys', undefined],
        ['POST', '/v1/keys/topup', { amount_eur: 5 }],
        ['POST', '/v1/keys/subscribe', { plan: 'pro' }],
        ['POST', '/v1/keys/grant', { key_id: id, amount_eur: 5 }],
        ['POST', '/v1/keys/recover', { email: 'other@example.org' }],
        ['DELETE', `/v1/keys/${id}`, undefined],
      ] as const) {
        const told = await app.json(path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
        expect([path, told.status, told.body['error']]).toEqual([path, 401, 'invalid_token']);
      }
      expect((await app.json(`${RECORD}?api_key=${access_token}`)).status).toBe(401);
      expect((await app.json(RECORD, { headers: { 'X-API-Key': access_token } })).status).toBe(401);
    });

    test('neither signs in nor registers a client', async () => {
      const { access_token } = await connectClient(base, key);
      expect((await register(base, {}, access_token)).status).toBe(401);
      const who = person(base);
      const { body } = await register(base);
      const signin = pageOf(await who.open(authorizeUrl(base, body.client_id, pkce().challenge)));
      const again = pageOf(await who.submit(signin, { action: 'signin', key: access_token }));
      expect([again.status, again.html]).toEqual([422, expect.stringContaining('Key not recognised')]);
    });
  });

  describe('a key', () => {
    test('that is revoked ends everything immediately', async () => {
      const { app } = at;
      const mine = await newKey(app);
      const { client_id, access_token, refresh_token } = await connectClient(base, mine.key);
      const waiting = await allowCode(base, mine.key);
      const by = await register(base, {}, mine.key);
      const basic = { Authorization: `Basic ${btoa(`${by.body.client_id}:${by.body.client_secret}`)}` };
      const own = await token(base, { grant_type: 'client_credentials' }, basic);
      expect([await call(access_token), await call(own.body['access_token'] ?? '')]).toEqual([200, 200]);
      // A person who is signed in, on the consent page.
      const who = person(base);
      const ask = authorizeUrl(base, client_id, pkce().challenge);
      const consent = pageOf(await who.submit(pageOf(await who.open(ask)), { action: 'signin', key: mine.key }));
      expect(consent.html).toContain('Allow Reader to spend');
      expect((await app.ask(`/v1/keys/${mine.id}`, { method: 'DELETE', admin: true })).status).toBe(200);
      expect([await call(access_token), await call(own.body['access_token'] ?? '')]).toEqual([401, 401]);
      expect(await refused({ grant_type: 'refresh_token', client_id, refresh_token })).toBe('400 invalid_grant');
      expect(await refused(waiting)).toBe('400 invalid_grant');
      expect(await refused({ grant_type: 'client_credentials' }, basic)).toBe('401 invalid_client');
      expect(pageOf(await who.submit(consent, { action: 'allow' })).html).toContain('Sign in with your API key');
      expect(pageOf(await who.open(ask)).html).toContain('Sign in with your API key');
    });

    test('of an operator, revoked or misspelt cannot sign in', async () => {
      const { app } = at;
      const gone = await newKey(app);
      await app.ask(`/v1/keys/${gone.id}`, { method: 'DELETE', admin: true });
      const { body } = await register(base);
      const ask = authorizeUrl(base, body.client_id, pkce().challenge);
      for (const [typed, said] of [
        ['an-admin-key-of-the-tests-0123456789', 'operator’s key'],
        [gone.key, 'Key not recognised'],
        [`${key}x`, 'Key not recognised'],
        ['', 'Key not recognised'],
        ["' or 1=1 --", 'Key not recognised'],
      ] as const) {
        const who = person(base);
        const answer = pageOf(await who.submit(pageOf(await who.open(ask)), { action: 'signin', key: typed }));
        expect([answer.status, answer.html]).toEqual([422, expect.stringContaining(said)]);
        expect(answer.html).not.toContain(gone.key);
      }
      expect((await register(base, {}, 'an-admin-key-of-the-tests-0123456789')).status).toBe(401);
      expect((await register(base, {}, gone.key)).status).toBe(401);
      // A key that was copied with a space or its scheme works.
      const left = await allow(base, ask, ` Bearer ${key} `);
      expect(left.searchParams.has('code')).toBe(true);
    });

    test('that replaces a lost one ends the grants of the lost one', async () => {
      const { app } = at;
      const lost = await newKey(app);
      const { access_token } = await connectClient(base, lost.key);
      const { rotateKey } = await import('../../../data/state/keys/keys.ts');
      expect(await rotateKey(app.state, lost.id)).toMatch(/^dsr_/);
      expect(await call(access_token)).toBe(401);
    });
  });

  test('there was no internal error', () => {
    expect(at.app.faults).toEqual([]);
  });
});
