// Operators who are signed in with a browser: a secret token each, stored hashed, good for a while after the last page and no longer than a day's work.
import { randomBytes } from 'node:crypto';
import { hashSecret } from '../key-format.ts';
import type { Store } from '../store.ts';
import type { OpsSessionTable } from '../tables/ops.ts';

/** How long a session lasts after the last page that was asked for, and at most. Milliseconds. */
export const SESSION = { idle: 3_600_000, life: 12 * 3_600_000 };
/** The time of the last page is written down this exactly, so that not every page writes. */
const EXACTLY = 60_000;

export type OpsSession = OpsSessionTable;

/** Signs an operator in; the answer is the token, which is nowhere else. `admin` is the SHA-256 of their key. */
export async function openSession({ db }: Store, admin: string, now: number): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  await db
    .insertInto('ops_sessions')
    .values({ hash: hashSecret(token), admin, created_at: now, seen_at: now })
    .execute();
  return token;
}

/** The session of a token; null when it is over or never was. `renews`: somebody asked for a page. */
export async function findSession(
  { db }: Store,
  token: string,
  now: number,
  renews: boolean,
): Promise<OpsSession | null> {
  const hash = hashSecret(token);
  const row = await db
    .selectFrom('ops_sessions')
    .selectAll()
    .where('hash', '=', hash)
    .where('seen_at', '>', now - SESSION.idle)
    .where('created_at', '>', now - SESSION.life)
    .executeTakeFirst();
  if (!row) return null;
  if (renews && row.seen_at < now - EXACTLY)
    await db.updateTable('ops_sessions').set({ seen_at: now }).where('hash', '=', hash).execute();
  return row;
}

/** Signs out: the token is good for nothing from now on, in every process. */
export async function endSession({ db }: Store, token: string): Promise<void> {
  await db.deleteFrom('ops_sessions').where('hash', '=', hashSecret(token)).execute();
}

/** Forgets sessions that are over. */
export async function forgetSessions({ db }: Store, now: number): Promise<void> {
  await db
    .deleteFrom('ops_sessions')
    .where((e) => e.or([e('seen_at', '<=', now - SESSION.idle), e('created_at', '<=', now - SESSION.life)]))
    .execute();
}
