// Rings of signing key pairs: created on first use, kept in the store, rotated without a gap.
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose';
import { sharedSecret } from '../secrets.ts';
import type { Store } from '../store.ts';

/** Algorithm of a ring, and its row in the store. */
export interface RingOf {
  name: string;
  algorithm: 'ES256' | 'Ed25519';
  /** Milliseconds that a replaced key stays published: everything it signed has expired by then. Absent: a day. */
  retired?: number;
}

/** A private key; `kid` is its RFC 7638 thumbprint. `made_at` in milliseconds since 1970. */
export type RingKey = JWK & { kid: string; made_at: number };

const RETIRED = 24 * 3_600_000;

async function makeKey(algorithm: RingOf['algorithm'], made_at: number): Promise<RingKey> {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const jwk = await exportJWK(privateKey);
  return { ...jwk, kid: await calculateJwkThumbprint(jwk), made_at };
}

/** Keys of a ring, newest first: the first signs, all are published. Equal in all processes on the store. */
export async function ringKeys(store: Store, ring: RingOf, now: number): Promise<[RingKey, ...RingKey[]]> {
  const make = async () => JSON.stringify([await makeKey(ring.algorithm, now)]);
  return JSON.parse(await sharedSecret(store, ring.name, make)) as [RingKey, ...RingKey[]];
}

/**
 * Adds a new first key and keeps the previous one published for the time of the ring. Concurrent rotations add two
 * keys and lose none.
 */
export async function rotateRing(store: Store, ring: RingOf, now: number): Promise<[RingKey, ...RingKey[]]> {
  while (true) {
    const before = await ringKeys(store, ring, now);
    // `before[i - 1]` replaced `before[i]`.
    const kept = before.filter((_, i) => i === 0 || (before[i - 1]?.made_at ?? 0) > now - (ring.retired ?? RETIRED));
    const after: [RingKey, ...RingKey[]] = [await makeKey(ring.algorithm, now), ...kept];
    const { numUpdatedRows } = await store.db
      .updateTable('secrets')
      .set({ value: JSON.stringify(after) })
      .where('name', '=', ring.name)
      .where('value', '=', JSON.stringify(before))
      .executeTakeFirst();
    if (numUpdatedRows > 0n) return after;
  }
}

/** The public key, without the private part and without our creation time. */
export function publicPart<K extends RingKey>({ d: _, made_at: __, ...rest }: K): Omit<K, 'd' | 'made_at'> {
  return rest;
}
