// Requests of the owners' channel that an operator decides, or should see.
import { randomUUID } from 'node:crypto';
import type { Store } from '../store.ts';
import type { RequestTable } from '../tables/owners.ts';

export type OwnerRequest = RequestTable;
type Given = Pick<
  RequestTable,
  'kind' | 'dataset' | 'entity_id' | 'slug' | 'name' | 'contact' | 'reason' | 'because'
> & {
  attribute?: string | null;
};
type Db = Pick<Store, 'db'>;

/**
 * Opens a request, or finds the open one of the same contact and record; returns its id and whether it is
 * new.
 */
export async function openRequest({ db }: Db, request: Given, now: number): Promise<{ id: string; fresh: boolean }> {
  const id = randomUUID();
  const row = {
    id,
    attribute: null,
    ...request,
    status: 'open' as const,
    opened_at: now,
    decided_at: null,
    decided_by: null,
  };
  const { numInsertedOrUpdatedRows = 0n } = await db
    .insertInto('requests')
    .values(row)
    .onConflict((c) => c.doNothing())
    .executeTakeFirst();
  if (numInsertedOrUpdatedRows > 0n) return { id, fresh: true };
  const openRow = await db
    .selectFrom('requests')
    .select('id')
    .where('status', '=', 'open')
    .where('kind', '=', request.kind)
    .where('dataset', '=', request.dataset)
    .where('entity_id', '=', request.entity_id)
    .where('contact', '=', request.contact)
    .executeTakeFirst();
  // It was decided concurrently: open a new one.
  return openRow ? { id: openRow.id, fresh: false } : openRequest({ db }, request, now);
}

/** Requests in order of arrival; `status` null: all. */
export async function requestsBy(
  { db }: Db,
  status: RequestTable['status'] | null,
  limit: number,
): Promise<OwnerRequest[]> {
  let query = db.selectFrom('requests').selectAll();
  if (status !== null) query = query.where('status', '=', status);
  return query.orderBy('opened_at').orderBy('id').limit(limit).execute();
}

/** One request; null when there is none. */
export async function requestOf({ db }: Db, id: string): Promise<OwnerRequest | null> {
  return (await db.selectFrom('requests').selectAll().where('id', '=', id).executeTakeFirst()) ?? null;
}

/** Closes open notices about a restored record. */
export async function closeNotices(
  { db }: Db,
  dataset: string,
  entity_id: string,
  decided_by: string,
  now: number,
): Promise<void> {
  await db
    .updateTable('requests')
    .set({ status: 'rejected', decided_at: now, decided_by })
    .where('kind', '=', 'notice')
    .where('dataset', '=', dataset)
    .where('entity_id', '=', entity_id)
    .where('status', '=', 'open')
    .execute();
}

/** Reopens a request whose decision could not be carried out, unless a newer one is open. */
export async function reopenRequest({ db }: Db, id: string): Promise<void> {
  await db
    .updateTable('requests')
    .set({ status: 'open', decided_at: null, decided_by: null })
    .where('id', '=', id)
    .execute()
    .catch(() => undefined);
}

/** Decides a request; false when it was decided before. */
export async function decideRequest(
  { db }: Db,
  id: string,
  status: 'approved' | 'rejected',
  decided_by: string,
  now: number,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('requests')
    .set({ status, decided_at: now, decided_by })
    .where('id', '=', id)
    .where('status', '=', 'open')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
