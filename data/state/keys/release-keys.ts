// Ed25519 keys that sign the manifests of releases.
import type { JWK } from 'jose';
import type { Store } from '../store.ts';
import { publicPart, type RingKey, type RingOf, ringKeys, rotateRing } from './key-rings.ts';

/** A replaced key stays published, because the releases that it signed do. */
const RING: RingOf = { name: 'release_keys', algorithm: 'Ed25519', retired: Number.POSITIVE_INFINITY };

/** The private keys, newest first: the first signs, all verify. Creates the first one, dated `now` (milliseconds). */
export const releaseKeys = (store: Store, now: number): Promise<[RingKey, ...RingKey[]]> => ringKeys(store, RING, now);

/** Creates a new key; releases signed by the previous ones can still be verified. */
export const rotateReleaseKeys = (store: Store, now: number): Promise<[RingKey, ...RingKey[]]> =>
  rotateRing(store, RING, now);

/** The public key for the directory of keys. */
export const publicReleaseKey = (key: RingKey): JWK & { purpose: string } => ({
  ...publicPart(key),
  use: 'sig',
  purpose: 'releases',
});
