// Shared secrets: created once, the same in every process.
import { describe, expect, it } from 'vitest';
import { describeStores } from '../../tests/support/stores.ts';
import { sharedSecret } from './secrets.ts';

describeStores('shared secrets', (under) => {
  describe('a secret', () => {
    it('is the same for processes that ask at once, and later', async () => {
      const [one, two] = [await under.open(), await under.open()];
      const asked = await Promise.all([sharedSecret(one, 'a'), sharedSecret(two, 'a'), sharedSecret(one, 'a')]);
      expect(new Set(asked).size).toBe(1);
      expect(asked[0]).toMatch(/^[\w-]{43}$/);
      expect(await sharedSecret(two, 'a')).toBe(asked[0]);
    });

    it('is another for another name', async () => {
      const store = await under.open();
      expect(await sharedSecret(store, 'b')).not.toBe(await sharedSecret(store, 'c'));
    });
  });
});
