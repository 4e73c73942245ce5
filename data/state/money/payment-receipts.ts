// What the receipt of a payment shows: an entry of the ledger, with how it was paid and what was returned.
import { accountOf } from '../statements.ts';
import type { Store } from '../store.ts';
import type { CheckoutTable } from '../tables/checkout.ts';
import type { Entry } from './ledger.ts';

/** Kinds of ledger entries that are payments of an owner. */
export const PAYMENT_KINDS: readonly string[] = ['topup', 'plan_payment', 'prepaid'];

/** A payment of a key. Amounts in micro-euros, the time in milliseconds since 1970. */
export interface PaymentReceipt extends Pick<Entry, 'id' | 'at' | 'amount'> {
  /** The plan that it paid for a month; null: credit. */
  plan: string | null;
  method: CheckoutTable['provider'] | 'x402';
  /** The PaymentRequirements of x402 as JSON, and the transaction, if known. */
  transfer: { requirements: string; hash: string | null } | null;
  /** Refunds and disputes. */
  returned: number;
}

/** The receipt of a ledger entry of a key; null when it is no payment of it. */
export async function receiptOf({ db }: Store, key_id: string, entry: number): Promise<PaymentReceipt | null> {
  const row = await db
    .selectFrom('entries')
    .select(['id', 'at', 'amount', 'kind', 'reference'])
    .where('id', '=', entry)
    .where('account', '=', accountOf(key_id))
    .where('kind', 'in', PAYMENT_KINDS)
    .executeTakeFirst();
  if (row === undefined || row.reference === null) return null;
  const { kind, reference, ...paid } = row;
  if (kind === 'prepaid') {
    const payments = db.selectFrom('payments').select(['requirements', 'hash']);
    const transfer = (await payments.where('id', '=', reference).executeTakeFirst()) ?? null;
    return { ...paid, plan: null, method: 'x402', transfer, returned: 0 };
  }
  const checkouts = db
    .selectFrom('checkouts')
    .leftJoin('subscriptions', 'subscriptions.checkout_id', 'checkouts.id')
    .leftJoin('invoices', 'invoices.subscription_id', 'subscriptions.id')
    .leftJoin('card_payments', (join) =>
      join.on((e) =>
        e.or([
          e('card_payments.checkout_id', '=', e.ref('checkouts.id')),
          e('card_payments.invoice_id', '=', e.ref('invoices.id')),
        ]),
      ),
    )
    .select(['checkouts.plan', 'provider', 'refunded', 'disputed']);
  const checkout = await checkouts
    .where(kind === 'topup' ? 'checkouts.session' : 'invoices.id', '=', reference)
    .executeTakeFirst();
  if (checkout === undefined) return null;
  const { plan, provider: method, refunded, disputed } = checkout;
  return { ...paid, plan, method, transfer: null, returned: (refunded ?? 0) + (disputed ?? 0) };
}
