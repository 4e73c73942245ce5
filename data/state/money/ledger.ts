// The ledger: every movement of credit is two rows that sum to zero, and a key's balance is the sum of its rows.
import { randomUUID } from 'node:crypto';
import { sql, type Transaction } from 'kysely';
import type { Store } from '../store.ts';
import type { EntryTable, Tables } from '../tables/schema.ts';
import type { ChargeJob, ChargeOutcome } from '../writer-jobs.ts';

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

export type Charge = Omit<ChargeJob, 'kind'>;

/**
 * Charges a key, if its balance covers the amount (micro-euros, above zero): both rows in one transaction. Only `charged` takes anything.
 *
 * On SQLite a worker thread owns the connection and commits everything that arrived meanwhile at once: the event loop never waits for a
 * disk, and one commit serves many calls. On PostgreSQL one statement does it.
 */
export async function charge(store: Store, given: Charge): Promise<ChargeOutcome> {
  return store.writer ? store.writer.run({ kind: 'charge', ...given }) : onPostgres(store, given);
}

async function onPostgres(store: Store, given: Charge): Promise<ChargeOutcome> {
  const { key_id, amount, operation, dataset, request_id, now, answer, grant } = given;
  const account = accountOf(key_id);
  // The claim is locked first: of two processes that hold the same Idempotency-Key one finds its claim gone.
  const claim = answer
    ? sql`select 1 from idempotency where key_id = ${key_id} and idempotency_key = ${answer.idempotency_key}
            and created_at = ${answer.claim}::bigint and answer is null for update`
    : sql`select 1`;
  // Charges of one grant wait for each other here, and each sees what the one before it left.
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

/** Why a grant did not allow a charge: it is over, or its cap is too close. */
async function refusedByGrant(store: Store, grant: string): Promise<ChargeOutcome> {
  const found = await store.db.selectFrom('grants').select(['cap', 'spent']).where('id', '=', grant).executeTakeFirst();
  if (!found) return { state: 'withdrawn' };
  return { state: 'capped', left: Math.max(0, (found.cap ?? found.spent) - found.spent) };
}
