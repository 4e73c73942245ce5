// The ledger: a movement is two rows that sum to zero; the balance of a key is the sum of its rows.
import { randomUUID } from 'node:crypto';
import { sql, type Transaction } from 'kysely';
import type { Store } from '../store.ts';
import type { EntryTable, Tables } from '../tables/schema.ts';
import type { ChargeJob, ChargeOutcome } from '../writer-jobs.ts';

/** Our own accounts, the other side of each movement. */
export type OwnAccount = 'revenue' | 'welcome' | 'grant' | 'cash' | 'refund' | 'dispute';

/** Kinds of movements on the account of a key, as the ledger shows them (docs/paying.md). */
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

/** The ledger account of a key. */
export const accountOf = (keyId: string) => `key:${keyId}`;

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
  const row = await store.db
    .selectFrom('balances')
    .select('amount')
    .where('account', '=', accountOf(keyId))
    .executeTakeFirst();
  return row?.amount ?? 0;
}

export type Entry = Omit<EntryTable, 'id'> & { id: number };

/** Rows of a key, newest first, older than a row id. */
export async function entriesOf(store: Store, keyId: string, limit: number, before: number | null): Promise<Entry[]> {
  let query = store.db.selectFrom('entries').selectAll().where('account', '=', accountOf(keyId));
  if (before !== null) query = query.where('id', '<', before);
  return query.orderBy('id', 'desc').limit(limit).execute();
}

/** Charged calls of one UTC day. */
export interface UsageRow {
  /** YYYY-MM-DD. */
  date: string;
  dataset: string;
  operation: string;
  calls: number;
  /** Micro-euros. */
  amount: number;
}

const DAY = 86_400_000;

/** Charged calls of a key since a time (milliseconds since 1970), by day, dataset and operation. */
export async function usageOf({ db }: Store, keyId: string, since: number): Promise<UsageRow[]> {
  const { rows } = await sql<Omit<UsageRow, 'date'> & { day: number }>`
    select at / ${sql.lit(DAY)} as day, coalesce(dataset, '') as dataset, coalesce(operation, '') as operation,
      count(*) as calls, cast(-sum(amount) as bigint) as amount
    from entries where account = ${accountOf(keyId)} and kind = 'charge' and at >= ${since}
    group by 1, 2, 3 order by 1, 2, 3`.execute(db);
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

export type Charge = Omit<ChargeJob, 'kind'>;

/**
 * Charges a key if its balance covers the amount (micro-euros, above zero): both rows in one transaction.
 * Only `charged` changes the balance.
 *
 * On SQLite a worker thread owns the writing connection and commits all waiting jobs together: the event loop
 * never waits for the disk, and one commit serves many calls. On PostgreSQL one statement does it.
 */
export async function charge(store: Store, job: Charge): Promise<ChargeOutcome> {
  return store.writer ? store.writer.run({ kind: 'charge', ...job }) : onPostgres(store, job);
}

async function onPostgres(store: Store, job: Charge): Promise<ChargeOutcome> {
  const { key_id, amount, operation, dataset, request_id, now, answer, grant } = job;
  const account = accountOf(key_id);
  // Lock the claim first: of two processes with the same Idempotency-Key, one finds its claim gone.
  const claim = answer
    ? sql`select 1 from idempotency where key_id = ${key_id} and idempotency_key = ${answer.idempotency_key}
            and created_at = ${answer.claim}::bigint and answer is null for update`
    : sql`select 1`;
  // Charges of one grant are serialised here, so each sees the cap that the previous one left.
  const allowed = grant
    ? sql`select 1 from grants where id = ${grant} and (cap is null or cap - spent >= ${amount}::bigint) for update`
    : sql`select 1`;
  const counted = grant
    ? sql`, counted as (
        update grants set spent = spent + ${amount}::bigint where id = ${grant} and exists (select 1 from taken)
      )`
    : sql``;
  const kept = answer
    ? sql`, kept as (
        update idempotency set answer = ${answer.text}::text, records = ${answer.records}::text
        where key_id = ${key_id} and idempotency_key = ${answer.idempotency_key} and exists (select 1 from taken)
      )`
    : sql``;
  const { rows } = await sql<{ balance: number | null; claims: number; allowances: number }>`
    with claim as (${claim}), allowed as (${allowed}), taken as (
      update balances set amount = amount - ${amount}::bigint
      where account = ${account} and amount >= ${amount}::bigint and exists (select 1 from claim)
        and exists (select 1 from allowed)
        and exists (select 1 from keys where id = ${key_id} and revoked_at is null)
      returning amount
    ), written as (
      insert into entries (transaction_id, account, amount, balance, at, kind, operation, dataset, request_id)
      select ${randomUUID()}::text, v.account, v.amount, v.balance, ${now}::bigint, 'charge', ${operation}::text, ${dataset}::text, ${request_id}::text
      from taken, lateral (values (${account}::text, -${amount}::bigint, taken.amount), ('revenue', ${amount}::bigint, null)) v (account, amount, balance)
    )${counted}${kept}
    select (select amount from taken) as balance, (select count(*) from claim) as claims,
      (select count(*) from allowed) as allowances`.execute(store.db);
  const [row] = rows;
  if (row?.balance !== null && row?.balance !== undefined) return { state: 'charged', balance: row.balance };
  if (row?.claims === 0) return { state: 'superseded' };
  if (row?.allowances === 0) return refusedByGrant(store, grant ?? '');
  const key = await store.db
    .selectFrom('keys')
    .leftJoin('balances', (join) => join.on('balances.account', '=', account))
    .select(['revoked_at', 'amount'])
    .where('id', '=', key_id)
    .executeTakeFirst();
  if (!key || key.revoked_at !== null) return { state: 'revoked' };
  return { state: 'insufficient', balance: key.amount ?? 0 };
}

/** Why a grant rejected a charge: it has ended, or its cap is too low. */
async function refusedByGrant(store: Store, grant: string): Promise<ChargeOutcome> {
  const found = await store.db.selectFrom('grants').select(['cap', 'spent']).where('id', '=', grant).executeTakeFirst();
  if (!found) return { state: 'withdrawn' };
  return { state: 'capped', left: Math.max(0, (found.cap ?? found.spent) - found.spent) };
}
