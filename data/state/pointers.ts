// Which release of each dataset is current on all machines, and which listings the storage contains.
import type { RunLease } from './leases.ts';
import type { Store } from './store.ts';
import type { ReleasePointerTable } from './tables/fleet.ts';

export type ReleasePointer = Pick<ReleasePointerTable, 'release' | 'listing' | 'manifest' | 'work'>;

/** A listing that is about to be stored. */
export interface NewListing {
  name: string;
  dataset: string;
  kind: 'release' | 'work';
  release: string | null;
}

/** The pointers by dataset. */
export async function readPointers({ db }: Store): Promise<Map<string, ReleasePointer>> {
  const columns = ['dataset', 'release', 'listing', 'manifest', 'work'] as const;
  const rows = await db.selectFrom('release_pointers').select(columns).execute();
  return new Map(rows.map(({ dataset, ...pointer }) => [dataset, pointer]));
}

/** Announces an upload, so that its objects are found when it does not end. Throws LeaseLost. */
export async function announceListing(store: Store, lease: RunLease, listing: NewListing): Promise<void> {
  await store.db.transaction().execute(async (tx) => {
    await lease.check(tx);
    await tx
      .insertInto('stored_listings')
      .values({ ...listing, published_at: null, created_at: Date.now() })
      .onConflict((c) => c.column('name').doNothing())
      .execute();
  });
}

/**
 * Makes stored listings current in one transaction, in which the lease is checked: a run that lost it changes
 * nothing. A member that is absent stays. Throws LeaseLost.
 */
export async function movePointer(
  store: Store,
  lease: RunLease,
  dataset: string,
  change: Partial<ReleasePointer>,
): Promise<void> {
  await store.db.transaction().execute(async (tx) => {
    await lease.check(tx);
    const changed_at = Date.now();
    const fenced = { ...change, token: lease.token, changed_at };
    await tx
      .insertInto('release_pointers')
      .values({ dataset, release: null, listing: null, manifest: null, work: null, ...fenced })
      .onConflict((c) => c.column('dataset').doUpdateSet(fenced))
      .execute();
    const names = [change.listing, change.work].filter((name) => typeof name === 'string');
    if (names.length === 0) return;
    await tx.updateTable('stored_listings').set({ published_at: changed_at }).where('name', 'in', names).execute();
  });
}

/**
 * Names of the listings that the storage must contain, and of those that may be removed. Of a dataset `keep` releases
 * stay, the current one included.
 */
export async function listingsToRemove(
  { db }: Store,
  keep: number,
): Promise<{ retained: string[]; removable: string[] }> {
  const pointers = await db.selectFrom('release_pointers').select(['listing', 'work']).execute();
  const retained = new Set(pointers.flatMap(({ listing, work }) => [listing, work]).filter((name) => name !== null));
  const rows = await db
    .selectFrom('stored_listings')
    .selectAll()
    .orderBy('published_at', 'desc')
    .orderBy('name')
    .execute();
  for (const list of Map.groupBy(rows, ({ dataset }) => dataset).values()) {
    const releases = list.filter(({ kind, published_at }) => kind === 'release' && published_at !== null);
    for (const { name } of releases.toSorted((a, b) => b.published_at! - a.published_at!).slice(0, keep))
      retained.add(name);
  }
  return { retained: [...retained], removable: rows.map(({ name }) => name).filter((name) => !retained.has(name)) };
}

/** Forgets a listing whose objects were removed. */
export async function forgetListing({ db }: Store, name: string): Promise<void> {
  await db.deleteFrom('stored_listings').where('name', '=', name).execute();
}
