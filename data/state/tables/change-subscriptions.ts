// Tables of subscriptions to changes, and of their deliveries. A delivery names a range of the change feed; its content is
// computed when it is sent, so that records that were removed meanwhile are not in it.
import type { Kysely } from 'kysely';

/** `unverified`: the receiver has not confirmed it yet. `disabled`: it failed for a day, or the receiver ended it. */
export type SubscriptionStatus = 'unverified' | 'active' | 'disabled';

/** Times are milliseconds since 1970, positions in the change feed microseconds. */
export interface ChangeSubscriptionTable {
  id: string;
  key_id: string;
  dataset: string;
  /** Conditions as JSON text: parameters of the changelog. */
  query: string;
  /** Where messages are posted; null: they are mailed to the address of the key. */
  url: string | null;
  status: SubscriptionStatus;
  /** Position in the change feed up to which changes are delivered or did not match. */
  position: number;
  /** State of the dataset (release and overlay) that was read to its end; empty: none. */
  read_to: string;
  created_at: number;
  /** Time of the next attempt, and attempts since the last success. */
  next_at: number;
  attempts: number;
  /** Time of the first of these attempts; null: none failed. */
  failing_since: number | null;
  /** End of the lease of the process that sends now, by the clock of the database. */
  leased_until: number;
}

export interface DeliveryTable {
  id: string;
  subscription_id: string;
  /** Range of the change feed: after `since`, up to and including `until`. */
  since: number;
  until: number;
  changes: number;
  status: 'waiting' | 'delivered' | 'failed';
  attempts: number;
  /** Status of the last answer; null: there was none. */
  response_status: number | null;
  /** Why the last attempt failed, without text of the receiver. */
  problem: string | null;
  created_at: number;
  delivered_at: number | null;
}

export interface ChangeSubscriptionTables {
  change_subscriptions: ChangeSubscriptionTable;
  deliveries: DeliveryTable;
}

/** Creates the tables; `big` is the dialect's 64-bit integer. */
export async function makeSubscriptionTables({ schema }: Kysely<unknown>, big: 'bigint' | 'integer'): Promise<void> {
  await schema
    .createTable('change_subscriptions')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('key_id', 'text', (c) => c.notNull())
    .addColumn('dataset', 'text', (c) => c.notNull())
    .addColumn('query', 'text', (c) => c.notNull())
    .addColumn('url', 'text')
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('position', big, (c) => c.notNull())
    .addColumn('read_to', 'text', (c) => c.notNull())
    .addColumn('created_at', big, (c) => c.notNull())
    .addColumn('next_at', big, (c) => c.notNull())
    .addColumn('attempts', big, (c) => c.notNull())
    .addColumn('failing_since', big)
    .addColumn('leased_until', big, (c) => c.notNull())
    .execute();
  await schema.alterTable('mails').addColumn('unsubscribe', 'text').execute();
  await schema.createIndex('change_subscriptions_by_key').on('change_subscriptions').columns(['key_id']).execute();
  await schema
    .createIndex('change_subscriptions_due')
    .on('change_subscriptions')
    .columns(['dataset', 'status', 'next_at'])
    .execute();
  await schema
    .createTable('deliveries')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('subscription_id', 'text', (c) => c.notNull())
    .addColumn('since', big, (c) => c.notNull())
    .addColumn('until', big, (c) => c.notNull())
    .addColumn('changes', big, (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('attempts', big, (c) => c.notNull())
    .addColumn('response_status', big)
    .addColumn('problem', 'text')
    .addColumn('created_at', big, (c) => c.notNull())
    .addColumn('delivered_at', big)
    .execute();
  await schema
    .createIndex('deliveries_by_subscription')
    .on('deliveries')
    .columns(['subscription_id', 'created_at'])
    .execute();
}
