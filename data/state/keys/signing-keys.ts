// The ES256 keys for access tokens and the agent card: created at first start, kept in the store, published
// as a key set.
import type { JWK } from 'jose';
import type { Store } from '../store.ts';
import { publicPart, type RingKey, type RingOf, ringKeys, rotateRing } from './key-rings.ts';

/** A key pair or a public key as a JWK (RFC 7517), with the members by which a verifier selects it. */
export type SigningKey = JWK & { kid: string; alg: 'ES256'; use: 'sig' };

/** The service's keys. Contains private keys: only `published` may leave the process. */
export interface SigningKeys {
  /** Private keys. The first signs; others are published until their signatures have expired. */
  keys: readonly [SigningKey, ...SigningKey[]];
  /** The public keys: the body of `/oauth/jwks.json`. */
  published: { keys: readonly SigningKey[] };
}

const RING: RingOf = { name: 'signing_keys', algorithm: 'ES256' };

const purposeful = <K>(key: K) => ({ ...key, alg: 'ES256', use: 'sig' }) as const;

function present(keys: readonly [RingKey, ...RingKey[]]): SigningKeys {
  const [first, ...rest] = keys.map(({ made_at: _, ...key }) => purposeful(key) as SigningKey);
  return {
    keys: [first as SigningKey, ...rest],
    published: { keys: keys.map((key) => purposeful(publicPart(key)) as SigningKey) },
  };
}

/**
 * The service's keys, equal in all processes on the store. Creates the first one, dated `now` (milliseconds
 * since 1970). `kid` is the RFC 7638 thumbprint.
 */
export async function signingKeys(store: Store, now = Date.now()): Promise<SigningKeys> {
  return present(await ringKeys(store, RING, now));
}

/**
 * Adds a new key and returns all keys. A running process keeps signing with its old key until it restarts, so
 * the previous key stays published for another day. `now` in milliseconds since 1970.
 */
export async function rotateSigningKeys(store: Store, now: number): Promise<SigningKeys> {
  return present(await rotateRing(store, RING, now));
}
