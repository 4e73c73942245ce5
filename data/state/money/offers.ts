// Recently quoted prices: a payment for a price that has changed since is still accepted (payments.md 7.12).

import type { Store } from '../store.ts';
import type { OfferTable } from '../tables/payments.ts';

export type Offer = Omit<OfferTable, 'seen_at'>;

/** Stores that a price was quoted at a time. */
export async function rememberOffer(store: Store, offer: Offer, now: number): Promise<void> {
  await store.db
    .insertInto('offers')
    .values({ ...offer, seen_at: now })
    .onConflict((c) => c.columns(['dataset', 'price', 'micros', 'rate']).doUpdateSet({ seen_at: now }))
    .execute();
}

/** Prices quoted for an item since a time. */
export async function offersSince(store: Store, dataset: string, price: string, since: number): Promise<Offer[]> {
  return store.db
    .selectFrom('offers')
    .select(['dataset', 'price', 'micros', 'rate'])
    .where('dataset', '=', dataset)
    .where('price', '=', price)
    .where('seen_at', '>=', since)
    .execute();
}

/** Deletes prices last quoted before a time. */
export async function forgetOffers(store: Store, before: number): Promise<void> {
  await store.db.deleteFrom('offers').where('seen_at', '<', before).execute();
}
