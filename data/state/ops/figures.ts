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

/**
 * Revenue since a time by day, oldest first; days without movements are left out.
 *
 * @example
 * ```ts
 * const days = await moneyByDay(store, Date.now() - 30 * 86_400_000);
 * ```
 */
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
    const moneyDay = days.get(Number(at)) ?? { at: Number(at), cards: 0, sandbox: 0, x402: 0 };
    days.set(moneyDay.at, moneyDay);
    // Rows of our own accounts are the negative of those of keys and buyers.
    moneyDay[account === 'x402' ? 'x402' : Number(play) === 1 ? 'sandbox' : 'cards'] -= Number(amount);
  }
  return [...days.values()].sort((a, b) => a.at - b.at);
}

/** Sandbox credit in a sum of the ledger, which holds no real money. Sandbox credit counts as spent last. */
export interface SandboxShare {
  /** Unspent credit of sandbox payments. */
  credit: number;
  /** Charges since a time that spent such credit. */
  charged: number;
}

/** The part of the balances, and of the charges since a time, that sandbox payments cover. */
export async function sandboxShare({ db }: Store, since: number): Promise<SandboxShare> {
  const { rows } = await sql<{ paid: number; balance: number | null; charged: number | null }>`
    select p.amount as paid, b.amount as balance,
      (select -sum(e.amount) from entries e where e.account = p.account and e.kind = 'charge' and e.at >= ${since}) as charged
    from (select account, sum(amount) as amount from entries
      where kind = 'topup' and reference like 'sandbox%' and account like 'key:%' group by account) p
    left join balances b on b.account = p.account`.execute(db);
  let [credit, charged] = [0, 0];
  for (const row of rows) {
    const paid = Number(row.paid);
    const unspent = Math.min(Math.max(0, Number(row.balance ?? 0)), paid);
    credit += unspent;
    charged += Math.min(Number(row.charged ?? 0), paid - unspent);
  }
  return { credit, charged };
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
