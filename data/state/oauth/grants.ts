// Grants: the permission of a client to spend from a key, with an optional cap. Every access token names its
// grant.
import type { Kysely, Selectable } from 'kysely';
import { hashSecret } from '../key-format.ts';
import type { Store } from '../store.ts';
import type { GrantTable } from '../tables/oauth.ts';
import type { Tables } from '../tables/schema.ts';

/** A grant as its owner sees it. Amounts in micro-euros, times in milliseconds since 1970. */
export type Grant = Selectable<GrantTable>;

/**
 * The id of a grant in tokens and charges: a hash, so that the authorization server's own id stays secret.
 */
export const grantName = (id: string): string => hashSecret(id);

/**
 * Creates a grant under the id of the authorization server. Its tokens are accepted at their resource only.
 *
 * @example
 * ```ts
 * await openGrant(store, id, { key_id, client_id, client_name, cap: 5_000_000, created_at: Date.now(), expires_at: null });
 * ```
 */
export async function openGrant(store: Store, id: string, grant: Omit<Grant, 'id' | 'spent'>): Promise<void> {
  await store.db
    .insertInto('grants')
    .values({ id: grantName(id), spent: 0, ...grant })
    .execute();
}

/** Ends a grant and all its tokens at once: every call looks up the token with its grant. */
export async function endGrant(store: Store, name: string): Promise<void> {
  await store.db.transaction().execute(async (tx) => {
    await tx.deleteFrom('grants').where('id', '=', name).execute();
    await tx.deleteFrom('oauth_items').where('grant_id', '=', name).execute();
    await tx.deleteFrom('oauth_items').where('model', '=', 'Grant').where('id', '=', name).execute();
  });
}

/** Ends every grant of a key in the caller's transaction, and returns their number: the key was revoked or replaced. */
export async function endGrantsOf(db: Kysely<Tables>, key_id: string): Promise<number> {
  const mine = db.selectFrom('grants').select('id').where('key_id', '=', key_id);
  await db.deleteFrom('oauth_items').where('grant_id', 'in', mine).execute();
  await db.deleteFrom('oauth_items').where('model', '=', 'Grant').where('id', 'in', mine).execute();
  const { numDeletedRows } = await db.deleteFrom('grants').where('key_id', '=', key_id).executeTakeFirst();
  return Number(numDeletedRows);
}

/** Signs a key out of the authorization server, in the caller's transaction: who knows a replaced secret may not consent. */
export async function endSignInsOf(db: Kysely<Tables>, key_id: string): Promise<void> {
  await db
    .deleteFrom('oauth_items')
    .where('model', 'in', ['Session', 'Interaction'])
    .where('payload', 'like', `%"accountId":"${key_id}"%`)
    .execute();
}

/** Active grants of a key, newest first. */
export async function grantsOf(store: Store, key_id: string, now: number): Promise<Grant[]> {
  return store.db
    .selectFrom('grants')
    .selectAll()
    .where('key_id', '=', key_id)
    .where((e) => e.or([e('expires_at', 'is', null), e('expires_at', '>', now)]))
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute();
}

/**
 * A grant of a key; null when it is unknown or of another key. `name` may be any text: it is compared as a
 * hash.
 */
export async function grantOf(store: Store, key_id: string, name: string): Promise<Grant | null> {
  if (!/^[0-9a-f]{64}$/.test(name)) return null;
  const row = await store.db
    .selectFrom('grants')
    .selectAll()
    .where('key_id', '=', key_id)
    .where('id', '=', name)
    .executeTakeFirst();
  return row ?? null;
}

/** Deletes expired grants. */
export async function forgetGrants(store: Store, now: number): Promise<void> {
  await store.db.deleteFrom('grants').where('expires_at', '<', now).execute();
}
