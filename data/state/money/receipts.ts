// Paid checkouts: compared with our row and booked once per session, however often the event is delivered.

import type { Store } from '../store.ts';
import type { CheckoutTable } from '../tables/checkout.ts';
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
import { beginSubscription, projectPlan } from './paid-plans.ts';
import { linkPayment } from './returns.ts';

/** A checkout session as reported by the provider. Times in milliseconds since 1970. */
export interface SessionEvent {
  provider: Provider;
  /** Id of the event, for the ledger. */
  event: string;
  session: string;
  /** Ids of our row and of the key that we sent as metadata. */
  checkout: string | null;
  reference: string | null;
  kind: CheckoutTable['kind'];
  paid: boolean;
  /** Cents of the currency. */
  cents: number | null;
  currency: string | null;
  /** The payment behind a top-up. */
  payment: string | null;
  /** The subscription of a plan, and the customer who is billed. */
  subscription: string | null;
  customer: string | null;
  /** Time of the event. */
  at: number;
}

/** Why a session does not match this row; null when it does. */
function mismatch(row: Checkout, payload: SessionEvent): string | null {
  if (row.provider !== payload.provider) return `it is a checkout of ${row.provider}`;
  if (row.session !== null && row.session !== payload.session) return 'it has another session';
  if (row.kind !== payload.kind) return `it is for a ${row.kind}`;
  if (row.key_id !== payload.reference) return 'the key is another one';
  if (payload.kind === 'plan' && payload.subscription === null) return 'there is no subscription in it';
  return amountMismatch(row, payload.cents, payload.currency);
}

/** Books a paid session: credit for a top-up, or the first month of a plan. */
export function takeSession(store: Store, payload: SessionEvent, now: number): Promise<BookingOutcome> {
  return withBookingLock(store, async (tx) => {
    const row = await rowOf(tx, payload);
    if (row === null) return { state: 'foreign' };
    const why = mismatch(row, payload);
    if (why !== null) {
      await noteProblem(tx, row.id, why);
      return { state: 'refused', why };
    }
    if (!payload.paid) return { state: 'waiting' };
    const { id, key_id } = row;
    const fresh = row.paid_at === null;
    await tx
      .updateTable('checkouts')
      .set({ session: payload.session, state: 'paid', paid_at: row.paid_at ?? now, problem: null })
      .where('id', '=', id)
      .execute();
    if (payload.kind === 'plan') return { state: await firstMonth(tx, row, payload, now), key_id };
    if (fresh)
      await moveIn(tx, {
        key_id,
        amount: row.amount,
        kind: 'topup',
        against: 'cash',
        reference: payload.session,
        ...(row.request_id === null ? {} : { request_id: row.request_id }),
        now,
      });
    if (payload.payment !== null)
      await linkPayment(tx, payload.payment, { checkout_id: id }, { event: payload.event, now });
    return { state: fresh ? 'booked' : 'known', key_id };
  });
}

/** Our row: by the id in the metadata, or by a known session. */
async function rowOf(tx: Tx, { checkout, session }: SessionEvent): Promise<Checkout | null> {
  const rows = tx.selectFrom('checkouts').selectAll();
  const mine = checkout === null ? undefined : await rows.where('id', '=', checkout).executeTakeFirst();
  return mine ?? (await rows.where('session', '=', session).executeTakeFirst()) ?? null;
}

async function firstMonth(tx: Tx, row: Checkout, payload: SessionEvent, now: number): Promise<'booked' | 'known'> {
  const { subscription, customer, at } = payload;
  const began = await beginSubscription(tx, { id: subscription ?? '', checkout: row, customer, at });
  await projectPlan(tx, row.key_id, now);
  return began ? 'booked' : 'known';
}
