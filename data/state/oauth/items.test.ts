// Storage of the authorization server: items are found by an id of which only the hash is stored, and
// consumed once.
import { describe, expect, it } from 'vitest';
import { describeStores } from '../../../tests/support/stores.ts';
import {
  consumeItem,
  destroyItem,
  destroyItemByUid,
  findItem,
  findItemByUid,
  forgetItems,
  keepItem,
  putItem,
} from './items.ts';

const NOW = Date.UTC(2026, 10, 20);
const ID = 'the-secret-id-of-an-item-0123456789';

describeStores('items of the authorization server', (under) => {
  describe('an item', () => {
    it('comes back as it was, whatever is in it', async () => {
      const store = await under.open();
      const item = {
        jti: ID,
        returnTo: `https://h.example/${ID}`,
        odd: '\u0000 \ud800 \u0001self "',
        deep: { a: [null] },
      };
      await putItem(store, 'Interaction', ID, item, { expires_at: null });
      expect(await findItem(store, 'Interaction', ID)).toEqual(item);
      await putItem(store, 'Interaction', ID, { jti: ID }, { expires_at: null });
      expect(await findItem(store, 'Interaction', ID)).toEqual({ jti: ID });
      expect(await findItem(store, 'Session', ID)).toBeUndefined();
      await destroyItem(store, 'Interaction', ID);
      expect(await findItem(store, 'Interaction', ID)).toBeUndefined();
    });

    it('leaves no secret in the store', async () => {
      const store = await under.open();
      const item = { jti: ID, returnTo: `https://h.example/${ID}` };
      await putItem(store, 'Session', ID, item, { expires_at: null, uid: 'second-id' });
      const rows = await store.db.selectFrom('oauth_items').selectAll().where('model', '=', 'Session').execute();
      expect(JSON.stringify(rows)).not.toMatch(new RegExp(`${ID}|second-id`));
      expect(rows[0]?.id).toMatch(/^[0-9a-f]{64}$/);
    });

    it('is found by its second id, without its own', async () => {
      const store = await under.open();
      await putItem(store, 'Session', ID, { jti: ID, uid: 'u', accountId: 'k' }, { expires_at: null, uid: 'u' });
      expect(await findItemByUid(store, 'Session', 'u')).toEqual({ uid: 'u', accountId: 'k' });
      await destroyItemByUid(store, 'Session', 'u');
      expect(await findItem(store, 'Session', ID)).toBeUndefined();
    });

    it('is used up by one of many who try at once, in two processes', async () => {
      const [one, two] = [await under.open(), await under.open()];
      await putItem(one, 'AuthorizationCode', ID, { jti: ID }, { expires_at: NOW + 60_000 });
      const tries = Array.from({ length: 20 }, (_, i) => consumeItem(i % 2 ? one : two, 'AuthorizationCode', ID, NOW));
      expect((await Promise.all(tries)).filter(Boolean)).toHaveLength(1);
      expect(await findItem(two, 'AuthorizationCode', ID)).toEqual({ jti: ID, consumed: NOW / 1000 });
    });

    it('is forgotten when it is over, and kept for longer when asked', async () => {
      const store = await under.open();
      for (const id of ['a', 'b', 'c'].map((end) => ID + end))
        await putItem(store, 'Client', id, {}, { expires_at: NOW });
      await putItem(store, 'Client', `${ID}d`, {}, { expires_at: null });
      await keepItem(store, 'Client', `${ID}b`, NOW + 10);
      await keepItem(store, 'Client', `${ID}d`, NOW);
      await forgetItems(store, NOW + 1);
      const left = await Promise.all(['a', 'b', 'c', 'd'].map((end) => findItem(store, 'Client', ID + end)));
      expect(left.map((item) => item !== undefined)).toEqual([false, true, false, true]);
    });
  });
});
