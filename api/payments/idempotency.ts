// Idempotency-Key at the gate: who runs a request, who waits for its answer, who is told that the key is taken.
import { hash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { CLAIM_LEASE, claimRequest, keepAnswer, releaseClaim, renewClaim } from '../../data/state/idempotency.ts';
import type { Quotas } from '../../data/state/quotas.ts';
import type { Store } from '../../data/state/store.ts';
import type { KeptAnswer } from '../../data/state/writer-jobs.ts';
import { eur } from '../../packs/define/money.ts';
import { secondsToMidnight } from '../access/previews.ts';
import { ApiError } from '../contract/errors.ts';

/** An answer written down: its head and text in one, and the records in it. */
export type SerializedAnswer = Pick<KeptAnswer, 'text' | 'records'>;

/** Whether a written answer is to be kept under an Idempotency-Key. */
export function hasClaim(answer: SerializedAnswer | undefined): answer is KeptAnswer {
  return answer !== undefined && 'claim' in answer;
}

/** What a repeated answer says beside its text: what it cost, in micro-euros, and the release it comes from. */
export interface AnswerHead {
  micros: number;
  release: string | null;
}

/** The right to run a request. Its lease is renewed until `end`, so that no other process runs it meanwhile. */
export interface RequestClaim {
  /** The answer as the store takes it. `rate_limited` when the large answers of this owner have used up their room. */
  kept(answer: SerializedAnswer): Promise<KeptAnswer>;
  /** The request failed: it may be tried again. */
  drop(): Promise<void>;
  /** The request has ended, with an answer or without. */
  end(): void;
}

export interface IdempotencyStore {
  /** The turn to run, or the answer to repeat. Waits while another runs the same; `idempotency_conflict` for another request. */
  begin(
    owner: string,
    key: string,
    request: string,
  ): Promise<{ turn: RequestClaim } | { head: AnswerHead; text: string }>;
  /** Keeps an answer that was not charged. */
  keep(owner: string, kept: KeptAnswer): Promise<void>;
  /** The 409 of a request whose Idempotency-Key another request holds, `seconds` more at most unless it renews its lease. */
  busy(seconds?: number): ApiError;
}

/** Milliseconds between two looks, and how long one looks unless told otherwise. */
const LOOK = 40;
const PATIENCE = 15_000;

/** Bytes up to which every answer is kept. */
const SMALL = 64 * 1024;

/** Bytes of larger answers that are kept a day (UTC) for one API key. */
const LARGE_ANSWERS_A_DAY = 16 * 1024 * 1024;

/** Characters from which an Idempotency-Key of a caller without a credential is a secret: 128 random bits take 22 to 36. */
const SECRET_LENGTH = 32;

/**
 * Whether an Idempotency-Key is long enough to be a secret. A shorter one may be an order number that other clients use too: without
 * a credential it names a request of one payer, and gives no right to an answer.
 */
export const isSecret = (key: string): boolean => key.length >= SECRET_LENGTH;

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
export function serializeAnswer(head: AnswerHead, text: string, records: readonly string[]): SerializedAnswer {
  return { text: `${JSON.stringify(head)}\n${text}`, records: records.join(' ') };
}

/** Reads a written answer. */
export function parseAnswer(text: string): { head: AnswerHead; text: string } {
  const cut = text.indexOf('\n');
  return { head: JSON.parse(text.slice(0, cut)) as AnswerHead, text: text.slice(cut + 1) };
}

/** Ids of the records in an answer, from the object or its JSON. */
export function recordsIn(body: unknown): string[] {
  const text = body instanceof Uint8Array ? Buffer.from(body).toString('latin1') : JSON.stringify(body ?? null);
  return [...new Set(text.match(/\br-[0-9a-f]{16}\b/g))];
}

/** Headers of a repeated answer: what it cost then, and what the key has now. */
export function replayHeaders({ micros, release }: AnswerHead, balance: number | undefined): Record<string, string> {
  return {
    'Idempotency-Replayed': 'true',
    ...(release === null ? {} : { 'X-Dataset-Version': release }),
    ...(micros === 0 ? {} : { 'X-Charge-EUR': String(eur(micros)) }),
    ...(micros === 0 || balance === undefined ? {} : { 'X-Balance-EUR': String(eur(balance)) }),
  };
}

/**
 * Repeats in the store, for every process on it; `quotas` bound how much is kept for one owner, and a repeat waits `patience`
 * milliseconds for the request that runs.
 */
export function idempotencyStore(store: Store, quotas: Quotas, now: () => Date, patience = PATIENCE): IdempotencyStore {
  const roomOf = (owner: string) => ({ name: `kept answers ${owner}`, quota: LARGE_ANSWERS_A_DAY });

  /** Takes room for a large answer; the bytes taken. */
  async function takeRoom(owner: string, text: string): Promise<number> {
    const bytes = Buffer.byteLength(text);
    if (bytes <= SMALL) return 0;
    const taken = await quotas.take(roomOf(owner), bytes, now());
    if (taken === bytes) return bytes;
    await quotas.give(roomOf(owner), taken, now());
    const message = `Stored answers of this API key have reached ${LARGE_ANSWERS_A_DAY} bytes today; this call was not charged. Send it without an Idempotency-Key, or after midnight UTC.`;
    throw new ApiError('rate_limited', message, { retry_after_seconds: secondsToMidnight(now()) });
  }

  const busy = (seconds = 1) =>
    new ApiError('payment_in_progress', 'A request with this Idempotency-Key is still running.', {
      retry_after_seconds: seconds,
    });
  return {
    busy,
    keep: (owner, kept) => keepAnswer(store, owner, kept),
    async begin(owner, key, request) {
      let leased_until = 0;
      for (const until = Date.now() + patience; Date.now() < until; await wait(LOOK)) {
        const claim = await claimRequest(store, owner, key, request, now().getTime());
        if (claim.state === 'kept') return parseAnswer(claim.text);
        if (claim.state === 'other')
          throw new ApiError('idempotency_conflict', 'This Idempotency-Key was used for another request.');
        if (claim.state === 'running') {
          leased_until = claim.leased_until;
          continue;
        }
        const renewal = setInterval(() => {
          renewClaim(store, owner, key, claim.claim, now().getTime()).catch(() => {});
        }, CLAIM_LEASE / 3).unref();
        let room = 0;
        const turn: RequestClaim = {
          async kept(answer) {
            room = await takeRoom(owner, answer.text);
            return { ...answer, idempotency_key: key, claim: claim.claim };
          },
          async drop() {
            if (room > 0) await quotas.give(roomOf(owner), room, now());
            await releaseClaim(store, owner, key, claim.claim);
          },
          end: () => clearInterval(renewal),
        };
        return { turn };
      }
      // When its process died, the claim is free at the end of its lease; a client that waits so long is not refused again.
      throw busy(Math.max(1, Math.ceil((leased_until - now().getTime()) / 1000)));
    },
  };
}
