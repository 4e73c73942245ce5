// What operators decided about items of the releases: rows of the overlay, as the review lists them.
import type { ReviewItem } from '../model/record.ts';
import type { Store } from './store.ts';
import type { DecisionTable } from './tables/overlay.ts';

/** A decision with the item as it was when it was decided. */
export interface DecidedRow extends Pick<DecisionTable, 'status' | 'at' | 'decided_by'> {
  item: ReviewItem;
}

const decisions = ({ db }: Store) => db.selectFrom('decisions').select(['status', 'at', 'decided_by', 'item']);

const parsed = ({ item, ...row }: Pick<DecisionTable, 'status' | 'at' | 'decided_by' | 'item'>): DecidedRow => ({
  ...row,
  item: JSON.parse(item) as ReviewItem,
});

/** Decisions, the last one first; `status` null: all. */
export async function decidedItems(
  store: Store,
  status: DecisionTable['status'] | null,
  limit: number,
): Promise<DecidedRow[]> {
  let query = decisions(store);
  if (status !== null) query = query.where('status', '=', status);
  return (await query.orderBy('at', 'desc').orderBy('id').limit(limit).execute()).map(parsed);
}

/** The decision about one item; null where there is none. */
export async function decidedItem(store: Store, id: string): Promise<DecidedRow | null> {
  const row = await decisions(store).where('id', '=', id).executeTakeFirst();
  return row ? parsed(row) : null;
}
