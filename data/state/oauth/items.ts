// What the authorization server remembers: one table of items by kind and id. Ids are secrets, so only their hashes are kept.
import { hashSecret } from '../key-format.ts';
import type { Store } from '../store.ts';

/** An item as the authorization server sees it: JSON, with its own id where it holds one. */
export type OAuthItem = Record<string, unknown>;

/** Stands in a stored payload for the id of the item. No id and no JSON text can hold it. */
const SELF = '\u0001self';

/** What an item is found and ended by, beside its id. */
export interface ItemTies {
  /** Milliseconds since 1970; null: it is kept until it is destroyed. */
  expires_at: number | null;
  /** Name of the grant that it ends with (grants.ts). */
  grant?: string | undefined;
  /** The second id of a session. */
  uid?: string | undefined;
}

/** Writes an item, new or again. */
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

/** An item by its id; undefined when there is none. `consumed` holds the seconds since 1970 when it was used up. */
export async function findItem(store: Store, model: string, id: string): Promise<OAuthItem | undefined> {
  const row = await select(store, model).where('id', '=', hashSecret(id)).executeTakeFirst();
  return row && revive(row, id);
}

/** A session by its second id. Its own id is not in the store, so it is absent here. */
export async function findItemByUid(store: Store, model: string, uid: string): Promise<OAuthItem | undefined> {
  const row = await select(store, model).where('uid', '=', hashSecret(uid)).executeTakeFirst();
  if (!row) return undefined;
  const { jti: _, ...rest } = revive(row, '');
  return rest;
}

/** Uses an item up; true for one caller alone, however many ask at once. */
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

/** Moves the end of an item's life; nothing happens when there is none. */
export async function keepItem(store: Store, model: string, id: string, expires_at: number): Promise<void> {
  await store.db
    .updateTable('oauth_items')
    .set({ expires_at })
    .where('model', '=', model)
    .where('id', '=', hashSecret(id))
    .where('expires_at', 'is not', null)
    .execute();
}

/** Forgets what is over. Codes and tokens that were used up stay until then, so that a second use is noticed. */
export async function forgetItems(store: Store, now: number): Promise<void> {
  await store.db.deleteFrom('oauth_items').where('expires_at', '<', now).execute();
}

const select = (store: Store, model: string) =>
  store.db.selectFrom('oauth_items').select(['payload', 'consumed_at']).where('model', '=', model);

function revive({ payload, consumed_at }: { payload: string; consumed_at: number | null }, id: string): OAuthItem {
  const item = JSON.parse(payload.replaceAll(SELF, id)) as OAuthItem;
  return consumed_at === null ? item : { ...item, consumed: Math.floor(consumed_at / 1000) };
}
