// Tables of subscriptions to changes, and of their deliveries. A delivery names a range of the change feed; its content is
// computed when it is sent, so that records that were removed meanwhile are not in it.
import { defineTable, integer, type RowOf, text } from './columns.ts';

/**
 * `unverified`: the receiver has not confirmed it yet. `disabled`: it failed for a day, or the receiver ended it.
 * `deleted`: it counts until `next_at`, and is shown nowhere.
 */
export type SubscriptionStatus = 'unverified' | 'active' | 'disabled' | 'deleted';

export const changeSubscriptionTables = {
  /** Times are milliseconds since 1970, positions in the change feed microseconds. */
  change_subscriptions: defineTable(
    {
      id: text().primaryKey(),
      key_id: text(),
      dataset: text(),
      /** Conditions as JSON text: parameters of the changelog. */
      query: text(),
      /** Where messages are posted; null: they are mailed to the address of the key. */
      url: text().optional(),
      status: text<SubscriptionStatus>(),
      /** Position in the change feed up to which changes are delivered or did not match. */
      position: integer(),
      /** State of the dataset (release and overlay) that was read to its end; empty: none. */
      read_to: text(),
      created_at: integer(),
      /** Time of the next attempt, and attempts since the last success. */
      next_at: integer(),
      attempts: integer(),
      /** Time of the first of these attempts; null: none failed. */
      failing_since: integer().optional(),
      /** End of the lease of the process that sends now, by the clock of the database. */
      leased_until: integer(),
    },
    {
      indexes: {
        change_subscriptions_by_key: { on: ['key_id'] },
        change_subscriptions_due: { on: ['dataset', 'status', 'next_at'] },
      },
    },
  ),
  deliveries: defineTable(
    {
      id: text().primaryKey(),
      subscription_id: text(),
      /** Range of the change feed: after `since`, up to and including `until`. */
      since: integer(),
      until: integer(),
      changes: integer(),
      status: text<'waiting' | 'delivered' | 'failed'>(),
      attempts: integer(),
      /** Status of the last answer; null: there was none. */
      response_status: integer().optional(),
      /** Why the last attempt failed, without text of the receiver. */
      problem: text().optional(),
      created_at: integer(),
      delivered_at: integer().optional(),
    },
    {
      indexes: {
        deliveries_by_subscription: { on: ['subscription_id', 'created_at'] },
      },
    },
  ),
};

export type ChangeSubscriptionTable = RowOf<(typeof changeSubscriptionTables)['change_subscriptions']>;
export type DeliveryTable = RowOf<(typeof changeSubscriptionTables)['deliveries']>;
