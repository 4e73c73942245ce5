// Tables of x402 payments: one row per payment in any state, and recently quoted prices.
import { defineTable, integer, type RowOf, text } from './columns.ts';

/** `claimed`: its call runs. `open`: the answer is ready and settlement has begun. `settled`: paid. */
export type PaymentState = 'claimed' | 'open' | 'settled';

export const paymentTables = {
  /** One payment; its unique id makes it run and be charged once. Times in milliseconds since 1970. */
  payments: defineTable(
    {
      /** Network, method, asset, payer and nonce in lower case; the chain accepts the same combination once. */
      id: text().primaryKey(),
      state: text<PaymentState>(),
      /** Identity of the call that the payment belongs to. */
      request: text(),
      /** Hash of the signed data and the signature. */
      proof: text(),
      /** Hash of a secret of the client, which may fetch the answer again with it. Null: delivered once. */
      secret: text().optional().unique(),
      /** Holder and end of the lease. */
      lease: text(),
      leased_until: integer(),
      /** Time of the next query to the chain without a holder. */
      look_at: integer(),
      /** PaymentPayload and PaymentRequirements, as JSON. */
      payload: text(),
      requirements: text(),
      /** Micro-euros. */
      micros: integer(),
      operation: text(),
      dataset: text(),
      request_id: text(),
      /** The answer as the channel encoded it; null before it is ready and after it expired. */
      answer: text().optional(),
      /** Ids of records in the answer, separated by spaces: an opt-out deletes the answer. */
      records: text(),
      /** The key that it buys (money/prepaid.ts), as JSON; null for a call. */
      purchase: text().optional(),
      /** Why the facilitator refused to settle, when the chain confirmed that nothing was sent; else null. */
      refused: text().optional(),
      /** The transaction, if known. */
      hash: text().optional(),
      /** The transfer that paid, `<transaction>:<log index>`; a transfer pays for one payment. */
      transfer: text().optional().unique(),
      created_at: integer(),
      settled_at: integer().optional(),
      delivered_at: integer().optional(),
    },
    {
      indexes: {
        payments_by_state: { on: ['state', 'look_at'] },
      },
    },
  ),
  /** A price quoted in a 402 answer. */
  offers: defineTable(
    {
      dataset: text(),
      /** Key of the price in the pack. */
      price: text(),
      /** Micro-euros, and US dollars per euro as text. */
      micros: integer(),
      rate: text(),
      /** Last time it was quoted, within half a minute. */
      seen_at: integer(),
    },
    {
      primaryKey: ['dataset', 'price', 'micros', 'rate'],
    },
  ),
};

export type PaymentTable = RowOf<(typeof paymentTables)['payments']>;
export type OfferTable = RowOf<(typeof paymentTables)['offers']>;
