// Checkouts: a row of ours before anybody outside is called, and the session it got afterwards (payments.md 9).
import { randomUUID } from 'node:crypto';
import { sql, type Transaction } from 'kysely';
import type { Store } from '../store.ts';
import type { CheckoutTable } from '../tables/checkout.ts';
import type { Tables } from '../tables/schema.ts';

export type Checkout = CheckoutTable;
export type Provider = CheckoutTable['provider'];
export type Tx = Transaction<Tables>;

/** What is bought: credit, or the first month of a plan. `amount` in micro-euros. */
export interface Order {
  key_id: string;
  kind: Checkout['kind'];
  plan: string | null;
  amount: number;
  provider: Provider;
  request_id: string;
  now: number;
}

/** Writes the row of a checkout that is about to be opened. */
export async function newCheckout(store: Store, { now, ...order }: Order): Promise<Checkout> {
  const rest = { session: null, state: 'made', problem: null, paid_at: null } as const;
  const row: Checkout = { id: randomUUID(), ...order, ...rest, created_at: now };
  await store.db.insertInto('checkouts').values(row).execute();
  return row;
}

/** Notes the session that the provider opened; a webhook may have told it already. False when it has another one. */
export async function attachSession(store: Store, id: string, session: string): Promise<boolean> {
  const { numUpdatedRows } = await store.db
    .updateTable('checkouts')
    .set((e) => ({
      session,
      state: e.case().when('state', '=', 'made').then<Checkout['state']>('open').else(e.ref('state')).end(),
    }))
    .where('id', '=', id)
    .where((e) => e.or([e('session', 'is', null), e('session', '=', session)]))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Keeps why a checkout has no session, or why a payment for it was not taken. */
export async function noteProblem(db: Store['db'], id: string, problem: string): Promise<void> {
  await db.updateTable('checkouts').set({ problem }).where('id', '=', id).execute();
}

/** A checkout by the provider's session. */
export async function checkoutOf(store: Store, session: string): Promise<Checkout | null> {
  return (await store.db.selectFrom('checkouts').selectAll().where('session', '=', session).executeTakeFirst()) ?? null;
}

/** Marks a session as cancelled or expired, unless it was paid. */
export async function closeCheckout(store: Store, provider: Provider, session: string): Promise<void> {
  await store.db
    .updateTable('checkouts')
    .set({ state: 'over' })
    .where('session', '=', session)
    .where('provider', '=', provider)
    .where('paid_at', 'is', null)
    .execute();
}

/**
 * What became of news about a payment. `booked` changed something, `known` was told before, `waiting` is not paid yet, `foreign`
 * is none of our business, `refused` should have been and does not fit (`why`).
 */
export type Outcome =
  | { state: 'booked' | 'known'; key_id: string }
  | { state: 'waiting' | 'foreign' }
  | { state: 'refused'; why: string };

/** Micro-euros of a hundredth. */
const CENT = 10_000;

/** An amount of the provider in micro-euros; null where it is no whole number of euro cents. */
export function euroCents(cents: number | null, currency: string | null): number | null {
  if (currency?.toLowerCase() !== 'eur' || !Number.isSafeInteger(cents)) return null;
  return (cents as number) * CENT;
}

/** Why an amount is not that of a checkout; null when it is. */
export function unequal(row: Checkout, cents: number | null, currency: string | null): string | null {
  if (euroCents(cents, currency) === row.amount) return null;
  const told = cents === null ? 'nothing' : (cents / 100).toFixed(2);
  return `the amount is ${told} ${currency ?? ''}, not ${(row.amount / CENT / 100).toFixed(2)} eur`;
}

/** PostgreSQL's name for the lock below: any number that nothing else here uses. */
const BOOKS = 7_202_611_001;

/**
 * Runs bookings of outside payments one after the other, in all processes: news of one payment comes in any order and at the
 * same moment, and each must see what the others wrote. A handful a minute; SQLite's transactions are alone anyway.
 */
export function inTheBooks<T>(store: Store, work: (tx: Tx) => Promise<T>): Promise<T> {
  return store.db.transaction().execute(async (tx) => {
    if (store.dialect === 'postgres') await sql`select pg_advisory_xact_lock(${BOOKS}::bigint)`.execute(tx);
    return work(tx);
  });
}
