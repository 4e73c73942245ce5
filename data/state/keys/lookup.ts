// Looks up the key of every request without a cache: a revocation takes effect at once, in every process.
import { type Bound, capBound, childBounds, dayOf, keyBounds, tightestBound } from '../budgets.ts';
import { hashSecret, isWellFormedKey } from '../key-format.ts';
import { childByHash, grantWithKey, keyByHash, keyWithBalance } from '../statements.ts';
import type { Store } from '../store.ts';
import type { KeyLimitTable } from '../tables/budgets.ts';

/** A live key as the gate needs it. Amounts in micro-euros, times in milliseconds since 1970. */
export interface LiveKey {
  id: string;
  plan: string;
  plan_until: number | null;
  balance: number;
  /** Whether its owner set limits. */
  limited?: true;
  /** The tightest bound of the key and of its child or client; absent: none. */
  bound?: Bound;
  /** The child key of the secret. */
  child?: LiveChild;
}

/** A child key as the gate needs it. `datasets` and `operations` that it may pay for; null: all. */
export interface LiveChild {
  id: string;
  name: string;
  datasets: readonly string[] | null;
  operations: readonly string[] | null;
}

/** A grant with the live key that it spends from. */
export interface LiveGrant {
  /** Its name in tokens and charges. */
  name: string;
  client_id: string;
  key: LiveKey;
}

/** The key of a secret, or its parent for that of a child key; null when it is unknown, expired or revoked. */
export async function findLiveKey(
  { reader }: Store,
  secret: string,
  now: number,
  hash = hashSecret(secret),
): Promise<LiveKey | null> {
  // A malformed secret needs no look-up.
  if (!isWellFormedKey(secret)) return null;
  const [key] = await keyByHash(reader, { hash });
  if (key) return liveKey(key, now);
  const [child] = await childByHash(reader, { hash });
  const parent = child === undefined || hasEnded(child.expires_at, now) ? null : liveKey(child, now);
  if (child === undefined || parent === null) return null;
  const { child_id: id, name, datasets, operations } = child;
  const [per_day, day, day_spent] = [child.child_per_day, child.child_day, child.child_day_spent];
  const bounds = childBounds({ cap: child.cap, spent: child.spent, per_day, day, day_spent }, dayOf(now));
  const bound = tightestBound([...bounds, ...(parent.bound ? [parent.bound] : [])]);
  const listOf = (json: string | null) => (json === null ? null : (JSON.parse(json) as string[]));
  const fields = { id, name, datasets: listOf(datasets), operations: listOf(operations) };
  return { ...parent, ...(bound && { bound }), child: fields };
}

/** The key with this id, as `findLiveKey`; null when it is unknown, expired or revoked. */
export async function findLiveKeyById({ reader }: Store, id: string, now: number): Promise<LiveKey | null> {
  const [row] = await keyWithBalance(reader, { id });
  return row === undefined ? null : liveKey(row, now);
}

type KeyRow = Awaited<ReturnType<typeof keyByHash>>[number];

const hasEnded = (end: number | null, now: number): boolean => end !== null && end <= now;

/** A row of a key as the gate needs it; null for one that is revoked or expired. */
function liveKey(row: KeyRow, now: number): LiveKey | null {
  const { id, plan, plan_until, balance, revoked_at, ends_at, limited } = row;
  if (revoked_at !== null || hasEnded(ends_at, now)) return null;
  if (limited === null) return { id, plan, plan_until, balance };
  const { per_day, per_month, day, day_spent, month, month_spent } = row as unknown as KeyLimitTable;
  const bound = tightestBound(keyBounds({ per_day, per_month, day, day_spent, month, month_spent }, dayOf(now)));
  return { id, plan, plan_until, balance, limited: true, ...(bound && { bound }) };
}

/** The grant with this name; null when it expired or its key is revoked. `now` in milliseconds since 1970. */
export async function findLiveGrant({ reader }: Store, name: string, now: number): Promise<LiveGrant | null> {
  const [row] = await grantWithKey(reader, { grant: name, now });
  if (row === undefined) return null;
  const { client_id, cap, spent } = row;
  const key = liveKey(row, now);
  if (key === null) return null;
  const bound = tightestBound([...capBound('client', cap, spent), ...(key.bound ? [key.bound] : [])]);
  return { name, client_id, key: { ...key, ...(bound && { bound }) } };
}
