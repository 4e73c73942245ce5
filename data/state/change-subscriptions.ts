// Subscriptions to changes and their deliveries in the store. A lease gives each subscription to one process at a time.
import { randomUUID } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { databaseClock } from './leases.ts';
import { confirmAddress } from './sends.ts';
import type { Store } from './store.ts';
import type { ChangeSubscriptionTable, DeliveryTable, SubscriptionStatus } from './tables/change-subscriptions.ts';

/** Milliseconds that a lease lasts after a process ended. */
const LEASE = 60_000;
/** Milliseconds before the second attempt, and the most between two; each pause is four times the one before. */
const PAUSE = { first: 5_000, most: 4 * 3_600_000 };
/** Milliseconds for which a deleted subscription counts, so that each creation is one message at most. */
const DELETED_LIFE = 24 * 3_600_000;
/** Milliseconds for which a receiver may fail. */
const FAILURE_LIFE = 24 * 3_600_000;

type LiveStatus = Exclude<SubscriptionStatus, 'deleted'>;

export interface NewSubscription {
  key_id: string;
  dataset: string;
  query: string;
  /** Null: mails to the address of the key. */
  url: string | null;
  /** Most subscriptions of the key. */
  most: number;
  /** Milliseconds since 1970. */
  now: number;
  /** Runs in the transaction. */
  also(tx: Store['db'], row: ChangeSubscriptionTable): Promise<unknown>;
}

/** Adds an unverified subscription to the changes from now on; null when the key has as many as it may. */
export async function addSubscription(
  store: Store,
  { most, now, also, ...members }: NewSubscription,
): Promise<ChangeSubscriptionTable | null> {
  return store.db.transaction().execute(async (tx) => {
    // The update makes concurrent requests of the key wait for each other.
    await tx.updateTable('keys').set({ id: members.key_id }).where('id', '=', members.key_id).execute();
    const own = tx.deleteFrom('change_subscriptions').where('key_id', '=', members.key_id);
    await own.where('status', '=', 'deleted').where('next_at', '<=', now).execute();
    const subscriptions = tx.selectFrom('change_subscriptions').where('key_id', '=', members.key_id);
    const { total } = await subscriptions
      .select((e) => e.fn.countAll<number | string>().as('total'))
      .executeTakeFirstOrThrow();
    if (Number(total) >= most) return null;
    const row: ChangeSubscriptionTable = {
      ...{ id: `sub_${randomUUID()}`, ...members, status: 'unverified', position: now * 1000, read_to: '' },
      ...{ created_at: now, next_at: now, attempts: 0, failing_since: null, leased_until: 0 },
    };
    await tx.insertInto('change_subscriptions').values(row).execute();
    await also(tx, row);
    return row;
  });
}

/** The subscriptions of a key, oldest first. */
export const subscriptionsOf = (
  { db }: Pick<Store, 'db'>,
  key: string,
): Promise<(ChangeSubscriptionTable & { status: LiveStatus })[]> =>
  db
    .selectFrom('change_subscriptions')
    .selectAll()
    .where('key_id', '=', key)
    .where('status', '!=', 'deleted')
    .$narrowType<{ status: LiveStatus }>()
    .orderBy('created_at')
    .orderBy('id')
    .execute();

/**
 * Deletes a subscription of a key with its deliveries; it counts for another day. False: the key has none with this id.
 */
export async function removeSubscription(store: Store, key: string, id: string, now: number): Promise<boolean> {
  return store.db.transaction().execute(async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable('change_subscriptions')
      .set({ status: 'deleted', url: null, query: '{}', next_at: now + DELETED_LIFE })
      .where('id', '=', id)
      .where('key_id', '=', key)
      .where('status', '!=', 'deleted')
      .executeTakeFirst();
    if (numUpdatedRows > 0n) await tx.deleteFrom('deliveries').where('subscription_id', '=', id).execute();
    return numUpdatedRows > 0n;
  });
}

/** The newest deliveries of a subscription of a key; null: it has none with this id. */
export async function deliveriesOf(
  { db }: Pick<Store, 'db'>,
  key: string,
  id: string,
  limit: number,
): Promise<DeliveryTable[] | null> {
  const subscription = db
    .selectFrom('change_subscriptions')
    .select('id')
    .where('id', '=', id)
    .where('key_id', '=', key)
    .where('status', '!=', 'deleted');
  if (!(await subscription.executeTakeFirst())) return null;
  const deliveries = db.selectFrom('deliveries').selectAll().where('subscription_id', '=', id);
  return deliveries.orderBy('created_at', 'desc').orderBy('id').limit(limit).execute();
}

