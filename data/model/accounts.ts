// What operations may ask of the accounts: keys, their ledgers, top-ups and recovery. A port: the store is behind it.

/** Who asks, as the gate found out. */
export interface Asker {
  /** Id of the caller's key; null for a stranger or an operator. */
  key: string | null;
  /** Which operator asks (access/caller.ts); absent for anybody else. */
  operator?: string;
  /** The address that limits count by. */
  address: string;
  request_id: string;
  /** Milliseconds since 1970. */
  now: number;
}

/** A key as answers show it. Amounts are micro-euros, times milliseconds since 1970. */
export interface Account {
  id: string;
  email: string;
  plan: string;
  balance: number;
  created_at: number;
  revoked_at: number | null;
}

/** One movement on a key's account. */
export interface Movement {
  id: number;
  at: number;
  kind: string;
  amount: number;
  balance: number;
  operation: string | null;
  dataset: string | null;
  request_id: string | null;
}

/** What an operator grants: micro-euros (0: none), a plan (null: leaves it), and why. */
export interface Grant {
  amount: number;
  plan: string | null;
  reason: string;
}

/** Every refusal is thrown with its code of contract section 4. */
export interface Accounts {
  /**
   * Makes a key with the welcome credit, or with 0 where the budget of the day is used up; the secret is in this answer alone. `key_exists`, `rate_limited`, `validation_failed`.
   */
  create(email: string, asker: Asker): Promise<{ secret: string; account: Account }>;
  /** The asker's own account. */
  own(asker: Asker): Promise<Account>;
  /** Movements of the asker's key, newest first, before a movement's id. */
  movements(asker: Asker, limit: number, before: number | null): Promise<Movement[]>;
  /** Keys by creation, after a position. */
  list(limit: number, after: { created_at: number; id: string } | null, now: number): Promise<Account[]>;
  /** Revokes a key at once; `not_found`. */
  revoke(id: string, asker: Asker): Promise<void>;
  /** Adds credit and sets the plan; `not_found`. */
  grant(id: string, given: Grant, asker: Asker): Promise<Account>;
  /** Mails a link that rotates the key of this address, if there is one; nobody is told whether. */
  recover(email: string, asker: Asker): Promise<void>;
  /** Opens a hosted checkout and answers its address; `unavailable` where there is none. */
  topup(amount: number, asker: Asker): Promise<string>;
  /** The same for a plan. */
  subscribe(plan: string, asker: Asker): Promise<string>;
}
