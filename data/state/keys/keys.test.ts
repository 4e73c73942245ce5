// Keys: one per address, secret not stored, checksum before lookups, permanent revocation.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeStores } from '../../../tests/support/stores.ts';
import { verifies } from '../../../tests/support/verifies.ts';
import { isWellFormedKey, newKey } from '../key-format.ts';
import { balanceOf, move } from '../money/ledger.ts';
import { createKey, findKey, keyById, listKeys, revokeKey, rotateKey, setPlan } from './keys.ts';
import { findLiveKey } from './lookup.ts';

verifies('credential.format', 'credential.hashed', 'key.one-per-email', 'key.default-plan', 'key.welcome-credit');
verifies('limit.welcome');

const NOW = Date.parse('2026-11-20T00:00:00Z');
const request = (email: string) => ({ email, email_normal: email, request_id: 'req-1', now: NOW });

describe('a key', () => {
  it('has the shape that the contract gives it', () => {
    const key = newKey();
    expect(key).toMatch(/^dsr_[0-9A-Za-z]{43}$/);
    expect(isWellFormedKey(key)).toBe(true);
  });

  it('is rejected with any one character changed, removed or added', () => {
    const other = fc.constantFrom(...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz');
    fc.assert(
      fc.property(fc.integer({ min: 4, max: 46 }), other, (at, character) => {
        const key = newKey();
        fc.pre(key[at] !== character);
        expect(isWellFormedKey(key.slice(0, at) + character + key.slice(at + 1))).toBe(false);
        expect(isWellFormedKey(key.slice(0, at))).toBe(false);
        expect(isWellFormedKey(key + character)).toBe(false);
      }),
    );
  });
});

describeStores('keys', ({ open }) => {
  it('are found by their secret alone, and only hashed in the store', async () => {
    const store = await open();
    const made = await createKey(store, request('a@example.org'));
    expect(made?.key).toMatchObject({ plan: 'payg', balance: 500_000, revoked_at: null });
    expect(await findKey(store, made?.secret ?? '')).toEqual(made?.key);
    expect(await findKey(store, newKey())).toBeNull();
    const stored = JSON.stringify(await store.db.selectFrom('keys').selectAll().execute());
    expect(stored).not.toContain(made?.secret.slice(4, 20));
  });

  it('are one for an address, however many ask at once', async () => {
    const [one, two] = [await open(), await open()];
    const made = await Promise.all([one, two, one, two].map((store) => createKey(store, request('b@example.org'))));
    expect(made.filter((result) => result !== null)).toHaveLength(1);
  });

  it('are revoked for every process at once, keep the first time, and cannot be rotated back', async () => {
    const [one, two] = [await open(), await open()];
    const made = await createKey(one, request('c@example.org'));
    const id = made?.key.id ?? '';
    expect(await revokeKey(one, id, NOW)).toBe(true);
    expect(await revokeKey(one, id, NOW + 1)).toBe(true);
    expect(await findKey(two, made?.secret ?? '')).toMatchObject({ revoked_at: NOW });
    expect(await rotateKey(two, id, { now: NOW })).toBeNull();
    expect(await revokeKey(one, 'nobody', NOW)).toBe(false);
  });

  it('lose the old secret when rotated', async () => {
    const store = await open();
    const made = await createKey(store, request('d@example.org'));
    const fresh = await rotateKey(store, made?.key.id ?? '', { now: NOW });
    expect(await findKey(store, made?.secret ?? '')).toBeNull();
    expect(await findKey(store, fresh?.secret ?? '')).toMatchObject({ id: made?.key.id });
  });

  it('are listed page by page, and take a plan', async () => {
    const store = await open();
    const all = await listKeys(store, 100, null);
    const [first] = all;
    const rest = await listKeys(store, 100, { created_at: first?.created_at ?? 0, id: first?.id ?? '' });
    expect(rest.map(({ id }) => id)).toEqual(all.slice(1).map(({ id }) => id));
    expect(await setPlan(store, first?.id ?? '', 'pro', NOW + 1)).toBe(true);
    expect(await keyById(store, first?.id ?? '')).toMatchObject({ plan: 'pro', plan_until: NOW + 1 });
  });

  it('are looked up as they are now, with their balance', async () => {
    const [one, two] = [await open(), await open()];
    const { secret, key } = (await createKey(two, request('turn@example.org')))!;
    expect(await findLiveKey(one, secret, NOW)).toMatchObject({ id: key.id, balance: 500_000 });
    await move(two, { key_id: key.id, amount: 7, kind: 'grant', against: 'grant', now: NOW });
    expect(await findLiveKey(one, secret, NOW)).toMatchObject({ balance: 500_007 });
    expect(await balanceOf(one, key.id)).toBe(500_007);
    await revokeKey(two, key.id, NOW);
    expect(await findLiveKey(one, secret, NOW)).toBeNull();
  });
});
