// Tables of the operators' pages and the account pages: sessions.
import { defineTable, integer, text } from './columns.ts';

export const opsTables = {
  /** An operator signed in with a browser. Times are milliseconds since 1970. */
  ops_sessions: defineTable({
    /** SHA-256 of the token in hex; only the cookie contains the token. */
    hash: text().primaryKey(),
    /** SHA-256 of the admin key used to sign in: removing the key ends its sessions. */
    admin: text(),
    created_at: integer(),
    /** Time of the last requested page; background requests of a page do not count. */
    seen_at: integer(),
  }),
  /** The owner of a key signed in with a browser, as `ops_sessions`. */
  account_sessions: defineTable(
    {
      hash: text().primaryKey(),
      key_id: text(),
      created_at: integer(),
      seen_at: integer(),
    },
    {
      indexes: {
        account_sessions_of_key: { on: ['key_id'] },
      },
    },
  ),
};
