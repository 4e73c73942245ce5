// The ES256 keys that sign access tokens and the agent card: made at first start, kept in the store, published as a key set.
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose';
import { sharedSecret } from './secrets.ts';
import type { Store } from './store.ts';

/** A key as RFC 7517 writes it, with the members that its users need to choose it. */
export type SigningKey = JWK & { kid: string; alg: 'ES256'; use: 'sig' };

export interface SigningKeys {
  /** Private keys. The first signs; further ones are only published, until what they signed is over. */
  keys: readonly [SigningKey, ...SigningKey[]];
  /** The same without their private part: the body of `/oauth/jwks.json`. */
  published: { keys: readonly SigningKey[] };
}

async function madeKey(): Promise<SigningKey> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = await exportJWK(privateKey);
  return { ...jwk, kid: await calculateJwkThumbprint(jwk), alg: 'ES256', use: 'sig' };
}

/** A key without its private part (RFC 7518 section 6.2.2). */
function publicPart({ d: _, ...rest }: SigningKey): SigningKey {
  return rest;
}

/** The key set of the service: the same for every process on the store. `kid` is the thumbprint of RFC 7638. */
export async function signingKeys(store: Store): Promise<SigningKeys> {
  const text = await sharedSecret(store, 'signing_keys', async () => JSON.stringify([await madeKey()]));
  const keys = JSON.parse(text) as [SigningKey, ...SigningKey[]];
  return { keys, published: { keys: keys.map(publicPart) } };
}
