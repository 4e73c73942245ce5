// The ES256 keys that sign access tokens and the agent card: made at first start, kept in the store, published as a key set.
import type { JWK } from 'jose';
import type { Store } from '../store.ts';
import { publicPart, type RingKey, type RingOf, ringKeys, rotateRing } from './key-rings.ts';

/** A key as RFC 7517 writes it, with the members that its users need to choose it. */
export type SigningKey = JWK & { kid: string; alg: 'ES256'; use: 'sig' };

export interface SigningKeys {
  /** Private keys. The first signs; further ones are only published, until what they signed is over. */
  keys: readonly [SigningKey, ...SigningKey[]];
  /** The same without their private part: the body of `/oauth/jwks.json`. */
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

/** The key set of the service: the same for every process on the store. `kid` is the thumbprint of RFC 7638. */
export async function signingKeys(store: Store, now = Date.now()): Promise<SigningKeys> {
  return present(await ringKeys(store, RING, now));
}

/** Makes a new key that signs from each process's next start on; the one before is published for another day. */
export async function rotateSigningKeys(store: Store, now: number): Promise<SigningKeys> {
  return present(await rotateRing(store, RING, now));
}
