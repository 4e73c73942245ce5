// Links that are mailed: a secret token each, stored hashed, good once and for a while.
import { randomBytes } from 'node:crypto';
import { hashSecret } from './key-format.ts';
import type { Store } from './store.ts';

interface NewLink {
  purpose: string;
  /** What it is about, such as a key's id. */
  subject: string;
  /** Milliseconds since 1970, and how long it is good. */
  now: number;
  lasts: number;
}

const rowOf = (token: string, { purpose, subject, now, lasts }: NewLink) => {
  const times = { created_at: now, expires_at: now + lasts, used_at: null };
  return { hash: hashSecret(token), purpose, subject, ...times };
};

/** Makes a token for a purpose. Only the mail holds it. */
export async function newLink({ db }: Pick<Store, 'db'>, link: NewLink): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  await db
    .insertInto('links')
    .values({ ...rowOf(token, link), topic: null })
    .execute();
  return token;
}

/** How long an unused link of a topic holds back another mail: anyone can ask for one, and a mailbox gets at most one an hour. */
const SPACING = 3_600_000;

/**
 * The same for links that strangers can ask for: null while an unused one of the same topic (a mailbox, and what it is about) is less than an hour old.
 * That one stays good, and so does an older one until its time is up.
 */
export async function newLinkOf(store: Store, topic: string, link: NewLink): Promise<string | null> {
  const token = randomBytes(32).toString('base64url');
  const { purpose, now } = link;
  const made = await store.db.transaction().execute(async (tx) => {
    for (;;) {
      const unused = tx.selectFrom('links').where('purpose', '=', purpose).where('topic', '=', topic);
      const recent = unused.where('used_at', 'is', null).where('created_at', '>', now - SPACING);
      if (await recent.select('hash').executeTakeFirst()) return false;
      const older = tx.updateTable('links').set({ topic: null }).where('purpose', '=', purpose);
      await older
        .where('topic', '=', topic)
        .where('used_at', 'is', null)
        .where('created_at', '<=', now - SPACING)
        .execute();
      const { numInsertedOrUpdatedRows = 0n } = await tx
        .insertInto('links')
        .values({ ...rowOf(token, link), topic })
        .onConflict((c) => c.doNothing())
        .executeTakeFirst();
      // Nothing inserted: another request was faster, and the next round sees its link.
      if (numInsertedOrUpdatedRows > 0n) return true;
    }
  });
  return made ? token : null;
}

/** Deletes a link whose mail could not be sent, so that the next request is not held back by it. */
export async function dropLink({ db }: Pick<Store, 'db'>, token: string): Promise<void> {
  await db.deleteFrom('links').where('hash', '=', hashSecret(token)).execute();
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
