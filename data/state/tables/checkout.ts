// Tables of outside payments: checkouts, subscriptions, and returns. Micro-euros, milliseconds.
import { defineTable, integer, type RowOf, text } from './columns.ts';

export const checkoutTables = {
  /** A checkout. Its row is written before the provider is called, and payments are compared with it. */
  checkouts: defineTable({
    id: text().primaryKey(),
    key_id: text(),
    kind: text<'topup' | 'plan'>(),
    /** The plan bought; null on a top-up. */
    plan: text().optional(),
    amount: integer(),
    provider: text<'stripe' | 'sandbox'>(),
    /** The provider's id; null until the provider returned it. */
    session: text().optional().unique(),
    /** `over`: cancelled or expired without payment. A late payment is still accepted. */
    state: text<'made' | 'open' | 'paid' | 'over'>(),
    /** Why a payment was rejected, or why there is no session. */
    problem: text().optional(),
    request_id: text().optional(),
    created_at: integer(),
    paid_at: integer().optional(),
  }),
  /** A plan that is paid monthly. */
  subscriptions: defineTable(
    {
      /** The provider's id. */
      id: text().primaryKey(),
      key_id: text(),
      checkout_id: text().unique(),
      plan: text(),
      /** Customer id at the provider. */
      customer: text().optional(),
      /** Time of the first payment: the newest subscription of a key counts. */
      began_at: integer(),
      /** End of the first month, until its invoice has the exact time. */
      provisional_until: integer(),
      /** When the provider created the next invoice, and when a payment failed. */
      renewing_at: integer().optional(),
      failed_at: integer().optional(),
      /** Replaced by another plan; the provider must stop billing it. */
      superseded_at: integer().optional(),
      /** The provider stopped billing it. */
      ended_at: integer().optional(),
    },
    {
      indexes: {
        subscriptions_by_key: { on: ['key_id'] },
      },
    },
  ),
  /** A paid month of a subscription. */
  invoices: defineTable(
    {
      id: text().primaryKey(),
      subscription_id: text(),
      key_id: text(),
      amount: integer(),
      ends_at: integer(),
      paid_at: integer(),
    },
    {
      indexes: {
        invoices_by_subscription: { on: ['subscription_id'] },
      },
    },
  ),
  /**
   * A payment at the provider, what it paid for, and the returned amount. A row may exist before what it paid
   * for.
   */
  card_payments: defineTable(
    {
      id: text().primaryKey(),
      checkout_id: text().optional(),
      invoice_id: text().optional(),
      /** Highest reported total of refunds. */
      reported: integer(),
      /** Amount booked in the ledger. */
      refunded: integer(),
      disputed: integer(),
    },
    {
      indexes: {
        card_payments_by_invoice: { on: ['invoice_id'] },
      },
    },
  ),
  /** Latest state of a refund or dispute. */
  reversals: defineTable(
    {
      id: text().primaryKey(),
      payment_id: text(),
      kind: text<'refund' | 'dispute'>(),
      amount: integer(),
      /** Stage (returns.ts): events of an earlier stage never overwrite a later one. */
      stage: integer(),
      /** Whether the money is returned. */
      away: integer(),
      heard_at: integer(),
    },
    {
      indexes: {
        reversals_by_payment: { on: ['payment_id'] },
      },
    },
  ),
};

export type CheckoutTable = RowOf<(typeof checkoutTables)['checkouts']>;
export type SubscriptionTable = RowOf<(typeof checkoutTables)['subscriptions']>;
export type CardPaymentTable = RowOf<(typeof checkoutTables)['card_payments']>;
export type ReversalTable = RowOf<(typeof checkoutTables)['reversals']>;
