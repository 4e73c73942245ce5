// Tables of the operators' pages: who is signed in, and how much was asked hour by hour.
import type { Kysely } from 'kysely';

/** An operator signed in with a browser. Times are milliseconds since 1970. */
export interface OpsSessionTable {
  /** SHA-256 of the token in hex; the token is in the cookie alone. */
  hash: string;
  /** SHA-256 of the key that was signed in with: a key that is no longer one ends its sessions. */
  admin: string;
  created_at: number;
  /** When a page was last asked for; looks that a page takes by itself do not count. */
  seen_at: number;
}

/** Calls of one hour that are alike. */
export interface TrafficTable {
  /** The hour's beginning, milliseconds since 1970. */
  hour: number;
  operation: string;
  channel: string;
  /** Empty where the calls were about no dataset. */
  dataset: string;
  /** `ok`, `unchanged`, or the code of the error. */
  outcome: string;
  calls: number;
  /** Microseconds of all of them, and of the longest. */
  took: number;
  longest: number;
  /** Micro-euros taken. */
  charged: number;
}

export interface OpsTables {
  ops_sessions: OpsSessionTable;
  traffic: TrafficTable;
}

/** Makes the tables; `big` is the dialect's 64-bit integer. */
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
