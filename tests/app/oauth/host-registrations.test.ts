// Registrations of real hosts are accepted, as clients and as metadata documents, and lead to the sign-in page.
import { afterAll, describe, expect, test } from 'vitest';
import { authorizeUrl, pkce } from '../../support/oauth-client.ts';
import { pageOf, person } from '../../support/oauth-person.ts';
import { listen } from '../../support/oauth-server.ts';
import { HOST_REGISTRATIONS } from './host-registrations.ts';

const documents = new Map<string, unknown>();
const at = await listen({ fetch: async (url) => Response.json(documents.get(String(url)) ?? null) });
afterAll(() => at.close());

const post = (body: unknown) =>
  fetch(`${at.base}/oauth/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });

/** The title of the page that a person sees for a redirect of a client. */
async function titleFor(client_id: string, redirect_uri: string): Promise<string> {
  const opened = await person(at.base).open(authorizeUrl(at.base, client_id, pkce().challenge, { redirect_uri }));
  return /<h1>(.*)<\/h1>/.exec(pageOf(opened).html)?.[1] ?? '';
}

let made = 0;
/** Stores a metadata document, and returns its address, which is the client's id. */
function publish(metadata: Record<string, unknown>): string {
  made += 1;
  const client_id = `https://client.example/${made}.json`;
  documents.set(client_id, { ...metadata, client_id });
  return client_id;
}

describe.each(HOST_REGISTRATIONS)('$host', ({ body }) => {
  test('registers, and is told what is supported', async () => {
    const response = await post(body);
    const client = (await response.json()) as Record<string, unknown>;
    expect([response.status, client]).toMatchObject([
      201,
      {
        redirect_uris: body['redirect_uris'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
        scope: 'read',
      },
    ]);
    expect(['authorization_code', 'refresh_token']).toEqual(expect.arrayContaining(client['grant_types'] as string[]));
    for (const redirect of body['redirect_uris'] as string[])
      expect(await titleFor(String(client['client_id']), redirect), redirect).toBe('Sign in with your API key');
  });

  test('may publish the same as a document', async () => {
    // A document cannot have a method with a shared secret (section 4.1 of the draft).
    const client_id = publish({ ...body, token_endpoint_auth_method: 'none' });
    for (const redirect of body['redirect_uris'] as string[])
      expect(await titleFor(client_id, redirect), redirect).toBe('Sign in with your API key');
  });
});

const REDIRECT = 'https://client.example/cb';
const EMPTY = {
  client_name: '',
  client_uri: null,
  logo_uri: '',
  tos_uri: null,
  policy_uri: null,
  contacts: [],
  jwks: null,
  jwks_uri: null,
  software_id: null,
  software_version: '',
  software_statement: null,
  grant_types: null,
  response_types: [],
  token_endpoint_auth_method: null,
  application_type: null,
  scope: null,
  default_max_age: null,
};

describe('what is not supported is dropped, and what is empty counts as absent', () => {
  test.each<[Record<string, unknown>]>([
    [{ grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:jwt-bearer', 'password'] }],
    [{ grant_types: ['implicit'] }],
    [{ grant_types: ['client_credentials'] }],
    [{ response_types: ['code', 'token', 'id_token'] }],
    [{ response_types: ['id_token token'], grant_types: ['implicit'] }],
    [{ token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'https://client.example/keys' }],
    [{ require_pushed_authorization_requests: true, dpop_bound_access_tokens: true }],
    [EMPTY],
    ...Object.entries(EMPTY).map(([name, value]): [Record<string, unknown>] => [{ [name]: value }]),
  ])('%j', async (metadata) => {
    const response = await post({ redirect_uris: [REDIRECT], ...metadata });
    const client = (await response.json()) as Record<string, unknown>;
    expect([response.status, client]).toMatchObject([
      201,
      { grant_types: ['authorization_code'], response_types: ['code'], token_endpoint_auth_method: 'none' },
    ]);
    expect(Object.values(client)).not.toContain(null);
    expect(await titleFor(String(client['client_id']), REDIRECT)).toBe('Sign in with your API key');
    const { token_endpoint_auth_method: _, ...document } = metadata;
    expect(await titleFor(publish({ redirect_uris: [REDIRECT], ...document }), REDIRECT)).toBe(
      'Sign in with your API key',
    );
  });

  test.each([
    [{ redirect_uris: null }],
    [{ redirect_uris: [] }],
    [{ grant_types: 'authorization_code' }],
    [{ grant_types: [1] }],
    [{ client_name: 7 }],
    [{ contacts: 'me@client.example' }],
    [{ logo_uri: 'javascript:alert(1)' }],
  ])('but %j is refused', async (metadata) => {
    expect((await post({ redirect_uris: [REDIRECT], ...metadata })).status).toBe(400);
    expect(await titleFor(publish({ redirect_uris: [REDIRECT], ...metadata }), REDIRECT)).toBe('Authorization failed');
  });
});

describe('redirects', () => {
  test.each([
    'ms-msdt:/id',
    'mailto:someone@evil.example',
    'ftp://evil.example/cb',
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'vbscript:x',
    'search-ms:query',
    'tel:+123',
    'http://evil.example/cb',
    'http://127.0.0.1.evil.example/cb',
    'myapp://cb',
    'ws://localhost/cb',
  ])('%s cannot be registered, nor be in a document', async (redirect) => {
    expect((await post({ redirect_uris: [redirect] })).status).toBe(400);
    expect((await post({ redirect_uris: [REDIRECT, redirect] })).status).toBe(400);
    expect(await titleFor(publish({ redirect_uris: [redirect] }), redirect)).toBe('Authorization failed');
  });

  test.each(['com.example.app:/cb', 'com.example.app://cb', 'vscode://publisher.extension/cb', 'http://[::1]:80/cb'])(
    '%s can be registered',
    async (redirect) => {
      expect((await post({ redirect_uris: [redirect] })).status).toBe(201);
      expect(await titleFor(publish({ redirect_uris: [redirect] }), redirect)).toBe('Sign in with your API key');
    },
  );

  test('a document that is no object, or too long, is refused', async () => {
    for (const document of [null, [], 'text', { redirect_uris: [REDIRECT], client_name: 'x'.repeat(6000) }]) {
      const client_id = publish({});
      documents.set(client_id, typeof document === 'object' && document ? { ...document, client_id } : document);
      expect(await titleFor(client_id, REDIRECT)).toBe('Authorization failed');
    }
  });
});
