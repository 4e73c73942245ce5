// The statements that calls run on either database: look-ups of keys and grants, charges, quotas.
import { type Compilable, type CompiledQuery, type Kysely, sql } from 'kysely';
import type { Tables } from './tables/schema.ts';

type Db = Kysely<Tables>;

/** A value of a compiled statement, which each run replaces. */
class Parameter {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/**
 * A statement that is compiled once for each database, because that takes longer than to run it. `build` may only pass
 * its values on, and gets no arrays.
 *
 *     const planOf = statement((db, { id }: { id: string }) => db.selectFrom('keys').select('plan').where('id', '=', id));
 *     const [row] = await planOf(store.db, { id });
 */
function statement<V extends object, R>(
  build: (db: Db, values: V) => Compilable<R>,
): (db: Db, values: V) => Promise<R[]> {
  const parameters = new Proxy({}, { get: (_, name: string) => new Parameter(name) }) as V;
  const queries = new WeakMap<object, CompiledQuery<R>>();
  return async (db, values) => {
    const { adapter } = db.getExecutor();
    let query = queries.get(adapter);
    if (query === undefined) {
      query = build(db, parameters).compile();
      queries.set(adapter, query);
    }
    const bound = query.parameters.map((value) => (value instanceof Parameter ? values[value.name as keyof V] : value));
    return (await db.executeQuery<R>({ ...query, parameters: bound })).rows;
  };
}

/** A request's claim on its Idempotency-Key. */
export interface KeyClaim {
  /** Whose key it is: the id of an API key, or the kind of a caller without one. */
  owner: string;
  idempotency_key: string;
  /** Proves the claim: another request that takes the key over has a later one. */
  claimed_at: number;
}

/** An answer to store. */
export interface StoredAnswer {
  /** Head and body in one text. */
  text: string;
  /** Ids of its records, separated by spaces, so that an opt-out finds it. */
  records: string;
  /** The claim that it completes; absent without an Idempotency-Key. */
  claim?: KeyClaim;
}

/** The ledger account of a key. */
export const accountOf = (keyId: string) => `key:${keyId}`;

/** Whether rows have locks. SQLite has one writer at a time instead. */
const locksRows = (db: Db): boolean => db.getExecutor().adapter.supportsMultipleConnections !== false;

const keysWithBalance = (db: Db) =>
  db
    .selectFrom('keys')
    .leftJoin('balances', (join) => join.on('account', '=', sql<string>`'key:' || keys.id`))
    .leftJoin('key_limits', 'key_limits.key_id', 'keys.id')
    .select((e) => [
      'keys.id',
      'plan',
      'plan_until',
      'keys.revoked_at',
      e.fn.coalesce('amount', e.lit(0)).as('balance'),
    ])
    .select([
      'keys.expires_at as ends_at',
      'key_limits.key_id as limited',
      'key_limits.per_day',
      'key_limits.per_month',
    ])
    .select(['key_limits.day', 'key_limits.day_spent', 'key_limits.month', 'key_limits.month_spent']);

export const keyByHash = statement((db, { hash }: { hash: string }) =>
  keysWithBalance(db).where('keys.hash', '=', hash),
);

/** The child key of a secret, with its parent and the bounds of both. */
export const childByHash = statement((db, { hash }: { hash: string }) =>
  keysWithBalance(db)
    .innerJoin('children', 'children.key_id', 'keys.id')
    .select(['children.id as child_id', 'children.name', 'children.cap', 'children.spent', 'children.expires_at'])
    .select(['children.per_day as child_per_day', 'children.day as child_day', 'children.day_spent as child_day_spent'])
    .select(['children.datasets', 'children.operations'])
    .where('children.hash', '=', hash)
    .where('children.revoked_at', 'is', null),
);

export const keyWithBalance = statement((db, { id }: { id: string }) => keysWithBalance(db).where('keys.id', '=', id));

export const grantWithKey = statement((db, { grant, now }: { grant: string; now: number }) =>
  keysWithBalance(db)
    .innerJoin('grants', 'grants.key_id', 'keys.id')
    .select(['client_id', 'cap', 'spent'])
    .where('grants.id', '=', grant)
    .where('keys.revoked_at', 'is', null)
    .where((e) => e.or([e('grants.expires_at', 'is', null), e('grants.expires_at', '>', now)])),
);

export const balanceByAccount = statement((db, { account }: { account: string }) =>
  db.selectFrom('balances').select('amount').where('account', '=', account),
);

/** The claim of a request, unless another request has taken it over. Locks it until the end of the transaction. */
export const openClaim = statement((db, { owner, idempotency_key, claimed_at }: KeyClaim) =>
  db
    .selectFrom('idempotency')
    .select('created_at')
    .where('key_id', '=', owner)
    .where('idempotency_key', '=', idempotency_key)
    .where('created_at', '=', claimed_at)
    .where('answer', 'is', null)
    .$if(locksRows(db), (query) => query.forUpdate()),
);

/** A grant's cap and what it spent. Locks the grant, so that each charge sees what others have spent. */
export const lockGrant = statement((db, { grant }: { grant: string }) =>
  db
    .selectFrom('grants')
    .select(['cap', 'spent'])
    .where('id', '=', grant)
    .$if(locksRows(db), (query) => query.forUpdate()),
);

/** A child key. Locks it, so that each charge sees what others have spent. */
export const lockChild = statement((db, { child }: { child: string }) =>
  db
    .selectFrom('children')
    .select(['cap', 'spent', 'per_day', 'day', 'day_spent', 'expires_at'])
    .where('id', '=', child)
    .where('revoked_at', 'is', null)
    .$if(locksRows(db), (query) => query.forUpdate()),
);

/** The limits of a key, locked in the same way. */
export const lockLimits = statement((db, { id }: { id: string }) =>
  db
    .selectFrom('key_limits')
    .selectAll()
    .where('key_id', '=', id)
    .$if(locksRows(db), (query) => query.forUpdate()),
);

export const spendChild = statement((db, values: { child: string; spent: number; day: string; day_spent: number }) => {
  const { child, spent, day, day_spent } = values;
  return db.updateTable('children').set({ spent, day, day_spent }).where('id', '=', child);
});

export const spendLimits = statement(
  (
    db,
    values: {
      id: string;
      day: string;
      day_spent: number;
      month: string;
      month_spent: number;
      alerted_at: number | null;
    },
  ) => {
    const { id, day, day_spent, month, month_spent, alerted_at } = values;
    return db
      .updateTable('key_limits')
      .set({ day, day_spent, month, month_spent, alerted_at })
      .where('key_id', '=', id);
  },
);

/** Takes an amount from a balance that covers it, unless the key is revoked; returns the new balance. */
export const debit = statement((db, { id, account, amount }: { id: string; account: string; amount: number }) =>
  db
    .updateTable('balances')
    .set((e) => ({ amount: e('amount', '-', amount) }))
    .where('account', '=', account)
    .where('amount', '>=', amount)
    .where((e) => e.exists(e.selectFrom('keys').select('id').where('id', '=', id).where('revoked_at', 'is', null)))
    .returning('amount'),
);

/** The two rows of a charge; `debit` is its negative amount. */
export const writeCharge = statement(
  (
    db,
    values: {
      transaction_id: string;
      account: string;
      amount: number;
      debit: number;
      balance: number;
      at: number;
      operation: string;
      dataset: string | null;
      request_id: string;
      child_id: string | null;
    },
  ) => {
    const { transaction_id, account, amount, debit, balance, at, operation, dataset, request_id, child_id } = values;
    const common = { transaction_id, at, kind: 'charge', operation, dataset, request_id, child_id };
    return db.insertInto('entries').values([
      { ...common, account, amount: debit, balance },
      { ...common, account: 'revenue', amount, balance: null },
    ]);
  },
);

export const spendGrant = statement((db, { grant, amount }: { grant: string; amount: number }) =>
  db
    .updateTable('grants')
    .set((e) => ({ spent: e('spent', '+', amount) }))
    .where('id', '=', grant),
);

/** Stores the answer of a claimed request. */
export const storeAnswer = statement(
  (db, { owner, idempotency_key, claimed_at, text, records }: KeyClaim & Omit<StoredAnswer, 'claim'>) =>
    db
      .updateTable('idempotency')
      .set({ answer: text, records })
      .where('key_id', '=', owner)
      .where('idempotency_key', '=', idempotency_key)
      .where('created_at', '=', claimed_at),
);

/** The day that a quota counts: the latest one with units, so that a clock that goes back resets no quota. */
const countedDay = (name: string, day: string) =>
  sql<string>`coalesce((select max(day) from quotas where name = ${name} and day > ${day}), ${day})`;

/** Takes `wanted` units of a day's quota, or those that are left. `first`: the units of the first call of the day. */
export const takeUnits = statement(
  (
    db,
    { name, day, wanted, quota, first }: { name: string; day: string; wanted: number; quota: number; first: number },
  ) =>
    db
      .insertInto('quotas')
      .values({ name, day: countedDay(name, day), used: first, last: first })
      .onConflict((conflict) =>
        conflict.columns(['name', 'day']).doUpdateSet((e) => {
          const units = e
            .case()
            .when('quotas.used', '>=', quota)
            .then(e.lit(0))
            .when(e('quotas.used', '+', wanted), '<=', quota)
            .then(e.val(wanted))
            .else(e(e.val(quota), '-', e.ref('quotas.used')))
            .end();
          return { last: units, used: e('quotas.used', '+', units) };
        }),
      )
      .returning('last'),
);

export const returnUnits = statement((db, { name, day, units }: { name: string; day: string; units: number }) =>
  db
    .updateTable('quotas')
    .set((e) => ({
      used: e
        .case()
        .when('used', '>', units)
        .then(e('used', '-', units))
        .else(e.lit(0))
        .end(),
    }))
    .where('name', '=', name)
    .where('day', '=', countedDay(name, day)),
);

export const usedUnits = statement((db, { name, day }: { name: string; day: string }) =>
  db.selectFrom('quotas').select('used').where('name', '=', name).where('day', '=', countedDay(name, day)),
);
