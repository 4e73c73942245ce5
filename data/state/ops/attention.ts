// Payments that need an operator: payments that match nothing, unclear outcomes, returns.
import { sql } from 'kysely';
import type { Store } from '../store.ts';

/** An open x402 payment settles or fails within minutes; after this many milliseconds it is stuck. */
const STUCK = 10 * 60_000;
/** Maximum number of each kind. */
const MOST = 50;

/** One issue. Amounts in micro-euros, times in milliseconds since 1970. */
export interface PaymentIssue {
  kind: 'checkout_problem' | 'x402_unclear' | 'dispute' | 'payment_failed' | 'below_zero' | 'revoked_key';
  /** Id of the row, to look it up in the store or at the provider. */
  id: string;
  key_id: string | null;
  amount: number | null;
  at: number;
  /** The problem as text. */
  why: string;
}

type Db = Store['db'];

/** All open issues, newest first. */
export async function paymentIssues({ db }: Store, now: number): Promise<PaymentIssue[]> {
  const all = [
    ...(await checkoutProblems(db)),
    ...(await unclearPayments(db, now)),
    ...(await disputes(db)),
    ...(await failedMonths(db)),
    ...(await belowZero(db)),
    ...(await paidForRevoked(db)),
  ];
  return all.sort((a, b) => b.at - a.at);
}

async function checkoutProblems(db: Db): Promise<PaymentIssue[]> {
  const rows = await db
    .selectFrom('checkouts')
    .select(['id', 'key_id', 'amount', 'created_at as at', 'problem'])
    .where('problem', 'is not', null)
    .orderBy('created_at', 'desc')
    .limit(MOST)
    .execute();
  return rows.map(({ problem, ...row }) => ({ ...row, kind: 'checkout_problem', why: problem ?? '' }));
}

async function unclearPayments(db: Db, now: number): Promise<PaymentIssue[]> {
  const rows = await db
    .selectFrom('payments')
    .select(['request_id as id', 'micros as amount', 'created_at as at', 'hash'])
    .where('state', '=', 'open')
    .where('created_at', '<=', now - STUCK)
    .orderBy('created_at', 'desc')
    .limit(MOST)
    .execute();
  return rows.map(({ hash, ...row }) => ({
    ...row,
    kind: 'x402_unclear',
    key_id: null,
    why: hash === null ? 'begun and never concluded' : `transaction ${hash} is not confirmed`,
  }));
}

async function disputes(db: Db): Promise<PaymentIssue[]> {
  const rows = await db
    .selectFrom('reversals')
    .leftJoin('card_payments', 'card_payments.id', 'reversals.payment_id')
    .leftJoin('checkouts', 'checkouts.id', 'card_payments.checkout_id')
    .leftJoin('invoices', 'invoices.id', 'card_payments.invoice_id')
    .select(['reversals.id as id', 'reversals.amount as amount', 'heard_at as at'])
    .select(sql<string | null>`coalesce(checkouts.key_id, invoices.key_id)`.as('key_id'))
    .where('reversals.kind', '=', 'dispute')
    .where('reversals.stage', '=', 1)
    .where('reversals.away', '=', 1)
    .orderBy('heard_at', 'desc')
    .limit(MOST)
    .execute();
  return rows.map((row) => ({ ...row, kind: 'dispute', why: 'the buyer disputes the payment' }));
}

async function failedMonths(db: Db): Promise<PaymentIssue[]> {
  const rows = await db
    .selectFrom('subscriptions')
    .select(['id', 'key_id', 'plan', 'failed_at'])
    .where('failed_at', 'is not', null)
    .where('ended_at', 'is', null)
    .orderBy('failed_at', 'desc')
    .limit(MOST)
    .execute();
  return rows.map(({ plan, failed_at, ...row }) => ({
    ...row,
    kind: 'payment_failed',
    amount: null,
    at: failed_at ?? 0,
    why: `a month of the plan ${plan} could not be collected`,
  }));
}

async function belowZero(db: Db): Promise<PaymentIssue[]> {
  const rows = await db
    .selectFrom('balances')
    .innerJoin('keys', (join) => join.on('balances.account', '=', sql<string>`'key:' || keys.id`))
    .select(['keys.id as id', 'amount', 'created_at as at'])
    .where('amount', '<', 0)
    .orderBy('amount')
    .limit(MOST)
    .execute();
  return rows.map((row) => ({
    ...row,
    kind: 'below_zero',
    key_id: row.id,
    why: 'money went back that was spent already',
  }));
}

/** Top-ups and months that were paid after their key was revoked and not paid back: their credit cannot be spent. */
async function paidForRevoked(db: Db): Promise<PaymentIssue[]> {
  const { rows } = await sql<Pick<PaymentIssue, 'id' | 'key_id' | 'amount' | 'at'>>`
    select paid.id, key_id, paid.amount - coalesce(sum(refunded + disputed), 0) as amount, paid_at as at
    from (select id, key_id, amount, paid_at from checkouts where kind = 'topup' and provider = 'stripe'
      union all select id, key_id, amount, paid_at from invoices) as paid
    join keys on keys.id = key_id and paid_at > revoked_at
    left join card_payments on paid.id in (checkout_id, invoice_id)
    group by paid.id, key_id, paid.amount, paid_at having paid.amount > coalesce(sum(refunded + disputed), 0)
    order by paid_at desc limit ${MOST}`.execute(db);
  return rows.map((row) => ({
    ...row,
    amount: Number(row.amount),
    kind: 'revoked_key',
    why: 'paid after the key was revoked: refund it at the provider',
  }));
}
