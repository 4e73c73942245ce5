// Browser sessions of operators: a secret token each, stored as a hash, limited by idle time and a working
// day.
import { randomBytes } from 'node:crypto';
import { hashSecret } from '../key-format.ts';
import type { Store } from '../store.ts';
import type { OpsSessionTable } from '../tables/ops.ts';

/** Lifetime after the last requested page, and in total. Milliseconds. */
export const SESSION_LIFETIME = { idle: 3_600_000, life: 12 * 3_600_000 };
/** Precision of the stored time of the last page, so that not every page writes. */
const EXACTLY = 60_000;

export type OpsSession = OpsSessionTable;

/**
 * Signs an operator in; returns the token, which is not stored. `admin` is the SHA-256 of the operator's key.
 */
export async function openSession({ db }: Store, admin: string, now: number): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  await db
    .insertInto('ops_sessions')
    .values({ hash: hashSecret(token), admin, created_at: now, seen_at: now })
    .execute();
  return token;
}

/** The session of a token; null when it expired or is unknown. `renews`: the request is for a page. */
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
    .where('seen_at', '>', now - SESSION_LIFETIME.idle)
    .where('created_at', '>', now - SESSION_LIFETIME.life)
    .executeTakeFirst();
  if (!row) return null;
  if (renews && row.seen_at < now - EXACTLY)
    await db.updateTable('ops_sessions').set({ seen_at: now }).where('hash', '=', hash).execute();
  return row;
}

/** Signs out: the token is invalid at once in every process. */
export async function endSession({ db }: Store, token: string): Promise<void> {
  await db.deleteFrom('ops_sessions').where('hash', '=', hashSecret(token)).execute();
}

/** Deletes expired sessions. */
export async function forgetSessions({ db }: Store, now: number): Promise<void> {
  await db
    .deleteFrom('ops_sessions')
    .where((e) =>
      e.or([e('seen_at', '<=', now - SESSION_LIFETIME.idle), e('created_at', '<=', now - SESSION_LIFETIME.life)]),
    )
    .execute();
}
