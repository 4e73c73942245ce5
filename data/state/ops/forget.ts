// Erasure: e-mail addresses on request or after their retention (docs/operators.md#personal-data), expired rows, and old
// mails of the outbox.
import { sql } from 'kysely';
import { normalEmail } from '../../model/email.ts';
import { forgetAnswers } from '../idempotency.ts';
import { revokeKey } from '../keys/keys.ts';
import { forgetLinks } from '../links.ts';
import { balanceOf } from '../money/ledger.ts';
import { expireKeys } from '../money/prepaid.ts';
import { forgetGrants } from '../oauth/grants.ts';
import { forgetItems } from '../oauth/items.ts';
import { forgetMails } from '../outbox.ts';
import { forgetClaims } from '../owners/claims.ts';
import { forgetQuotas } from '../quotas.ts';
import { forgetSends } from '../sends.ts';
import { operatorSessions, ownerSessions } from '../sessions.ts';
import { accountOf } from '../statements.ts';
import type { Store } from '../store.ts';

const DAY = 86_400_000;
/**
 * Retention of addresses in milliseconds: of removals and the audit log, of answered requests, of revoked
 * keys.
 */
export const ADDRESSES_STAY = { removals: 365 * DAY, requests: 180 * DAY, keys: 90 * DAY };

/** Replacement for an erased address. */
const ERASED = 'erased';

/** Number of erased rows by table. */
export type ErasedRows = Record<string, number>;

/** Why an address cannot be erased yet. */
export class NotErasable extends Error {}

/**
 * Erases every trace of an address, compared as by normalEmail. Throws NotErasable for a key that is not
 * revoked, unless `revoke` is set, and always for one with a running subscription, since the provider would
 * continue to bill it. The ledger stays, under the id of the key.
 */
export async function forgetAddress(store: Store, email: string, now: number, revoke: boolean): Promise<ErasedRows> {
  const normal = normalEmail(email);
  if (normal === null) throw new NotErasable(`${email} is not an e-mail address`);
  const { db } = store;
  const key = await db.selectFrom('keys').selectAll().where('email_normal', '=', normal).executeTakeFirst();
  if (key && key.revoked_at === null) await endKey(store, key.id, now, revoke);
  if (store.dialect === 'sqlite') await sql`pragma secure_delete = on`.execute(db);
  const erased = await db.transaction().execute(async (tx) => {
    const people = await erasePeople(tx, normal, key?.id ?? null, now);
    const traces = await eraseTraces(tx, normal, key?.id ?? null);
    return { ...people, ...traces };
  });
  if (store.dialect === 'sqlite') await sql`pragma wal_checkpoint(truncate)`.execute(db);
  return erased;
}

/** Revokes the key of an address. Throws NotErasable without `revoke`, and with a running subscription. */
async function endKey(store: Store, id: string, now: number, revoke: boolean): Promise<void> {
  const eur = (await balanceOf(store, id)) / 1_000_000;
  if (!revoke)
    throw new NotErasable(`key ${id} of this address is not revoked and has ${eur} EUR; add --revoke to revoke it`);
  const running = store.db
    .selectFrom('subscriptions')
    .select('id')
    .where('key_id', '=', id)
    .where('ended_at', 'is', null);
  const [subscription] = await running.limit(1).execute();
  if (subscription)
    throw new NotErasable(`key ${id} has the running subscription ${subscription.id}; revoke it at /ops/keys first`);
  await revokeKey(store, id, now);
}

/** Erases an address in rows about the person: a key, an opt-out, a request, a claim. */
async function erasePeople(tx: Store['db'], normal: string, key: string | null, now: number): Promise<ErasedRows> {
  const same = (address: string) => normalEmail(address) === normal;
  const ids = <T extends { id: string; contact: string }>(rows: T[]) =>
    rows.filter(({ contact }) => same(contact)).map(({ id }) => id);
  const keys = key === null ? 0 : await eraseKeys(tx, [key]);
  const outs = ids(await tx.selectFrom('opt_outs').select(['id', 'contact']).execute());
  const opt_outs = await eraseContacts(tx, 'opt_outs', outs);
  const requestIds = ids(await tx.selectFrom('requests').select(['id', 'contact']).execute());
  // The contact of these requests is erased, so they are closed.
  const open = tx.updateTable('requests').set({ status: 'rejected', decided_at: now, decided_by: ERASED });
  for (const id of requestIds)
    await open.where('id', '=', id).where('status', '=', 'open').where('kind', '<>', 'notice').execute();
  const requests = await eraseContacts(tx, 'requests', requestIds);
  let claims = 0;
  for (const { id, email } of await tx.selectFrom('claims').select(['id', 'email']).execute()) {
    if (!same(email)) continue;
    await tx.deleteFrom('claims').where('id', '=', id).execute();
    if (email) claims += 1;
  }
  return { keys, opt_outs, requests, claims };
}

/**
 * Deletes rows that mention an address or belong to its key: links, mails, audit addresses, quotas, stored answers.
 */
