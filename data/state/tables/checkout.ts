// Tables of outside payments: checkouts, subscriptions, and returns. Micro-euros, milliseconds.
import type { Kysely } from 'kysely';

/** A checkout. Its row is written before the provider is called, and payments are compared with it. */
export interface CheckoutTable {
  id: string;
  key_id: string;
  kind: 'topup' | 'plan';
  /** The plan bought; null on a top-up. */
  plan: string | null;
  amount: number;
  provider: 'stripe' | 'sandbox';
  /** The provider's id; null until the provider returned it. */
  session: string | null;
  /** `over`: cancelled or expired without payment. A late payment is still accepted. */
  state: 'made' | 'open' | 'paid' | 'over';
  /** Why a payment was rejected, or why there is no session. */
  problem: string | null;
  request_id: string | null;
  created_at: number;
  paid_at: number | null;
}

/** A plan that is paid monthly. */
export interface SubscriptionTable {
  /** The provider's id. */
  id: string;
  key_id: string;
  checkout_id: string;
  plan: string;
  /** Customer id at the provider. */
  customer: string | null;
  /** Time of the first payment: the newest subscription of a key counts. */
  began_at: number;
  /** End of the first month, until its invoice has the exact time. */
  provisional_until: number;
  /** When the provider created the next invoice, and when a payment failed. */
  renewing_at: number | null;
  failed_at: number | null;
  /** Replaced by another plan; the provider must stop billing it. */
  superseded_at: number | null;
  /** The provider stopped billing it. */
  ended_at: number | null;
}

/** A paid month of a subscription. */
export interface InvoiceTable {
  id: string;
  subscription_id: string;
  key_id: string;
  amount: number;
  ends_at: number;
  paid_at: number;
}

/**
 * A payment at the provider, what it paid for, and the returned amount. A row may exist before what it paid
 * for.
 */
export interface CardPaymentTable {
  id: string;
  checkout_id: string | null;
  invoice_id: string | null;
  /** Highest reported total of refunds. */
  reported: number;
  /** Amount booked in the ledger. */
  refunded: number;
  disputed: number;
}

/** Latest state of a refund or dispute. */
export interface ReversalTable {
  id: string;
  payment_id: string;
  kind: 'refund' | 'dispute';
  amount: number;
  /** Stage (returns.ts): events of an earlier stage never overwrite a later one. */
  stage: number;
  /** Whether the money is returned. */
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

/** Creates the tables; `big` is the dialect's 64-bit integer. */
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

/** Payments at the provider, and their refunds and disputes. */
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
