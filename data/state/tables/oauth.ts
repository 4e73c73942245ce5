// Tables of the authorization server: what it remembers, and what clients may spend. Micro-euros, milliseconds since 1970.
import type { Kysely } from 'kysely';

/** What the authorization server remembers between requests: clients, sessions, codes, tokens (oauth-items.ts). */
export interface OAuthItemTable {
  /** Its kind: `Client`, `Session`, `AuthorizationCode`, … */
  model: string;
  /** SHA-256 of its id in hex: most ids are secrets. */
  id: string;
  /** JSON in which the id itself does not stand. */
  payload: string;
  /** SHA-256 of the grant it belongs to. */
  grant_id: string | null;
  /** SHA-256 of a session's second id. */
  uid: string | null;
  consumed_at: number | null;
  /** Null: never. */
  expires_at: number | null;
}

/** What somebody allowed a client to spend from their key (grants.ts). */
export interface GrantTable {
  id: string;
  key_id: string;
  client_id: string;
  /** As it was shown when it was allowed. */
  client_name: string;
  /** Most that may be charged through it, in micro-euros; null: whatever the key can pay. */
  cap: number | null;
  /** Charged through it so far, in micro-euros. */
  spent: number;
  created_at: number;
  /** Null: never. */
  expires_at: number | null;
}

export interface OAuthTables {
  oauth_items: OAuthItemTable;
  grants: GrantTable;
}

/** Makes them; `big` is the dialect's 64-bit integer. */
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