async function eraseTraces(tx: Store['db'], normal: string, key: string | null): Promise<ErasedRows> {
  const same = (address: string) => normalEmail(address) === normal;
  const holds = (text: string) => [...text.matchAll(ADDRESS)].some(([address]) => same(address));
  const done: ErasedRows = { links: 0, mails: 0, audit_people: 0, quotas: 0, sends: 0 };
  type Erased = 'links' | 'mails' | 'audit_people' | 'quotas' | 'sends';
  const erase = async (table: Erased, column: 'hash' | 'id' | 'name', value: string) => {
    await tx.deleteFrom(table).where(sql.ref(column), '=', value).execute();
    done[table] = (done[table] ?? 0) + 1;
  };
  for (const { hash, subject, topic, recipient } of await tx
    .selectFrom('links')
    .select(['hash', 'subject', 'topic', 'recipient'])
    .execute())
    if (holds(`${subject} ${topic ?? ''} ${recipient ?? ''}`) || subject === key) await erase('links', 'hash', hash);
  for (const { id, recipient } of await tx.selectFrom('mails').select(['id', 'recipient']).execute())
    if (same(recipient)) await erase('mails', 'id', id);
  for (const { hash, address } of await tx.selectFrom('audit_people').select(['hash', 'address']).execute())
    if (same(address)) await erase('audit_people', 'hash', hash);
  for (const table of ['quotas', 'sends'] as const)
    for (const { name } of await tx.selectFrom(table).select('name').where('name', 'like', '%@%').execute())
      if (holds(name)) await erase(table, 'name', name);
  if (key !== null) {
    const { numDeletedRows } = await tx.deleteFrom('idempotency').where('key_id', '=', key).executeTakeFirst();
    done['idempotency'] = Number(numDeletedRows);
  }
  return done;
}

/** Addresses in a text. */
const ADDRESS = /[^\s"'<>(),;:]+@[^\s"'<>(),;:]+/g;

/** Erases addresses after their retention. */
export async function forgetOldAddresses(store: Store, now: number): Promise<void> {
  const { db } = store;
  const before = { removals: now - ADDRESSES_STAY.removals, requests: now - ADDRESSES_STAY.requests };
  const kept = sql<boolean>`contact not like ${`${ERASED}%`}`;
  const outs = await db.selectFrom('opt_outs').select('id').where('at', '<', before.removals).where(kept).execute();
  const answered = await db
    .selectFrom('requests')
    .select('id')
    .where('decided_at', '<', before.requests)
    .where(kept)
    .execute();
  // A notice without an answer expires with the removal that it is about.
  const notices = await db
    .selectFrom('requests')
    .select('id')
    .where('kind', '=', 'notice')
    .where('opened_at', '<', before.removals)
    .where(kept)
    .execute();
  const keys = await db
    .selectFrom('keys')
    .select('id')
    .where('revoked_at', '<', now - ADDRESSES_STAY.keys)
    .where('email', 'like', '%@%')
    .execute();
  await forgetSends(store, now, before.removals);
  await db.transaction().execute(async (tx) => {
    await eraseContacts(
      tx,
      'opt_outs',
      outs.map(({ id }) => id),
    );
    await eraseContacts(
      tx,
      'requests',
      [...answered, ...notices].map(({ id }) => id),
    );
    await eraseKeys(
      tx,
      keys.map(({ id }) => id),
    );
    await tx.deleteFrom('audit_people').where('seen_at', '<', before.removals).execute();
  });
}

/**
 * Replaces contacts; the row id keeps unique values apart. Reasons are free text and may contain anything.
 */
async function eraseContacts(db: Store['db'], table: 'opt_outs' | 'requests', ids: readonly string[]): Promise<number> {
  for (const id of ids)
    await db
      .updateTable(table)
      .set({ contact: `${ERASED} ${id}`, reason: null })
      .where('id', '=', id)
      .execute();
  return ids.length;
}

async function eraseKeys(db: Store['db'], ids: readonly string[]): Promise<number> {
  for (const id of ids) {
    const name = `${ERASED} ${accountOf(id)}`;
    await db.updateTable('keys').set({ email: name, email_normal: name }).where('id', '=', id).execute();
  }
  return ids.length;
}

/** Deletes deliveries that ended before a time, and the subscriptions of revoked keys with their deliveries. */
async function forgetDeliveries({ db }: Store, before: number): Promise<void> {
  const revoked = db.selectFrom('keys').select('id').where('revoked_at', 'is not', null);
  await db.deleteFrom('change_subscriptions').where('key_id', 'in', revoked).execute();
  const subscriptions = db.selectFrom('change_subscriptions').select('id');
  const deliveries = db.deleteFrom('deliveries');
  await deliveries.where('subscription_id', 'not in', subscriptions).execute();
  await deliveries.where('status', '!=', 'waiting').where('created_at', '<', before).execute();
}

/** Milliseconds that deliveries are listed, that mails stay in the outbox, and failed ones in the queue; their links expire earlier. */
const MAILS = 30 * 24 * 3_600_000;

/**
 * Deletes all expired rows, and old mails of the outbox in `dataDir`. Several processes may run it at once.
 */
export async function forgetExpired(store: Store, dataDir: string, now: Date): Promise<void> {
  const time = now.getTime();
  await forgetAnswers(store, time);
  await forgetQuotas(store, now);
  await forgetItems(store, time);
  await forgetGrants(store, time);
  await expireKeys(store, time);
  await forgetClaims(store, time);
  await forgetLinks(store, time);
  // The mail queue is not loaded here: the nightly run sends no mails.
  await store.db
    .deleteFrom('mails')
    .where('failed_at', '<', time - MAILS)
    .execute();
  await operatorSessions.forget(store, time);
  await ownerSessions.forget(store, time);
  await forgetDeliveries(store, time - MAILS);
  await forgetOldAddresses(store, time);
  await forgetMails(dataDir, { before: time - MAILS });
}
