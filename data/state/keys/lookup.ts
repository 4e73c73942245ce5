// Looks up the key of every request without a cache: a revocation takes effect at once, in every process.
import { hashSecret, isWellFormedKey } from '../key-format.ts';
import { grantWithKey, keyByHash } from '../statements.ts';
import type { Store } from '../store.ts';

/** A live key as the gate needs it. Amounts in micro-euros, times in milliseconds since 1970. */
export interface LiveKey {
  id: string;
  plan: string;
  plan_until: number | null;
  balance: number;
}

/** A grant with the live key that it spends from. */
export interface LiveGrant {
  /** Its name in tokens and charges. */
  name: string;
  client_id: string;
  /** The rest of its cap; null: no cap. */
  left: number | null;
  /** Whether its tokens are accepted at every resource, whatever they were issued for. */
  any_resource: boolean;
  key: LiveKey;
}

/** The key of a secret; null when it is unknown or revoked. A malformed secret needs no look-up. */
export async function findLiveKey({ reader }: Store, secret: string): Promise<LiveKey | null> {
  if (!isWellFormedKey(secret)) return null;
  const [key] = await keyByHash(reader, { hash: hashSecret(secret) });
  return key === undefined || key.revoked_at !== null ? null : key;
}

/** The grant with this name; null when it expired or its key is revoked. `now` in milliseconds since 1970. */
export async function findLiveGrant({ reader }: Store, name: string, now: number): Promise<LiveGrant | null> {
  const [row] = await grantWithKey(reader, { grant: name, now });
  if (row === undefined) return null;
  const { client_id, cap, spent, any_resource, ...key } = row;
  const left = cap === null ? null : Math.max(0, cap - spent);
  return { name, client_id, left, any_resource: any_resource === 1, key };
}
