// Tables of the store, the same in SQLite and PostgreSQL. Money is integer micro-euros, times are milliseconds since 1970.
import type { Generated } from 'kysely';
import type { AuditPeopleTables } from './audit-people.ts';
import type { CheckoutTables } from './checkout.ts';
import type { OAuthTables } from './oauth.ts';
import type { OpsTables } from './ops.ts';
import type { OverlayTables } from './overlay.ts';
import type { OwnerTables } from './owners.ts';
import type { PaymentTables } from './payments.ts';

/** Who may call and on what terms. */
export interface KeyTable {
  id: string;
  /** As given, shown to operators. */
  email: string;
  /** As compared: one key per address (specification section 2, "API key"). */
  email_normal: string;
  /** SHA-256 of the secret in hex; the secret itself is nowhere. */
  hash: string;
  plan: string;
  /** When a paid plan falls back to payg; null: never. */
  plan_until: number | null;
  created_at: number;
  revoked_at: number | null;
}

/** Double entry: the rows of one transaction sum to zero. Append-only; triggers refuse update and delete. */
export interface EntryTable {
  id: Generated<number>;
  /** Transaction id, shared by its rows. */
  transaction_id: string;
  /** `key:<id>`, or one of ours: revenue, welcome, grant, cash, refund, dispute, x402. */
  account: string;
  amount: number;
  /** Balance of the account after this row; null on our own accounts, which are only ever summed. */
  balance: number | null;
  at: number;
  kind: string;
  operation: string | null;
  dataset: string | null;
  request_id: string | null;
  /** Outside reference, unique per kind: a checkout session, a payment. */
  reference: string | null;
  /** Why, in an operator's words. */
  note: string | null;
}

/** The running sum of a key's rows, moved in the same transaction. */
export interface BalanceTable {
  account: string;
  amount: number;
}

/** Signing and cookie secrets, hashed admin keys: made at first start, shared by all processes. */
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
  /** Null while the first call is still at work. */
  answer: string | null;
  /** Records in the answer, space separated ids: an opt-out drops it. */
  records: string;
  /** When the request was claimed; identifies the claim. */
  created_at: number;
  /** The running request renews its lease until it ends. An expired lease without an answer: the process died. */
  leased_until: number;
}

/** Units of a daily quota used up (quotas.ts). */
export interface QuotaTable {
  /** What is counted and for whom. */
  name: string;
  /** UTC, YYYY-MM-DD. */
  day: string;
  used: number;
  /** What the last taking got: how one statement answers it. */
  last: number;
}

/** A mailed link (links.ts). */
export interface LinkTable {
  /** SHA-256 of the token in hex. */
  hash: string;
  purpose: string;
  subject: string;
  /** Mailbox and matter, for links that strangers can ask for: at most one unused link each (links.ts). */
  topic: string | null;
  created_at: number;
  expires_at: number;
  used_at: number | null;
}

export interface Tables
  extends AuditPeopleTables,
    CheckoutTables,
    OAuthTables,
    OpsTables,
    OverlayTables,
    OwnerTables,
    PaymentTables {
  keys: KeyTable;
  entries: EntryTable;
  balances: BalanceTable;
  secrets: SecretTable;
  idempotency: IdempotencyTable;
  quotas: QuotaTable;
  links: LinkTable;
}
