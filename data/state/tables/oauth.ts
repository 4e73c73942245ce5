// Tables of the authorization server: its storage, and grants. Micro-euros, milliseconds since 1970.
import { defineTable, integer, type RowOf, text } from './columns.ts';

export const oauthTables = {
  /** Storage of the authorization server: clients, sessions, codes, tokens (oauth/items.ts). */
  oauth_items: defineTable(
    {
      /** Its kind: `Client`, `Session`, `AuthorizationCode`, … */
      model: text(),
      /** SHA-256 of its id in hex: most ids are secrets. */
      id: text(),
      /** JSON without the id. */
      payload: text(),
      /** SHA-256 of its grant's id. */
      grant_id: text().optional(),
      /** SHA-256 of a session's second id. */
      uid: text().optional(),
      consumed_at: integer().optional(),
      /** Null: never. */
      expires_at: integer().optional(),
    },
    {
      primaryKey: ['model', 'id'],
      indexes: {
        oauth_items_by_grant_id: { on: ['grant_id'] },
        oauth_items_by_uid: { on: ['uid'] },
        oauth_items_by_expires_at: { on: ['expires_at'] },
      },
    },
  ),
  /** The permission of a client to spend from a key (oauth/grants.ts). */
  grants: defineTable(
    {
      id: text().primaryKey(),
      key_id: text().references('keys.id'),
      client_id: text(),
      /** The client's name as shown to the owner. */
      client_name: text(),
      /** Maximum total of charges in micro-euros; null: no cap. */
      cap: integer().optional(),
      /** Total of charges so far, in micro-euros. */
      spent: integer(),
      created_at: integer(),
      /** Null: never. */
      expires_at: integer().optional(),
    },
    {
      indexes: {
        grants_by_key: { on: ['key_id'] },
      },
    },
  ),
};

export type GrantTable = RowOf<(typeof oauthTables)['grants']>;
