// Keys and digests that are derived from one shared secret, each for a purpose of its own (HKDF, RFC 5869).
import { createHmac, createSecretKey, hkdfSync } from 'node:crypto';

/** 256 bits for one purpose. Keys of different purposes say nothing about each other. */
export function derivedKey(secret: string, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, '', purpose, 32));
}

/** HMAC-SHA-256 of a text or bytes, in base64url. */
export type KeyedDigest = (content: string | Uint8Array) => string;

/** Digests that only processes with the secret can compute. */
export function keyedDigest(secret: string, purpose: string): KeyedDigest {
  const key = createSecretKey(derivedKey(secret, purpose));
  return (content) => createHmac('sha256', key).update(content).digest('base64url');
}
