// The ledger and its charges, on both stores: no negative balance, sums are zero, rows are immutable.
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { describeStores } from '../../../tests/support/stores.ts';
import { verifies } from '../../../tests/support/verifies.ts';
import { WELCOME_CREDIT } from '../../model/subscriptions.ts';
import { createKey, revokeKey } from '../keys/keys.ts';
import type { Store } from '../store.ts';
import { balanceOf, charge, entriesOf, move, verify } from './ledger.ts';

verifies('charge.never-negative');

const NOW = Date.parse('2026-11-20T00:00:00Z');
let made = 0;

async function newKey(store: Store): Promise<string> {
  made += 1;
  const email = `reader${made}@example.org`;
  const result = await createKey(store, { email, email_normal: email, request_id: 'req-1', now: NOW });
  if (!result) throw new Error('the address was free');
  return result.key.id;
}

const call = (key_id: string, amount: number) => ({
  key_id,
  amount,
  operation: 'entity_get',
  dataset: 'tools',
  request_id: 'req-2',
  now: NOW,
});

describeStores('the ledger', ({ open }) => {
  it('waits for the disk with every credit', async () => {
    const store = await open();
    const setting = store.file ? sql`pragma synchronous` : sql`show synchronous_commit`;
    const { rows } = await setting.execute(store.db);
    expect(Object.values(rows[0] as object)).toEqual([store.file ? 2 : 'on']);
  });

  it('charges what a balance covers and not one call more', async () => {
    const store = await open();
    const key = await newKey(store);
    const price = WELCOME_CREDIT / 100;
    const outcomes = await Promise.all(Array.from({ length: 300 }, () => charge(store, call(key, price))));
    expect(outcomes.filter(({ state }) => state === 'charged')).toHaveLength(100);
    expect(outcomes.at(-1)).toEqual({ state: 'insufficient', balance: 0 });
    expect(await balanceOf(store, key)).toBe(0);
    expect(await verify(store)).toMatchObject({ sum: 0, unbalanced: [], wrong: [] });
  });

  it('gives each row its balance, its request and its counterpart', async () => {
    const store = await open();
    const key = await newKey(store);
    await charge(store, call(key, 4000));
    const [charged, welcome] = await entriesOf(store, key, 10, null);
    expect(charged).toMatchObject({
      kind: 'charge',
      amount: -4000,
      balance: WELCOME_CREDIT - 4000,
      operation: 'entity_get',
      dataset: 'tools',
      request_id: 'req-2',
    });
    expect(welcome).toMatchObject({
      kind: 'welcome',
      amount: WELCOME_CREDIT,
      balance: WELCOME_CREDIT,
      request_id: 'req-1',
    });
    const pair = await store.db
      .selectFrom('entries')
      .selectAll()
      .where('transaction_id', '=', charged?.transaction_id ?? '')
      .execute();
    expect(pair.map(({ account, amount }) => [account, amount]).sort()).toEqual([
      [`key:${key}`, -4000],
      ['revenue', 4000],
    ]);
  });

  it('counts an outside reference once, however often and from wherever it comes', async () => {
    const [one, two] = [await open(), await open()];
    const key = await newKey(one);
    const topup = {
      key_id: key,
      amount: 5_000_000,
      kind: 'topup' as const,
      against: 'cash' as const,
      reference: 'session-1',
      now: NOW,
    };
    const results = await Promise.all([one, two, one, two].map((store) => move(store, topup)));
    expect(results.filter((balance) => balance !== null)).toEqual([WELCOME_CREDIT + 5_000_000]);
    expect(await balanceOf(two, key)).toBe(WELCOME_CREDIT + 5_000_000);
  });

  it('lets a refund go below zero, and then charges nothing', async () => {
    const store = await open();
    const key = await newKey(store);
    expect(
      await move(store, { key_id: key, amount: -WELCOME_CREDIT - 1, kind: 'refund', against: 'refund', now: NOW }),
    ).toBe(-1);
    expect(await charge(store, call(key, 1))).toEqual({ state: 'insufficient', balance: -1 });
  });

  it('charges nothing to a key that another process revoked a moment ago', async () => {
    const [one, two] = [await open(), await open()];
    const key = await newKey(one);
    expect(await charge(one, call(key, 1))).toMatchObject({ state: 'charged' });
    await revokeKey(two, key, NOW);
    expect(await charge(one, call(key, 1))).toEqual({ state: 'revoked' });
  });

  it('rejects changes of a row', async () => {
    const store = await open();
    await newKey(store);
    await expect(sql`update entries set amount = 1`.execute(store.db)).rejects.toThrow(/append-only/);
    await expect(sql`delete from entries`.execute(store.db)).rejects.toThrow(/append-only/);
  });

  it('rejects amounts that are not integer micro-euros', async () => {
    const store = await open();
    const key = await newKey(store);
    await expect(move(store, { key_id: key, amount: 0.5, kind: 'grant', against: 'grant', now: NOW })).rejects.toThrow(
      /integer of micro-euros/,
    );
  });
});
