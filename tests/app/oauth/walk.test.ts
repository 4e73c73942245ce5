// The complete OAuth flow: an independent OAuth library, a real socket, both databases.
import * as oauth from 'oauth4webapi';
import { describe, expect, test } from 'vitest';
import { newKey } from '../../support/money-on-stores.ts';
import { allow } from '../../support/oauth-person.ts';
import { type Listening, listen } from '../../support/oauth-server.ts';
import { describeStores } from '../../support/stores.ts';
import { verifies } from '../../support/verifies.ts';

verifies(
  'auth.oauth-registration',
  'auth.oauth-pkce',
  'auth.oauth-token',
  'auth.oauth-refresh',
  'auth.oauth-scope',
  'limit.token',
  'discovery.oauth-server',
  'discovery.oauth-register',
  'discovery.oauth-jwks',
  'discovery.oauth-revoke',
);

const HERE = { [oauth.allowInsecureRequests]: true };
const REDIRECT = 'http://127.0.0.1:4711/callback';
const RECORD = '/v1/tools/entities/record-1';

describeStores('a client of OAuth', ({ options: { databaseUrl, schema }, open }) => {
  const started = async (): Promise<Listening> => {
    await open();
    return listen({ store: { ...(databaseUrl ? { databaseUrl } : {}), ...(schema ? { schema } : {}) } });
  };

  describe('that is public', () => {
    test('finds the server from a 401, registers, is authorized, calls, refreshes, and revokes', async () => {
      const { base, app, close } = await started();
      const { key, id } = await newKey(app);
      // From the challenge of a refused call to the metadata, by RFC 9728.
      const refused = await fetch(`${base}${RECORD}`, { headers: { Authorization: 'Bearer none' } });
      expect(refused.status).toBe(401);
      const [, metadata = ''] = /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '') ?? [];
      const resource = new URL(((await (await fetch(metadata)).json()) as { resource: string }).resource);
      const described = await oauth.resourceDiscoveryRequest(resource, HERE);
      const server = await oauth.processResourceDiscoveryResponse(resource, described);
      const issuer = new URL(server.authorization_servers?.[0] ?? '');
      const discovered = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...HERE });
      const as = await oauth.processDiscoveryResponse(new URL(base), discovered);
      expect(as.issuer).toBe(base);
      expect(as.code_challenge_methods_supported).toEqual(['S256']);

      const registration = await oauth.dynamicClientRegistrationRequest(
        as,
        { client_name: 'Walker', redirect_uris: [REDIRECT], grant_types: ['authorization_code', 'refresh_token'] },
        HERE,
      );
      const client = (await oauth.processDynamicClientRegistrationResponse(registration)) as oauth.Client;
      expect(client).toMatchObject({ token_endpoint_auth_method: 'none', scope: 'read', client_name: 'Walker' });
      expect(client['client_secret']).toBeUndefined();

      const verifier = oauth.generateRandomCodeVerifier();
      const state = oauth.generateRandomState();
      const ask = new URL(as.authorization_endpoint ?? '');
      const challenge = await oauth.calculatePKCECodeChallenge(verifier);
      for (const [name, value] of Object.entries({
        client_id: client.client_id,
        redirect_uri: REDIRECT,
        response_type: 'code',
        scope: 'read',
        code_challenge: challenge,
        code_challenge_method: 'S256',
        state,
        resource: resource.href,
      }))
        ask.searchParams.set(name, value);
      const left = await allow(base, ask, key);
      expect(left.searchParams.get('iss')).toBe(base);
      const parameters = oauth.validateAuthResponse(as, client, left, state);

      const none = oauth.None();
      const exchanged = await oauth.authorizationCodeGrantRequest(as, client, none, parameters, REDIRECT, verifier, {
        ...HERE,
        additionalParameters: { resource: resource.href },
      });
      const tokens = await oauth.processAuthorizationCodeResponse(as, client, exchanged);
      expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 3600, scope: 'read' });
      expect(tokens.id_token).toBeUndefined();

      // Checks the token as another resource server would, by the published keys only (RFC 9068).
      const call = new Request(`${base}${RECORD}`, { headers: { Authorization: `Bearer ${tokens.access_token}` } });
      const claims = await oauth.validateJwtAccessToken(as, call.clone(), `${base}/v1`, HERE);
      expect(claims).toMatchObject({ iss: base, sub: id, client_id: client.client_id, scope: 'read' });
      expect(claims.exp - claims.iat).toBe(3600);

      const answered = await oauth.protectedResourceRequest(
        tokens.access_token,
        'GET',
        new URL(call.url),
        undefined,
        undefined,
        HERE,
      );
      expect(answered.status).toBe(200);
      expect(answered.headers.get('x-charge-eur')).toBe('0.004');
      expect((await app.json('/v1/keys/me', { headers: { Authorization: `Bearer ${key}` } })).body['balance_eur']).toBe(
        0.496,
      );

      const renewed = await oauth.refreshTokenGrantRequest(as, client, none, tokens.refresh_token ?? '', HERE);
      const next = await oauth.processRefreshTokenResponse(as, client, renewed);
      expect(next.refresh_token).not.toBe(tokens.refresh_token);
      const again = { headers: { Authorization: `Bearer ${next.access_token}` } };
      expect((await fetch(base + RECORD, again)).status).toBe(200);

      const returned = await oauth.revocationRequest(as, client, none, next.refresh_token ?? '', HERE);
      await oauth.processRevocationResponse(returned);
      expect((await fetch(base + RECORD, again)).status).toBe(401);
      expect(app.faults).toEqual([]);
      await close();
    });
  });

  describe('that was registered with a key', () => {
    test('gets tokens without a person, until the key is revoked', async () => {
      const { base, app, close } = await started();
      const { key, id, headers } = await newKey(app);
      const as = {
        issuer: base,
        registration_endpoint: `${base}/oauth/register`,
        token_endpoint: `${base}/oauth/token`,
      };
      const registration = await oauth.dynamicClientRegistrationRequest(
        as,
        { client_name: 'Nightly job' },
        { ...HERE, initialAccessToken: key },
      );
      const client = (await oauth.processDynamicClientRegistrationResponse(registration)) as oauth.Client;
      expect(client).toMatchObject({
        grant_types: ['client_credentials'],
        token_endpoint_auth_method: 'client_secret_basic',
      });
      const secret = String(client['client_secret']);
      const byBasic = oauth.ClientSecretBasic(secret);
      const asked = await oauth.clientCredentialsGrantRequest(as, client, byBasic, { resource: `${base}/v1` }, HERE);
      const tokens = await oauth.processClientCredentialsResponse(as, client, asked);
      expect(tokens).toMatchObject({ scope: 'read', expires_in: 3600 });
      const call = { headers: { Authorization: `Bearer ${tokens.access_token}` } };
      expect((await fetch(base + RECORD, call)).status).toBe(200);
      expect((await app.json('/v1/keys/me', call)).body['id']).toBe(id);
      expect((await app.ask(`/v1/keys/${id}`, { method: 'DELETE', admin: true })).status).toBe(200);
      expect((await fetch(base + RECORD, call)).status).toBe(401);
      const after = await oauth.clientCredentialsGrantRequest(as, client, byBasic, {}, HERE);
      expect([after.status, ((await after.json()) as { error: string }).error]).toEqual([401, 'invalid_client']);
      expect((await app.ask('/v1/keys/me', { headers })).status).toBe(401);
      const stored = await app.state.db.selectFrom('oauth_items').selectAll().execute();
      expect(JSON.stringify(stored)).not.toContain(secret);
      await close();
    });
  });
});
