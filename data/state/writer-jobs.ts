// Jobs of the writing thread. Times in milliseconds since 1970, amounts in micro-euros.

/** An answer to store, with the claim that it completes. */
export interface KeptAnswer {
  idempotency_key: string;
  /** Time of the claim, which proves it. */
  claim: number;
  text: string;
  /** Ids of its records, each between spaces, so that an opt-out finds it. */
  records: string;
}

/** Debits a price from a key and stores the paid answer in the same transaction. */
export interface ChargeJob {
  kind: 'charge';
  key_id: string;
  amount: number;
  operation: string;
  dataset: string | null;
  request_id: string;
  now: number;
  /** The grant of the access token: its cap counts like the balance. */
  grant?: string | undefined;
  answer?: KeptAnswer | undefined;
}

/** Takes up to `wanted` units of a daily quota of `quota`. */
export interface TakeJob {
  kind: 'take';
  name: string;
  day: string;
  wanted: number;
  quota: number;
}

/** Returns units. */
export interface GiveJob {
  kind: 'give';
  name: string;
  day: string;
  units: number;
}

export type Job = ChargeJob | TakeJob | GiveJob;

/**
 * Result of a job. Charge: `charged` with the new balance, `insufficient` with the balance, `capped` with the
 * rest of the grant's cap, `revoked`, `withdrawn` for an ended grant, or `superseded` when another request
 * took over the Idempotency-Key; only `charged` debits. Take: the units taken. Give: 0.
 */
export type JobResult<J extends Job> = J extends ChargeJob ? ChargeOutcome : number;

export type ChargeOutcome =
  | { state: 'charged'; balance: number }
  | { state: 'insufficient'; balance: number }
  | { state: 'capped'; left: number }
  | { state: 'revoked' }
  | { state: 'withdrawn' }
  | { state: 'superseded' };
