// Tables of registers on several machines: which release is current, what the storage contains, who may
// publish.
import type { Kysely } from 'kysely';

/** What is current of a dataset. */
export interface ReleasePointerTable {
  dataset: string;
  /** Id of the current release; null before the first one. */
  release: string | null;
  /** SHA-256 of the listing of its files (data/objects/listing.ts). */
  listing: string | null;
  /** SHA-256 of the manifest of the release. */
  manifest: string | null;
  /** SHA-256 of the listing of facts, evidence and run logs. */
  work: string | null;
  /** Fencing token of the run that wrote the row. */
  token: number;
  /** Milliseconds since 1970. */
  changed_at: number;
}

/** A listing in the storage. The row is written before the upload begins and removed after its objects. */
export interface StoredListingTable {
  name: string;
  dataset: string;
  kind: string;
  /** Id of the release; null for facts, evidence and run logs. */
  release: string | null;
  /** When it became current; null: the upload did not end. */
  published_at: number | null;
  created_at: number;
}

/** A right that one process has at a time. */
export interface LeaseTable {
  name: string;
  /** Machine and process, for messages. */
  holder: string;
  /** Increases with every holder: a write with an older token is refused. */
  token: number;
  expires_at: number;
}

/** A process of the API. */
export interface NodeTable {
  id: string;
  /** Names of the listings of releases that it has, separated by spaces. */
  listings: string;
  seen_at: number;
}

export interface FleetTables {
  release_pointers: ReleasePointerTable;
  stored_listings: StoredListingTable;
  leases: LeaseTable;
  nodes: NodeTable;
}

export async function makeFleetTables({ schema }: Kysely<unknown>, wide: 'bigint' | 'integer'): Promise<void> {
  await schema
    .createTable('release_pointers')
    .addColumn('dataset', 'text', (c) => c.primaryKey())
    .addColumn('release', 'text')
    .addColumn('listing', 'text')
    .addColumn('manifest', 'text')
    .addColumn('work', 'text')
    .addColumn('token', wide, (c) => c.notNull())
    .addColumn('changed_at', wide, (c) => c.notNull())
    .execute();
  await schema
    .createTable('stored_listings')
    .addColumn('name', 'text', (c) => c.primaryKey())
    .addColumn('dataset', 'text', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('release', 'text')
    .addColumn('published_at', wide)
    .addColumn('created_at', wide, (c) => c.notNull())
    .execute();
  await schema
    .createTable('leases')
    .addColumn('name', 'text', (c) => c.primaryKey())
    .addColumn('holder', 'text', (c) => c.notNull())
    .addColumn('token', wide, (c) => c.notNull())
    .addColumn('expires_at', wide, (c) => c.notNull())
    .execute();
  await schema
    .createTable('nodes')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('listings', 'text', (c) => c.notNull())
    .addColumn('seen_at', wide, (c) => c.notNull())
    .execute();
}
