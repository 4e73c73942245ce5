// The ledger: a movement is two rows that sum to zero; the balance of a key is the sum of its rows.
import { randomUUID } from 'node:crypto';
import { sql, type Transaction } from 'kysely';
import { accountOf, balanceByAccount } from '../statements.ts';
import type { Store } from '../store.ts';
import type { EntryTable, Tables } from '../tables/schema.ts';
import { type Charge, type ChargeOutcome, JOBS } from '../writer-jobs.ts';

/** Our own accounts, the other side of each movement. */
export type OwnAccount = 'revenue' | 'welcome' | 'grant' | 'cash' | 'refund' | 'dispute' | 'x402' | 'unclaimed';

/** Kinds of movements on the account of a key, as the ledger shows them (docs/paying.md). */
export const LEDGER_KINDS = [
  'welcome',
  'grant',
  'charge',
  'charge_refunded',
  'topup',
  'refund',
  'refund_failed',
  'dispute',
  'dispute_won',
  'plan_payment',
  'plan',
  'prepaid',
  'expired',
  'plan_returned',
] as const;

/** One movement on the account of a key in micro-euros, positive for a credit. */
export interface Movement {
  key_id: string;
  amount: number;
  kind: (typeof LEDGER_KINDS)[number];
  against: OwnAccount;
  /** Outside reference; a second movement of the same kind and reference has no effect. */
  reference?: string;
  request_id?: string;
  /** Reason in an operator's words. */
  note?: string;
  now: number;
}

/**
 * Moves credit outside the gate: welcome, grant, top-up, refund, dispute. A refund may make a balance
 * negative (contract section 3). Returns the new balance, or null for a known reference.
 */
export async function move(store: Store, movement: Movement): Promise<number | null> {
  try {
    return await store.db.transaction().execute((tx) => moveIn(tx, movement));
  } catch (error) {
    if (movement.reference !== undefined && isDuplicate(error)) return null;
    throw error;
  }
}

/** As `move`, inside the caller's transaction. */
export async function moveIn(tx: Transaction<Tables>, movement: Movement): Promise<number> {
  const account = accountOf(movement.key_id);
  if (!Number.isSafeInteger(movement.amount))
    throw new RangeError(`an amount must be an integer of micro-euros (got ${movement.amount})`);
  const { amount: balance } = await tx
    .insertInto('balances')
    .values({ account, amount: movement.amount })
    .onConflict((c) => c.column('account').doUpdateSet({ amount: sql`balances.amount + excluded.amount` }))
    .returning('amount')
    .executeTakeFirstOrThrow();
  const common = {
    transaction_id: randomUUID(),
    at: movement.now,
    kind: movement.kind,
    operation: null,
    dataset: null,
    request_id: movement.request_id ?? null,
    reference: movement.reference ?? null,
    note: movement.note ?? null,
  };
  await tx
    .insertInto('entries')
    .values([
      { ...common, account, amount: movement.amount, balance },
      { ...common, account: movement.against, amount: -movement.amount, balance: null },
    ])
    .execute();
  return balance;
}

/** Whether an error is a unique violation: by message on SQLite, by SQLSTATE 23505 on PostgreSQL. */
export function isDuplicate(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string };
  return code === '23505' || /UNIQUE constraint failed/.test(message ?? '');
}

/** Balance of a key in micro-euros; 0 without movements. */
export async function balanceOf(store: Store, keyId: string): Promise<number> {
  const [row] = await balanceByAccount(store.reader, { account: accountOf(keyId) });
  return row?.amount ?? 0;
}

export type Entry = Omit<EntryTable, 'id'> & { id: number };

/**
 * Rows of a key, or those of one of its child keys, newest first, older than a row id.
 *
 * @example
 * ```ts
 * const [newest] = await entriesOf(store, key.id, 1, null);
 * newest?.amount; // micro-euros
 * ```
 */
export async function entriesOf(
  store: Store,
  keyId: string,
  limit: number,
  before: number | null,
  child?: string,
): Promise<Entry[]> {
  let query = store.db.selectFrom('entries').selectAll().where('account', '=', accountOf(keyId));
  if (child !== undefined) query = query.where('child_id', '=', child);
  if (before !== null) query = query.where('id', '<', before);
  return query.orderBy('id', 'desc').limit(limit).execute();
}

/** Charged calls of one UTC day. */
export interface UsageRow {
  /** YYYY-MM-DD. */
  date: string;
  dataset: string;
  operation: string;
  /** The child key that was called with; empty: none. */
  child_id: string;
  calls: number;
  /** Micro-euros. */
  amount: number;
}

const DAY = 86_400_000;

/** Charged calls of a key since a time (milliseconds since 1970), by day, dataset, operation and child key. */
export async function usageOf({ db }: Store, keyId: string, since: number): Promise<UsageRow[]> {
  const { rows } = await sql<Omit<UsageRow, 'date'> & { day: number }>`
    select at / ${sql.lit(DAY)} as day, coalesce(dataset, '') as dataset, coalesce(operation, '') as operation,
      coalesce(child_id, '') as child_id, count(*) as calls, cast(-sum(amount) as bigint) as amount
    from entries where account = ${accountOf(keyId)} and kind = 'charge' and at >= ${since}
    group by 1, 2, 3, 4 order by 1, 2, 3, 4`.execute(db);
  return rows.map(({ day, ...row }) => ({ date: new Date(Number(day) * DAY).toISOString().slice(0, 10), ...row }));
}

/** Result of `npm run ledger -- verify`; the lists are empty when the ledger is consistent. */
export interface LedgerCheck {
  entries: number;
  /** Number of keys with a balance. */
  accounts: number;
  /** Transactions whose rows do not sum to zero. */
  unbalanced: { transaction_id: string; sum: number }[];
  /** Accounts whose stored balance differs from the sum of their rows. */
  wrong: { account: string; stored: number | null; sum: number }[];
  /** Sum over all rows; must be zero. */
  sum: number;
}

/** Recomputes all sums from the rows. */
export async function verify(store: Store): Promise<LedgerCheck> {
  const { rows: totals } = await sql<{ n: number; total: number }>`
    select count(*) as n, cast(coalesce(sum(amount), 0) as bigint) as total from entries`.execute(store.db);
  const { rows: unbalanced } = await sql<{ transaction_id: string; sum: number }>`
    select transaction_id, cast(sum(amount) as bigint) as sum from entries group by transaction_id having sum(amount) <> 0`.execute(
    store.db,
  );
  const { rows: wrong } = await sql<{ account: string; stored: number | null; sum: number }>`
    select coalesce(b.account, e.account) as account, b.amount as stored, cast(coalesce(e.total, 0) as bigint) as sum
    from (select account, sum(amount) as total from entries where account like 'key:%' group by account) e
    full outer join balances b on b.account = e.account
    where b.amount is null or coalesce(e.total, 0) <> b.amount`.execute(store.db);
  const { n: accounts } = await store.db
    .selectFrom('balances')
    .select((e) => e.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow();
  return { accounts, entries: totals[0]?.n ?? 0, sum: totals[0]?.total ?? 0, unbalanced, wrong };
}

/**
 * Charges a key if its balance covers the amount (micro-euros, above zero): both rows in one transaction. Only
 * `charged` changes the balance.
 *
 * On SQLite a thread owns the writing connection and commits all waiting jobs together: the event loop never waits for
 * the disk, and one commit serves many calls.
 */
export async function charge(store: Store, job: Charge): Promise<ChargeOutcome> {
  return store.writer?.run('charge', job) ?? store.db.transaction().execute((tx) => JOBS.charge(tx, job));
}
