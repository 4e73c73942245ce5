// API keys: stored as a hash, one per e-mail address, revoked permanently (specification section 2, "API
// key").
import { randomUUID } from 'node:crypto';
import { sql, type Transaction } from 'kysely';
import { WELCOME_CREDIT } from '../../model/subscriptions.ts';
import { dayOf } from '../budgets.ts';
import { hashSecret, isWellFormedKey, newKey, sameHash } from '../key-format.ts';
import { dropLinksOf } from '../links.ts';
import { isDuplicate, moveIn } from '../money/ledger.ts';
import { endGrantsOf, endSignInsOf } from '../oauth/grants.ts';
import { ownerSessions } from '../sessions.ts';
import type { Store } from '../store.ts';
import type { KeyTable, Tables } from '../tables/schema.ts';
import { JOBS } from '../writer-jobs.ts';
import { endChildrenOf } from './children.ts';

/** A key without its hash. */
export type Key = Omit<KeyTable, 'hash'> & { balance: number };

export interface NewKey {
  email: string;
  email_normal: string;
  request_id: string;
  now: number;
  /** Maximum welcome credit of one UTC day over all keys, in micro-euros; absent: unlimited. */
  welcome_budget?: number;
}

/** A key with its secret, which is only here. `no_welcome`: why it has no welcome credit; null: it has it. */
export interface CreatedKey {
  secret: string;
  key: Key;
  no_welcome: 'budget' | 'earlier_key' | null;
}

/**
 * Creates a key with the welcome credit, or without it when the budget of the day does not cover it, or the address
 * had a key that was revoked. Null when the address has a key. `also` runs last in the same transaction.
 */
export async function createKey(
  store: Store,
  input: NewKey,
  also: (tx: Store['db'], created: CreatedKey) => Promise<void> = async () => {},
): Promise<CreatedKey | null> {
  const secret = newKey();
  const row: KeyTable = {
    id: randomUUID(),
    email: input.email,
    email_normal: input.email_normal,
    hash: hashSecret(secret),
    plan: 'payg',
    plan_until: null,
    created_at: input.now,
    revoked_at: null,
    expires_at: null,
  };
  try {
    const welcome = async (tx: Transaction<Tables>, had_key: boolean) => {
      if (had_key) return { balance: 0, no_welcome: 'earlier_key' as const };
      if (!(await takeWelcome(tx, input))) return { balance: 0, no_welcome: 'budget' as const };
      const credited = await moveIn(tx, {
        key_id: row.id,
        amount: WELCOME_CREDIT,
        kind: 'welcome',
        against: 'welcome',
        request_id: input.request_id,
        now: input.now,
      });
      return { balance: credited, no_welcome: null };
    };
    return await store.db.transaction().execute(async (tx) => {
      const had_key = await releaseAddress(tx, input.email_normal);
      await tx.insertInto('keys').values(row).execute();
      const { balance, no_welcome } = await welcome(tx, had_key);
      const { hash: _, ...key } = row;
      const created = { secret, key: { ...key, balance }, no_welcome };
      await also(tx, created);
      return created;
    });
  } catch (error) {
    if (isDuplicate(error)) return null;
    throw error;
  }
}

