// Charging a call: take the price off the key's balance if it covers it, and write both rows, in one transaction.
//
// On SQLite a worker thread owns the connection and commits everything that arrived meanwhile at once: the event loop
// never waits for a disk, and one commit serves many calls. On PostgreSQL one statement does it.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { accountOf } from './ledger.ts';
import type { Store } from './store.ts';
import type { ChargeJob, ChargeOutcome } from './writer-jobs.ts';

export type Charge = Omit<ChargeJob, 'kind'>;

/** Charges a key, if its balance covers the amount (micro-euros, above zero); nothing else than `charged` takes anything. */
export async function charge(store: Store, given: Charge): Promise<ChargeOutcome> {
  return store.writer ? store.writer.run({ kind: 'charge', ...given }) : onPostgres(store, given);
}

async function onPostgres(store: Store, given: Charge): Promise<ChargeOutcome> {
  const { key_id, amount, operation, dataset, request_id, now, answer } = given;
  const account = accountOf(key_id);
  // The claim is locked first: of two processes that hold the same Idempotency-Key one finds its claim gone.
  const claim = answer
    ? sql`select 1 from idempotency where key_id = ${key_id} and idempotency_key = ${answer.idempotency_key}
            and created_at = ${answer.claim}::bigint and answer is null for update`
    : sql`select 1`;
  const kept = answer
    ? sql`, kept as (
        update idempotency set answer = ${answer.text}::text, records = ${answer.records}::text
        where key_id = ${key_id} and idempotency_key = ${answer.idempotency_key} and exists (select 1 from taken)
      )`
    : sql``;
  const { rows } = await sql<{ balance: number | null; claims: number }>`
    with claim as (${claim}), taken as (
      update balances set amount = amount - ${amount}::bigint
      where account = ${account} and amount >= ${amount}::bigint and exists (select 1 from claim)
        and exists (select 1 from keys where id = ${key_id} and revoked_at is null)
      returning amount
    ), written as (
      insert into entries (transaction_id, account, amount, balance, at, kind, operation, dataset, request_id)
      select ${randomUUID()}::text, v.account, v.amount, v.balance, ${now}::bigint, 'charge', ${operation}::text, ${dataset}::text, ${request_id}::text
      from taken, lateral (values (${account}::text, -${amount}::bigint, taken.amount), ('revenue', ${amount}::bigint, null)) v (account, amount, balance)
    )${kept}
    select (select amount from taken) as balance, (select count(*) from claim) as claims`.execute(store.db);
  const [row] = rows;
  if (row?.balance !== null && row?.balance !== undefined) return { state: 'charged', balance: row.balance };
  if (row?.claims === 0) return { state: 'superseded' };
  const key = await store.db
    .selectFrom('keys')
    .leftJoin('balances', (join) => join.on('balances.account', '=', account))
    .select(['revoked_at', 'amount'])
    .where('id', '=', key_id)
    .executeTakeFirst();
  if (!key || key.revoked_at !== null) return { state: 'revoked' };
  return { state: 'insufficient', balance: key.amount ?? 0 };
}
