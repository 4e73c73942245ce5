// The ledger: every movement of credit is two rows that sum to zero, and a key's balance is the sum of its rows.
import { randomUUID } from 'node:crypto';
import { sql, type Transaction } from 'kysely';
import type { Store } from '../store.ts';
import type { EntryTable, Tables } from '../tables/schema.ts';

/** What credits come from and debits go to. */
export type OwnAccount = 'revenue' | 'welcome' | 'grant' | 'cash' | 'refund' | 'dispute';

/** Every kind of movement on a key's account, in the words of the owner's ledger (docs/paying.md). */
export const LEDGER_KINDS = [
  'welcome',
  'grant',
  'charge',
  'topup',
  'refund',
  'refund_failed',
  'dispute',
  'dispute_won',
  'plan_payment',
  'plan',
  'plan_returned',
] as const;

/** One movement on a key's account, positive for a credit. Micro-euros. */
export interface Movement {
  key_id: string;
  amount: number;
  kind: (typeof LEDGER_KINDS)[number];
  against: OwnAccount;
  /** Outside reference; a second movement of the same kind with it changes nothing. */
  reference?: string;
  request_id?: string;
  /** Why, in an operator's words. */
  note?: string;
  now: number;
}

/** The ledger account of a key. */
export const accountOf = (keyId: string) => `key:${keyId}`;

/**
 * Moves credit outside the gate: welcome, grant, top-up, refund, dispute. A refund may take a balance below zero (contract
 * section 3). Answers the new balance, or null when the reference was seen before.
 */
export async function move(store: Store, movement: Movement): Promise<number | null> {
  try {
    return await store.db.transaction().execute((tx) => moveIn(tx, movement));
  } catch (error) {
    if (movement.reference !== undefined && isDuplicate(error)) return null;
    throw error;
  }
}

/** The same inside a transaction of the caller's. */
export async function moveIn(tx: Transaction<Tables>, movement: Movement): Promise<number> {
  const account = accountOf(movement.key_id);
  if (!Number.isSafeInteger(movement.amount)) throw new RangeError('an amount is a whole number of micro-euros');
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

/** Unique violations: SQLite says so in its message, PostgreSQL by SQLSTATE 23505. */
export function isDuplicate(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string };
  return code === '23505' || /UNIQUE constraint failed/.test(message ?? '');
}

/** A key's balance in micro-euros; 0 where it never moved. */
export async function balanceOf(store: Store, keyId: string): Promise<number> {
  const row = await store.db
    .selectFrom('balances')
    .select('amount')
    .where('account', '=', accountOf(keyId))
    .executeTakeFirst();
  return row?.amount ?? 0;
}

export type Entry = Omit<EntryTable, 'id'> & { id: number };

/** A key's rows, newest first, before a row id. */
export async function entriesOf(store: Store, keyId: string, limit: number, before: number | null): Promise<Entry[]> {
  let query = store.db.selectFrom('entries').selectAll().where('account', '=', accountOf(keyId));
  if (before !== null) query = query.where('id', '<', before);
  return query.orderBy('id', 'desc').limit(limit).execute();
}

/** What `npm run ledger -- verify` finds: empty lists when the books are right. */
export interface Verdict {
  entries: number;
  /** Keys that have a balance. */
  accounts: number;
  /** Transactions whose rows do not sum to zero. */
  unbalanced: { transaction_id: string; sum: number }[];
  /** Accounts whose stored balance is not the sum of their rows. */
  wrong: { account: string; stored: number | null; sum: number }[];
  /** Sum over all rows: zero. */
  sum: number;
}

/** Adds everything up again from the rows alone. */
export async function verify(store: Store): Promise<Verdict> {
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
