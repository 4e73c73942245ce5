// Tables of the operators' pages and the account pages: sessions.
import type { Kysely } from 'kysely';

/** An operator signed in with a browser. Times are milliseconds since 1970. */
export interface OpsSessionTable {
  /** SHA-256 of the token in hex; only the cookie contains the token. */
  hash: string;
  /** SHA-256 of the admin key used to sign in: removing the key ends its sessions. */
  admin: string;
  created_at: number;
  /** Time of the last requested page; background requests of a page do not count. */
  seen_at: number;
}

/** The owner of a key signed in with a browser, as `OpsSessionTable`. */
export interface AccountSessionTable {
  hash: string;
  key_id: string;
  created_at: number;
  seen_at: number;
}

export interface OpsTables {
  ops_sessions: OpsSessionTable;
  account_sessions: AccountSessionTable;
}

/** Creates the tables; `big` is the dialect's 64-bit integer. */
export async function makeOpsTables({ schema }: Kysely<unknown>, big: 'bigint' | 'integer'): Promise<void> {
  await schema
    .createTable('ops_sessions')
    .addColumn('hash', 'text', (c) => c.primaryKey())
    .addColumn('admin', 'text', (c) => c.notNull())
    .addColumn('created_at', big, (c) => c.notNull())
    .addColumn('seen_at', big, (c) => c.notNull())
    .execute();
}

/** Creates the sessions of owners of keys. */
export async function makeAccountSessions({ schema }: Kysely<unknown>, big: 'bigint' | 'integer'): Promise<void> {
  await schema
    .createTable('account_sessions')
    .addColumn('hash', 'text', (c) => c.primaryKey())
    .addColumn('key_id', 'text', (c) => c.notNull())
    .addColumn('created_at', big, (c) => c.notNull())
    .addColumn('seen_at', big, (c) => c.notNull())
    .execute();
  await schema.createIndex('account_sessions_of_key').on('account_sessions').column('key_id').execute();
}
