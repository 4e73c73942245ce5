// The rows of payments on every store: one claim, one lease, one settlement, one delivery.
import { expect, it } from 'vitest';
import { verify } from '../../../data/state/money/ledger.ts';
import {
  claimPayment,
  deliverPayment,
  dropPayment,
  duePayments,
  findPayment,
  forgetPayments,
  LEASE,
  leasePayment,
  leavePayment,
  openPayment,
  type Payment,
  renewLease,
  settlePayment,
} from '../../../data/state/money/payments.ts';
import { describeStores } from '../../support/stores.ts';

const NOW = 1_800_000_000_000;
const ANSWER = { text: '{}\nanswer', records: 'r-0000000000000001' };
let made = 0;
const claimOf = (more: Partial<Payment> = {}) => {
  made += 1;
  return {
    ...{ id: `p${made}`, request: 'asked', proof: 'signed', secret: null, payload: '{}', requirements: '{}' },
    ...{ micros: 4000, operation: 'entity_get', dataset: 'tools', request_id: `r${made}` },
    ...more,
  };
};
const paid = (hash: string, transfer: string | null = null) => ({ hash, transfer, now: NOW, delivered: true });

describeStores('rows of payments', ({ open }) => {
  it('one of many at once gets the row, by its id and by its secret', async () => {
    const store = await open();
    const claim = claimOf();
    const rows = await Promise.all(Array.from({ length: 10 }, () => claimPayment(store, claim, NOW)));
    expect(rows.filter((row) => row !== null)).toHaveLength(1);
    const named = await Promise.all(
      Array.from({ length: 10 }, () => claimPayment(store, claimOf({ secret: 'mine' }), NOW)),
    );
    expect(named.filter((row) => row !== null)).toHaveLength(1);
    const found = await findPayment(store, { secret: 'mine' });
    expect(found).toMatchObject({ state: 'claimed', leased_until: NOW + LEASE, answer: null });
  });

  it('a leased row is locked until the lease expires', async () => {
    const store = await open();
    const row = (await claimPayment(store, claimOf(), NOW))!;
    expect(await leasePayment(store, row, NOW + LEASE - 1)).toBeNull();
    expect(await renewLease(store, row, NOW + 10_000)).toBe(true);
    expect(await leasePayment(store, row, NOW + LEASE)).toBeNull();
    const taken = (await leasePayment(store, row, NOW + LEASE + 10_000))!;
    expect(taken.lease).not.toBe(row.lease);
    // A process without the lease cannot change the row.
    expect(await renewLease(store, row, NOW)).toBe(false);
    expect(await openPayment(store, row, ANSWER)).toBe(false);
    await dropPayment(store, row);
    expect(await openPayment(store, taken, ANSWER)).toBe(true);
    expect(await openPayment(store, taken, ANSWER), 'opened once').toBe(false);
    expect(await settlePayment(store, row, paid('0x1'))).toBe('lost');
    expect(await settlePayment(store, taken, paid('0x1'))).toMatchObject({
      state: 'settled',
      hash: '0x1',
      delivered_at: NOW,
    });
    expect(await settlePayment(store, taken, paid('0x2'))).toBe('lost');
  });

  it('one transfer pays one call, in the ledger too', async () => {
    const store = await open();
    const before = await verify(store);
    const held = async () => {
      const row = (await claimPayment(store, claimOf(), NOW))!;
      await openPayment(store, row, ANSWER);
      return row;
    };
    const [one, two] = [await held(), await held()];
    expect(await settlePayment(store, one, paid('0x7', '0x7:1'))).toMatchObject({ transfer: '0x7:1' });
    expect(await settlePayment(store, two, paid('0x7', '0x7:1'))).toBe('taken');
    expect(await findPayment(store, { id: two.id })).toMatchObject({ state: 'open', settled_at: null });
    const after = await verify(store);
    expect([after.entries - before.entries, after.sum, after.unbalanced]).toEqual([2, 0, []]);
  });

  it('is delivered once for parallel requests', async () => {
    const store = await open();
    const row = (await claimPayment(store, claimOf(), NOW))!;
    expect(await deliverPayment(store, row.id, NOW), 'not before it is settled').toBe(false);
    await openPayment(store, row, ANSWER);
    await settlePayment(store, row, { ...paid('0x8'), delivered: false });
    const got = await Promise.all(Array.from({ length: 10 }, () => deliverPayment(store, row.id, NOW)));
    expect(got.filter(Boolean)).toHaveLength(1);
  });

  it('leftovers of a process are cleaned up: expired claims are deleted, open ones checked, old answers erased', async () => {
    const store = await open();
    await store.db.deleteFrom('payments').execute();
    const claimed = (await claimPayment(store, claimOf(), NOW))!;
    const waiting = (await claimPayment(store, claimOf(), NOW))!;
    await openPayment(store, waiting, ANSWER);
    const done = (await claimPayment(store, claimOf({ secret: 'old' }), NOW))!;
    await openPayment(store, done, ANSWER);
    await settlePayment(store, done, paid('0x9'));
    await forgetPayments(store, NOW + LEASE - 1);
    expect(await findPayment(store, { id: claimed.id })).not.toBeNull();
    expect(await duePayments(store, NOW + LEASE - 1)).toEqual([]);
    await forgetPayments(store, NOW + LEASE);
    expect(await findPayment(store, { id: claimed.id })).toBeNull();
    expect((await duePayments(store, NOW + LEASE)).map(({ id }) => id)).toEqual([waiting.id]);
    const [due] = await duePayments(store, NOW + LEASE);
    const held = (await leasePayment(store, due!, NOW + LEASE))!;
    await leavePayment(store, held, { look_at: NOW + 60_000, hash: '0xa' });
    expect(await duePayments(store, NOW + 59_999)).toEqual([]);
    expect(await duePayments(store, NOW + 60_000)).toMatchObject([{ hash: '0xa' }]);
    await forgetPayments(store, NOW + 86_400_001);
    expect(await findPayment(store, { id: done.id })).toMatchObject({
      state: 'settled',
      answer: null,
      payload: '',
      secret: null,
      hash: '0x9',
    });
    expect(await findPayment(store, { id: waiting.id })).toMatchObject({ state: 'open', answer: ANSWER.text });
  });
});
