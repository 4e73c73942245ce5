// Tables of the operators' pages and the account pages: sessions, and traffic by hour.
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

/** Calls of one hour with the same dataset, operation, channel and outcome. */
export interface TrafficTable {
  /** Start of the hour, milliseconds since 1970. */
  hour: number;
  operation: string;
  channel: string;
  /** Empty for calls without a dataset. */
  dataset: string;
  /** `ok`, `unchanged`, or the code of the error. */
  outcome: string;
  calls: number;
  /** Microseconds of all calls, and of the longest. */
  took: number;
  longest: number;
  /** Micro-euros charged. */
  charged: number;
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
  traffic: TrafficTable;
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
  await schema
    .createTable('traffic')
    .addColumn('hour', big, (c) => c.notNull())
    .addColumn('operation', 'text', (c) => c.notNull())
    .addColumn('channel', 'text', (c) => c.notNull())
    .addColumn('dataset', 'text', (c) => c.notNull())
    .addColumn('outcome', 'text', (c) => c.notNull())
    .addColumn('calls', big, (c) => c.notNull())
    .addColumn('took', big, (c) => c.notNull())
    .addColumn('longest', big, (c) => c.notNull())
    .addColumn('charged', big, (c) => c.notNull())
    .addPrimaryKeyConstraint('traffic_pk', ['hour', 'operation', 'channel', 'dataset', 'outcome'])
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
