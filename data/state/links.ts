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
export async function consumeLink(store: Store, purpose: string, token: string, now: number): Promise<string | null> {
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
