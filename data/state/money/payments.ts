// x402 payments, one durable row each: `claimed` before work starts, `open` when the answer is ready,
// `settled` when paid.
//
// Only the holder of the lease changes a row. When a process dies, its lease expires and another process
// continues.
import { randomUUID } from 'node:crypto';
import type { Transaction } from 'kysely';
import type { Store } from '../store.ts';
import type { PaymentTable } from '../tables/payments.ts';
import type { Tables } from '../tables/schema.ts';
import { isDuplicate } from './ledger.ts';
import { createPrepaid } from './prepaid.ts';

export type Payment = PaymentTable;

/** Milliseconds that a lease is valid unless it is renewed. */
export const LEASE = 15_000;
/** Milliseconds that an answer is stored for a client with the secret, or for its first delivery. */
const KEPT = 24 * 3_600_000;

/** The fields of a call for a new row. */
export type PaymentClaim = Pick<
  Payment,
  'id' | 'request' | 'proof' | 'secret' | 'payload' | 'requirements' | 'micros' | 'operation' | 'dataset' | 'request_id'
>;

/** Inserts the row of a payment, leased to the caller; null when a row with its id or its secret exists. */
export async function claimPayment(store: Store, claim: PaymentClaim, now: number): Promise<Payment | null> {
  const row: Payment = {
    ...claim,
    state: 'claimed',
    lease: randomUUID(),
    leased_until: now + LEASE,
    look_at: now + LEASE,
    answer: null,
    purchase: null,
    records: '',
    refused: null,
    hash: null,
    transfer: null,
    created_at: now,
    settled_at: null,
    delivered_at: null,
  };
  const mine = await store.db
    .insertInto('payments')
    .values(row)
    .onConflict((c) => c.doNothing())
    .returning('id')
    .executeTakeFirst();
  return mine ? row : null;
}

/** The row of a payment by id or secret. */
export async function findPayment(store: Store, by: { id: string } | { secret: string }): Promise<Payment | null> {
  const query = store.db.selectFrom('payments').selectAll();
  const match = 'id' in by ? query.where('id', '=', by.id) : query.where('secret', '=', by.secret);
  return (await match.executeTakeFirst()) ?? null;
}

/** Takes a free lease; null when another process holds it or the state of the row has changed. */
export async function leasePayment(store: Store, { id, state }: Payment, now: number): Promise<Payment | null> {
  const row = await store.db
    .updateTable('payments')
    .set({ lease: randomUUID(), leased_until: now + LEASE })
    .where('id', '=', id)
    .where('state', '=', state)
    .where('leased_until', '<=', now)
    .returningAll()
    .executeTakeFirst();
  return row ?? null;
}

/** A row that the caller has leased. */
type Held = Pick<Payment, 'id' | 'lease'>;

const held = (store: Store, { id, lease }: Held) =>
  store.db.updateTable('payments').where('id', '=', id).where('lease', '=', lease);

/** Extends a lease; false when it is lost. */
export async function renewLease(store: Store, row: Held, now: number): Promise<boolean> {
  const { numUpdatedRows } = await held(store, row)
    .set({ leased_until: now + LEASE })
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/**
 * Releases a row with an unknown outcome and stores what is known; the chain is queried again at `look_at`.
 */
export async function leavePayment(
  store: Store,
  row: Held,
  state: { look_at: number; hash?: string; secret?: null; refused?: string | null },
): Promise<void> {
  await held(store, row)
    .set({ leased_until: 0, ...state })
    .execute();
}

/** Deletes a row without a payment. */
export async function dropPayment(store: Store, { id, lease }: Held): Promise<void> {
  await store.db.deleteFrom('payments').where('id', '=', id).where('lease', '=', lease).execute();
}

/** Stores the answer, and the key that it sells, before settlement begins; false when the lease is lost. */
export async function openPayment(
  store: Store,
  row: Held,
  { text, records }: { text: string; records: string },
  purchase: string | null = null,
): Promise<boolean> {
  const { numUpdatedRows } = await held(store, row)
    .where('state', '=', 'claimed')
    .set({ state: 'open', answer: text, records, purchase })
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/**
 * Marks a payment as settled, with its two rows in the ledger. `lost`: another process holds the row.
 * `taken`: the same transfer has settled another payment.
 */
export async function settlePayment(
  store: Store,
  { id, lease }: Held,
  paid: { hash: string; transfer: string | null; now: number; delivered: boolean },
): Promise<Payment | 'lost' | 'taken'> {
  const { hash, transfer, now } = paid;
  const delivered_at = paid.delivered ? now : null;
  try {
    return await store.db.transaction().execute(async (tx) => {
      const settled = await tx
        .updateTable('payments')
        .set({ state: 'settled', hash, transfer, settled_at: now, delivered_at, leased_until: 0 })
        .where('id', '=', id)
        .where('lease', '=', lease)
        .where('state', '=', 'open')
        .returningAll()
        .executeTakeFirst();
      if (settled) await (settled.purchase === null ? book : createPrepaid)(tx, settled, now);
      return settled ?? 'lost';
    });
  } catch (error) {
    if (isDuplicate(error)) return 'taken';
    throw error;
  }
}

/** The payment is revenue; no key's balance changes. */
async function book(tx: Transaction<Tables>, payment: Payment, now: number): Promise<void> {
  const { id, micros, operation, dataset, request_id } = payment;
  const common = { transaction_id: randomUUID(), at: now, kind: 'x402', operation, dataset, request_id, balance: null };
  await tx
    .insertInto('entries')
    .values([
      { ...common, account: 'x402', amount: -micros, reference: id, note: null },
      { ...common, account: 'revenue', amount: micros, reference: id, note: null },
    ])
    .execute();
}

/** Marks the one delivery of a settled payment as done; false when it was done before. */
export async function deliverPayment(store: Store, id: string, now: number): Promise<boolean> {
  const { numUpdatedRows } = await store.db
    .updateTable('payments')
    .set({ delivered_at: now })
    .where('id', '=', id)
    .where('state', '=', 'settled')
    .where('delivered_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Open payments without a lease that are due for a check, oldest first. */
export async function duePayments(store: Store, now: number): Promise<Payment[]> {
  return store.db
    .selectFrom('payments')
    .selectAll()
    .where('state', '=', 'open')
    .where('look_at', '<=', now)
    .where('leased_until', '<=', now)
    .orderBy('created_at')
    .limit(100)
    .execute();
}

/** Deletes rows of processes that died before the answer was ready, and answers older than a day. */
export async function forgetPayments(store: Store, now: number): Promise<void> {
  await store.db.deleteFrom('payments').where('state', '=', 'claimed').where('leased_until', '<=', now).execute();
  await store.db
    .updateTable('payments')
    .set({ answer: null, secret: null, payload: '', records: '' })
    .where('state', '=', 'settled')
    .where('settled_at', '<', now - KEPT)
    .where('payload', '<>', '')
    .execute();
}
