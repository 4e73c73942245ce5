// Monthly plans: derives the plan of a key from its paid months (contract section 3, "Plans").
import { monthAfter } from '../../model/time.ts';
import type { Store } from '../store.ts';
import type { SubscriptionTable } from '../tables/checkout.ts';
import type { Checkout, Tx } from './checkouts.ts';

/**
 * Grace period after the next invoice was created and before a payment of it fails. Stripe collects about an
 * hour after it creates the invoice; without this the plan would end for that hour every month.
 */
const COLLECTING = 6 * 3_600_000;

/**
 * Stores a subscription when its checkout or its first invoice is paid, whichever event arrives first. False
 * when it is known.
 */
export async function beginSubscription(
  tx: Tx,
  details: { id: string; checkout: Checkout; customer: string | null; at: number },
): Promise<boolean> {
  const { id, checkout, customer, at } = details;
  const { key_id, plan, provider } = checkout;
  const row: SubscriptionTable = {
    id,
    key_id,
    checkout_id: checkout.id,
    plan: plan ?? 'payg',
    customer,
    began_at: at,
    provisional_until: monthAfter(at),
    renewing_at: null,
    failed_at: null,
    superseded_at: null,
    // The sandbox bills one month and never again.
    ended_at: provider === 'sandbox' ? at : null,
  };
  const inserted = await tx
    .insertInto('subscriptions')
    .values(row)
    .onConflict((c) => c.doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!inserted && customer !== null)
    await tx
      .updateTable('subscriptions')
      .set({ customer })
      .where('id', '=', id)
      .where('customer', 'is', null)
      .execute();
  return inserted !== undefined;
}

/**
 * End of the paid time: of the newest month that was not paid back, or of the first month until its invoice
 * arrives.
 */
async function paidUntil(tx: Tx, subscription: SubscriptionTable): Promise<number> {
  const months = await tx
    .selectFrom('invoices')
    .leftJoin('card_payments', 'card_payments.invoice_id', 'invoices.id')
    .select(['invoices.id', 'invoices.amount', 'invoices.ends_at'])
    .select((e) => e.fn.coalesce(e.fn.sum<number>('card_payments.refunded'), e.val(0)).as('refunded'))
    .select((e) => e.fn.coalesce(e.fn.sum<number>('card_payments.disputed'), e.val(0)).as('disputed'))
    .where('subscription_id', '=', subscription.id)
    .groupBy(['invoices.id', 'invoices.amount', 'invoices.ends_at'])
    .execute();
  if (months.length === 0) return subscription.provisional_until;
  const paid = months.filter(({ amount, refunded, disputed }) => Number(refunded) + Number(disputed) < amount);
  const until = Math.max(0, ...paid.map(({ ends_at }) => ends_at));
  const { renewing_at, failed_at, ended_at } = subscription;
  const collecting = renewing_at !== null && ended_at === null && (failed_at ?? 0) < renewing_at;
  return until > 0 && collecting ? Math.max(until, renewing_at + COLLECTING) : until;
}

/**
 * Sets the plan of a key from its paid months: the newest subscription counts until its paid end and
 * supersedes older ones permanently. A plan that an operator granted without an end stays.
 */
export async function projectPlan(tx: Tx, key_id: string, now: number): Promise<void> {
  const key = await tx.selectFrom('keys').select(['plan', 'plan_until']).where('id', '=', key_id).executeTakeFirst();
  if (!key || (key.plan !== 'payg' && key.plan_until === null)) return;
  const subscriptions = await tx
    .selectFrom('subscriptions')
    .selectAll()
    .where('key_id', '=', key_id)
    .where('superseded_at', 'is', null)
    .orderBy('began_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
  for (const [i, subscription] of subscriptions.entries()) {
    const until = await paidUntil(tx, subscription);
    if (until <= now) continue;
    const older = subscriptions.slice(i + 1).map(({ id }) => id);
    if (older.length > 0)
      await tx.updateTable('subscriptions').set({ superseded_at: now }).where('id', 'in', older).execute();
    const { plan } = subscription;
    await tx.updateTable('keys').set({ plan, plan_until: until }).where('id', '=', key_id).execute();
    return;
  }
  // The payment was returned: the plan ends now.
  if (key.plan_until !== null && key.plan_until > now)
    await tx.updateTable('keys').set({ plan_until: now }).where('id', '=', key_id).execute();
}

/** Subscriptions of a key that the provider still bills: the superseded ones, or the current one. */
export async function billedSubscriptions(
  store: Store,
  key_id: string,
  superseded: boolean,
): Promise<SubscriptionTable[]> {
  return store.db
    .selectFrom('subscriptions')
    .selectAll()
    .where('key_id', '=', key_id)
    .where('ended_at', 'is', null)
    .where('superseded_at', superseded ? 'is not' : 'is', null)
    .orderBy('began_at', 'desc')
    .execute();
}

/** Marks all billed subscriptions of a key to be ended. */
export async function supersede(store: Store, key_id: string, now: number): Promise<void> {
  await store.db
    .updateTable('subscriptions')
    .set({ superseded_at: now })
    .where('key_id', '=', key_id)
    .where('superseded_at', 'is', null)
    .execute();
}

/**
 * Records that the provider ended a subscription. Paid months stay. Returns its key; null for an unknown one.
 */
export async function endSubscription(tx: Tx | Store['db'], id: string, at: number): Promise<string | null> {
  const row = await tx
    .updateTable('subscriptions')
    .set((e) => ({ ended_at: e.fn.coalesce('ended_at', e.val(at)) }))
    .where('id', '=', id)
    .returning('key_id')
    .executeTakeFirst();
  return row?.key_id ?? null;
}

/**
 * Customer id at the provider for a key, so that a change of plan finds credit of the previous plan; null
 * before the first.
 */
export async function customerOf(store: Store, key_id: string): Promise<string | null> {
  const row = await store.db
    .selectFrom('subscriptions')
    .select('customer')
    .where('key_id', '=', key_id)
    .where('customer', 'is not', null)
    .orderBy('began_at', 'desc')
    .executeTakeFirst();
  return row?.customer ?? null;
}
