// Tables of budgets: child keys, which spend from the key above them, and limits of keys. Both count what was spent.
import type { Kysely } from 'kysely';

/** Spending within a UTC day: it counts only while `day` is today. Amounts in micro-euros. */
interface DaySpending {
  /** YYYY-MM-DD of the last charge; empty: none. */
  day: string;
  day_spent: number;
}

/** A child key. Times in milliseconds since 1970. */
export interface ChildTable extends DaySpending {
  id: string;
  /** The key that it spends from. */
  key_id: string;
  name: string;
  /** SHA-256 of the secret in hex. */
  hash: string;
  /** Most that it may spend in its life, and in a day; null: no bound. */
  cap: number | null;
  per_day: number | null;
  /** Ids of datasets and names of operations that it may pay for, as JSON lists; null: all. */
  datasets: string | null;
  operations: string | null;
  expires_at: number | null;
  created_at: number;
  revoked_at: number | null;
  spent: number;
}

/** The limits that an owner set for a key, its children included. */
export interface KeyLimitTable extends DaySpending {
  key_id: string;
  per_day: number | null;
  per_month: number | null;
  /** YYYY-MM of the last charge. */
  month: string;
  month_spent: number;
  /** A mail is sent when the balance falls below it; null: none. */
  alert_below: number | null;
  /** When the mail was sent; null again once the balance is above it. */
  alerted_at: number | null;
}

export interface BudgetTables {
  children: ChildTable;
  key_limits: KeyLimitTable;
}

/** Creates the tables, names the child of a ledger row, and lets keys expire; `big` is the dialect's 64-bit integer. */
export async function makeBudgetTables({ schema }: Kysely<unknown>, big: 'bigint' | 'integer'): Promise<void> {
  await schema
    .createTable('children')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('key_id', 'text', (c) => c.notNull().references('keys.id'))
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('hash', 'text', (c) => c.notNull().unique())
    .addColumn('cap', big)
    .addColumn('per_day', big)
    .addColumn('datasets', 'text')
    .addColumn('operations', 'text')
    .addColumn('expires_at', big)
    .addColumn('created_at', big, (c) => c.notNull())
    .addColumn('revoked_at', big)
    .addColumn('spent', big, (c) => c.notNull())
    .addColumn('day', 'text', (c) => c.notNull())
    .addColumn('day_spent', big, (c) => c.notNull())
    .execute();
  await schema.createIndex('children_by_key').on('children').columns(['key_id', 'created_at']).execute();
  await schema
    .createTable('key_limits')
    .addColumn('key_id', 'text', (c) => c.primaryKey())
    .addColumn('per_day', big)
    .addColumn('per_month', big)
    .addColumn('alert_below', big)
    .addColumn('alerted_at', big)
    .addColumn('day', 'text', (c) => c.notNull())
    .addColumn('day_spent', big, (c) => c.notNull())
    .addColumn('month', 'text', (c) => c.notNull())
    .addColumn('month_spent', big, (c) => c.notNull())
    .execute();
  await schema.alterTable('entries').addColumn('child_id', 'text').execute();
  await schema.alterTable('keys').addColumn('expires_at', big).execute();
}
