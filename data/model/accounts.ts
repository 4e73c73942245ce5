// The accounts behind keys, as operations use them: keys, ledgers, top-ups, recovery. The store implements
// this.

/** The caller of an operation on accounts, as the gate identified it. */
export interface Requester {
  /** Id of the caller's key; null without a key and for operators. */
  key: string | null;
  /** The calling child key of `key`, and what it can spend now in micro-euros. */
  child?: { id: string; name: string; left: number };
  /** Id of the calling operator (api/access/caller.ts); absent for other callers. */
  operator?: string;
  /** Client address, by which limits count. */
  address: string;
  request_id: string;
  /** Names the request with its Idempotency-Key and day: money that is moved for it once is not moved again. */
  once?: string;
  /** Milliseconds since 1970. */
  now: number;
}

/**
 * Stores the answer with a value for repeats of the request, in `db`, the transaction of the store that makes the change:
 * a process that dies afterwards does not lose it.
 */
export type KeepAnswer<T> = (db: object, value: T) => Promise<void>;

/** A key as answers show it. Amounts are micro-euros, times milliseconds since 1970. */
export interface Account {
  id: string;
  email: string;
  plan: string;
  balance: number;
  created_at: number;
  revoked_at: number | null;
}

/** A new key. `no_welcome`: why it has no welcome credit; null: it has it. */
export interface CreatedAccount {
  secret: string;
  account: Account;
  no_welcome: 'budget' | 'earlier_key' | null;
}

/** One movement on a key's account. */
export interface AccountMovement {
  id: number;
  at: number;
  kind: string;
  amount: number;
  balance: number;
  operation: string | null;
  dataset: string | null;
  request_id: string | null;
}

/** Charged calls of one day with the same dataset, operation and child key. */
export interface AccountUsage {
  /** UTC, YYYY-MM-DD. */
  date: string;
  dataset: string;
  operation: string;
  /** Empty: none. */
  child_id: string;
  calls: number;
  /** Micro-euros. */
  amount: number;
}

/** A child key as its owner sees it. Amounts in micro-euros, times in milliseconds since 1970. */
export interface ChildAccount {
  id: string;
  name: string;
  /** Null: no bound. */
  cap: number | null;
  per_day: number | null;
  datasets: readonly string[] | null;
  operations: readonly string[] | null;
  expires_at: number | null;
  created_at: number;
  spent: number;
  spent_today: number;
}

/** What a request changes of a child key. */
export type ChildChange = Partial<Omit<ChildAccount, 'id' | 'created_at' | 'spent' | 'spent_today'>>;

/** The new secret of a key, and how many child keys and connected applications ended with the old one. */
export interface ReplacedKey {
  secret: string;
  ended: { children: number; apps: number };
}

/** Limits of a key in micro-euros; null: none. */
export interface AccountLimits {
  per_day: number | null;
  per_month: number | null;
  alert_below: number | null;
}

/** Micro-euros that a key and its children spent today and this month. */
export interface LimitSpending {
  day_spent: number;
  month_spent: number;
}

/** A payment that buys a key. `key`: set by `prepare`, and stored with the payment. */
export interface KeyPurchase {
  payment_id: string;
  idempotency_key: string;
  key: string | null;
}

/** A grant by an operator: micro-euros (0: none), a plan (null: no change) and the reason. */
export interface CreditGrant {
  amount: number;
  plan: string | null;
  reason: string;
}

/** Each method throws an `ApiError` or `DataError` with a code of contract section 4. */
export interface Accounts {
  /**
   * Creates a key with the welcome credit, or with 0 when the budget of the day is used up. Only this answer
   * contains the secret. Errors: `key_exists`, `rate_limited`, `validation_failed`.
   */
  create(email: string, requester: Requester, keep?: KeepAnswer<CreatedAccount>): Promise<CreatedAccount>;
  /** The caller's account. */
  own(requester: Requester): Promise<Account>;
  /**
   * Movements of the caller's key, newest first. `before` is the id of a movement: only older ones are
   * returned.
   */
  movements(requester: Requester, limit: number, before: number | null): Promise<AccountMovement[]>;
  /** Keys in the order of their creation, after a position. */
  list(limit: number, after: { created_at: number; id: string } | null, now: number): Promise<Account[]>;
  /** Revokes a key at once. Error: `not_found`. */
  revoke(id: string, requester: Requester): Promise<void>;
  /** Adds credit and sets the plan. Error: `not_found`. */
  grant(id: string, creditGrant: CreditGrant, requester: Requester): Promise<Account>;
  /**
   * Mails a link that rotates the key of this address. The answer is the same when the address has no key.
   */
  recover(email: string, requester: Requester): Promise<void>;
  /** Id and secret of the key that a payment buys; the settlement creates it. */
  prepare(purchase: KeyPurchase, expires_at: number): { id: string; secret: string };
  /** Creates a child key of the caller's key; only this answer contains the secret. Error: `validation_failed`. */
  createChild(
    child: Required<ChildChange>,
    requester: Requester,
    keep?: KeepAnswer<{ secret: string; child: ChildAccount }>,
  ): Promise<{ secret: string; child: ChildAccount }>;
  /** Child keys of the caller's key. */
  children(requester: Requester): Promise<ChildAccount[]>;
  /** Changes or revokes a child key of the caller's key. Error: `not_found`. */
  changeChild(
    id: string,
    change: ChildChange | 'revoke',
    requester: Requester,
    keep?: KeepAnswer<ChildAccount>,
  ): Promise<ChildAccount>;
  /** Replaces the limits of the caller's key. */
  limit(limits: AccountLimits, requester: Requester, keep?: KeepAnswer<LimitSpending>): Promise<LimitSpending>;
  /** Mails a link that attaches an address to the caller's key. Errors: `key_exists`, `validation_failed`. */
  attachEmail(email: string, requester: Requester): Promise<void>;
  /** Charged calls of the caller's key in the last `days` UTC days, today included, by day and operation. */
  usage(requester: Requester, days: number): Promise<AccountUsage[]>;
  /**
   * Replaces the secret of the caller's key; its child keys and connected applications end unless `choice` keeps them.
   * `current` is the SHA-256 of the secret that the caller sent: of two simultaneous calls one succeeds. Error:
   * `invalid_key`.
   */
  replace(
    requester: Requester,
    current: string,
    choice: { keep_children: boolean; keep_apps: boolean },
    keep?: KeepAnswer<ReplacedKey>,
  ): Promise<ReplacedKey>;
  /** Revokes the caller's key at once and permanently. Error: `not_found`. */
  close(requester: Requester, keep?: KeepAnswer<string>): Promise<string>;
  /** Opens a hosted checkout and returns its URL. Error: `unavailable` without a checkout provider. */
  topup(amount: number, requester: Requester): Promise<string>;
  /** Opens a hosted checkout for a plan; otherwise as `topup`. */
  subscribe(plan: string, requester: Requester): Promise<string>;
}
