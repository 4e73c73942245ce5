// Tables of registers on several machines: which release is current, what the storage contains, who may
// publish.
import { defineTable, integer, type RowOf, text } from './columns.ts';

export const fleetTables = {
  /** What is current of a dataset. */
  release_pointers: defineTable({
    dataset: text().primaryKey(),
    /** Id of the current release; null before the first one. */
    release: text().optional(),
    /** SHA-256 of the listing of its files (data/objects/listing.ts). */
    listing: text().optional(),
    /** SHA-256 of the manifest of the release. */
    manifest: text().optional(),
    /** SHA-256 of the listing of facts, evidence and run logs. */
    work: text().optional(),
    /** Fencing token of the run that wrote the row. */
    token: integer(),
    /** Milliseconds since 1970. */
    changed_at: integer(),
  }),
  /** A listing in the storage. The row is written before the upload begins and removed after its objects. */
  stored_listings: defineTable({
    name: text().primaryKey(),
    dataset: text(),
    kind: text(),
    /** Id of the release; null for facts, evidence and run logs. */
    release: text().optional(),
    /** When it became current; null: the upload did not end. */
    published_at: integer().optional(),
    created_at: integer(),
  }),
  /** A right that one process has at a time. */
  leases: defineTable({
    name: text().primaryKey(),
    /** Machine and process, for messages. */
    holder: text(),
    /** Increases with every holder: a write with an older token is refused. */
    token: integer(),
    expires_at: integer(),
  }),
  /** A process of the API. */
  nodes: defineTable({
    id: text().primaryKey(),
    /** Names of the listings of releases that it has, separated by spaces. */
    listings: text(),
    seen_at: integer(),
  }),
};

export type ReleasePointerTable = RowOf<(typeof fleetTables)['release_pointers']>;
