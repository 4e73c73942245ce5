// Keys and digests derived from one shared secret, one key for each purpose (HKDF, RFC 5869).
import { createHmac, createSecretKey, hkdfSync } from 'node:crypto';

/** A 256-bit key for one purpose. A key reveals nothing about keys of other purposes. */
export function derivedKey(secret: string, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, '', purpose, 32));
}

/** HMAC-SHA-256 of a text or bytes, in base64url. */
export type KeyedDigest = (content: string | Uint8Array) => string;

/** A digest function that only processes with the secret can compute. */
export function keyedDigest(secret: string, purpose: string): KeyedDigest {
  const key = createSecretKey(derivedKey(secret, purpose));
  return (content) => createHmac('sha256', key).update(content).digest('base64url');
}
