// Storage of the authorization server: one table of items by kind and id. Ids are secrets, so only hashes are
// stored.
import { hashSecret } from '../key-format.ts';
import type { Store } from '../store.ts';

/** An item of the authorization server: JSON, including its own id if it has one. */
export type OAuthItem = Record<string, unknown>;

/** Placeholder for the item's id in a stored payload. Neither an id nor JSON text can contain it. */
const SELF = '\u0001self';

/** Further keys and the end of an item. */
export interface ItemTies {
  /** Milliseconds since 1970; null: kept until it is destroyed. */
  expires_at: number | null;
  /** Name of the grant whose end deletes the item (grants.ts). */
  grant?: string | undefined;
  /** The second id of a session. */
  uid?: string | undefined;
}

/** Inserts or replaces an item. */
export async function putItem(store: Store, model: string, id: string, item: OAuthItem, ties: ItemTies): Promise<void> {
  const row = {
    payload: JSON.stringify(item).replaceAll(id, SELF),
    grant_id: ties.grant ?? null,
    uid: ties.uid === undefined ? null : hashSecret(ties.uid),
    expires_at: ties.expires_at,
  };
  await store.db
    .insertInto('oauth_items')
    .values({ model, id: hashSecret(id), consumed_at: null, ...row })
    .onConflict((c) => c.columns(['model', 'id']).doUpdateSet(row))
    .execute();
}

/** An item by its id; undefined when there is none. `consumed`: time of its use in seconds since 1970. */
export async function findItem(store: Store, model: string, id: string): Promise<OAuthItem | undefined> {
  const row = await select(store, model).where('id', '=', hashSecret(id)).executeTakeFirst();
  return row && revive(row, id);
}

/** A session by its second id. Its own id is not stored, so it is absent here. */
export async function findItemByUid(store: Store, model: string, uid: string): Promise<OAuthItem | undefined> {
  const row = await select(store, model).where('uid', '=', hashSecret(uid)).executeTakeFirst();
  if (!row) return undefined;
  const { jti: _, ...rest } = revive(row, '');
  return rest;
}

/** Consumes an item; true for exactly one of concurrent callers. */
export async function consumeItem(store: Store, model: string, id: string, now: number): Promise<boolean> {
  const { numUpdatedRows } = await store.db
    .updateTable('oauth_items')
    .set({ consumed_at: now })
    .where('model', '=', model)
    .where('id', '=', hashSecret(id))
    .where('consumed_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function destroyItem(store: Store, model: string, id: string): Promise<void> {
  await store.db.deleteFrom('oauth_items').where('model', '=', model).where('id', '=', hashSecret(id)).execute();
}

/** Destroys a session by its second id. */
export async function destroyItemByUid(store: Store, model: string, uid: string): Promise<void> {
  await store.db.deleteFrom('oauth_items').where('model', '=', model).where('uid', '=', hashSecret(uid)).execute();
}

/** Sets the expiry of an item; no effect on an unknown one. */
export async function keepItem(store: Store, model: string, id: string, expires_at: number): Promise<void> {
  await store.db
    .updateTable('oauth_items')
    .set({ expires_at })
    .where('model', '=', model)
    .where('id', '=', hashSecret(id))
    .where('expires_at', 'is not', null)
    .execute();
}

/** Deletes expired items. Consumed codes and tokens stay until then, so that a second use is detected. */
export async function forgetItems(store: Store, now: number): Promise<void> {
  await store.db.deleteFrom('oauth_items').where('expires_at', '<', now).execute();
}

const select = (store: Store, model: string) =>
  store.db.selectFrom('oauth_items').select(['payload', 'consumed_at']).where('model', '=', model);

function revive({ payload, consumed_at }: { payload: string; consumed_at: number | null }, id: string): OAuthItem {
  const item = JSON.parse(payload.replaceAll(SELF, id)) as OAuthItem;
  return consumed_at === null ? item : { ...item, consumed: Math.floor(consumed_at / 1000) };
}
