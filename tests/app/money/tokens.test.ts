// Access tokens: foreign, misaddressed, expired, altered or revoked ones are rejected.
import { createHash } from 'node:crypto';
import { importJWK, type JWTPayload, SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { audiences, identifyTokens } from '../../../api/access/tokens.ts';
import { createKey, revokeKey } from '../../../data/state/keys/keys.ts';
import { rotateSigningKeys, signingKeys } from '../../../data/state/keys/signing-keys.ts';
import { endGrant, grantName, openGrant } from '../../../data/state/oauth/grants.ts';
import type { Store } from '../../../data/state/store.ts';
import { describeStores } from '../../support/stores.ts';

const BASE = 'https://register.example';
const NOW = new Date('2026-11-20T12:00:00Z');
const SECOND = NOW.getTime() / 1000;
let made = 0;

async function stage(store: Store, cap: number | null = null) {
  made += 1;
  const email = `holder${made}@example.org`;
  const { key } = (await createKey(store, { email, email_normal: email, request_id: 'r', now: 0 }))!;
  const about = { client_id: 'client', client_name: 'Reader', created_at: 0, expires_at: null };
  await openGrant(store, email, { key_id: key.id, cap, ...about });
  const identify = identifyTokens({ store, base_url: BASE, now: () => NOW });
  const claims = {
    iss: BASE,
    aud: `${BASE}/mcp`,
    sub: key.id,
    client_id: 'client',
    scope: 'read',
    grant: grantName(email),
    jti: 'j',
    iat: SECOND,
    exp: SECOND + 3600,
  };
  const sign = async (changed: JWTPayload = {}, header: Record<string, unknown> = {}) => {
    const { keys } = await signingKeys(store);
    return new SignJWT({ ...claims, ...changed })
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: keys[0].kid, ...header })
      .sign(await importJWK(keys[0]));
  };
  const ask = (secret: string, via: 'authorization' | 'x-api-key' | 'api_key' = 'authorization', path = '/mcp') =>
    identify({ via, secret, path });
  return { key, claims, sign, ask };
}

describeStores('access tokens', (under) => {
  describe('a valid token', () => {
    it('authenticates its key, for each of our resources', async () => {
      const store = await under.open();
      const { key, sign, ask, claims } = await stage(store, 1000);
      const caller = { kind: 'key', id: key.id, plan: 'payg', balance: 500_000 };
      for (const aud of audiences(BASE))
        expect(await ask(await sign({ aud }), 'authorization', aud.slice(BASE.length))).toEqual({
          ...caller,
          grant: claims.grant,
          bound: { name: 'cap', of: 'client', limit: 1000, left: 1000, resets_at: null },
        });
    });

    it('is accepted below its resource only', async () => {
      const store = await under.open();
      const { sign, ask } = await stage(store);
      const paths = ['/v1/datasets', '/v1', '/v10', '/mcp', '/mcp/account', '/mcpx', '/a2a/v1/message:send', '/'];
      const acceptedAt = async (aud: string | string[]) => {
        const secret = await sign({ aud });
        const callers = await Promise.all(paths.map((path) => ask(secret, 'authorization', path)));
        return paths.filter((_, i) => callers[i] !== null);
      };
      expect(await acceptedAt(BASE)).toEqual(paths);
      expect(await acceptedAt(`${BASE}/v1`)).toEqual(['/v1/datasets', '/v1']);
      expect(await acceptedAt(`${BASE}/mcp`)).toEqual(['/mcp', '/mcp/account']);
      expect(await acceptedAt(`${BASE}/mcp/account`)).toEqual(['/mcp/account']);
      expect(await acceptedAt([`${BASE}/v1`, 'https://other.example/mcp'])).toEqual(['/v1/datasets', '/v1']);
    });

    it('ends immediately with its grant or its key', async () => {
      const store = await under.open();
      const [one, two] = [await stage(store), await stage(store)];
      const [a, b] = [await one.sign(), await two.sign()];
      expect([await one.ask(a), await two.ask(b)]).not.toContain(null);
      await endGrant(store, one.claims.grant);
      await revokeKey(store, two.key.id, 0);
      expect([await one.ask(a), await two.ask(b)]).toEqual([null, null]);
    });

    it('counts in processes that started before its key was made', async () => {
      const store = await under.open();
      const before = await stage(store);
      expect(await before.ask(await before.sign())).not.toBeNull();
      await rotateSigningKeys(store, Date.now());
      expect(await before.ask(await before.sign())).not.toBeNull();
    });
  });

  describe('an invalid token', () => {
    it.each<[string, JWTPayload, Record<string, unknown>?]>([
      ['of another service', { iss: 'https://other.example' }],
      ['for another service', { aud: 'https://other.example/mcp' }],
      ['for a path of ours that is no resource', { aud: `${BASE}/mcp/other` }],
      ['for nobody', { aud: undefined } as unknown as JWTPayload],
      ['that is over', { exp: SECOND - 6 }],
      ['without an end', { exp: undefined } as unknown as JWTPayload],
      ['that is not good yet', { nbf: SECOND + 60 }],
      ['of another type', {}, { typ: 'JWT' }],
      ['without a type', {}, { typ: undefined }],
      ['of a key that is not ours', {}, { kid: 'other' }],
      ['of another scope', { scope: 'write' }],
      ['without a scope', { scope: undefined }],
      ['of another client', { client_id: 'other' }],
      ['without a client', { client_id: undefined }],
      ['of another subject', { sub: '00000000-0000-4000-8000-000000000000' }],
      ['of an unknown grant', { grant: grantName('none') }],
      ['whose grant is no text', { grant: { $ne: null } }],
      ['without a grant', { grant: undefined }],
    ])('%s stands for nothing', async (_, changed, header) => {
      const { sign, ask } = await stage(await under.open());
      expect(await ask(await sign())).not.toBeNull();
      expect(await ask(await sign(changed, header))).toBeNull();
    });

    it('that was altered, or signed by something else, is rejected', async () => {
      const store = await under.open();
      const { sign, ask, claims } = await stage(store);
      const [head = '', body = '', signature = ''] = (await sign()).split('.');
      const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
      const { keys } = await signingKeys(store);
      const none = part({ alg: 'none', typ: 'at+jwt' });
      const secret = new TextEncoder().encode(JSON.stringify((await signingKeys(store)).published.keys[0]));
      const symmetric = await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ: 'at+jwt' }).sign(secret);
      const own = createHash('sha256').update('x').digest('base64url');
      for (const token of [
        `${head}.${part({ ...claims, exp: SECOND + 1e6 })}.${signature}`,
        `${head}.${body}.${signature.slice(0, -2)}`,
        `${none}.${body}.`,
        `${none}.${body}.${own}`,
        `${part({ alg: 'ES256', typ: 'at+jwt', jwk: keys[0] })}.${body}.${signature}`,
        `${part({ alg: 'ES256', typ: 'at+jwt', crit: ['exp'] })}.${body}.${signature}`,
        symmetric,
        'a.b.c',
        '..',
        `${'a'.repeat(20_000)}.b.c`,
      ])
        expect(await ask(token)).toBeNull();
    });

    it('anywhere but in Authorization is rejected', async () => {
      const { sign, ask } = await stage(await under.open());
      expect([await ask(await sign(), 'x-api-key'), await ask(await sign(), 'api_key')]).toEqual([null, null]);
    });
  });
});
