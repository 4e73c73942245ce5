// Limits that an owner sets for a key and its children, and the alert at a low balance. Amounts in micro-euros.
import { sql } from 'kysely';
import { type CountedSpending, dayOf, monthOf, spendingOn } from '../budgets.ts';
import { accountOf } from '../statements.ts';
import type { Store } from '../store.ts';
import type { KeyLimitTable } from '../tables/budgets.ts';

export type KeyLimits = Pick<KeyLimitTable, 'per_day' | 'per_month' | 'alert_below'>;

/** The limits of a key, with what was spent today and this month; null: it has none. */
export async function limitsOf({ db }: Store, key_id: string, now: number): Promise<KeyLimitTable | null> {
  const row = await db.selectFrom('key_limits').selectAll().where('key_id', '=', key_id).executeTakeFirst();
  if (row === undefined) return null;
  return { ...row, ...spendingOn(row, dayOf(now)) };
}

/** Replaces the limits of a key. What it spent earlier today and this month counts. `also` runs last. */
export async function setLimits(
  { db }: Store,
  key_id: string,
  limits: KeyLimits,
  now: number,
  also: (tx: Store['db'], row: KeyLimitTable) => Promise<void>,
): Promise<KeyLimitTable> {
  const spentSince = async (tx: Store['db'], date: string): Promise<number> => {
    const { rows } = await sql<{ spent: number }>`
      select cast(coalesce(-sum(amount), 0) as bigint) as spent from entries
      where account = ${accountOf(key_id)} and kind = 'charge' and at >= ${Date.parse(date)}`.execute(tx);
    return Number(rows[0]?.spent ?? 0);
  };
  return db.transaction().execute(async (tx) => {
    // Writing both rows, in the order of charges, makes this wait for the charges that run.
    const account = accountOf(key_id);
    const earlier = await tx
      .updateTable('key_limits')
      .set({ key_id })
      .where('key_id', '=', key_id)
      .returningAll()
      .executeTakeFirst();
    const day = dayOf(now);
    const counts = async (): Promise<CountedSpending> => ({
      ...{ day, day_spent: await spentSince(tx, day) },
      ...{ month: monthOf(day), month_spent: await spentSince(tx, `${monthOf(day)}-01`) },
    });
    const balance = await tx
      .updateTable('balances')
      .set({ account })
      .where('account', '=', account)
      .returning('amount')
      .executeTakeFirst();
    const row: KeyLimitTable = {
      // The alert is for a balance that falls below the mark: one that is below already arms none.
      ...{ key_id, ...limits, alerted_at: (balance?.amount ?? 0) < (limits.alert_below ?? 0) ? now : null },
      ...(earlier === undefined ? await counts() : spendingOn(earlier, day)),
    };
    await tx
      .insertInto('key_limits')
      .values(row)
      .onConflict((conflict) => conflict.column('key_id').doUpdateSet(row))
      .execute();
    await also(tx, row);
    return row;
  });
}

/** Marks the alert of a key as sent, once until its balance is above the mark again. `also` queues the mail. */
export async function takeAlert(
  { db }: Store,
  key_id: string,
  now: number,
  also: (tx: Store['db'], alert_below: number) => Promise<void>,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const row = await tx
      .updateTable('key_limits')
      .set({ alerted_at: now })
      .where('key_id', '=', key_id)
      .where('alerted_at', 'is', null)
      .where('alert_below', 'is not', null)
      .returning('alert_below')
      .executeTakeFirst();
    if (row?.alert_below != null) await also(tx, row.alert_below);
  });
}
