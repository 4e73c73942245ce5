// Idempotency-Key at the gate: who runs a request, who waits for its answer, who is told that the key is taken.
import { hash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { claimRequest, dropClaim, keepAnswer } from '../../data/state/idempotency.ts';
import type { Store } from '../../data/state/store.ts';
import type { KeptAnswer } from '../../data/state/writer-jobs.ts';
import { eur } from '../../packs/money.ts';
import { ApiError } from '../errors.ts';

/** An answer to be kept under an Idempotency-Key, on its way into the store. */
export type Kept = KeptAnswer;

/** An answer written down: its head and text in one, and the records in it. */
export type Written = Pick<KeptAnswer, 'text' | 'records'>;

/** Whether a written answer is to be kept under an Idempotency-Key. */
export function isKept(answer: Written | undefined): answer is Kept {
  return answer !== undefined && 'claim' in answer;
}

/** What a repeated answer says beside its text: what it cost, in micro-euros, and the release it comes from. */
export interface Head {
  micros: number;
  release: string | null;
}

/** The right to run a request; its `keep` or `drop` ends it. */
export interface Turn {
  /** The answer as the store takes it. */
  kept(answer: Written): Kept;
  /** The request failed: it may be tried again. */
  drop(): Promise<void>;
}

export interface Repeats {
  /** The turn to run, or the answer to repeat. Waits while another runs the same; `idempotency_conflict` for another request. */
  begin(owner: string, key: string, request: string): Promise<{ turn: Turn } | { head: Head; text: string }>;
  /** Keeps an answer that was not charged. */
  keep(owner: string, kept: Kept): Promise<void>;
  /** The refusal of a request that another one with its key holds up. */
  busy(): ApiError;
}

/** Milliseconds between two looks, and how long one looks. */
const LOOK = 40;
const PATIENCE = 15_000;

/** Whether a text can be an Idempotency-Key (contract section 3: 16 to 128 characters). */
export const isKey = (raw: string): boolean => /^[\x21-\x7e]{16,128}$/.test(raw);

/** One Idempotency-Key, or the refusal of what is none. */
export function checkedKey(raw: string): string {
  if (isKey(raw)) return raw;
  const msg = 'must have 16 to 128 visible characters';
  const issue = { loc: ['header', 'Idempotency-Key'], msg, type: 'string_length' };
  throw new ApiError('validation_failed', `Idempotency-Key: ${msg}`, { detail: [issue] });
}

/** What stands in the store for a key that only its owner knows. */
export function secretKey(owner: string, key: string): string {
  return hash('sha256', `${owner}\n${key}`);
}

/** What makes two requests the same. */
export function requestHash(...parts: string[]): string {
  return hash('sha256', parts.join('\n'));
}

/** Writes an answer down. `records` are the ids of the records in it. */
export function written(head: Head, text: string, records: readonly string[]): Written {
  return { text: `${JSON.stringify(head)}\n${text}`, records: records.join(' ') };
}

/** Reads a written answer. */
export function readWritten(text: string): { head: Head; text: string } {
  const cut = text.indexOf('\n');
  return { head: JSON.parse(text.slice(0, cut)) as Head, text: text.slice(cut + 1) };
}

/** Ids of the records in an answer, from the object or its JSON. */
export function recordsIn(body: unknown): string[] {
  const text = body instanceof Uint8Array ? Buffer.from(body).toString('latin1') : JSON.stringify(body ?? null);
  return [...new Set(text.match(/\br-[0-9a-f]{16}\b/g))];
}

/** Headers of a repeated answer: what it cost then, and what the key has now. */
export function repeatedHeaders({ micros, release }: Head, balance: number | undefined): Record<string, string> {
  return {
    'Idempotency-Replayed': 'true',
    ...(release === null ? {} : { 'X-Dataset-Version': release }),
    ...(micros === 0 ? {} : { 'X-Charge-EUR': String(eur(micros)) }),
    ...(micros === 0 || balance === undefined ? {} : { 'X-Balance-EUR': String(eur(balance)) }),
  };
}

/** Repeats in the store, for every process on it. */
export function storedRepeats(store: Store, now: () => Date): Repeats {
  const busy = () =>
    new ApiError('payment_in_progress', 'A request with this Idempotency-Key is still running.', {
      retry_after_seconds: 1,
    });
  return {
    busy,
    keep: (owner, kept) => keepAnswer(store, owner, kept),
    async begin(owner, key, request) {
      for (const until = Date.now() + PATIENCE; Date.now() < until; await wait(LOOK)) {
        const claim = await claimRequest(store, owner, key, request, now().getTime());
        if (claim.state === 'kept') return readWritten(claim.text);
        if (claim.state === 'other')
          throw new ApiError('idempotency_conflict', 'This Idempotency-Key was used for another request.');
        if (claim.state === 'running') continue;
        const turn: Turn = {
          kept: (answer) => ({ ...answer, idempotency_key: key, claim: claim.claim }),
          drop: () => dropClaim(store, owner, key, claim.claim),
        };
        return { turn };
      }
      throw busy();
    },
  };
}
