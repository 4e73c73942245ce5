// Links that are mailed: a secret token each, stored hashed, good once and for a while.
import { randomBytes } from 'node:crypto';
import { hashSecret } from './key-format.ts';
import type { Store } from './store.ts';

/** Makes a token for a purpose and what it is about (a key's id). Only the mail holds it. Times in milliseconds since 1970. */
export async function newLink(
  store: Store,
  link: { purpose: string; subject: string; now: number; lasts: number },
): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  const { purpose, subject, now, lasts } = link;
  await store.db
    .insertInto('links')
    .values({ hash: hashSecret(token), purpose, subject, created_at: now, expires_at: now + lasts, used_at: null })
    .execute();
  return token;
}

/** What a token is about while it is good; looking changes nothing, since mail scanners follow links. */
export async function linkSubject(store: Store, purpose: string, token: string, now: number): Promise<string | null> {
  const row = await store.db
    .selectFrom('links')
    .select('subject')
    .where('hash', '=', hashSecret(token))
    .where('purpose', '=', purpose)
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirst();
  return row?.subject ?? null;
}

/** Uses a token up: its subject, for one caller alone; null when it is used, over or unknown. */
export async function consumeLink(
  store: Pick<Store, 'db'>,
  purpose: string,
  token: string,
  now: number,
): Promise<string | null> {
  const row = await store.db
    .updateTable('links')
    .set({ used_at: now })
    .where('hash', '=', hashSecret(token))
    .where('purpose', '=', purpose)
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .returning('subject')
    .executeTakeFirst();
  return row?.subject ?? null;
}

/** Forgets links that were over a month ago: until then a page can say that one is over, and not that there was none. */
export async function forgetLinks(store: Store, now: number): Promise<void> {
  await store.db
    .deleteFrom('links')
    .where('expires_at', '<', now - 30 * 24 * 3_600_000)
    .execute();
}

/** What became of a link that is no good. */
export type LinkState = 'good' | 'used' | 'over' | 'unknown';

/** How a token stands, for a page that explains it; only who has the token can ask. */
export async function linkState(store: Store, purpose: string, token: string, now: number): Promise<LinkState> {
  const row = await store.db
    .selectFrom('links')
    .select(['used_at', 'expires_at'])
    .where('hash', '=', hashSecret(token))
    .where('purpose', '=', purpose)
    .executeTakeFirst();
  if (!row) return 'unknown';
  if (row.used_at !== null) return 'used';
  return row.expires_at > now ? 'good' : 'over';
}
