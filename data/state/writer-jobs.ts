// What the writing thread is asked to do. Times in milliseconds since 1970, amounts in micro-euros.

/** An answer on its way into the store, with the claim that it fulfils. */
export interface KeptAnswer {
  idempotency_key: string;
  /** When the claim was made: its proof. */
  claim: number;
  text: string;
  /** Ids of the records in it, each between spaces, so that an opt-out finds it. */
  records: string;
}

/** Takes a price off a key's balance, and keeps the answer that it pays for in the same transaction. */
export interface ChargeJob {
  kind: 'charge';
  key_id: string;
  amount: number;
  operation: string;
  dataset: string | null;
  request_id: string;
  now: number;
  /** The grant of the access token that asks: its cap counts as much as the balance. */
  grant?: string | undefined;
  answer?: KeptAnswer | undefined;
}

/** Takes up to `wanted` units off a daily quota of `quota`. */
export interface TakeJob {
  kind: 'take';
  name: string;
  day: string;
  wanted: number;
  quota: number;
}

/** Gives units back. */
export interface GiveJob {
  kind: 'give';
  name: string;
  day: string;
  units: number;
}

export type Job = ChargeJob | TakeJob | GiveJob;

/**
 * Charge: `charged` with the balance left, `insufficient` with the balance there was, `capped` with what the grant may still
 * spend, `revoked`, `withdrawn` when the grant is over, or `superseded` when another request has taken over the
 * Idempotency-Key; only the first charges. Take: the units got. Give: 0.
 */
export type JobResult<J extends Job> = J extends ChargeJob ? ChargeOutcome : number;

export type ChargeOutcome =
  | { state: 'charged'; balance: number }
  | { state: 'insufficient'; balance: number }
  | { state: 'capped'; left: number }
  | { state: 'revoked' }
  | { state: 'withdrawn' }
  | { state: 'superseded' };
