// Mailed links: a secret token each, stored as a hash, usable once and for a limited time.
import { randomBytes } from 'node:crypto';
import { hashSecret } from './key-format.ts';
import { dropMails } from './mail.ts';
import { confirmAddress } from './sends.ts';
import type { Store } from './store.ts';

interface NewLink {
  purpose: string;
  /** What the link refers to, such as the id of a key. */
  subject: string;
  /** Milliseconds since 1970, and the lifetime. */
  now: number;
  lasts: number;
}

const rowOf = (token: string, { purpose, subject, now, lasts }: NewLink) => {
  const times = { created_at: now, expires_at: now + lasts, used_at: null, recipient: null };
  return { hash: hashSecret(token), purpose, subject, ...times };
};

/** Creates a token for a purpose. Only the mail contains it. */
export async function newLink({ db }: Pick<Store, 'db'>, link: NewLink): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  await db
    .insertInto('links')
    .values({ ...rowOf(token, link), topic: null })
    .execute();
  return token;
}

/**
 * An unused link of a topic blocks further mails for this long: anyone can request one, so a mailbox gets at
 * most one an hour.
 */
const SPACING = 3_600_000;

/**
 * The same for links that anyone can request: null while an unused link of the same topic (mailbox and
 * subject) is less than an hour old. That link and older ones stay valid until they expire, but mails with older ones
 * that still wait are not sent any more. `mail` queues the mail in the same transaction.
 */
export async function newLinkOf(
  store: Store,
  topic: string,
  link: NewLink,
  mail: (tx: Store['db'], token: string) => Promise<unknown> = async () => {},
): Promise<string | null> {
  const token = randomBytes(32).toString('base64url');
  const { purpose, now } = link;
  return store.db.transaction().execute(async (tx) => {
    for (;;) {
      const unused = tx.selectFrom('links').where('purpose', '=', purpose).where('topic', '=', topic);
      const recent = unused.where('used_at', 'is', null).where('created_at', '>', now - SPACING);
      if (await recent.select('hash').executeTakeFirst()) return null;
      const older = tx.updateTable('links').set({ topic: null }).where('purpose', '=', purpose);
      const replaced = await older
        .where('topic', '=', topic)
        .where('used_at', 'is', null)
        .where('created_at', '<=', now - SPACING)
        .returning('hash')
        .execute();
      await dropMails(
        tx,
        replaced.map(({ hash }) => hash),
        now,
      );
      const { numInsertedOrUpdatedRows = 0n } = await tx
        .insertInto('links')
        .values({ ...rowOf(token, link), topic })
        .onConflict((c) => c.doNothing())
        .executeTakeFirst();
      // Nothing inserted: a concurrent request was first, and the next round sees its link.
      if (numInsertedOrUpdatedRows === 0n) continue;
      await mail(tx, token);
      return token;
    }
  });
}

/** Deletes the unused links of a subject, such as a key whose secret was replaced, and their queued mails. */
export async function dropLinksOf(db: Store['db'], subject: string): Promise<void> {
  const unused = db.selectFrom('links').select('hash').where('subject', '=', subject).where('used_at', 'is', null);
  await db.deleteFrom('mails').where('link', 'in', unused).execute();
  await db.deleteFrom('links').where('subject', '=', subject).where('used_at', 'is', null).execute();
}

/** The subject of a valid token. Changes nothing, because mail scanners follow links. */
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

/**
 * Uses a token: returns its subject to exactly one caller; null when it is used, expired or unknown. Its address counts
 * as confirmed then.
 */
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
    .returning(['subject', 'recipient'])
    .executeTakeFirst();
  if (row?.recipient) await confirmAddress(store, row.recipient, now);
  return row?.subject ?? null;
}

/** Deletes links that expired a month ago; until then a page can report that a link expired. */
export async function forgetLinks(store: Store, now: number): Promise<void> {
  await store.db
    .deleteFrom('links')
    .where('expires_at', '<', now - 30 * 24 * 3_600_000)
    .execute();
}

/** State of a link. */
export type LinkState = 'good' | 'used' | 'over' | 'unknown';

/** State of a token, for a page that explains it; only the holder of the token can ask for it. */
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
