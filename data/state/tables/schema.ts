// Tables of the store, the same in SQLite and PostgreSQL. Money in integer micro-euros, times in milliseconds
// since 1970.
import { auditPeopleTables } from './audit-people.ts';
import { budgetTables } from './budgets.ts';
import { changeSubscriptionTables } from './change-subscriptions.ts';
import { checkoutTables } from './checkout.ts';
import { defineTable, integer, type RowOf, type RowsOf, serial, text } from './columns.ts';
import { fleetTables } from './fleet.ts';
import { mailTables } from './mails.ts';
import { oauthTables } from './oauth.ts';
import { opsTables } from './ops.ts';
import { overlayTables } from './overlay.ts';
import { ownerTables } from './owners.ts';
import { paymentTables } from './payments.ts';

const baseTables = {
  /** One row: the format of the store (data/model/layout.ts). */
  formats: defineTable({ format: integer().primaryKey() }),
  /** API keys. */
  keys: defineTable({
    id: text().primaryKey(),
    /** As given, shown to operators. */
    email: text(),
    /** Normalised for comparison: one key per address. */
    email_normal: text().unique(),
    /** SHA-256 of the secret in hex; the secret is not stored. */
    hash: text().unique(),
    plan: text(),
    /** When a paid plan falls back to payg; null: never. */
    plan_until: integer().optional(),
    created_at: integer(),
    revoked_at: integer().optional(),
    /** When a prepaid key ends; null: never. */
    expires_at: integer().optional(),
  }),
  /** Double entry: the rows of one transaction sum to zero. Append-only; triggers reject update and delete. */
  entries: defineTable(
    {
      id: serial(),
      /** Transaction id, shared by its rows. */
      transaction_id: text(),
      /** `key:<id>`, or one of our own: revenue, welcome, grant, cash, refund, dispute, x402. */
      account: text(),
      amount: integer(),
      /** Balance of the account after this row; null on our own accounts. */
      balance: integer().optional(),
      at: integer(),
      kind: text(),
      operation: text().optional(),
      dataset: text().optional(),
      request_id: text().optional(),
      /** Outside reference, unique per kind: a checkout session, a payment. */
      reference: text().optional(),
      /** Reason in an operator's words. */
      note: text().optional(),
      /** The child key that was charged. */
      child_id: text().optional(),
    },
    {
      appendOnly: 'the ledger is append-only',
      indexes: {
        entries_by_account: { on: ['account', 'id'] },
        /** An outside payment counts once, even if it is delivered twice. */
        entries_once: { on: ['kind', 'reference', 'account'], unique: true, where: 'reference is not null' },
      },
    },
  ),
  /** Running sum of a key's rows, updated in the same transaction. */
  balances: defineTable({
    account: text().primaryKey(),
    amount: integer(),
  }),
  /** Signing and cookie secrets and hashed admin keys: created at first start, shared by all processes. */
  secrets: defineTable({
    name: text().primaryKey(),
    value: text(),
  }),
  /** A stored answer to repeat (`Idempotency-Key`). */
  idempotency: defineTable(
    {
      key_id: text(),
      idempotency_key: text(),
      /** Hash of method, URL and body: another request with the same key is a conflict. */
      request: text(),
      /** Null while the first call runs. */
      answer: text().optional(),
      /** Ids of records in the answer, separated by spaces: an opt-out deletes it. */
      records: text(),
      /** Time of the claim; identifies it. */
      created_at: integer(),
      /** The running request renews its lease. An expired lease without an answer: the process died. */
      leased_until: integer(),
    },
    {
      primaryKey: ['key_id', 'idempotency_key'],
    },
  ),
  /** Used units of a daily quota (quotas.ts). */
  quotas: defineTable(
    {
      /** What is counted and for whom. */
      name: text(),
      /** UTC, YYYY-MM-DD. */
      day: text(),
      used: integer(),
      /** Units that the last call took, so that one statement can return them. */
      last: integer(),
    },
    {
      primaryKey: ['name', 'day'],
    },
  ),
  /** A mailed link (links.ts). */
  links: defineTable(
    {
      /** SHA-256 of the token in hex. */
      hash: text().primaryKey(),
      purpose: text(),
      subject: text(),
      /** Mailbox and subject, for links that anyone can request: at most one unused link each (links.ts). */
      topic: text().optional(),
      /** The address that got it; null: none yet; empty: several got it. */
      recipient: text().optional(),
      created_at: integer(),
      expires_at: integer(),
      used_at: integer().optional(),
    },
    {
      indexes: {
        /** At most one unused link per topic, for links that anyone can request. */
        links_unused: { on: ['purpose', 'topic'], unique: true, where: 'used_at is null and topic is not null' },
      },
    },
  ),
};

export type KeyTable = RowOf<(typeof baseTables)['keys']>;
export type EntryTable = RowOf<(typeof baseTables)['entries']>;

/** All tables by name. A table follows those that its columns refer to. */
export const STORE_TABLES = {
  ...baseTables,
  ...auditPeopleTables,
  ...budgetTables,
  ...changeSubscriptionTables,
  ...checkoutTables,
  ...fleetTables,
  ...mailTables,
  ...oauthTables,
  ...opsTables,
  ...overlayTables,
  ...ownerTables,
  ...paymentTables,
};

export type Tables = RowsOf<typeof STORE_TABLES>;
