// The Ed25519 keys by which the crawler signs its requests, and their directory (Web Bot Auth).
import type { JWK } from 'jose';
import type { Store } from '../store.ts';
import { publicPart, type RingKey, type RingOf, ringKeys, rotateRing } from './key-rings.ts';

/** A private key: `kty` OKP, `crv` Ed25519; `kid` is what signatures name in `keyid`. */
export type CrawlerKey = JWK & { kid: string };

const RING: RingOf = { name: 'crawler_keys', algorithm: 'Ed25519' };

const bare = (keys: readonly RingKey[]) => keys.map(({ made_at: _, ...key }) => key) as [CrawlerKey, ...CrawlerKey[]];

/** The keys, newest first: the first signs requests, each signs the directory that lists them all. */
export async function crawlerKeys(store: Store, now: number): Promise<[CrawlerKey, ...CrawlerKey[]]> {
  return bare(await ringKeys(store, RING, now));
}

/** Makes a new key; the one before stays in the directory for another day. */
export async function rotateCrawlerKeys(store: Store, now: number): Promise<[CrawlerKey, ...CrawlerKey[]]> {
  return bare(await rotateRing(store, RING, now));
}

/** The key as the directory lists it. It names no `alg`: names of JOSE are none of HTTP signatures (RFC 9421 section 3.3). */
export function listed(key: CrawlerKey): JWK {
  return { ...publicPart({ ...key, made_at: 0 }), use: 'sig' };
}
