// Finding a key on every request, without a cache, so that a revocation counts at once in every process.
import { DatabaseSync } from 'node:sqlite';
import { hashSecret, sameHash, wellFormed } from './key-format.ts';
import { findKey, keyById } from './keys.ts';
import type { Store } from './store.ts';

/** What the gate needs to know of a live key. Amounts in micro-euros, times in milliseconds since 1970. */
export interface LiveKey {
  id: string;
  plan: string;
  plan_until: number | null;
  balance: number;
}

export interface Lookup {
  /** The key of a secret; null when it is unknown or revoked. A malformed secret costs no look-up. */
  find(secret: string): Promise<LiveKey | null>;
  /** Balance of a key now. */
  balance(id: string): Promise<number>;
  close(): void;
}

/** On SQLite a prepared statement on a connection that only reads, a few microseconds; on PostgreSQL one query. */
export function openLookup(store: Store): Lookup {
  return store.file === null ? fromQueries(store) : fromStatements(store.file);
}

function fromQueries(store: Store): Lookup {
  return {
    async find(secret) {
      const key = await findKey(store, secret);
      return key === null || key.revoked_at !== null ? null : key;
    },
    balance: async (id) => (await keyById(store, id))?.balance ?? 0,
    close: () => {},
  };
}

type Row = LiveKey & { hash: string; revoked_at: number | null };

function fromStatements(file: string): Lookup {
  const db = new DatabaseSync(file, { readOnly: true, timeout: 10_000 });
  const byHash = db.prepare(
    `select keys.id, hash, plan, plan_until, revoked_at, coalesce(amount, 0) as balance
     from keys left join balances on account = 'key:' || keys.id where hash = ?`,
  );
  const amount = db.prepare("select amount from balances where account = 'key:' || ?");
  return {
    async find(secret) {
      if (!wellFormed(secret)) return null;
      const hash = hashSecret(secret);
      const row = byHash.get(hash) as Row | undefined;
      return row && row.revoked_at === null && sameHash(row.hash, hash) ? row : null;
    },
    balance: async (id) => (amount.get(id) as { amount: number } | undefined)?.amount ?? 0,
    close: () => db.close(),
  };
}
