// Client registration: permitted clients, metadata documents, and the addresses that they are fetched from.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { newKey } from '../../support/money-on-stores.ts';
import { allowCode, authorizeUrl, bearer, pkce, register, token } from '../../support/oauth-client.ts';
import { pageOf, person } from '../../support/oauth-person.ts';
import { listen } from '../../support/oauth-server.ts';

/** Metadata documents by address. */
const documents = new Map<string, Record<string, unknown>>();
const at = await listen({ fetch: async (url) => Response.json(documents.get(String(url)) ?? null) });
afterAll(() => at.close());

/** `status error` of a registration. */
const summary = async (metadata: unknown) => {
  const { status, body } = await register(at.base, metadata);
  return `${status} ${(body as { error?: string }).error ?? ''}`.trim();
};

describe('registration', () => {
  test.each([
    ['http://client.example/callback'],
    ['https://user:secret@client.example/callback'],
    ['javascript:alert(1)'],
    ['data:text/html,x'],
    ['https://client.example/callback#part'],
    ['not an address'],
    [''],
    [`https://client.example/${'x'.repeat(2001)}`],
  ])('refuses the redirect %s', async (redirect) => {
    expect(await summary({ redirect_uris: [redirect] })).toMatch(/^400 invalid_(redirect_uri|client_metadata)$/);
  });

  test('refuses an invalid or too long list of redirects', async () => {
    for (const redirect_uris of ['https://a.example', [], [1], [null], {}, Array(11).fill('https://a.example/c')])
      expect(await summary({ redirect_uris }), JSON.stringify(redirect_uris)).toMatch(/^400 invalid_/);
  });

  test.each([
    [['http://localhost:1/cb'], 'native'],
    [['http://[::1]/cb', 'https://app.example/cb'], 'native'],
    [['com.example.app:/cb'], 'native'],
    [['https://app.example/cb'], 'web'],
  ])('tells from %j that it is %s, whatever it says itself', async (redirect_uris, type) => {
    for (const application_type of [undefined, 'web', 'native'])
      expect((await register(at.base, { redirect_uris, application_type })).body['application_type']).toBe(type);
  });

  test('without a key is public, for any requested method', async () => {
    const { key, id } = await newKey(at.app);
    const asked = {
      token_endpoint_auth_method: 'client_secret_basic',
      client_secret: 'mine',
      key_id: id,
      scope: 'read write admin',
      grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
      jwks_uri: 'http://127.0.0.1:1/keys',
      sector_identifier_uri: 'https://127.0.0.1:1/sector',
      subject_type: 'pairwise',
    };
    const { status, body } = await register(at.base, asked);
    expect(status).toBe(201);
    expect(body).toMatchObject({
      token_endpoint_auth_method: 'none',
      scope: 'read',
      grant_types: ['authorization_code', 'refresh_token'],
    });
    for (const name of ['client_secret', 'key_id', 'jwks_uri', 'sector_identifier_uri', 'subject_type'])
      expect(body[name]).toBeUndefined();
    const fields = { grant_type: 'client_credentials', client_id: body.client_id };
    expect((await token(at.base, fields)).status).toBe(400);
    expect(key).toBeDefined();
  });

  test('with a key has a secret and redirects, and both ways to a token', async () => {
    const { app, base } = at;
    const { key, id } = await newKey(app);
    const { body } = await register(base, { token_endpoint_auth_method: 'none' }, key);
    expect(body.grant_types).toEqual(['authorization_code', 'refresh_token', 'client_credentials']);
    const basic = { Authorization: `Basic ${btoa(`${body.client_id}:${body.client_secret}`)}` };
    const own = await token(base, { grant_type: 'client_credentials', scope: 'write' }, basic);
    expect([own.status, own.body['scope']]).toEqual([200, 'read']);
    expect((await app.json('/v1/keys/me', { headers: bearer(own.body['access_token'] ?? '') })).body['id']).toBe(id);
    // Another person may authorize it too; without its secret every code is invalid.
    const other = await newKey(app);
    const exchange = await allowCode(base, other.key, { client_id: body.client_id });
    expect((await token(base, exchange)).status).toBe(401);
    const theirs = await token(base, exchange, basic);
    expect((await app.json('/v1/keys/me', { headers: bearer(theirs.body['access_token'] ?? '') })).body['id']).toBe(
      other.id,
    );
    for (const secret of ['wrong', '', `sha256:${'0'.repeat(64)}`]) {
      const wrong = { Authorization: `Basic ${btoa(`${body.client_id}:${secret}`)}` };
      expect((await token(base, { grant_type: 'client_credentials' }, wrong)).status).toBeGreaterThanOrEqual(400);
    }
    // The stored form of the secret is a hash.
    const [row] = await app.state.db
      .selectFrom('oauth_items')
      .select('payload')
      .where('payload', 'like', '%sha256:%')
      .execute();
    const stored = /sha256:[0-9a-f]{64}/.exec(row?.payload ?? '')?.[0] ?? '';
    expect(stored).not.toBe('');
    const replayed = { Authorization: `Basic ${btoa(`${body.client_id}:${encodeURIComponent(stored)}`)}` };
    expect((await token(base, { grant_type: 'client_credentials' }, replayed)).status).toBe(401);
  });

  test('shows names as text that cannot imitate other elements', async () => {
    const { body } = await register(at.base, { client_name: `  Evil\u202e<script>\n\u0000${'x'.repeat(500)}` });
    const page = pageOf(await person(at.base).open(authorizeUrl(at.base, body.client_id, pkce().challenge)));
    expect(page.html).toContain('Evil&lt;script&gt;xxx');
    expect(page.html).not.toMatch(/<script>|\u202e/);
    expect(String(body['client_name'])).toHaveLength(80);
  });

  test('is limited by address, by the minute and by the day', async () => {
    const own = await listen({ calls: { register: 3 } });
    const answers = [];
    for (let i = 0; i < 4; i++) answers.push(await register(own.base));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 429]);
    expect(answers[3]?.headers.get('retry-after')).toMatch(/^\d+$/);
    await own.close();
    const day = await listen();
    await register(day.base);
    await day.app.state.db.updateTable('quotas').set({ used: 200 }).where('name', 'like', 'clients %').execute();
    expect((await register(day.base)).status).toBe(429);
    await day.close();
  });
});

