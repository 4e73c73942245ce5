// Subscriptions to changes, as operations use them. The store and the sender implement this (api/subscriptions).
import type { KeepAnswer, Requester } from './accounts.ts';

/** A subscription as answers show it. Times are milliseconds since 1970. */
export interface ChangeSubscription {
  id: string;
  dataset: string;
  /** Parameters of the changelog. */
  query: Record<string, string>;
  /** Null: mails to the address of the key. */
  url: string | null;
  status: 'unverified' | 'active' | 'disabled';
  created_at: number;
  /** Time of the next attempt after a failed one; null: none failed. */
  retry_at: number | null;
}

/** One message and its attempts. Times are milliseconds since 1970. */
export interface ChangeDelivery {
  id: string;
  status: 'waiting' | 'delivered' | 'failed';
  changes: number;
  attempts: number;
  /** Status of the receiver's last answer; null: there was none. */
  response_status: number | null;
  /** Why the last attempt failed. */
  problem: string | null;
  created_at: number;
  delivered_at: number | null;
}

export interface WantedSubscription {
  dataset: string;
  /** Parameters of the changelog. */
  query: Record<string, string>;
  /** Where messages are posted, or the address of the key. */
  to: { url: string } | { email: string };
}

/** What the answer about a new subscription has: mails have no secret. */
export interface AddedSubscription {
  id: string;
  secret?: string;
}

/** Each method throws an `ApiError` or `DataError` with a code of contract section 4. */
export interface ChangeSubscriptions {
  /**
   * Adds an unverified subscription; only this answer contains its secret. Errors: `unknown_dataset`, `plan_required`,
   * `invalid_parameter` for too many, and those of the conditions.
   */
  add(
    wanted: WantedSubscription,
    requester: Requester,
    keep?: KeepAnswer<AddedSubscription>,
  ): Promise<AddedSubscription>;
  list(requester: Requester): Promise<ChangeSubscription[]>;
  /** Error: `not_found`. */
  remove(id: string, requester: Requester): Promise<void>;
  /** The newest deliveries. Error: `not_found`. */
  deliveries(id: string, requester: Requester): Promise<ChangeDelivery[]>;
  /** Has a delivery sent again with the same id. Error: `not_found`. */
  repeat(id: string, delivery: string, requester: Requester): Promise<void>;
}
