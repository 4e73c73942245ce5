// Tables of x402 payments: one row per payment in any state, and recently quoted prices.
import type { Kysely } from 'kysely';

/** `claimed`: its call runs. `open`: the answer is ready and settlement has begun. `settled`: paid. */
export type PaymentState = 'claimed' | 'open' | 'settled';

/** One payment; its unique id makes it run and be charged once. Times in milliseconds since 1970. */
export interface PaymentTable {
  /** Network, method, asset, payer and nonce in lower case; the chain accepts the same combination once. */
  id: string;
  state: PaymentState;
  /** Identity of the call that the payment belongs to. */
  request: string;
  /** Hash of the signed data and the signature. */
  proof: string;
  /** Hash of a secret of the client, which may fetch the answer again with it. Null: delivered once. */
  secret: string | null;
  /** Holder and end of the lease. */
  lease: string;
  leased_until: number;
  /** Time of the next query to the chain without a holder. */
  look_at: number;
  /** PaymentPayload and PaymentRequirements, as JSON. */
  payload: string;
  requirements: string;
  /** Micro-euros. */
  micros: number;
  operation: string;
  dataset: string;
  request_id: string;
  /** The answer as the channel encoded it; null before it is ready and after it expired. */
  answer: string | null;
  /** Ids of records in the answer, separated by spaces: an opt-out deletes the answer. */
  records: string;
  /** The key that it buys (money/prepaid.ts), as JSON; null for a call. */
  purchase: string | null;
  /** Why the facilitator refused to settle, when the chain confirmed that nothing was sent; else null. */
  refused: string | null;
  /** The transaction, if known. */
  hash: string | null;
  /** The transfer that paid, `<transaction>:<log index>`; a transfer pays for one payment. */
  transfer: string | null;
  created_at: number;
  settled_at: number | null;
  delivered_at: number | null;
}

/** A price quoted in a 402 answer. */
export interface OfferTable {
  dataset: string;
  /** Key of the price in the pack. */
  price: string;
  /** Micro-euros, and US dollars per euro as text. */
  micros: number;
  rate: string;
  /** Last time it was quoted, within half a minute. */
  seen_at: number;
}

export interface PaymentTables {
  payments: PaymentTable;
  offers: OfferTable;
}

/** Creates the tables; `big` is the dialect's 64-bit integer. */
export async function makePaymentTables(db: Kysely<unknown>, big: 'bigint' | 'integer'): Promise<void> {
  await db.schema
    .createTable('payments')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('request', 'text', (c) => c.notNull())
    .addColumn('proof', 'text', (c) => c.notNull())
    .addColumn('secret', 'text', (c) => c.unique())
    .addColumn('lease', 'text', (c) => c.notNull())
    .addColumn('leased_until', big, (c) => c.notNull())
    .addColumn('look_at', big, (c) => c.notNull())
    .addColumn('payload', 'text', (c) => c.notNull())
    .addColumn('requirements', 'text', (c) => c.notNull())
    .addColumn('micros', big, (c) => c.notNull())
    .addColumn('operation', 'text', (c) => c.notNull())
    .addColumn('dataset', 'text', (c) => c.notNull())
    .addColumn('request_id', 'text', (c) => c.notNull())
    .addColumn('answer', 'text')
    .addColumn('records', 'text', (c) => c.notNull())
    .addColumn('hash', 'text')
    .addColumn('transfer', 'text', (c) => c.unique())
    .addColumn('created_at', big, (c) => c.notNull())
    .addColumn('settled_at', big)
    .addColumn('delivered_at', big)
    .execute();
  await db.schema.createIndex('payments_by_state').on('payments').columns(['state', 'look_at']).execute();
  await db.schema
    .createTable('offers')
    .addColumn('dataset', 'text', (c) => c.notNull())
    .addColumn('price', 'text', (c) => c.notNull())
    .addColumn('micros', big, (c) => c.notNull())
    .addColumn('rate', 'text', (c) => c.notNull())
    .addColumn('seen_at', big, (c) => c.notNull())
    .addPrimaryKeyConstraint('offers_pk', ['dataset', 'price', 'micros', 'rate'])
    .execute();
}

/** The key that a payment buys. */
export async function addPurchases({ schema }: Kysely<unknown>): Promise<void> {
  await schema.alterTable('payments').addColumn('purchase', 'text').execute();
}
