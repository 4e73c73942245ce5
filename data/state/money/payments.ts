// Payments by x402, one durable row each: claimed before anybody looks at it, open when its answer is ready, settled when it is paid.
//
// Whoever changes a row holds its lease. A process that dies leaves a lease that runs out, and another takes over.
import { randomUUID } from 'node:crypto';
import type { Transaction } from 'kysely';
import type { Store } from '../store.ts';
import type { PaymentTable } from '../tables/payments.ts';
import type { Tables } from '../tables/schema.ts';
import { isDuplicate } from './ledger.ts';

export type Payment = PaymentTable;

/** How long nobody else touches a row, in milliseconds, unless the lease is renewed. */
export const LEASE = 15_000;
/** How long an answer is kept for whoever has the secret, or fetches it for the first time. */
const KEPT = 24 * 3_600_000;

/** What a call brings for a new row. */
export type Claim = Pick<
  Payment,
  'id' | 'request' | 'proof' | 'secret' | 'payload' | 'requirements' | 'micros' | 'operation' | 'dataset' | 'request_id'
>;

/** Inserts the row of a payment, leased to the caller; null when its id, or its secret, has a row already. */
export async function claimPayment(store: Store, claim: Claim, now: number): Promise<Payment | null> {
  const row: Payment = {
    ...claim,
    state: 'claimed',
    lease: randomUUID(),
    leased_until: now + LEASE,
    look_at: now + LEASE,
    answer: null,
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

/** The row of a payment, or of the payment that has this secret. */
export async function findPayment(store: Store, by: { id: string } | { secret: string }): Promise<Payment | null> {
  const query = store.db.selectFrom('payments').selectAll();
  const found = 'id' in by ? query.where('id', '=', by.id) : query.where('secret', '=', by.secret);
  return (await found.executeTakeFirst()) ?? null;
}

/** Takes the lease of a row that nobody holds; null when somebody does, or the row has changed its state meanwhile. */
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

/** A row that the caller holds. */
type Held = Pick<Payment, 'id' | 'lease'>;

const held = (store: Store, { id, lease }: Held) =>
  store.db.updateTable('payments').where('id', '=', id).where('lease', '=', lease);

/** Holds a row longer; false when it is lost. */
export async function renewLease(store: Store, row: Held, now: number): Promise<boolean> {
  const { numUpdatedRows } = await held(store, row)
    .set({ leased_until: now + LEASE })
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Lets go of a row whose outcome is not known, with what is known; the chain is asked about it again at `look_at`. */
export async function leavePayment(
  store: Store,
  row: Held,
  known: { look_at: number; hash?: string; secret?: null; refused?: string | null },
): Promise<void> {
  await held(store, row)
    .set({ leased_until: 0, ...known })
    .execute();
}

/** Removes a row that nothing was paid for. */
export async function dropPayment(store: Store, { id, lease }: Held): Promise<void> {
  await store.db.deleteFrom('payments').where('id', '=', id).where('lease', '=', lease).execute();
}

/** Keeps the answer and says that settling begins; false when the row is lost to another. */
export async function openPayment(
  store: Store,
  row: Held,
  { text, records }: { text: string; records: string },
): Promise<boolean> {
  const { numUpdatedRows } = await held(store, row)
    .where('state', '=', 'claimed')
    .set({ state: 'open', answer: text, records })
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/**
 * Writes down that a payment is ours, with its two rows in the ledger. `lost`: another holds the row. `taken`: the same
 * transfer has paid for another.
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
      if (settled) await book(tx, settled, now);
      return settled ?? 'lost';
    });
  } catch (error) {
    if (isDuplicate(error)) return 'taken';
    throw error;
  }
}

/** What came in is revenue; nobody's balance moves. */
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

/** Takes the one delivery of a settled payment; false when it was taken. */
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

/** Open payments that nobody is at and that are due for a look, oldest first. */
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

/** Removes what a process left that died before its answer was ready, and forgets the answers of yesterday. */
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
