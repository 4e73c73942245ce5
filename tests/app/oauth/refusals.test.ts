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
/** Milliseconds after which a repeated refresh counts as theft. */
const GRACE = 10_001;

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
  /** The error that a person sees, or at the client's redirect if the browser was sent there. */
  const asked = async (client_id: string, changed: Record<string, string | undefined>, who = person(base)) => {
    const arrival = await who.open(authorizeUrl(base, client_id, pkce().challenge, changed));
    if ('left' in arrival) {
      const { search, hash } = arrival.left;
      return `sent back: ${new URLSearchParams(hash.slice(1) || search).get('error')}`;
    }
    const title = /<h1>(.*)<\/h1>/.exec(arrival.page.html)?.[1];
    return `told: ${title === 'Authorization failed' ? /<pre><code>(\w+)/.exec(arrival.page.html)?.[1] : title}`;
  };

  describe('an authorization request', () => {
    test('without PKCE, or with plain, shows an error page', async () => {
      const { body } = await register(base);
      const none = { code_challenge: undefined, code_challenge_method: undefined };
      for (const changed of [
        none,
        { code_challenge_method: 'plain' },
        { code_challenge_method: undefined },
        { code_challenge: undefined },
        { code_challenge: 'short' },
      ])
        expect(await asked(body.client_id, changed)).toBe('told: invalid_request');
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

    test('for an unknown resource shows an error page', async () => {
      const { body } = await register(base);
      for (const resource of [
        `${base}/mcp/other`,
        `${base}/mcp#x`,
        `${base}/mcp?x=1`,
        'https://other.example/mcp',
        'mcp',
      ])
        expect(await asked(body.client_id, { resource }), resource).toBe('told: invalid_target');
      for (const resource of [base, `${base}/`, `${base}/v1`, `${base}/mcp/`, `${base}/mcp/account`, '', undefined])
        expect(await asked(body.client_id, { resource }), String(resource)).toContain('Sign in');
    });

    test('sends a browser to a client only after a person has signed in, and never for prompt=none', async () => {
      const { body } = await register(base, { redirect_uris: [REDIRECT, 'https://client.example/cb'] });
      const mistakes = [{ scope: 'read', code_challenge: 'short' }, { response_type: 'token' }, { resource: 'mcp' }];
      const redirects = [REDIRECT, 'https://client.example/cb'];
      const who = person(base);
      const silent = { prompt: 'none' };
      for (const redirect_uri of redirects) {
        for (const mistake of [...mistakes, silent])
          expect(await asked(body.client_id, { ...mistake, redirect_uri })).toMatch(/^told: \w+$/);
      }
      const signin = pageOf(await who.open(authorizeUrl(base, body.client_id, pkce().challenge)));
      await who.submit(signin, { action: 'signin', key });
      for (const redirect_uri of redirects) {
        for (const mistake of mistakes)
          expect(await asked(body.client_id, { ...mistake, redirect_uri }, who)).toMatch(/^sent back: \w+$/);
        expect(await asked(body.client_id, { ...silent, redirect_uri }, who)).toMatch(/^told: \w+_required$/);
      }
      // A new sign-in is requested, so the session ends first.
      expect(await asked(body.client_id, { prompt: 'login', code_challenge: 'short' }, who)).toMatch(/^told: /);
      expect(await asked(body.client_id, { code_challenge: 'short' }, who)).toMatch(/^told: /);
    });

    test('of a client that registered a scheme before it was refused shows an error page', async () => {
      const { body } = await register(base, { redirect_uris: ['com.example.app:/cb'] });
      const { db } = at.app.state;
      const stored = db
        .selectFrom('oauth_items')
        .select(['id', 'payload'])
        .where('payload', 'like', '%com.example.app%');
      for (const { id, payload } of await stored.execute())
        await db
          .updateTable('oauth_items')
          .set({ payload: payload.replaceAll('com.example.app:/cb', 'ms-msdt:/id') })
          .where('id', '=', id)
          .execute();
      for (const redirect_uri of ['ms-msdt:/id', undefined])
        expect(await asked(body.client_id, { redirect_uri })).toMatch(/^told: invalid_re\w+$/);
    });

    test('for another response type shows an error page, and OpenID is not offered', async () => {
      const { body } = await register(base);
      for (const response_type of ['token', 'id_token', 'code id_token', 'none'])
        expect(await asked(body.client_id, { response_type })).toBe('told: unsupported_response_type');
      for (const response_mode of ['fragment', 'form_post', 'web_message'])
        expect(await asked(body.client_id, { response_mode })).toBe('told: unsupported_response_mode');
      expect(await asked(body.client_id, { request: 'x.y.z' })).toBe('told: request_not_supported');
      expect(await asked(body.client_id, { request_uri: 'https://x.example' })).toBe('told: request_uri_not_supported');
      expect(await asked(body.client_id, { prompt: 'none' })).toBe('told: login_required');
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
        // A mistake uses up nothing: the corrected request succeeds.
        const { status, body } = await token(base, exchange);
        expect([status, await call(body['access_token'] ?? '')], JSON.stringify(changed)).toEqual([200, 200]);
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
      late = GRACE;
      expect((await renew(refresh_token)).body['error']).toBe('invalid_grant');
      late = 0;
      expect([await call(access_token), await call(next.body['access_token'] ?? '')]).toEqual([401, 401]);
      expect((await renew(next.body['refresh_token'])).body['error']).toBe('invalid_grant');
    });

    test('repeated within seconds, also five times at once, gives answers that last', async () => {
      const { client_id, refresh_token } = await connectClient(base, key);
      const renew = (token_: string | undefined, client = client_id) =>
        token(base, { grant_type: 'refresh_token', client_id: client, refresh_token: token_ });
      const answers = await Promise.all(Array.from({ length: 5 }, () => renew(refresh_token)));
      late = 5_000;
      answers.push(await renew(refresh_token));
      expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
      expect(new Set(answers.map(({ body }) => body['refresh_token'])).size).toBe(6);
      // Another client gets nothing, and ends nothing.
      const other = (await register(base)).body.client_id;
      expect((await renew(refresh_token, other)).body['error']).toBe('invalid_grant');
      for (const { body } of answers) {
        expect(await call(body['access_token'] ?? '')).toBe(200);
        expect((await renew(body['refresh_token'])).status).toBe(200);
      }
      // A repetition does not prolong the time.
      late = GRACE;
      expect((await renew(refresh_token)).body['error']).toBe('invalid_grant');
      late = 0;
      for (const { body } of answers) expect(await call(body['access_token'] ?? '')).toBe(401);
    });

    test('of another client, for another resource or a wider scope is invalid, and stays usable', async () => {
      const other = (await register(base)).body.client_id;
      for (const [changed, error] of [
        [{ client_id: other }, 'invalid_grant'],
        [{ resource: `${base}/v1` }, 'invalid_target'],
        [{ resource: `${base}/mcp` }, 'invalid_target'],
        [{ resource: 'https://other.example' }, 'invalid_target'],
        [{ scope: 'read write' }, 'invalid_scope'],
      ] as const) {
        const { client_id, refresh_token } = await connectClient(base, key);
        const right = { grant_type: 'refresh_token', client_id, refresh_token };
        expect(await refused({ ...right, ...changed })).toBe(`400 ${error}`);
        late = GRACE;
        const { status, body } = await token(base, right);
        late = 0;
        expect([status, await call(body['access_token'] ?? '')], JSON.stringify(changed)).toEqual([200, 200]);
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
      expect(await rotateKey(app.state, lost.id, { now: Date.now() })).toMatchObject({
        ended: { children: 0, apps: 1 },
      });
      expect(await call(access_token)).toBe(401);
    });
  });

  describe('a token of one resource', () => {
    test('is accepted below its path only', async () => {
      const message = {
        message: { messageId: '1', role: 'ROLE_USER', parts: [{ data: { skill: 'datasets_list' } }] },
      };
      const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
      const calls = {
        '/v1/datasets': [],
        '/mcp': [ping],
        '/mcp/account': [ping],
        '/a2a/v1/message:send': [message],
        '/llms.txt?x=1': [],
      } as const;
      const acceptedAt = async (resource: string | undefined) => {
        const { access_token } = await connectClient(base, key, { changed: { resource: resource as string } });
        const accepted = [];
        for (const [path, [body]] of Object.entries(calls)) {
          const headers = { ...bearer(access_token), 'Content-Type': 'application/json', 'A2A-Version': '1.0' };
          const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
          const { status } = await fetch(base + path, { ...init, headers });
          expect([200, 401], `${resource} ${path}`).toContain(status);
          if (status === 200) accepted.push(path);
        }
        return accepted;
      };
      const free = '/llms.txt?x=1';
      const everywhere = Object.keys(calls);
      expect(await acceptedAt(undefined)).toEqual(everywhere);
      expect(await acceptedAt(base)).toEqual(everywhere);
      expect((await acceptedAt(`${base}/v1`)).filter((path) => path !== free)).toEqual(['/v1/datasets']);
      expect((await acceptedAt(`${base}/mcp`)).filter((path) => path !== free)).toEqual(['/mcp', '/mcp/account']);
      expect((await acceptedAt(`${base}/mcp/account`)).filter((path) => path !== free)).toEqual(['/mcp/account']);
    });
  });

  test('errors of the endpoints for programs are JSON, whatever is accepted', async () => {
    for (const path of ['/oauth/token', '/oauth/revoke', '/oauth/register'])
      for (const Accept of ['text/html', 'text/html,application/xhtml+xml,*/*;q=0.8', 'image/png', '*/*', '']) {
        const response = await fetch(base + path, { method: 'POST', headers: { Accept }, body: 'grant_type=x' });
        const { error } = (await response.json()) as { error: string };
        expect([response.headers.get('content-type'), error], `${path} ${Accept}`).toEqual([
          expect.stringMatching(/^application\/json/),
          expect.stringMatching(/^\w+$/),
        ]);
      }
  });

  test('every form counts as an attempt to sign in, whatever its action', async () => {
    const limited = await listen({ calls: { signin: 4 } });
    const { body } = await register(limited.base);
    const who = person(limited.base);
    const page = pageOf(await who.open(authorizeUrl(limited.base, body.client_id, pkce().challenge)));
    const wrong = `dsr_${'x'.repeat(43)}`;
    const statuses = [];
    for (const action of ['signin', 'SignIn', '', 'allow', 'signin ', 'other'])
      statuses.push(pageOf(await who.submit(page, { action, key: wrong })).status);
    expect(statuses).toEqual([422, 422, 422, 422, 429, 429]);
    await limited.close();
  });

  test('there was no internal error', () => {
    expect(at.app.faults).toEqual([]);
  });
});
