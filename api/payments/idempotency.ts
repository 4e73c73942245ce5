// Idempotency-Key: a repeated request waits for the first one and gets its stored answer.
import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { derivedKey } from '../../data/model/keyed.ts';
import { CLAIM_LEASE, claimRequest, findClaim, releaseClaim, renewClaim } from '../../data/state/idempotency.ts';
import type { Quotas } from '../../data/state/quotas.ts';
import { type StoredAnswer, storeAnswer } from '../../data/state/statements.ts';
import type { Store } from '../../data/state/store.ts';
import { eur } from '../../packs/define/money.ts';
import { secondsToMidnight } from '../access/previews.ts';
import { ApiError } from '../contract/errors.ts';

/** Metadata of a stored answer: its price in micro-euros, and its release. */
export interface AnswerHead {
  micros: number;
  release: string | null;
}

/** The claim on a request. Its lease is renewed until `end`, so that no other process runs the request. */
export interface RequestClaim {
  /**
   * Adds the claim to the answer. Throws `rate_limited` if the owner's quota for large answers is used
   * up.
   */
  toStored(answer: StoredAnswer): Promise<StoredAnswer>;
  /** Releases the claim of a failed request, so that it can be retried. */
  drop(): Promise<void>;
  /** Stops renewing the lease; called for every outcome. */
  end(): void;
}

export interface IdempotencyStore {
  /**
   * Returns a claim to run the request, or its stored answer. Waits while the same request runs elsewhere;
   * throws `idempotency_conflict` if the key belongs to another request.
   */
  begin(
    owner: string,
    key: string,
    request: string,
  ): Promise<{ turn: RequestClaim } | { head: AnswerHead; text: string }>;
  /** The stored answer of a request; null without one. Waits while the request runs, and claims nothing. */
  find(owner: string, key: string, request: string): Promise<{ head: AnswerHead; text: string } | null>;
  /** Stores an answer with a claim that was not charged, if given in the transaction `db` of its change. */
  keep(answer: StoredAnswer | null, db?: Store['db']): Promise<void>;
  /** The 409 for a key that a running request holds; `seconds`: the rest of its lease. */
  busy(seconds?: number): ApiError;
}

/** Milliseconds between two attempts, and the default time to wait. */
const LOOK = 40;
const PATIENCE = 15_000;

/** Answers up to this size in bytes have no quota. */
const SMALL = 64 * 1024;

/** Bytes of larger answers that are stored per UTC day and API key. */
export const LARGE_ANSWERS_A_DAY = 16 * 1024 * 1024;

/**
 * Minimum length at which a key of an anonymous caller counts as a secret: 128 random bits take 22 to 36
 * characters.
 */
const SECRET_LENGTH = 32;

/**
 * Whether an Idempotency-Key is long enough to be a secret. A shorter one may be an order number that other
 * clients use too; without a credential it identifies a request of one payer, but does not give access to an
 * answer.
 */
export const isSecret = (key: string): boolean => key.length >= SECRET_LENGTH;

/** Whether a text is a valid Idempotency-Key (contract section 3: 16 to 128 characters). Equal characters are a mistake. */
export const isKey = (raw: string): boolean => /^(?!(.)\1*$)[\x21-\x7e]{16,128}$/.test(raw);

/** Returns a valid Idempotency-Key; throws a 422 for an invalid one. */
export function checkedKey(raw: string): string {
  if (isKey(raw)) return raw;
  const msg = 'must have 16 to 128 visible characters, not all equal';
  const issue = { loc: ['header', 'Idempotency-Key'], msg, type: 'string_length' };
  throw new ApiError('validation_failed', `Idempotency-Key: ${msg}`, { detail: [issue] });
}

/** The stored form of a key that only its owner knows. */
export function secretKey(owner: string, key: string): string {
  return hash('sha256', `${owner}\n${key}`);
}

const SEAL = { algorithm: 'aes-256-gcm', nonce: 12, tag: 16 } as const;

/** Encrypts a text under a secret key of a client, which the store has only as a hash. */
export function encryptAnswer(key: string, text: string): string {
  const nonce = randomBytes(SEAL.nonce);
  const cipher = createCipheriv(SEAL.algorithm, derivedKey(key, 'stored answers'), nonce);
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64');
}

