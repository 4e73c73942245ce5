// Checkouts: our row is written before the provider is called, then completed with its session (payments.md
// 9).
import { randomUUID } from 'node:crypto';
import { sql, type Transaction } from 'kysely';
import type { Store } from '../store.ts';
import type { CheckoutTable } from '../tables/checkout.ts';
import type { Tables } from '../tables/schema.ts';

export type Checkout = CheckoutTable;
export type Provider = CheckoutTable['provider'];
export type Tx = Transaction<Tables>;

/** The item: credit, or the first month of a plan. `amount` in micro-euros. */
export interface Order {
  key_id: string;
  kind: Checkout['kind'];
  plan: string | null;
  amount: number;
  provider: Provider;
  request_id: string;
  now: number;
}

/** Writes the row of a checkout before it is opened. */
export async function newCheckout(store: Store, { now, ...order }: Order): Promise<Checkout> {
  const rest = { session: null, state: 'made', problem: null, paid_at: null } as const;
  const row: Checkout = { id: randomUUID(), ...order, ...rest, created_at: now };
  await store.db.insertInto('checkouts').values(row).execute();
  return row;
}

/**
 * Stores the session that the provider opened; a webhook may have stored it first. False when the row has
 * another one.
 */
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

/** Stores why a checkout has no session, or why its payment was rejected. */
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

/** Lifetime of a session at Stripe and in the sandbox, in milliseconds. */
export const SESSION_LASTS = 86_400_000;

/** Sessions of a provider that can still be paid although their key is revoked. */
export async function sessionsOfRevokedKeys({ db }: Store, provider: Provider, now: number): Promise<string[]> {
  const rows = await db
    .selectFrom('checkouts')
    .innerJoin('keys', 'keys.id', 'checkouts.key_id')
    .select('session')
    .where('revoked_at', 'is not', null)
    .where('state', '=', 'open')
    .where('provider', '=', provider)
    .where('checkouts.created_at', '>', now - SESSION_LASTS)
    .limit(100)
    .execute();
  return rows.flatMap(({ session }) => session ?? []);
}

/**
 * Result of an event about a payment. `booked` changed something, `known` is a repetition, `waiting` is not
 * paid yet, `foreign` is not ours, `refused` does not match our row (`why`).
 */
export type BookingOutcome =
  | { state: 'booked' | 'known'; key_id: string }
  | { state: 'waiting' | 'foreign' }
  | { state: 'refused'; why: string };

/** Micro-euros per cent. */
const CENT = 10_000;

/** An amount of the provider in micro-euros; null when it is not an integer of euro cents. */
export function euroCents(cents: number | null, currency: string | null): number | null {
  if (currency?.toLowerCase() !== 'eur' || !Number.isSafeInteger(cents)) return null;
  return (cents as number) * CENT;
}

/** How an amount differs from that of a checkout; null when it is equal. */
export function amountMismatch(row: Checkout, cents: number | null, currency: string | null): string | null {
  if (euroCents(cents, currency) === row.amount) return null;
  const amount = cents === null ? 'nothing' : (cents / 100).toFixed(2);
  return `the amount is ${amount} ${currency ?? ''}, not ${(row.amount / CENT / 100).toFixed(2)} eur`;
}

/** Lock number in PostgreSQL; nothing else here uses it. */
const BOOKS = 7_202_611_001;

/**
 * Books outside payments one at a time over all processes: events of one payment arrive in any order and at
 * the same time, and each must see the writes of the others. SQLite's transactions are serial anyway.
 */
export function withBookingLock<T>(store: Store, work: (tx: Tx) => Promise<T>): Promise<T> {
  return store.db.transaction().execute(async (tx) => {
    if (store.dialect === 'postgres') await sql`select pg_advisory_xact_lock(${BOOKS}::bigint)`.execute(tx);
    return work(tx);
  });
}
