// Looks up the key of every request without a cache: a revocation takes effect at once in its process, and in
// others with the next turn of their event loop.
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import type { Awaitable } from '../../model/awaitable.ts';
import { hashSecret, isWellFormedKey } from '../key-format.ts';
import type { Store } from '../store.ts';
import { findKey, keyById } from './keys.ts';

/** A live key as the gate needs it. Amounts in micro-euros, times in milliseconds since 1970. */
export interface LiveKey {
  id: string;
  plan: string;
  plan_until: number | null;
  balance: number;
}

/** A grant with the live key that it spends from. */
export interface LiveGrant {
  /** Its name in tokens and charges. */
  name: string;
  client_id: string;
  /** The rest of its cap; null: no cap. */
  left: number | null;
  /** Whether its tokens are accepted at every resource, whatever they were issued for. */
  any_resource: boolean;
  key: LiveKey;
}

export interface Lookup {
  /** The key of a secret; null when it is unknown or revoked. A malformed secret needs no lookup. */
  find(secret: string): Awaitable<LiveKey | null>;
  /**
   * The grant with this name; null when it expired or its key is revoked. `now` in milliseconds since 1970.
   */
  grant(name: string, now: number): Promise<LiveGrant | null>;
  /** Balance of a key now. */
  balance(id: string): Promise<number>;
  close(): void;
}

/**
 * On SQLite prepared statements on a read-only connection, a few microseconds each; on PostgreSQL one query.
 */
export function openLookup(store: Store): Lookup {
  return store.file === null ? fromQueries(store) : fromStatements(store.file, store.changes);
}

function fromQueries(store: Store): Lookup {
  return {
    async find(secret) {
      const key = await findKey(store, secret);
      return key === null || key.revoked_at !== null ? null : key;
    },
    async grant(name, now) {
      const row = await store.db
        .selectFrom('grants')
        .innerJoin('keys', 'keys.id', 'grants.key_id')
        .leftJoin('balances', (join) => join.on('account', '=', sql<string>`'key:' || keys.id`))
        .select(['keys.id', 'plan', 'plan_until', 'amount as balance', 'client_id', 'cap', 'spent', 'any_resource'])
        .where('grants.id', '=', name)
        .where('revoked_at', 'is', null)
        .where((e) => e.or([e('expires_at', 'is', null), e('expires_at', '>', now)]))
        .executeTakeFirst();
      return row ? liveGrant(name, row) : null;
    },
    balance: async (id) => (await keyById(store, id))?.balance ?? 0,
    close: () => {},
  };
}

type GrantRow = Omit<LiveKey, 'balance'> & {
  balance: number | null;
  client_id: string;
  cap: number | null;
  spent: number;
  any_resource: number;
};

function liveGrant(name: string, row: GrantRow): LiveGrant {
  const { client_id, cap, spent, any_resource, balance, id, plan, plan_until } = row;
  const left = cap === null ? null : Math.max(0, cap - spent);
  const key = { id, plan, plan_until, balance: balance ?? 0 };
  return { name, client_id, left, any_resource: any_resource === 1, key };
}

type Row = LiveKey & { revoked_at: number | null };

function fromStatements(file: string, changes: Store['changes']): Lookup {
  const db = new DatabaseSync(file, { readOnly: true, timeout: 10_000 });
  const byHash = db.prepare(
    `select keys.id, plan, plan_until, revoked_at, coalesce(amount, 0) as balance
     from keys left join balances on account = 'key:' || keys.id where hash = ?`,
  );
  const byGrant = db.prepare(
    `select keys.id, plan, plan_until, amount as balance, client_id, cap, spent, any_resource
     from grants join keys on keys.id = key_id left join balances on account = 'key:' || keys.id
     where grants.id = ? and revoked_at is null and (expires_at is null or expires_at > ?)`,
  );
  const amount = db.prepare("select amount from balances where account = 'key:' || ?");
  const endTurn = () => {
    if (db.isOpen && db.isTransaction) db.exec('commit');
  };
  let seen = 0;
  /**
   * Look-ups of one turn of the event loop read the same state, unless this process changes something: after each
   * charge of another connection, SQLite would read its pages again for every call.
   */
  const beginTurn = () => {
    if (db.isTransaction && seen === changes()) return;
    endTurn();
    seen = changes();
    db.exec('begin');
    setImmediate(endTurn);
  };
  return {
    find(secret) {
      if (!isWellFormedKey(secret)) return null;
      beginTurn();
      const row = byHash.get(hashSecret(secret)) as Row | undefined;
      return row && row.revoked_at === null ? row : null;
    },
    async grant(name, now) {
      endTurn();
      const row = byGrant.get(name, now) as GrantRow | undefined;
      return row ? liveGrant(name, row) : null;
    },
    // The balance of this moment, like a grant: it decides about a call that waits for another one.
    async balance(id) {
      endTurn();
      return (amount.get(id) as { amount: number } | undefined)?.amount ?? 0;
    },
    close: () => db.close(),
  };
}
