// Key rings: rotation without a gap in which signatures cannot be verified.
import { createLocalJWKSet, importJWK, jwtVerify, SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { describeStores } from '../../../tests/support/stores.ts';
import { crawlerKeys, publicCrawlerKey, rotateCrawlerKeys } from './crawler-keys.ts';
import { rotateSigningKeys, signingKeys } from './signing-keys.ts';

const NOW = Date.UTC(2026, 10, 20);
const HOUR = 3_600_000;

describeStores('rings of keys', (under) => {
  describe('the keys of the crawler', () => {
    it('are one for processes that start at once, and list nothing private', async () => {
      const [one, two] = [await under.open(), await under.open()];
      const asked = await Promise.all([crawlerKeys(one, NOW), crawlerKeys(two, NOW), crawlerKeys(one, NOW)]);
      expect(new Set(asked.map((keys) => JSON.stringify(keys))).size).toBe(1);
      const [key] = asked[0];
      expect(publicCrawlerKey(key)).toEqual({ kty: 'OKP', crv: 'Ed25519', x: key.x, kid: key.kid, use: 'sig' });
      expect(key.d).toBeDefined();
    });

    it('are replaced in front, and the one before stays for a day', async () => {
      const store = await under.open();
      const [first] = await crawlerKeys(store, NOW);
      const second = await rotateCrawlerKeys(store, NOW + HOUR);
      expect(second.map(({ kid }) => kid)).toEqual([second[0].kid, first.kid]);
      const third = await rotateCrawlerKeys(store, NOW + 26 * HOUR);
      expect(third.map(({ kid }) => kid)).toEqual([third[0].kid, second[0].kid]);
      expect(await crawlerKeys(store, NOW + 27 * HOUR)).toEqual(third);
    });
  });

  describe('the keys of tokens', () => {
    it('verify what was signed before they were replaced', async () => {
      const store = await under.open();
      const { keys } = await signingKeys(store);
      const token = await new SignJWT({})
        .setProtectedHeader({ alg: 'ES256', kid: keys[0].kid })
        .sign(await importJWK(keys[0]));
      const { published } = await rotateSigningKeys(store, Date.now());
      expect(published.keys).toHaveLength(2);
      await jwtVerify(token, createLocalJWKSet({ keys: [...published.keys] }));
      expect(JSON.stringify(published)).not.toMatch(/"d"|made_at/);
    });

    it('are none lost when two processes replace them at once', async () => {
      const [one, two] = [await under.open(), await under.open()];
      const before = (await signingKeys(one)).keys.length;
      await Promise.all([rotateSigningKeys(one, Date.now()), rotateSigningKeys(two, Date.now())]);
      expect((await signingKeys(two)).keys).toHaveLength(before + 2);
    });
  });
});
