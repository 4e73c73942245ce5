// The writes of calls: charges and quotas. On SQLite the ledger's thread runs them, several in one transaction.
// Times in milliseconds since 1970, amounts in micro-euros.
import { randomUUID } from 'node:crypto';
import type { Kysely } from 'kysely';
import * as statements from './statements.ts';
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
  answer?: statements.StoredAnswer | null;
}

/**
 * `charged` with the new balance, `insufficient` with the balance, `capped` with the rest of the grant's cap,
 * `revoked`, `withdrawn` for an ended grant, or `superseded` when another request took over the Idempotency-Key; only
 * `charged` debits.
 */
export type ChargeOutcome =
  | { state: 'charged'; balance: number }
  | { state: 'insufficient'; balance: number }
  | { state: 'capped'; left: number }
  | { state: 'revoked' }
  | { state: 'withdrawn' }
  | { state: 'superseded' };

/**
 * Charges a key in the caller's transaction. Every other outcome changes nothing, because other charges may share the
 * transaction. Rows are locked in one order (claim, grant, balance), so that two charges never wait for each other.
 */
async function charge(tx: Kysely<Tables>, job: Charge): Promise<ChargeOutcome> {
  const { key_id, amount, operation, dataset, request_id, now, grant, answer } = job;
  const claim = answer?.claim;
  if (claim && (await statements.openClaim(tx, claim)).length === 0) return { state: 'superseded' };
  if (grant !== undefined) {
    const [rest] = await statements.grantRest(tx, { grant });
    if (rest === undefined) return { state: 'withdrawn' };
    if (rest.left !== null && rest.left < amount) return { state: 'capped', left: Math.max(0, rest.left) };
  }
  const account = statements.accountOf(key_id);
  const [debited] = await statements.debit(tx, { id: key_id, account, amount });
  if (debited === undefined) {
    const [key] = await statements.keyWithBalance(tx, { id: key_id });
    if (key === undefined || key.revoked_at !== null) return { state: 'revoked' };
    return { state: 'insufficient', balance: key.balance };
  }
  const balance = debited.amount;
  const entry = { transaction_id: randomUUID(), account, amount, debit: -amount, balance, at: now };
  await statements.writeCharge(tx, { ...entry, operation, dataset, request_id });
  if (grant !== undefined) await statements.spendGrant(tx, { grant, amount });
  if (claim) await statements.storeAnswer(tx, { ...answer, ...claim });
  return { state: 'charged', balance };
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
