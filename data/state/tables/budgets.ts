// Tables of budgets: child keys, which spend from the key above them, and limits of keys. Both count what was spent.
import { defineTable, integer, type RowOf, text } from './columns.ts';

export const budgetTables = {
  /** A child key. Times in milliseconds since 1970. */
  children: defineTable(
    {
      id: text().primaryKey(),
      /** The key that it spends from. */
      key_id: text().references('keys.id'),
      name: text(),
      /** SHA-256 of the secret in hex. */
      hash: text().unique(),
      /** Most that it may spend in its life, and in a day; null: no bound. */
      cap: integer().optional(),
      per_day: integer().optional(),
      /** Ids of datasets and names of operations that it may pay for, as JSON lists; null: all. */
      datasets: text().optional(),
      operations: text().optional(),
      expires_at: integer().optional(),
      created_at: integer(),
      revoked_at: integer().optional(),
      spent: integer(),
      /** UTC day of the last charge, YYYY-MM-DD; empty: none. Spending counts only while it is today. */
      day: text(),
      day_spent: integer(),
    },
    {
      indexes: {
        children_by_key: { on: ['key_id', 'created_at'] },
      },
    },
  ),
  /** The limits that an owner set for a key, its children included. */
  key_limits: defineTable({
    key_id: text().primaryKey(),
    per_day: integer().optional(),
    per_month: integer().optional(),
    /** YYYY-MM of the last charge. */
    month: text(),
    month_spent: integer(),
    /** A mail is sent when the balance falls below it; null: none. */
    alert_below: integer().optional(),
    /** When the mail was sent; null again once the balance is above it. */
    alerted_at: integer().optional(),
    /** UTC day of the last charge, YYYY-MM-DD; empty: none. Spending counts only while it is today. */
    day: text(),
    day_spent: integer(),
  }),
};

export type ChildTable = RowOf<(typeof budgetTables)['children']>;
export type KeyLimitTable = RowOf<(typeof budgetTables)['key_limits']>;
