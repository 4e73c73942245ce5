// Tables of the store, the same in SQLite and PostgreSQL. Money in integer micro-euros, times in milliseconds
// since 1970.
import type { Generated } from 'kysely';
import type { AuditPeopleTables } from './audit-people.ts';
import type { BudgetTables } from './budgets.ts';
import type { ChangeSubscriptionTables } from './change-subscriptions.ts';
import type { CheckoutTables } from './checkout.ts';
import type { FleetTables } from './fleet.ts';
import type { MailTables } from './mails.ts';
import type { OAuthTables } from './oauth.ts';
import type { OpsTables } from './ops.ts';
import type { OverlayTables } from './overlay.ts';
import type { OwnerTables } from './owners.ts';
import type { PaymentTables } from './payments.ts';

/** API keys. */
export interface KeyTable {
  id: string;
  /** As given, shown to operators. */
  email: string;
  /** Normalised for comparison: one key per address (specification section 2, "API key"). */
  email_normal: string;
  /** SHA-256 of the secret in hex; the secret is not stored. */
  hash: string;
  plan: string;
  /** When a paid plan falls back to payg; null: never. */
  plan_until: number | null;
  created_at: number;
  revoked_at: number | null;
  /** When a prepaid key ends; null: never. */
  expires_at: number | null;
}

/** Double entry: the rows of one transaction sum to zero. Append-only; triggers reject update and delete. */
export interface EntryTable {
  id: Generated<number>;
  /** Transaction id, shared by its rows. */
  transaction_id: string;
  /** `key:<id>`, or one of our own: revenue, welcome, grant, cash, refund, dispute, x402. */
  account: string;
  amount: number;
  /** Balance of the account after this row; null on our own accounts. */
  balance: number | null;
  at: number;
  kind: string;
  operation: string | null;
  dataset: string | null;
  request_id: string | null;
  /** Outside reference, unique per kind: a checkout session, a payment. */
  reference: string | null;
  /** Reason in an operator's words. */
  note: string | null;
  /** The child key that was charged. */
  child_id: string | null;
}

/** Running sum of a key's rows, updated in the same transaction. */
export interface BalanceTable {
  account: string;
  amount: number;
}

/** Signing and cookie secrets and hashed admin keys: created at first start, shared by all processes. */
export interface SecretTable {
  name: string;
  value: string;
}

/** A stored answer to repeat (contract section 3, `Idempotency-Key`). */
export interface IdempotencyTable {
  key_id: string;
  idempotency_key: string;
  /** Hash of method, URL and body: another request with the same key is a conflict. */
  request: string;
  /** Null while the first call runs. */
  answer: string | null;
  /** Ids of records in the answer, separated by spaces: an opt-out deletes it. */
  records: string;
  /** Time of the claim; identifies it. */
  created_at: number;
  /** The running request renews its lease. An expired lease without an answer: the process died. */
  leased_until: number;
}

/** Used units of a daily quota (quotas.ts). */
export interface QuotaTable {
  /** What is counted and for whom. */
  name: string;
  /** UTC, YYYY-MM-DD. */
  day: string;
  used: number;
  /** Units that the last call took, so that one statement can return them. */
  last: number;
}

/** A mailed link (links.ts). */
export interface LinkTable {
  /** SHA-256 of the token in hex. */
  hash: string;
  purpose: string;
  subject: string;
  /** Mailbox and subject, for links that anyone can request: at most one unused link each (links.ts). */
  topic: string | null;
  created_at: number;
  expires_at: number;
  used_at: number | null;
}

export interface Tables
  extends AuditPeopleTables,
    BudgetTables,
    CheckoutTables,
    FleetTables,
    MailTables,
    OAuthTables,
    OpsTables,
    OverlayTables,
    OwnerTables,
    PaymentTables,
    ChangeSubscriptionTables {
  keys: KeyTable;
  entries: EntryTable;
  balances: BalanceTable;
  secrets: SecretTable;
  idempotency: IdempotencyTable;
  quotas: QuotaTable;
  links: LinkTable;
}
