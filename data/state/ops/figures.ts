// Sums for the operators' pages: revenue and balances of keys. Micro-euros, milliseconds since 1970.
import { sql } from 'kysely';
import type { Store } from '../store.ts';

const DAY = 86_400_000;

/** Revenue of one UTC day. */
export interface MoneyDay {
  at: number;
  /** Paid by card, for credit and plans, minus returns; without the sandbox. */
  cards: number;
  /** Paid in the sandbox checkout: no real money. */
  sandbox: number;
  /** Paid by x402. */
  x402: number;
}

/** Revenue since a time by day, oldest first; days without movements are left out. */
export async function moneyByDay({ db }: Store, since: number): Promise<MoneyDay[]> {
  const day = sql<number>`(at / ${sql.lit(DAY)}) * ${sql.lit(DAY)}`;
  const rows = await db
    .selectFrom('entries')
    .select(day.as('day'))
    .select('account')
    .select(sql<number>`CASE WHEN reference LIKE 'sandbox%' THEN 1 ELSE 0 END`.as('play'))
    .select((e) => e.fn.sum<number>('amount').as('amount'))
    .where('account', 'in', ['cash', 'refund', 'dispute', 'x402'])
    .where('at', '>=', since)
    .groupBy([day, 'account', sql`CASE WHEN reference LIKE 'sandbox%' THEN 1 ELSE 0 END`])
    .execute();
  const days = new Map<number, MoneyDay>();
  for (const { day: at, account, play, amount } of rows) {
    const known = days.get(Number(at)) ?? { at: Number(at), cards: 0, sandbox: 0, x402: 0 };
    days.set(known.at, known);
    // Rows of our own accounts are the negative of those of keys and buyers.
    known[account === 'x402' ? 'x402' : Number(play) === 1 ? 'sandbox' : 'cards'] -= Number(amount);
  }
  return [...days.values()].sort((a, b) => a.at - b.at);
}

/** Number of active keys, of keys created since a time, and the sum of all balances. */
export async function keyFigures(
  { db }: Store,
  since: number,
): Promise<{ live: number; fresh: number; credit: number; plans: { plan: string; keys: number }[] }> {
  const rows = await db
    .selectFrom('keys')
    .select('plan')
    .select((e) => e.fn.countAll<number>().as('keys'))
    .select((e) => e.fn.sum<number>(e.case().when('created_at', '>=', since).then(1).else(0).end()).as('fresh'))
    .where('revoked_at', 'is', null)
    .groupBy('plan')
    .orderBy('plan')
    .execute();
  const { credit } = await db
    .selectFrom('balances')
    .select((e) => e.fn.sum<number | null>('amount').as('credit'))
    .where('amount', '>', 0)
    .where('account', 'like', 'key:%')
    .executeTakeFirstOrThrow();
  const plans = rows.map(({ plan, keys }) => ({ plan, keys: Number(keys) }));
  return {
    live: plans.reduce((sum, { keys }) => sum + keys, 0),
    fresh: rows.reduce((sum, { fresh }) => sum + Number(fresh), 0),
    credit: Number(credit ?? 0),
    plans,
  };
}
