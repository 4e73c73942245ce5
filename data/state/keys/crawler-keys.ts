// Ed25519 keys that sign the requests of the crawler, and their directory (Web Bot Auth).
import type { JWK } from 'jose';
import type { Store } from '../store.ts';
import { publicPart, type RingKey, type RingOf, ringKeys, rotateRing } from './key-rings.ts';

/** A private key: `kty` OKP, `crv` Ed25519; `kid` is the `keyid` of signatures. */
export type CrawlerKey = JWK & { kid: string };

const RING: RingOf = { name: 'crawler_keys', algorithm: 'Ed25519' };

const bare = (keys: readonly RingKey[]) => keys.map(({ made_at: _, ...key }) => key) as [CrawlerKey, ...CrawlerKey[]];

/** The keys, newest first: the first signs requests, all sign the directory that lists them. */
export async function crawlerKeys(store: Store, now: number): Promise<[CrawlerKey, ...CrawlerKey[]]> {
  return bare(await ringKeys(store, RING, now));
}

/** Creates a new key; the previous one stays in the directory for another day. */
export async function rotateCrawlerKeys(store: Store, now: number): Promise<[CrawlerKey, ...CrawlerKey[]]> {
  return bare(await rotateRing(store, RING, now));
}

/**
 * The public key for the directory, without `alg`: HTTP signatures do not use JOSE names (RFC 9421 section
 * 3.3).
 */
export function publicCrawlerKey(key: CrawlerKey): JWK {
  return { ...publicPart({ ...key, made_at: 0 }), use: 'sig' };
}