/** Erases the address of a revoked key, so that another key can have it; false when it has no revoked key. */
async function releaseAddress(tx: Store['db'], email_normal: string): Promise<boolean> {
  const erased = sql<string>`'erased key:' || id`;
  const { numUpdatedRows } = await tx
    .updateTable('keys')
    .set({ email: erased, email_normal: erased })
    .where('email_normal', '=', email_normal)
    .where('revoked_at', 'is not', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/**
 * Takes one welcome credit from the budget of the day; false when it does not cover it. Rolled back with the
 * key.
 */
async function takeWelcome(db: Store['db'], { now, welcome_budget: budget }: NewKey): Promise<boolean> {
  if (budget === undefined) return true;
  const quota = { name: 'welcome credit', day: dayOf(now) };
  const taken = await JOBS.take(db, { ...quota, wanted: WELCOME_CREDIT, quota: budget });
  if (taken === WELCOME_CREDIT) return true;
  await JOBS.give(db, { ...quota, units: taken });
  return false;
}

/**
 * The key of a secret, revoked or not; null for an unknown one. A malformed secret needs no lookup.
 *
 * @example
 * ```ts
 * const key = await findKey(store, secret);
 * key?.balance; // micro-euros
 * ```
 */
export async function findKey(store: Store, secret: string): Promise<Key | null> {
  if (!isWellFormedKey(secret)) return null;
  const hash = hashSecret(secret);
  const row = await selectKeys(store).where('keys.hash', '=', hash).executeTakeFirst();
  return row && sameHash(row.hash, hash) ? present(row) : null;
}

/** A key by its id; null when there is none. */
export async function keyById(store: Store, id: string): Promise<Key | null> {
  const row = await selectKeys(store).where('keys.id', '=', id).executeTakeFirst();
  return row ? present(row) : null;
}

/** E-mail addresses of keys by id. */
export async function emailsOf({ db }: Pick<Store, 'db'>, ids: string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom('keys').select(['id', 'email']).where('id', 'in', ids).execute();
  return new Map(rows.map(({ id, email }) => [id, email]));
}

/** A key by its normalised e-mail address; null when there is none. */
export async function keyByEmail(store: Store, email_normal: string): Promise<Key | null> {
  const row = await selectKeys(store).where('keys.email_normal', '=', email_normal).executeTakeFirst();
  return row ? present(row) : null;
}

/** Keys by creation, oldest first, after a position. */
export async function listKeys(
  store: Store,
  limit: number,
  after: { created_at: number; id: string } | null,
): Promise<Key[]> {
  let query = selectKeys(store);
  if (after) {
    query = query.where((e) =>
      e.or([
        e('created_at', '>', after.created_at),
        e.and([e('created_at', '=', after.created_at), e('id', '>', after.id)]),
      ]),
    );
  }
  return (await query.orderBy('created_at').orderBy('id').limit(limit).execute()).map(present);
}

/**
 * Searches keys for an operator, newest first, by a part of the e-mail address in any case or by the prefix
 * of the id; an empty text matches all. `before` is the position of the last key of the previous page.
 */
export async function findKeys(
  store: Store,
  text: string,
  limit: number,
  before: { created_at: number; id: string } | null,
): Promise<Key[]> {
  const wanted = text
    .trim()
    .toLowerCase()
    .replace(/[\\%_]/g, '\\$&');
  let query = selectKeys(store);
  if (wanted !== '')
    query = query.where(
      sql<boolean>`(lower(keys.email) like ${`%${wanted}%`} escape '\\' or keys.id like ${`${wanted}%`} escape '\\')`,
    );
  if (before)
    query = query.where((e) =>
      e.or([
        e('created_at', '<', before.created_at),
        e.and([e('created_at', '=', before.created_at), e('id', '<', before.id)]),
      ]),
    );
  return (await query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).execute()).map(present);
}

/**
 * Revokes a key permanently, ends its grants, signs its owner out and deletes its unused mailed links; false when there
 * is no such key. A second call keeps the first time. `also` runs in the same transaction when the key exists.
 */
export async function revokeKey(
  store: Store,
  id: string,
  now: number,
  also: (tx: Store['db']) => Promise<void> = async () => {},
): Promise<boolean> {
  return store.db.transaction().execute(async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable('keys')
      .set((e) => ({ revoked_at: e.fn.coalesce('revoked_at', e.val(now)) }))
      .where('id', '=', id)
      .executeTakeFirst();
    await endGrantsOf(tx, id);
    await ownerSessions.endAll(tx, id);
    await dropLinksOf(tx, id);
    if (numUpdatedRows > 0n) await also(tx);
    return numUpdatedRows > 0n;
  });
}

/** Sets the address of a live key; false when there is none. Throws when another key has the address. */
export async function setEmail(db: Store['db'], id: string, email: string, email_normal: string): Promise<boolean> {
  await releaseAddress(db, email_normal);
  const { numUpdatedRows } = await db
    .updateTable('keys')
    .set({ email, email_normal })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Sets the plan until a time, or without an end. */
export async function setPlan(
  store: Pick<Store, 'db'>,
  id: string,
  plan: string,
  until: number | null,
): Promise<boolean> {
  const { numUpdatedRows } = await store.db
    .updateTable('keys')
    .set({ plan, plan_until: until })
    .where('id', '=', id)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** What a rotation leaves: by default child keys and connected applications end, since who has the old secret made some. */
export interface RotationChoice {
  keep_children?: boolean | undefined;
  keep_apps?: boolean | undefined;
}

/** The new secret of a key, and how many child keys and connected applications ended with the old one. */
export interface RotatedKey {
  secret: string;
  ended: { children: number; apps: number };
}

export interface Rotation extends RotationChoice {
  /** Milliseconds since 1970. */
  now: number;
  /** SHA-256 of the secret to replace. Of two simultaneous rotations with the same one, one succeeds. */
  from?: string;
  /** Runs first in the same transaction; false cancels the rotation. */
  also?: (tx: Store['db']) => Promise<boolean>;
  /** Runs last in the same transaction. */
  keep?: ((tx: Store['db'], rotated: RotatedKey) => Promise<void>) | undefined;
}

/**
 * Gives a key a new secret. The old secret and unused mailed links stop working, and the owner is signed out of every
 * browser. Null when the key is unknown or revoked, or has another secret than `from`.
 */
export async function rotateKey(store: Store, id: string, rotation: Rotation): Promise<RotatedKey | null> {
  const { now, from, keep_children = false, keep_apps = false, also, keep } = rotation;
  const secret = newKey();
  return store.db.transaction().execute(async (tx) => {
    if (also && !(await also(tx))) return null;
    let update = tx
      .updateTable('keys')
      .set({ hash: hashSecret(secret) })
      .where('id', '=', id);
    if (from !== undefined) update = update.where('hash', '=', from);
    const { numUpdatedRows } = await update.where('revoked_at', 'is', null).executeTakeFirst();
    if (numUpdatedRows === 0n) return null;
    const children = keep_children ? 0 : await endChildrenOf(tx, id, now);
    const apps = keep_apps ? 0 : await endGrantsOf(tx, id);
    await ownerSessions.endAll(tx, id);
    await endSignInsOf(tx, id);
    await dropLinksOf(tx, id);
    const rotated = { secret, ended: { children, apps } };
    await keep?.(tx, rotated);
    return rotated;
  });
}

const selectKeys = (store: Store) =>
  store.db
    .selectFrom('keys')
    .leftJoin('balances', (join) => join.on('balances.account', '=', sql<string>`'key:' || keys.id`))
    .selectAll('keys')
    .select('balances.amount as balance');

function present({ hash: _, balance, ...key }: KeyTable & { balance: number | null }): Key {
  return { ...key, balance: balance ?? 0 };
}
