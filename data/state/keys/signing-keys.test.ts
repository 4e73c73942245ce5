// Signing keys: one key set for all processes; its public part verifies signatures of the private part.
import { createLocalJWKSet, importJWK, jwtVerify, SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { describeStores } from '../../../tests/support/stores.ts';
import { signingKeys } from './signing-keys.ts';

describeStores('signing keys', (under) => {
  describe('the key set', () => {
    it('is the same for processes that ask at once, and later', async () => {
      const [one, two] = [await under.open(), await under.open()];
      const [a, b] = await Promise.all([signingKeys(one), signingKeys(two)]);
      expect(a).toEqual(b);
      expect(await signingKeys(two)).toEqual(a);
      expect(a.keys[0]).toMatchObject({ kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig' });
    });

    it('publishes what verifies, and nothing that signs', async () => {
      const { keys, published } = await signingKeys(await under.open());
      const [key] = keys;
      const token = await new SignJWT({ scope: 'read' })
        .setProtectedHeader({ alg: 'ES256', kid: key.kid })
        .sign(await importJWK(key));
      const { payload } = await jwtVerify(token, createLocalJWKSet({ keys: [...published.keys] }));
      expect(payload).toEqual({ scope: 'read' });
      expect(Object.keys(published.keys[0] ?? {}).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
    });
  });
});
