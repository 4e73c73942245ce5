// Credentials of a request and the caller they identify (contract section 3, "Credentials").
import { currentPlan, subscription } from '../../data/model/subscriptions.ts';
import type { Bound } from '../../data/state/budgets.ts';
import { hashSecret } from '../../data/state/key-format.ts';
import { findLiveKey, type LiveChild } from '../../data/state/keys/lookup.ts';
import type { Store } from '../../data/state/store.ts';
import { ApiError } from '../contract/errors.ts';

/**
 * A secret as received, and its place in the request. It never leaves the gate: not to handlers, logs, links
 * or cursors.
 */
export interface Credential {
  via: 'authorization' | 'x-api-key' | 'api_key';
  secret: string;
  /** Path of the request below the base URL, which decides about tokens; absent: typed into a form. */
  path?: string | undefined;
}

/** An anonymous caller, a key with its plan, or an operator. */
export type Caller =
  | { kind: 'anonymous' }
  | {
      kind: 'key';
      id: string;
      /** The plan in force now. */
      plan: string;
      /** Balance in micro-euros at the time of the look-up. */
      balance?: number;
      /** Whether its owner set limits. */
      limited?: true;
      /** The tightest bound of the key and of its child at the time of the look-up; absent: none. */
      bound?: Bound;
      /** Set when the credential was that of a child key of `id`. */
      child?: LiveChild;
      /** Set when the credential was an access token: the name of the grant it was issued under. */
      grant?: string;
    }
  | {
      kind: 'admin';
      /** First digits of the hash of the operator's key. Absent in tests that do not need it. */
      id?: string;
    };

/** The caller without a credential. */
export const ANONYMOUS: Caller = { kind: 'anonymous' };

/** Who holds places, streams and slots: a key with its child keys and tokens, the operators, or an address. */
export const holderOf = (caller: Caller, address: string): string =>
  caller.kind === 'key' ? `key ${caller.id}` : caller.kind === 'admin' ? 'operator' : `ip ${address}`;

/** Finds the caller of a credential; null when the credential is unknown. */
export type Identify = (credential: Credential) => Promise<Caller | null>;

/** Finds the operator of a credential or of its hash, from memory. */
export type IdentifyOperator = (credential: Credential, hash?: string) => Caller | null;

/** The places of a request that may contain a credential. */
export interface CredentialSources {
  authorization: string | undefined;
  x_api_key: string | undefined;
  /** The query parameter, already removed from the request; for GET and HEAD only. */
  api_key: string | undefined;
  /** Path of the request below the base URL. */
  path?: string;
}

/**
 * The credential of a request: `Authorization`, then `X-API-Key`, then `api_key`. The first one present
 * decides, even when it is invalid: an empty secret or a scheme other than Bearer is refused like a wrong
 * key.
 */
export function credentialOf(sources: CredentialSources): Credential | null {
  if (sources.authorization !== undefined) {
    const bearer = /^Bearer +([^\s]+)\s*$/i.exec(sources.authorization)?.[1];
    return { via: 'authorization', secret: bearer ?? '', path: sources.path };
  }
  if (sources.x_api_key !== undefined) return { via: 'x-api-key', secret: sources.x_api_key.trim() };
  if (sources.api_key !== undefined) return { via: 'api_key', secret: sources.api_key.trim() };
  return null;
}

/** Name of an operator in records of who did something: the first digits of the hash of their key. */
export const operatorId = (hash: string): string => hash.slice(0, 8);

/**
 * Identifies operators. The look-up of a SHA-256 in a set leaks nothing through its timing, since a guesser
 * cannot choose the hash of a guess.
 */
export function identifyOperators(hashes: Iterable<string>): IdentifyOperator {
  const adminHashes = new Set(hashes);
  // No secret is kept in memory: hashing one takes a few microseconds.
  return ({ secret }, hashed = hashSecret(secret)) => {
    return secret !== '' && adminHashes.has(hashed) ? { kind: 'admin', id: operatorId(hashed) } : null;
  };
}

/** An access token (a JWT) has three parts, a key has one. */
const isToken = (secret: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]+$/.test(secret);

/**
 * Identifies operators, the keys of the store, and access tokens, which `byToken` checks. Key and grant are
 * read on every call, so that a revoked one is refused at once.
 */
export function identifyCallers(
  operators: IdentifyOperator,
  store: Store,
  now: () => Date,
  byToken: Identify,
): Identify {
  return async (credential) => {
    const hash = hashSecret(credential.secret);
    const operator = operators(credential, hash);
    if (operator !== null) return operator;
    if (isToken(credential.secret)) return byToken(credential);
    const at = now().getTime();
    const key = await findLiveKey(store, credential.secret, at, hash);
    if (key === null) return null;
    const { plan_until: _, ...members } = key;
    return { kind: 'key', ...members, plan: currentPlan(key, at) };
  };
}

/** What a key can spend now: its balance, within the tightest bound. Micro-euros. */
export const spendable = ({ balance = 0, bound }: Caller & { kind: 'key' }): number =>
  bound ? Math.min(balance, bound.left) : balance;

/** Whether the caller's plan includes exports and the change feed. */
export function mayBulk(caller: Caller): boolean {
  return caller.kind === 'admin' || (caller.kind === 'key' && subscription(caller.plan).bulk);
}

/** Whether the caller pays for calls that have a price. */
export function paysForCalls(caller: Caller): boolean {
  return caller.kind === 'anonymous' || (caller.kind === 'key' && subscription(caller.plan).charged);
}

/** The error for an unknown or revoked credential (401). */
export function credentialError(credential: Credential): ApiError {
  if (isToken(credential.secret))
    return new ApiError('invalid_token', 'This access token is not valid here, or no longer.');
  const where = { authorization: 'Authorization', 'x-api-key': 'X-API-Key', api_key: 'api_key' }[credential.via];
  const why =
    credential.secret === ''
      ? 'holds no key; send "Authorization: Bearer <API_KEY>"'
      : 'holds a key that is unknown or revoked';
  return new ApiError('invalid_key', `${where} ${why}.`);
}

/** The error for an operator's key sent as `api_key` (401). */
export const operatorKeyInUrl = (): ApiError =>
  new ApiError(
    'invalid_key',
    'api_key: an operator\'s key is not accepted in a URL, which ends up in histories and logs. Send it as "Authorization: Bearer <key>".',
    { alternative_action: 'Replace the key in ADMIN_KEYS where others may have seen this URL.' },
  );
