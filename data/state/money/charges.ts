// Charging a call: take the price off the key's balance if it covers it, and write both rows, in one transaction.
//
// On SQLite a worker thread owns the connection and commits everything that arrived meanwhile at once: the event loop
// never waits for a disk, and one commit serves many calls. On PostgreSQL one statement does it.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Store } from '../store.ts';
import type { ChargeJob, ChargeOutcome } from '../writer-jobs.ts';
import { accountOf } from './ledger.ts';

export type Charge = Omit<ChargeJob, 'kind'>;

/** Charges a key, if its balance covers the amount (micro-euros, above zero); nothing else than `charged` takes anything. */
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
