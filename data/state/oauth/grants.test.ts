// Grants: charges never exceed the cap, and ending a grant ends all its tokens.
import { describe, expect, it } from 'vitest';
import { describeStores } from '../../../tests/support/stores.ts';
import { createKey, revokeKey, rotateKey } from '../keys/keys.ts';
import { findLiveGrant } from '../keys/lookup.ts';
import { charge, verify } from '../money/ledger.ts';
import type { Store } from '../store.ts';
import type { Charge } from '../writer-jobs.ts';
import { endGrant, forgetGrants, grantName, grantOf, grantsOf, openGrant } from './grants.ts';
import { findItem, putItem } from './items.ts';

const NOW = Date.UTC(2026, 10, 20);
let made = 0;

/** A key with the welcome credit of 500,000 and a grant. */
async function granted(store: Store, cap: number | null, expires_at: number | null = null) {
  made += 1;
  const email = `granter${made}@example.org`;
  const { key, secret } = (await createKey(store, { email, email_normal: email, request_id: 'r', now: NOW }))!;
  const id = `the id of grant ${made} as the authorization server knows it`;
  const about = { key_id: key.id, client_id: `client ${made}`, client_name: 'Reader', created_at: NOW + made };
  await openGrant(store, id, { ...about, cap, expires_at });
  return { id, name: grantName(id), key_id: key.id, secret };
}

const ask = (key_id: string, grant: string | undefined, amount = 1000): Charge => ({
  key_id,
  amount,
  operation: 'entity_get',
  dataset: 'tools',
  request_id: 'r',
  now: NOW,
  grant,
});

const count = (outcomes: { state: string }[]) =>
  Object.fromEntries(Object.entries(Object.groupBy(outcomes, ({ state }) => state)).map(([k, v]) => [k, v?.length]));

describeStores('grants', (under) => {
  describe('the cap', () => {
    it('lets through what it covers and not one charge more, with two processes at once', async () => {
      const [one, two] = [await under.open(), await under.open()];
      const { name, key_id } = await granted(one, 50_500);
      const all = Array.from({ length: 200 }, (_, i) => charge(i % 2 ? one : two, ask(key_id, name)));
      expect(count(await Promise.all(all))).toEqual({ charged: 50, bounded: 150 });
      expect(await grantOf(two, key_id, name)).toMatchObject({ cap: 50_500, spent: 50_000 });
      expect(await charge(one, ask(key_id, name, 501))).toMatchObject({
        state: 'bounded',
        bound: { of: 'client', name: 'cap', limit: 50_500, left: 500 },
      });
      expect(await charge(one, ask(key_id, name, 500))).toMatchObject({ state: 'charged', balance: 449_500 });
      expect(await verify(one)).toMatchObject({ sum: 0, unbalanced: [], wrong: [] });
    });

    it('is of one grant: the key and its other grants go on', async () => {
      const store = await under.open();
      const { name, key_id } = await granted(store, 1000);
      const about = { client_id: 'other', client_name: 'Other', created_at: NOW, expires_at: null };
      await openGrant(store, `another of ${key_id}`, { key_id, cap: null, ...about });
      const other = grantName(`another of ${key_id}`);
      expect(await charge(store, ask(key_id, name))).toMatchObject({ state: 'charged' });
      expect(await charge(store, ask(key_id, name))).toMatchObject({
        state: 'bounded',
        bound: { of: 'client', name: 'cap', limit: 1000, left: 0 },
      });
      expect(await charge(store, ask(key_id, other, 400_000))).toMatchObject({ state: 'charged' });
      expect(await charge(store, ask(key_id, undefined))).toMatchObject({ state: 'charged', balance: 98_000 });
      expect((await grantsOf(store, key_id, NOW)).map(({ spent }) => spent)).toEqual([1000, 400_000]);
    });

    it('does not count what the key could not pay', async () => {
      const store = await under.open();
      const { name, key_id } = await granted(store, 900_000);
      expect(await charge(store, ask(key_id, name, 600_000))).toEqual({ state: 'insufficient', balance: 500_000 });
      expect(await grantOf(store, key_id, name)).toMatchObject({ spent: 0 });
    });
  });

  describe('its end', () => {
    it('is at once, for charges, look-ups and what was issued', async () => {
      const store = await under.open();
      const { id, name, key_id } = await granted(store, null);
      for (const [model, item] of [
        ['Grant', id],
        ['RefreshToken', `token of ${id}`],
      ] as const)
        await putItem(
          store,
          model,
          item,
          { jti: item },
          { expires_at: null, grant: model === 'Grant' ? undefined : name },
        );
      expect(await findLiveGrant(store, name, NOW)).toMatchObject({
        name,
        key: { id: key_id, balance: 500_000 },
      });
      await endGrant(store, name);
      expect(await findLiveGrant(store, name, NOW)).toBeNull();
      expect(await charge(store, ask(key_id, name))).toEqual({ state: 'withdrawn' });
      expect(await findItem(store, 'Grant', id)).toBeUndefined();
      expect(await findItem(store, 'RefreshToken', `token of ${id}`)).toBeUndefined();
    });

    it.each(['revokeKey', 'rotateKey'] as const)('comes with %s', async (how) => {
      const store = await under.open();
      const { id, name, key_id } = await granted(store, null);
      await putItem(store, 'RefreshToken', `token of ${id}`, {}, { expires_at: null, grant: name });
      if (how === 'revokeKey') await revokeKey(store, key_id, NOW);
      else await rotateKey(store, key_id, { now: NOW });
      expect(await findLiveGrant(store, name, NOW)).toBeNull();
      expect(await grantsOf(store, key_id, NOW)).toEqual([]);
      expect(await findItem(store, 'RefreshToken', `token of ${id}`)).toBeUndefined();
    });

    it('comes with its time, and it is forgotten then', async () => {
      const store = await under.open();
      const { name, key_id } = await granted(store, null, NOW + 1000);
      expect(await findLiveGrant(store, name, NOW + 999)).not.toBeNull();
      expect(await findLiveGrant(store, name, NOW + 1000)).toBeNull();
      expect(await grantsOf(store, key_id, NOW + 1000)).toEqual([]);
      await forgetGrants(store, NOW + 1001);
      expect(await grantOf(store, key_id, name)).toBeNull();
    });
  });

  describe('a grant of another key', () => {
    it('is not found', async () => {
      const store = await under.open();
      const [mine, other] = [await granted(store, null), await granted(store, null)];
      expect(await grantOf(store, mine.key_id, other.name)).toBeNull();
    });
  });
});
