// Tables of the authorization server: its storage, and grants. Micro-euros, milliseconds since 1970.
import type { Generated, Kysely } from 'kysely';

/** Storage of the authorization server: clients, sessions, codes, tokens (oauth/items.ts). */
export interface OAuthItemTable {
  /** Its kind: `Client`, `Session`, `AuthorizationCode`, … */
  model: string;
  /** SHA-256 of its id in hex: most ids are secrets. */
  id: string;
  /** JSON without the id. */
  payload: string;
  /** SHA-256 of its grant's id. */
  grant_id: string | null;
  /** SHA-256 of a session's second id. */
  uid: string | null;
  consumed_at: number | null;
  /** Null: never. */
  expires_at: number | null;
}

/** The permission of a client to spend from a key (oauth/grants.ts). */
export interface GrantTable {
  id: string;
  key_id: string;
  client_id: string;
  /** The client's name as shown to the owner. */
  client_name: string;
  /** Maximum total of charges in micro-euros; null: no cap. */
  cap: number | null;
  /** Total of charges so far, in micro-euros. */
  spent: number;
  created_at: number;
  /** Null: never. */
  expires_at: number | null;
  /** 1: its tokens are accepted at every resource, as before tokens were bound to one; 0: at theirs only. */
  any_resource: Generated<number>;
}

export interface OAuthTables {
  oauth_items: OAuthItemTable;
  grants: GrantTable;
}

/** Creates the tables; `big` is the dialect's 64-bit integer. */
export async function makeOAuthTables(db: Kysely<unknown>, big: 'bigint' | 'integer'): Promise<void> {
  await db.schema
    .createTable('oauth_items')
    .addColumn('model', 'text', (c) => c.notNull())
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('payload', 'text', (c) => c.notNull())
    .addColumn('grant_id', 'text')
    .addColumn('uid', 'text')
    .addColumn('consumed_at', big)
    .addColumn('expires_at', big)
    .addPrimaryKeyConstraint('oauth_items_pk', ['model', 'id'])
    .execute();
  for (const column of ['grant_id', 'uid', 'expires_at'])
    await db.schema.createIndex(`oauth_items_by_${column}`).on('oauth_items').column(column).execute();
  await db.schema
    .createTable('grants')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('key_id', 'text', (c) => c.notNull().references('keys.id'))
    .addColumn('client_id', 'text', (c) => c.notNull())
    .addColumn('client_name', 'text', (c) => c.notNull())
    .addColumn('cap', big)
    .addColumn('spent', big, (c) => c.notNull())
    .addColumn('created_at', big, (c) => c.notNull())
    .addColumn('expires_at', big)
    .execute();
  await db.schema.createIndex('grants_by_key').on('grants').column('key_id').execute();
}

/** Marks the grants that exist already, and those that processes of earlier versions still create. */
export async function addGrantResources({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .alterTable('grants')
    .addColumn('any_resource', 'integer', (c) => c.notNull().defaultTo(1))
    .execute();
}
