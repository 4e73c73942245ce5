// Tables of payments by x402: one row for each payment, whatever becomes of it, and the prices that were asked lately.
import type { Kysely } from 'kysely';

/** `claimed`: a call runs for it. `open`: its answer is ready, and settling it was begun. `settled`: the money is ours. */
export type PaymentState = 'claimed' | 'open' | 'settled';

/** One payment; its id is unique, so that it is run for once and charged once. Times in milliseconds since 1970. */
export interface PaymentTable {
  /** Network, method, asset, payer and nonce, lower case: what the chain too lets through once. */
  id: string;
  state: PaymentState;
  /** What makes two calls the same: the payment belongs to this one. */
  request: string;
  /** Hash of what was signed and the signature. */
  proof: string;
  /** Stands for something only the client knows; who brings it gets the answer again. Null: delivered once. */
  secret: string | null;
  /** Who is at work on it, until when. Free when that is over. */
  lease: string;
  leased_until: number;
  /** When to ask the chain next, if nobody else does. */
  look_at: number;
  /** PaymentPayload and PaymentRequirements, as JSON. */
  payload: string;
  requirements: string;
  /** Micro-euros. */
  micros: number;
  operation: string;
  dataset: string;
  request_id: string;
  /** The answer as the channel wrote it down; null before it is ready, and again when it is no longer kept. */
  answer: string | null;
  /** Records in the answer, space separated ids: an opt-out drops it. */
  records: string;
  /** Why the facilitator refused to settle it, where the chain confirmed that nothing was sent; null otherwise. */
  refused: string | null;
  /** The transaction, as far as known. */
  hash: string | null;
  /** The transfer that paid it, `<transaction>:<log index>`: one pays for one. */
  transfer: string | null;
  created_at: number;
  settled_at: number | null;
  delivered_at: number | null;
}

/** A price that a 402 asked for one of something. */
export interface OfferTable {
  dataset: string;
  /** Which of the pack's prices. */
  price: string;
  /** Micro-euros, and US dollars for a euro as text. */
  micros: number;
  rate: string;
  /** When it was asked last, to within half a minute. */
  seen_at: number;
}

export interface PaymentTables {
  payments: PaymentTable;
  offers: OfferTable;
}

/** Makes them; `big` is the dialect's 64-bit integer. */
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
