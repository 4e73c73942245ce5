// The processes of the API and the releases that each has, so that they switch to a release together: a cursor
// of it must not reach a process that lacks it.
import { sql } from 'kysely';
import { databaseClock } from './leases.ts';
import type { Store } from './store.ts';

/** Milliseconds after which a process that was not seen does not count. */
const GONE = 10_000;

/** Notes that a process runs, and the listings of releases that it has. Removes processes that are gone. */
export async function noteNode(store: Store, id: string, listings: readonly string[]): Promise<void> {
  const row = { listings: listings.join(' '), seen_at: databaseClock(store) };
  await store.db
    .insertInto('nodes')
    .values({ id, ...row })
    .onConflict((c) => c.column('id').doUpdateSet(row))
    .execute();
  await store.db
    .deleteFrom('nodes')
    .where('seen_at', '<', sql<number>`${databaseClock(store)} - ${sql.lit(GONE)}`)
    .execute();
}

/** Number of running processes that lack a listing. */
export async function nodesWithout(store: Store, listing: string): Promise<number> {
  const rows = await store.db.selectFrom('nodes').select(['listings', 'seen_at']).execute();
  return rows.filter(({ listings }) => !listings.split(' ').includes(listing)).length;
}

/** Removes a process that stops. */
export async function removeNode({ db }: Store, id: string): Promise<void> {
  await db.deleteFrom('nodes').where('id', '=', id).execute();
}
