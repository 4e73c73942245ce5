// Tables of what is paid from outside: checkouts, plans by subscription, and what was paid back. Micro-euros, milliseconds.
import type { Kysely } from 'kysely';

/** One checkout that we opened. Its row is written before anybody outside is called, and is what a payment is compared with. */
export interface CheckoutTable {
  id: string;
  key_id: string;
  kind: 'topup' | 'plan';
  /** The plan bought; null on a top-up. */
  plan: string | null;
  amount: number;
  provider: 'stripe' | 'sandbox';
  /** The provider's id of it; null until the provider told it. */
  session: string | null;
  /** `over`: cancelled or expired unpaid. A payment that still comes is taken. */
  state: 'made' | 'open' | 'paid' | 'over';
  /** Why a payment was not taken, or why there is no session. */
  problem: string | null;
  request_id: string | null;
  created_at: number;
  paid_at: number | null;
}

/** A plan that is paid month by month. */
export interface SubscriptionTable {
  /** The provider's id. */
  id: string;
  key_id: string;
  checkout_id: string;
  plan: string;
  /** Whom the provider bills. */
  customer: string | null;
  /** When it was paid first: the newest of a key counts. */
  began_at: number;
  /** End of the first month, until its invoice says it exactly. */
  provisional_until: number;
  /** When the provider made the invoice of the next month, and when a payment failed. */
  renewing_at: number | null;
  failed_at: number | null;
  /** Another plan took its place; the provider must stop billing it. */
  superseded_at: number | null;
  /** The provider bills it no more. */
  ended_at: number | null;
}

/** A month of a subscription that was paid. */
export interface InvoiceTable {
  id: string;
  subscription_id: string;
  key_id: string;
  amount: number;
  ends_at: number;
  paid_at: number;
}

/** A payment at the provider, what it paid for, and how much of it is taken back. Rows may come before what they paid for. */
export interface CardPaymentTable {
  id: string;
  checkout_id: string | null;
  invoice_id: string | null;
  /** Highest total of refunds that the provider reported. */
  reported: number;
  /** What the ledger has of it. */
  refunded: number;
  disputed: number;
}

/** One refund or dispute as last heard of. */
export interface ReversalTable {
  id: string;
  payment_id: string;
  kind: 'refund' | 'dispute';
  amount: number;
  /** Of its stages (returns.ts): a later stage is never overwritten by news of an earlier one. */
  stage: number;
  /** Whether the money is away. */
  away: number;
  heard_at: number;
}

export interface CheckoutTables {
  checkouts: CheckoutTable;
  subscriptions: SubscriptionTable;
  invoices: InvoiceTable;
  card_payments: CardPaymentTable;
  reversals: ReversalTable;
}

/** Makes them; `big` is the dialect's 64-bit integer. */
export async function makeCheckoutTables(db: Kysely<unknown>, big: 'bigint' | 'integer'): Promise<void> {
  await makeCheckouts(db, big);
  await makeSubscriptions(db, big);
  await makeCardPayments(db, big);
}

async function makeCheckouts(db: Kysely<unknown>, big: 'bigint' | 'integer'): Promise<void> {
  await db.schema
    .createTable('checkouts')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('key_id', 'text', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('plan', 'text')
    .addColumn('amount', big, (c) => c.notNull())
    .addColumn('provider', 'text', (c) => c.notNull())
    .addColumn('session', 'text', (c) => c.unique())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('problem', 'text')
    .addColumn('request_id', 'text')
    .addColumn('created_at', big, (c) => c.notNull())
    .addColumn('paid_at', big)
    .execute();
}

/** Subscriptions and the invoices of their months. */
async function makeSubscriptions(db: Kysely<unknown>, big: 'bigint' | 'integer'): Promise<void> {
  await db.schema
    .createTable('subscriptions')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('key_id', 'text', (c) => c.notNull())
    .addColumn('checkout_id', 'text', (c) => c.notNull().unique())
    .addColumn('plan', 'text', (c) => c.notNull())
    .addColumn('customer', 'text')
    .addColumn('began_at', big, (c) => c.notNull())
    .addColumn('provisional_until', big, (c) => c.notNull())
    .addColumn('renewing_at', big)
    .addColumn('failed_at', big)
    .addColumn('superseded_at', big)
    .addColumn('ended_at', big)
    .execute();
  await db.schema.createIndex('subscriptions_by_key').on('subscriptions').column('key_id').execute();
  await db.schema
    .createTable('invoices')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('subscription_id', 'text', (c) => c.notNull())
    .addColumn('key_id', 'text', (c) => c.notNull())
    .addColumn('amount', big, (c) => c.notNull())
    .addColumn('ends_at', big, (c) => c.notNull())
    .addColumn('paid_at', big, (c) => c.notNull())
    .execute();
  await db.schema.createIndex('invoices_by_subscription').on('invoices').column('subscription_id').execute();
}

/** Payments at the provider, and what of them went back. */
async function makeCardPayments(db: Kysely<unknown>, big: 'bigint' | 'integer'): Promise<void> {
  await db.schema
    .createTable('card_payments')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('checkout_id', 'text')
    .addColumn('invoice_id', 'text')
    .addColumn('reported', big, (c) => c.notNull())
    .addColumn('refunded', big, (c) => c.notNull())
    .addColumn('disputed', big, (c) => c.notNull())
    .execute();
  await db.schema.createIndex('card_payments_by_invoice').on('card_payments').column('invoice_id').execute();
  await db.schema
    .createTable('reversals')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('payment_id', 'text', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('amount', big, (c) => c.notNull())
    .addColumn('stage', big, (c) => c.notNull())
    .addColumn('away', big, (c) => c.notNull())
    .addColumn('heard_at', big, (c) => c.notNull())
    .execute();
  await db.schema.createIndex('reversals_by_payment').on('reversals').column('payment_id').execute();
}