/** Has a delivery sent again with the same id; false: the key has none with this id. */
export async function repeatDelivery(
  store: Store,
  key: string,
  id: string,
  delivery: string,
  now: number,
): Promise<boolean> {
  return store.db.transaction().execute(async (tx) => {
    const { numUpdatedRows: subscriptions } = await tx
      .updateTable('change_subscriptions')
      .set({ next_at: now, attempts: 0, failing_since: null })
      .where('id', '=', id)
      .where('key_id', '=', key)
      .where('status', '=', 'active')
      .executeTakeFirst();
    if (subscriptions === 0n) return false;
    const { numUpdatedRows } = await tx
      .updateTable('deliveries')
      .set({ status: 'waiting' })
      .where('id', '=', delivery)
      .where('subscription_id', '=', id)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  });
}

/** Ids of subscriptions to a dataset that are due and have something to send, or to read, in state `tag`. */
export async function dueSubscriptions(
  store: Store,
  dataset: string,
  tag: string,
  now: number,
  limit: number,
): Promise<string[]> {
  const rows = await store.db
    .selectFrom('change_subscriptions')
    .select('id')
    .where('dataset', '=', dataset)
    .where('next_at', '<=', now)
    .where('leased_until', '<', databaseClock(store))
    .where((e) =>
      e.or([
        e.and([e('status', '=', 'unverified'), e('url', 'is not', null)]),
        e.and([
          e('status', '=', 'active'),
          e.or([
            e('read_to', '!=', tag),
            e.exists(
              e
                .selectFrom('deliveries')
                .select('deliveries.id')
                .whereRef('deliveries.subscription_id', '=', 'change_subscriptions.id')
                .where('deliveries.status', '=', 'waiting'),
            ),
          ]),
        ]),
      ]),
    )
    .orderBy('next_at')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** A subscription with the lease of it, and the plan of its key; `attempts` proves the lease. */
export type LeasedSubscription = ChangeSubscriptionTable & {
  email: string;
  plan: string;
  plan_until: number | null;
  revoked_at: number | null;
};

/** Takes the lease of a due subscription, for one caller of all processes; null if another one has it. */
export async function leaseSubscription(store: Store, id: string, now: number): Promise<LeasedSubscription | null> {
  const row = await store.db
    .updateTable('change_subscriptions')
    .set((e) => ({ attempts: e('attempts', '+', 1), leased_until: leaseEnd(store) }))
    .where('id', '=', id)
    .where('next_at', '<=', now)
    .where('status', 'in', ['unverified', 'active'])
    .where('leased_until', '<', databaseClock(store))
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) return null;
  const key = await store.db
    .selectFrom('keys')
    .select(['email', 'plan', 'plan_until', 'revoked_at'])
    .where('id', '=', row.key_id)
    .executeTakeFirst();
  return { ...row, email: '', plan: 'payg', plan_until: null, revoked_at: now, ...key };
}

const leaseEnd = (store: Store): RawBuilder<number> => sql<number>`${databaseClock(store)} + ${sql.lit(LEASE)}`;

const leased = (db: Store['db'], { id, attempts }: ChangeSubscriptionTable) =>
  db.updateTable('change_subscriptions').where('id', '=', id).where('attempts', '=', attempts);

/** The oldest delivery that waits; null: none. */
export async function waitingDelivery({ db }: Pick<Store, 'db'>, subscription: string): Promise<DeliveryTable | null> {
  const waiting = db.selectFrom('deliveries').selectAll().where('subscription_id', '=', subscription);
  const row = await waiting.where('status', '=', 'waiting').orderBy('until').orderBy('id').limit(1).executeTakeFirst();
  return row ?? null;
}

/** Stores that changes up to `until` belong to a new delivery, or (`changes` 0) that none of them matches. */
export async function advance(
  store: Store,
  subscription: ChangeSubscriptionTable,
  { until, changes, now }: { until: number; changes: number; now: number },
): Promise<DeliveryTable | null> {
  return store.db.transaction().execute(async (tx) => {
    const { numUpdatedRows } = await leased(tx, subscription).set({ position: until }).executeTakeFirst();
    if (numUpdatedRows === 0n || changes === 0) return null;
    const delivery: DeliveryTable = {
      ...{ id: `msg_${randomUUID()}`, subscription_id: subscription.id, since: subscription.position, until, changes },
      ...{ status: 'waiting', attempts: 0, response_status: null, problem: null, created_at: now, delivered_at: null },
    };
    await tx.insertInto('deliveries').values(delivery).execute();
    return delivery;
  });
}

