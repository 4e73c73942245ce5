// The OAuth of MCP clients, of both SDK generations: from an address to a paid tool.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, describe, expect, test } from 'vitest';
import { newKey } from '../../support/money-on-stores.ts';
import { allow } from '../../support/oauth-person.ts';
import { listen } from '../../support/oauth-server.ts';

const REDIRECT = 'http://localhost:4712/callback';
const DOCUMENT = 'https://client.example/mcp-client.json';
const INFO = { name: 'tests', version: '1.0.0' };

/** Fetched metadata documents. */
const fetched: string[] = [];
const at = await listen({
  fetch: async (url) => {
    fetched.push(String(url));
    return Response.json({
      client_id: DOCUMENT,
      client_name: 'Documented',
      redirect_uris: [REDIRECT],
      grant_types: ['authorization_code', 'refresh_token'],
    });
  },
});
afterAll(() => at.close());

/** What a host stores for one server, and the person it sends to the browser. */
function host(metadataUrl?: string) {
  const kept: Record<string, unknown> = {};
  const keep = (name: string) => (value: unknown) => {
    kept[name] = value;
  };
  const provider = {
    redirectUrl: REDIRECT,
    ...(metadataUrl === undefined ? {} : { clientMetadataUrl: metadataUrl }),
    clientMetadata: {
      client_name: 'Host',
      redirect_uris: [REDIRECT],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    },
    state: () => 'state of the host',
    clientInformation: () => kept['client'],
    saveClientInformation: keep('client'),
    tokens: () => kept['tokens'],
    saveTokens: keep('tokens'),
    redirectToAuthorization: keep('url'),
    saveCodeVerifier: keep('verifier'),
    codeVerifier: () => String(kept['verifier']),
    discoveryState: () => kept['discovery'],
    saveDiscoveryState: keep('discovery'),
  };
  return { kept, provider: provider as never };
}

const GENERATIONS = {
  '2026-07-28': (provider: never) => ({
    client: new Client(INFO, { versionNegotiation: { mode: 'auto' } }),
    transport: () => new StreamableHTTPClientTransport(new URL(`${at.base}/mcp/account`), { authProvider: provider }),
  }),
  '2025-11-25': (provider: never) => ({
    client: new Client(INFO, { versionNegotiation: { mode: 'legacy' } }),
    transport: () => new StreamableHTTPClientTransport(new URL(`${at.base}/mcp/account`), { authProvider: provider }),
  }),
  'first SDK': (provider: never) => ({
    client: new FirstClient(INFO),
    transport: () => new FirstTransport(new URL(`${at.base}/mcp/account`), { authProvider: provider }),
  }),
};

/** The methods that the test uses. */
interface Face {
  connect(transport: unknown): Promise<void>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<{ isError?: boolean }>;
  close(): Promise<void>;
}

describe.each(Object.entries(GENERATIONS))('a client of %s', (_, generation) => {
  test.each([
    ['that registers itself', undefined],
    ['that has a metadata document', DOCUMENT],
  ])('%s signs in by itself, pays, and renews what is over', async (_, metadataUrl) => {
    const { app, base } = at;
    const { key, headers } = await newKey(app);
    const { kept, provider } = host(metadataUrl);
    const { client, transport } = generation(provider);
    const face = client as unknown as Face;
    const first = transport();
    await expect(face.connect(first)).rejects.toThrow(/[Uu]nauthorized/);
    const url = kept['url'] as URL;
    expect(url.searchParams.get('resource')).toBe(`${base}/mcp/account`);
    expect(url.searchParams.get('code_challenge_method')).toBe('S256');
    const client_id = url.searchParams.get('client_id') ?? '';
    if (metadataUrl === undefined) expect(client_id).toMatch(/^dcr_/);
    else expect(client_id).toBe(metadataUrl);
    const left = await allow(base, url, key);
    expect(left.searchParams.get('state')).toBe('state of the host');
    if (metadataUrl !== undefined) expect(fetched).toContain(metadataUrl);
    // The second SDK takes the complete response and checks its issuer (RFC 9207); the first one takes the
    // code.
    const { searchParams } = left;
    const callback = first instanceof FirstTransport ? (searchParams.get('code') ?? '') : searchParams;
    await (first as unknown as { finishAuth(callback: unknown): Promise<void> }).finishAuth(callback);
    const again = generation(provider);
    const connected = again.client as unknown as Face;
    await connected.connect(again.transport());
    const get = () =>
      connected.callTool({ name: 'entity_get', arguments: { dataset: 'tools', entity_id: 'record-1' } });
    expect((await get()).isError ?? false).toBe(false);
    expect((await app.json('/v1/keys/me', { headers })).body['balance_eur']).toBe(0.496);
    // An invalid access token: the client renews it with its refresh token, without a person.
    const tokens = kept['tokens'] as { access_token: string; refresh_token: string };
    kept['tokens'] = { ...tokens, access_token: `${tokens.access_token.slice(0, -8)}AAAAAAAA` };
    delete kept['url'];
    expect((await get()).isError ?? false).toBe(false);
    expect(kept['url']).toBeUndefined();
    expect((kept['tokens'] as typeof tokens).refresh_token).not.toBe(tokens.refresh_token);
    await connected.close();
    expect(app.faults).toEqual([]);
  });
});
