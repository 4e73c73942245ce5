// Monthly invoices of plans: paid, next, failed, and the end of a subscription.

import type { Store } from '../store.ts';
import {
  amountMismatch,
  type BookingOutcome,
  type Checkout,
  noteProblem,
  type Provider,
  type Tx,
  withBookingLock,
} from './checkouts.ts';
import { moveIn } from './ledger.ts';
import { beginSubscription, endSubscription, projectPlan } from './paid-plans.ts';
import { linkPayment, settleReturns } from './returns.ts';

/** A paid invoice of a subscription. Times in milliseconds since 1970, the amount in cents. */
export interface InvoiceEvent {
  provider: Provider;
  event: string;
  invoice: string;
  subscription: string;
  /** Id of our row that we sent as metadata; null when the event has none. */
  checkout: string | null;
  customer: string | null;
  cents: number;
  currency: string;
  /** End of the paid month. */
  ends_at: number;
  at: number;
}

/** Books a paid month, once per invoice, and extends the plan. */
export function takeInvoice(store: Store, payload: InvoiceEvent, now: number): Promise<BookingOutcome> {
  return withBookingLock(store, async (tx) => {
    const { invoice, event, subscription, ends_at } = payload;
    const row = await checkoutOfInvoice(tx, payload);
    if (row === null) return { state: 'foreign' };
    const why =
      row.provider !== payload.provider || row.kind !== 'plan'
        ? `it is a ${row.kind} of ${row.provider}`
        : amountMismatch(row, payload.cents, payload.currency);
    if (why !== null) {
      await noteProblem(tx, row.id, `${invoice}: ${why}`);
      return { state: 'refused', why };
    }
    const { id, key_id, amount } = row;
    await beginSubscription(tx, { id: subscription, checkout: row, customer: payload.customer, at: payload.at });
    const fresh = await tx
      .insertInto('invoices')
      .values({ id: invoice, subscription_id: subscription, key_id, amount, ends_at, paid_at: now })
      .onConflict((c) => c.doNothing())
      .returning('id')
      .executeTakeFirst();
    if (!fresh) return { state: 'known', key_id };
    await tx
      .updateTable('checkouts')
      .set({ state: 'paid', paid_at: row.paid_at ?? now })
      .where('id', '=', id)
      .execute();
    // The payment is credited and spent at once: the balance stays, and the ledger has both rows.
    const request = row.request_id === null ? {} : { request_id: row.request_id };
    const common = { key_id, reference: invoice, now, ...request };
    await moveIn(tx, { ...common, amount, kind: 'plan_payment', against: 'cash' });
    await moveIn(tx, { ...common, amount: -amount, kind: 'plan', against: 'revenue' });
    const linked = await tx.selectFrom('card_payments').select('id').where('invoice_id', '=', invoice).execute();
    for (const payment of linked) await settleReturns(tx, payment.id, { event, now });
    await projectPlan(tx, key_id, now);
    return { state: 'booked', key_id };
  });
}

/** The checkout that started a subscription. */
async function checkoutOfInvoice(tx: Tx, { subscription, checkout }: InvoiceEvent): Promise<Checkout | null> {
  const invoice = await tx
    .selectFrom('subscriptions')
    .innerJoin('checkouts', 'checkouts.id', 'subscriptions.checkout_id')
    .selectAll('checkouts')
    .where('subscriptions.id', '=', subscription)
    .executeTakeFirst();
  if (invoice) return invoice;
  if (checkout === null) return null;
  const mine = await tx.selectFrom('checkouts').selectAll().where('id', '=', checkout).executeTakeFirst();
  if (!mine) return null;
  const taken = await tx
    .selectFrom('subscriptions')
    .select('id')
    .where('checkout_id', '=', checkout)
    .executeTakeFirst();
  return taken ? null : mine;
}

/** Links an invoice to its payment, and books what was already paid back. */
export function takeInvoicePayment(
  store: Store,
  payload: { event: string; invoice: string; payment: string },
  now: number,
): Promise<BookingOutcome> {
  const { event, invoice, payment } = payload;
  return withBookingLock(store, (tx) => linkPayment(tx, payment, { invoice_id: invoice }, { event, now }));
}

/** The provider created the next invoice, failed to collect one, or ended the subscription. */
export function takeSubscriptionEvent(
  store: Store,
  payload: { turn: 'renewing' | 'failed' | 'ended'; subscription: string; at: number },
  now: number,
): Promise<BookingOutcome> {
  const { turn, subscription, at } = payload;
  return withBookingLock(store, async (tx) => {
    const key_id =
      turn === 'ended' ? await endSubscription(tx, subscription, at) : await turned(tx, turn, subscription, at);
    if (key_id === null) return { state: 'foreign' };
    await projectPlan(tx, key_id, now);
    return { state: 'booked', key_id };
  });
}

/** Stores the time of the newest such event. */
async function turned(tx: Tx, turn: 'renewing' | 'failed', id: string, at: number): Promise<string | null> {
  const column = `${turn}_at` as const;
  const rows = tx.selectFrom('subscriptions').select(['key_id', 'renewing_at', 'failed_at']);
  const row = await rows.where('id', '=', id).executeTakeFirst();
  if (!row) return null;
  const newest = Math.max(at, row[column] ?? 0);
  await tx
    .updateTable('subscriptions')
    .set({ [column]: newest })
    .where('id', '=', id)
    .execute();
  return row.key_id;
}