/** Has a subscription by mail begun, by the link of its owner; false: there is none that waits for it. */
export async function verifySubscription(store: Store, id: string, now: number): Promise<boolean> {
  return store.db.transaction().execute(async (tx) => {
    const row = await tx
      .updateTable('change_subscriptions')
      .set({ status: 'active' })
      .where('id', '=', id)
      .where('url', 'is', null)
      .where('status', '!=', 'deleted')
      .returning('key_id')
      .executeTakeFirst();
    if (row === undefined) return false;
    const key = await tx.selectFrom('keys').select('email').where('id', '=', row.key_id).executeTakeFirst();
    if (key) await confirmAddress({ db: tx }, key.email, now);
    return true;
  });
}

/** A subscription; null: there is none with this id. */
export const subscriptionById = async (
  { db }: Pick<Store, 'db'>,
  id: string,
): Promise<ChangeSubscriptionTable | null> =>
  (await db
    .selectFrom('change_subscriptions')
    .selectAll()
    .where('id', '=', id)
    .where('status', '!=', 'deleted')
    .executeTakeFirst()) ?? null;

/** How an attempt ended: the status of the receiver's answer, and why it failed (null: it did not). */
export interface Attempt {
  response_status: number | null;
  problem: string | null;
}

/** Releases the lease. `read_to`: the state of the dataset that was read to its end. */
export async function endLease(store: Store, subscription: ChangeSubscriptionTable, read_to?: string): Promise<void> {
  const done = { leased_until: 0, attempts: 0, failing_since: null, ...(read_to === undefined ? {} : { read_to }) };
  await leased(store.db, subscription).set(done).execute();
}

/** Releases the lease without an attempt, until a time. */
export async function postponeLease(
  store: Store,
  subscription: ChangeSubscriptionTable,
  next_at: number,
): Promise<void> {
  const { attempts } = subscription;
  const waiting = { leased_until: 0, attempts: Math.max(0, attempts - 1), next_at };
  await leased(store.db, subscription).set(waiting).execute();
}

/**
 * Stores that a delivery, or (null) the verification, succeeded, and releases the lease. `also` runs in the transaction;
 * the next message is not sent before `next_at`.
 */
export async function endSuccess(
  store: Store,
  subscription: ChangeSubscriptionTable,
  delivery: DeliveryTable | null,
  { response_status }: Attempt,
  { now, next_at = now, also }: { now: number; next_at?: number; also?: (tx: Store['db']) => Promise<unknown> },
): Promise<void> {
  await store.db.transaction().execute(async (tx) => {
    const done = { leased_until: 0, attempts: 0, failing_since: null, status: 'active' as const, next_at };
    const { numUpdatedRows } = await leased(tx, subscription).set(done).executeTakeFirst();
    if (numUpdatedRows === 0n || delivery === null) return;
    await also?.(tx);
    await updateDelivery(tx, delivery, { status: 'delivered', response_status, problem: null, delivered_at: now });
  });
}

/**
 * Stores that an attempt failed, and when the next one is. Disables the subscription when the receiver ended it
 * (`final`) or has failed for a day: then `also` runs in the same transaction, and the answer is true.
 */
export async function endFailure(
  store: Store,
  subscription: ChangeSubscriptionTable,
  delivery: DeliveryTable | null,
  { response_status, problem }: Attempt,
  { final, now, also }: { final: boolean; now: number; also: (tx: Store['db']) => Promise<unknown> },
): Promise<boolean> {
  const failing_since = subscription.failing_since ?? now;
  const disabled = final || now >= failing_since + FAILURE_LIFE;
  const pause = Math.min(PAUSE.most, PAUSE.first * 4 ** (subscription.attempts - 1));
  return store.db.transaction().execute(async (tx) => {
    const next = disabled
      ? { status: 'disabled' as const }
      : { next_at: Math.min(now + pause, failing_since + FAILURE_LIFE) };
    const { numUpdatedRows } = await leased(tx, subscription)
      .set({ leased_until: 0, failing_since, ...next })
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return false;
    if (delivery !== null)
      await updateDelivery(tx, delivery, { ...(disabled && { status: 'failed' }), response_status, problem });
    if (disabled) await also(tx);
    return disabled;
  });
}

const updateDelivery = (db: Store['db'], { id }: DeliveryTable, members: Partial<DeliveryTable>) =>
  db
    .updateTable('deliveries')
    .set((e) => ({ ...members, attempts: e('attempts', '+', 1) }))
    .where('id', '=', id)
    .execute();