describe('a client ID metadata document', () => {
  let made = 0;
  /** What a person sees for a client of this document; each document is another client. */
  const shown = async (changed: Record<string, unknown>, redirect_uri = 'https://client.example/cb') => {
    made += 1;
    const id = `https://client.example/${made}.json`;
    documents.set(id, {
      client_id: id,
      client_name: 'Documented',
      redirect_uris: ['https://client.example/cb'],
      ...changed,
    });
    const arrival = await person(at.base).open(authorizeUrl(at.base, id, pkce().challenge, { redirect_uri }));
    expect((await token(at.base, { grant_type: 'client_credentials', client_id: id })).status).toBeGreaterThanOrEqual(
      400,
    );
    return 'left' in arrival ? String(arrival.left) : (/<h1>(.*)<\/h1>/.exec(arrival.page.html)?.[1] ?? '');
  };

  test('is a public client with its metadata', async () => {
    expect(await shown({})).toBe('Sign in with your API key');
  });

  test('cannot give itself a key, a secret or another address', async () => {
    const { id } = await newKey(at.app);
    expect(await shown({ key_id: id, grant_types: ['authorization_code', 'client_credentials'] })).toContain('Sign in');
    expect(await shown({ client_id: 'https://other.example/client.json' })).toBe('Authorization failed');
    expect(await shown({ client_secret: 'mine' })).toBe('Authorization failed');
    expect(await shown({ token_endpoint_auth_method: 'client_secret_basic' })).toBe('Authorization failed');
    expect(await shown({}, 'https://other.example/cb')).toBe('Authorization failed');
    expect(await shown({ redirect_uris: ['http://client.example/cb'] })).toBe('Authorization failed');
  });

  test('is never fetched from this machine', async (context) => {
    const files = mkdtempSync(join(tmpdir(), 'tls-'));
    const [keyFile, certFile] = [join(files, 'key.pem'), join(files, 'cert.pem')];
    const make = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1'];
    try {
      execFileSync('openssl', [...make, '-subj', '/CN=localhost', '-keyout', keyFile, '-out', certFile], {
        stdio: 'ignore',
      });
    } catch {
      return context.skip('there is no openssl to make a certificate with');
    }
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    let asked = 0;
    const inside = createServer({ key: readFileSync(keyFile), cert: readFileSync(certFile) }, (_, response) => {
      asked += 1;
      response.end('{}');
    }).listen(0);
    await new Promise((resolve) => inside.once('listening', resolve));
    const { port } = inside.address() as AddressInfo;
    const ids = ['127.0.0.1', 'localhost', '[::1]', '2130706433'].map((host) => `https://${host}:${port}/client.json`);
    const counts: number[] = [];
    // A fetch without the guard succeeds, as the count shows.
    for (const guarded of [true, false]) {
      const own = await listen(guarded ? {} : { fetch: (url) => fetch(url) });
      for (const id of ids) {
        const arrival = await person(own.base).open(authorizeUrl(own.base, id, pkce().challenge));
        expect(pageOf(arrival).html, id).toContain('Authorization failed');
      }
      await own.close();
      counts.push(asked);
    }
    expect(counts[0]).toBe(0);
    expect(counts[1]).toBeGreaterThan(0);
    inside.closeAllConnections();
    await new Promise((resolve) => inside.close(resolve));
    rmSync(files, { recursive: true });
  });
});
