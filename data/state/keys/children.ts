// Child keys: each spends its parent's balance within bounds of its own, and ends with it (contract section 9,
// "Budgets"). Amounts in micro-euros, times in milliseconds since 1970.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { hashSecret, newKey } from '../key-format.ts';
import type { Store } from '../store.ts';
import type { ChildTable } from '../tables/budgets.ts';

/** Most child keys of a key that are not revoked. */
export const MOST_CHILDREN = 100;

/** What an owner sets. Datasets and operations as JSON lists. */
export type ChildBounds = Pick<ChildTable, 'name' | 'cap' | 'per_day' | 'datasets' | 'operations' | 'expires_at'>;
export type ChildKey = Omit<ChildTable, 'hash'>;

const withoutHash = ({ hash: _, ...child }: ChildTable): ChildKey => child;

/** Creates a child key; null when the parent has `MOST_CHILDREN` or is revoked. `also` runs last in the transaction. */
export async function createChild(
  store: Store,
  key_id: string,
  bounds: ChildBounds,
  now: number,
  also: (tx: Store['db'], created: { secret: string; child: ChildKey }) => Promise<void>,
): Promise<{ secret: string; child: ChildKey } | null> {
  const secret = newKey();
  return store.db.transaction().execute(async (tx) => {
    // Writing the parent's row makes two requests at once count each other's children.
    const { numUpdatedRows } = await tx
      .updateTable('keys')
      .set({ plan: sql.ref('plan') })
      .where('id', '=', key_id)
      .where('revoked_at', 'is', null)
      .executeTakeFirst();
    const { count } = await tx
      .selectFrom('children')
      .select((e) => e.fn.countAll<number>().as('count'))
      .where('key_id', '=', key_id)
      .where('revoked_at', 'is', null)
      .executeTakeFirstOrThrow();
    if (numUpdatedRows === 0n || Number(count) >= MOST_CHILDREN) return null;
    const spending = { spent: 0, day: '', day_spent: 0 };
    const row = { id: randomUUID(), key_id, hash: hashSecret(secret), ...bounds, created_at: now, revoked_at: null };
    await tx
      .insertInto('children')
      .values({ ...row, ...spending })
      .execute();
    const created = { secret, child: withoutHash({ ...row, ...spending }) };
    await also(tx, created);
    return created;
  });
}

/** Child keys of a key that are not revoked, oldest first. */
export async function childrenOf(store: Store, key_id: string): Promise<ChildKey[]> {
  const query = store.db.selectFrom('children').selectAll().where('key_id', '=', key_id);
  const rows = await query.where('revoked_at', 'is', null).orderBy('created_at').orderBy('id').execute();
  return rows.map(withoutHash);
}

/** Child keys of a key, the newest revoked ones too, oldest first: at most twice `MOST_CHILDREN`. */
export async function childHistory(store: Store, key_id: string): Promise<ChildKey[]> {
  const query = store.db.selectFrom('children').selectAll().where('key_id', '=', key_id);
  const newest = query.orderBy(sql`revoked_at is null`, 'desc').orderBy('revoked_at', 'desc');
  const rows = await newest.limit(2 * MOST_CHILDREN).execute();
  return rows.map(withoutHash).sort((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1));
}

/** Changes or revokes a child key of a key; null when there is none. */
export async function updateChild(
  store: Store,
  key_id: string,
  id: string,
  change: Partial<ChildBounds> | { revoked_at: number },
  also: (tx: Store['db'], child: ChildKey) => Promise<void> = async () => {},
): Promise<ChildKey | null> {
  return store.db.transaction().execute(async (tx) => {
    const row = await tx
      .updateTable('children')
      .set(Object.keys(change).length === 0 ? { id } : change)
      .where('id', '=', id)
      .where('key_id', '=', key_id)
      .where('revoked_at', 'is', null)
      .returningAll()
      .executeTakeFirst();
    if (row === undefined) return null;
    await also(tx, withoutHash(row));
    return withoutHash(row);
  });
}

/** Revokes every child key of a key in the caller's transaction, and returns their number. */
export async function endChildrenOf(db: Store['db'], key_id: string, now: number): Promise<number> {
  const children = db.updateTable('children').set({ revoked_at: now }).where('key_id', '=', key_id);
  const { numUpdatedRows } = await children.where('revoked_at', 'is', null).executeTakeFirst();
  return Number(numUpdatedRows);
}