/** Decrypts a text of `encryptAnswer`. Throws with another key. */
export function decryptAnswer(key: string, sealed: string): string {
  const bytes = Buffer.from(sealed, 'base64');
  const [nonce, tag] = [bytes.subarray(0, SEAL.nonce), bytes.subarray(SEAL.nonce, SEAL.nonce + SEAL.tag)];
  const decipher = createDecipheriv(SEAL.algorithm, derivedKey(key, 'stored answers'), nonce).setAuthTag(tag);
  return decipher.update(bytes.subarray(SEAL.nonce + SEAL.tag), undefined, 'utf8') + decipher.final('utf8');
}

/** Hash of the parts of a request: equal for equal requests. */
export function requestHash(...parts: string[]): string {
  return hash('sha256', parts.join('\n'));
}

/** Serializes an answer. `records`: ids of its records. */
export function serializeAnswer(head: AnswerHead, text: string, records: readonly string[]): StoredAnswer {
  return { text: `${JSON.stringify(head)}\n${text}`, records: records.join(' ') };
}

/** Parses a serialized answer. */
export function parseAnswer(text: string): { head: AnswerHead; text: string } {
  const cut = text.indexOf('\n');
  return { head: JSON.parse(text.slice(0, cut)) as AnswerHead, text: text.slice(cut + 1) };
}

/** Ids of the records in an answer, from the object or its JSON. */
export function recordsIn(body: unknown): string[] {
  const text = body instanceof Uint8Array ? Buffer.from(body).toString('latin1') : JSON.stringify(body ?? null);
  return [...new Set(text.match(/\br-[0-9a-f]{16}\b/g))];
}

/** Headers of a replayed answer: its price at the time, and the current balance. */
export function replayHeaders({ micros, release }: AnswerHead, balance: number | undefined): Record<string, string> {
  return {
    'Idempotency-Replayed': 'true',
    ...(release === null ? {} : { 'X-Dataset-Version': release }),
    ...(micros === 0 ? {} : { 'X-Charge-EUR': String(eur(micros)) }),
    ...(micros === 0 || balance === undefined ? {} : { 'X-Balance-EUR': String(eur(balance)) }),
  };
}

/**
 * Idempotency over the store, for all processes that share it. `quotas` limit the size of stored answers per
 * owner; a repeat waits up to `patience` milliseconds for the running request.
 */
export function idempotencyStore(store: Store, quotas: Quotas, now: () => Date, patience = PATIENCE): IdempotencyStore {
  const roomOf = (owner: string) => ({ name: `kept answers ${owner}`, quota: LARGE_ANSWERS_A_DAY });

  /** Reserves quota for a large answer; returns the reserved bytes. */
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
    async keep(answer, db = store.db) {
      if (answer?.claim) await storeAnswer(db, { ...answer, ...answer.claim });
    },
    async find(owner, key, request) {
      for (const until = performance.now() + patience; performance.now() < until; await wait(LOOK)) {
        const claim = await findClaim(store, owner, key, request, now().getTime());
        if (claim?.state === 'kept') return parseAnswer(claim.text);
        if (claim?.state !== 'running') return null;
      }
      throw busy();
    },
    async begin(owner, key, request) {
      let leased_until = 0;
      for (const until = performance.now() + patience; performance.now() < until; await wait(LOOK)) {
        const attempt = await claimRequest(store, owner, key, request, now().getTime());
        if (attempt.state === 'kept') return parseAnswer(attempt.text);
        if (attempt.state === 'other')
          throw new ApiError('idempotency_conflict', 'This Idempotency-Key was used for another request.');
        if (attempt.state === 'running') {
          leased_until = attempt.leased_until;
          continue;
        }
        const { claim } = attempt;
        const renewal = setInterval(() => {
          renewClaim(store, claim, now().getTime()).catch(() => {});
        }, CLAIM_LEASE / 3).unref();
        let room = 0;
        const turn: RequestClaim = {
          async toStored(answer) {
            room = await takeRoom(owner, answer.text);
            return { ...answer, claim };
          },
          async drop() {
            if (room > 0) await quotas.give(roomOf(owner), room, now());
            await releaseClaim(store, claim);
          },
          end: () => clearInterval(renewal),
        };
        return { turn };
      }
      // If its process died, the claim is free when its lease ends; a client that waits so long can run the
      // request.
      throw busy(Math.max(1, Math.ceil((leased_until - now().getTime()) / 1000)));
    },
  };
}
