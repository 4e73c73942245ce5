// The writes of calls: charges and quotas. On SQLite the ledger's thread runs them, several in one transaction.
// Times in milliseconds since 1970, amounts in micro-euros.
import { randomUUID } from 'node:crypto';
import type { Kysely } from 'kysely';
import {
  type Bound,
  capBound,
  childBounds,
  currentCount,
  dayOf,
  keyBounds,
  spendingOn,
  tightestBound,
} from './budgets.ts';
import * as statements from './statements.ts';
import type { KeyLimitTable } from './tables/budgets.ts';
import type { Tables } from './tables/schema.ts';

/** Debits a price from a key and stores the paid answer in the same transaction. */
export interface Charge {
  key_id: string;
  amount: number;
  operation: string;
  dataset: string | null;
  request_id: string;
  now: number;
  /** The grant of the access token: its cap counts like the balance. */
  grant?: string | undefined;
  /** The child key that was called with, whose bounds count too. */
  child?: string | undefined;
  /** Whether the key has limits. */
  limited?: boolean | undefined;
  answer?: statements.StoredAnswer | null;
}

/**
 * `charged` with the new balance, the rest of the tightest bound if there is one, and whether the balance is below the
 * mark of an alert that was not sent; `bounded` with a bound of the grant, the child key or the key; `insufficient`
 * with the balance, `revoked`, `withdrawn` for an ended grant, or `superseded` when another request took over the Idempotency-Key; only
 * `charged` debits.
 */
export type ChargeOutcome =
  | { state: 'charged'; balance: number; left?: number | undefined; alert?: boolean }
  | { state: 'bounded'; bound: Bound }
  | { state: 'insufficient'; balance: number }
  | { state: 'revoked' }
  | { state: 'withdrawn' }
  | { state: 'superseded' };

/**
 * Charges a key in the caller's transaction. Every other outcome changes nothing, because other charges may share the
 * transaction. Rows are locked in one order (claim, grant, child, limits, balance), so that two charges never wait for each other.
 */
async function charge(tx: Kysely<Tables>, job: Charge): Promise<ChargeOutcome> {
  const { key_id, amount, operation, dataset, request_id, now, grant, child, limited, answer } = job;
  const claim = answer?.claim;
  if (claim && (await statements.openClaim(tx, claim)).length === 0) return { state: 'superseded' };
  if (grant !== undefined) {
    const [row] = await statements.lockGrant(tx, { grant });
    if (row === undefined) return { state: 'withdrawn' };
    const [cap] = capBound('client', row.cap, row.spent);
    if (cap && cap.left < amount) return { state: 'bounded', bound: cap };
  }
  const day = dayOf(now);
  const [childRow] = child === undefined ? [] : await statements.lockChild(tx, { child });
  const ended = childRow === undefined || (childRow.expires_at !== null && childRow.expires_at <= now);
  if (child !== undefined && ended) return { state: 'revoked' };
  const [limits] = limited ? await statements.lockLimits(tx, { id: key_id }) : [];
  const bound = tightestBound([
    ...(childRow ? childBounds(childRow, day) : []),
    ...(limits ? keyBounds(limits, day) : []),
  ]);
  if (bound && bound.left < amount) return { state: 'bounded', bound };
  const account = statements.accountOf(key_id);
  const [debited] = await statements.debit(tx, { id: key_id, account, amount });
  if (debited === undefined) {
    const [key] = await statements.keyWithBalance(tx, { id: key_id });
    if (key === undefined || key.revoked_at !== null) return { state: 'revoked' };
    return { state: 'insufficient', balance: key.balance };
  }
  const balance = debited.amount;
  const entry = { transaction_id: randomUUID(), account, amount, debit: -amount, balance, at: now };
  await statements.writeCharge(tx, { ...entry, operation, dataset, request_id, child_id: child ?? null });
  if (grant !== undefined) await statements.spendGrant(tx, { grant, amount });
  if (child !== undefined && childRow) {
    const { period, spent } = currentCount(childRow.day, childRow.day_spent, day);
    const counts = { spent: childRow.spent + amount, day: period, day_spent: spent + amount };
    await statements.spendChild(tx, { child, ...counts });
  }
  const alert = limits ? await spendLimits(tx, limits, { amount, balance, day }) : false;
  if (claim) await statements.storeAnswer(tx, { ...answer, ...claim });
  return { state: 'charged', balance, left: bound && bound.left - amount, alert };
}

/** Counts a charge against the limits of its key; returns whether the owner is to be alerted of a low balance. */
async function spendLimits(
  tx: Kysely<Tables>,
  limits: KeyLimitTable,
  { amount, balance, day }: { amount: number; balance: number; day: string },
): Promise<boolean> {
  const { day_spent, month_spent, ...periods } = spendingOn(limits, day);
  const isLow = limits.alert_below !== null && balance < limits.alert_below;
  await statements.spendLimits(tx, {
    id: limits.key_id,
    ...{ ...periods, day_spent: day_spent + amount, month_spent: month_spent + amount },
    alerted_at: isLow ? limits.alerted_at : null,
  });
  return isLow && limits.alerted_at === null;
}

/** Takes up to `wanted` units of a daily quota; returns the units taken. */
async function take(
  tx: Kysely<Tables>,
  job: { name: string; day: string; wanted: number; quota: number },
): Promise<number> {
  const [row] = await statements.takeUnits(tx, { ...job, first: Math.min(job.wanted, job.quota) });
  return row?.last ?? 0;
}

/** Returns units of a daily quota. */
async function give(tx: Kysely<Tables>, job: { name: string; day: string; units: number }): Promise<void> {
  await statements.returnUnits(tx, job);
}

/** Every kind of write, by name. */
export const JOBS = { charge, take, give };

export type JobKind = keyof typeof JOBS;
export type JobInput<K extends JobKind> = Parameters<(typeof JOBS)[K]>[1];
export type JobResult<K extends JobKind> = Awaited<ReturnType<(typeof JOBS)[K]>>;

/** A job as it is sent to the thread. */
export interface Job {
  kind: JobKind;
  input: JobInput<JobKind>;
}
