// Who calls: the credential a request bears, and what it stands for (contract section 3, "Credentials").
import { hash } from 'node:crypto';
import { currentPlan, subscription } from '../../data/model/subscriptions.ts';
import type { Lookup } from '../../data/state/keys/lookup.ts';
import { ApiError } from '../contract/errors.ts';

/** A secret as it was sent, and where. It never leaves the gate: not to handlers, logs, links or cursors. */
export interface Credential {
  via: 'authorization' | 'x-api-key' | 'api_key';
  secret: string;
}

/** Nobody in particular, a key with its plan, or an operator. */
export type Caller =
  | { kind: 'anonymous' }
  | {
      kind: 'key';
      id: string;
      /** The plan that counts now. */
      plan: string;
      /** Micro-euros, as of the look-up. */
      balance?: number;
      /** Set when an access token was shown, and not the key: the grant it was issued under. */
      grant?: TokenGrant;
    }
  | {
      kind: 'admin';
      /** Which operator: the first digits of the hash of their key. Absent in tests that need none. */
      id?: string;
    };

/** What a client was allowed to spend. */
export interface TokenGrant {
  /** Its name in the store. */
  name: string;
  /** Micro-euros it may still spend, as of the look-up; null: whatever the key can pay. */
  left: number | null;
}

/** Finds what a credential stands for; null when it stands for nothing. */
export type Identify = (credential: Credential) => Promise<Caller | null>;

/** Where a credential may stand in a request. */
export interface CredentialSources {
  authorization: string | undefined;
  x_api_key: string | undefined;
  /** The query parameter, already taken out of the request; for GET and HEAD only. */
  api_key: string | undefined;
}

/**
 * The credential of a request: `Authorization`, then `X-API-Key`, then `api_key`. The first one present decides, even
 * when it is no good: an empty secret or another scheme than Bearer stands for nothing and is refused like a wrong key.
 */
export function credentialOf(sources: CredentialSources): Credential | null {
  if (sources.authorization !== undefined) {
    const bearer = /^Bearer +([^\s]+)\s*$/i.exec(sources.authorization)?.[1];
    return { via: 'authorization', secret: bearer ?? '' };
  }
  if (sources.x_api_key !== undefined) return { via: 'x-api-key', secret: sources.x_api_key.trim() };
  if (sources.api_key !== undefined) return { via: 'api_key', secret: sources.api_key.trim() };
  return null;
}

/** SHA-256 of a secret, in hex: the only form in which one is kept or compared. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret);
}

/** How an operator is named where it counts who it was: by the first digits of the hash of their key. */
export const operatorId = (hash: string): string => hash.slice(0, 8);

/**
 * Knows the operators' keys. Looking a SHA-256 up in a set tells a guesser nothing, since nobody can steer the hash of a
 * guess towards a known one.
 */
export function adminsOnly(hashes: Iterable<string>): Identify {
  const known = new Set(hashes);
  return async ({ secret }) => {
    const hashed = hashSecret(secret);
    return secret !== '' && known.has(hashed) ? { kind: 'admin', id: operatorId(hashed) } : null;
  };
}

/** An access token has three parts, a key has one. */
const isToken = (secret: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]+$/.test(secret);

/**
 * Knows operators, the keys of the store, and access tokens, which `byToken` checks. Key and grant are looked up each time,
 * so that one that is revoked is refused at once.
 */
export function operatorsAndKeys(admins: Identify, lookup: Lookup, now: () => Date, byToken: Identify): Identify {
  return async (credential) => {
    const operator = await admins(credential);
    if (operator !== null) return operator;
    if (isToken(credential.secret)) return byToken(credential);
    const key = await lookup.find(credential.secret);
    if (key === null) return null;
    return { kind: 'key', id: key.id, plan: currentPlan(key, now().getTime()), balance: key.balance };
  };
}

/** Whether a caller's plan has exports and the change feed in it. */
export function mayBulk(caller: Caller): boolean {
  return caller.kind === 'admin' || (caller.kind === 'key' && subscription(caller.plan).bulk);
}

/** Whether calls of this caller are charged, where they cost anything. */
export function isCharged(caller: Caller): boolean {
  return caller.kind === 'anonymous' || (caller.kind === 'key' && subscription(caller.plan).charged);
}

/** The refusal of a credential that stands for nothing (401). */
export function refusal(credential: Credential): ApiError {
  if (isToken(credential.secret))
    return new ApiError('invalid_token', 'This access token is not valid here, or no longer.');
  const where = { authorization: 'Authorization', 'x-api-key': 'X-API-Key', api_key: 'api_key' }[credential.via];
  const why =
    credential.secret === ''
      ? 'holds no key; send "Authorization: Bearer <API_KEY>"'
      : 'holds a key that is unknown or revoked';
  return new ApiError('invalid_key', `${where} ${why}.`);
}

/** The refusal of an operator's key that came as `api_key` (401). */
export const operatorKeyInUrl = (): ApiError =>
  new ApiError(
    'invalid_key',
    'api_key: an operator\'s key is not accepted in a URL, which ends up in histories and logs. Send it as "Authorization: Bearer <key>".',
    { alternative_action: 'Replace the key in ADMIN_KEYS where others may have seen this URL.' },
  );
