// Claims in the store, by hashed token: the link may be opened repeatedly; edits are possible for half an
// hour after the first time.
import { randomBytes, randomUUID } from 'node:crypto';
import { hashSecret } from '../key-format.ts';
import { dropMails } from '../mail.ts';
import { confirmAddress } from '../sends.ts';
import type { Store } from '../store.ts';
import type { ClaimTable } from '../tables/owners.ts';

/** Milliseconds until a link must be opened, and for edits after that (contract section 5, "Claim"). */
export const CLAIM_LASTS = { link: 24 * 3_600_000, edits: 30 * 60_000 };

const HOUR = 3_600_000;
/**
 * Mails to one mailbox about one record: none within an hour after an unopened link, and at most three an
 * hour in total. Anyone can request a mail, so this limits them, while the owner always has a valid link or
 * gets one within the hour.
 */
const CLAIM_MAILS = { within: HOUR, most: 3 };

/** A claim without its hash. */
export type Claim = Omit<ClaimTable, 'hash'>;
type NewClaim = Pick<ClaimTable, 'dataset' | 'entity_id' | 'email' | 'email_normal' | 'domain'>;

/**
 * Creates a claim and expires unopened ones of the same record and address, with mails of them that still wait. Only this answer contains the
 * token. Null when CLAIM_MAILS allows no mail now; the pending link stays valid. `always`: for an operator's
 * decision, without limits. `mail` queues the mail in the same transaction.
 */
export async function newClaim(
  store: Store,
  input: NewClaim,
  now: number,
  always = false,
  mail: (tx: Store['db'], token: string) => Promise<unknown> = async () => {},
): Promise<string | null> {
  const token = randomBytes(32).toString('base64url');
  const times = { created_at: now, expires_at: now + CLAIM_LASTS.link };
  const unused = { verified_at: null, until: null, replaced_at: null };
  const row = { id: randomUUID(), hash: hashSecret(token), ...input, ...times, ...unused };
  return store.db.transaction().execute(async (tx) => {
    for (;;) {
      const recent = await tx
        .selectFrom('claims')
        .select(['verified_at', 'replaced_at'])
        .where('dataset', '=', input.dataset)
        .where('entity_id', '=', input.entity_id)
        .where('email_normal', '=', input.email_normal)
        .where('created_at', '>', now - CLAIM_MAILS.within)
        .execute();
      const pending = recent.some(({ verified_at, replaced_at }) => verified_at === null && replaced_at === null);
      if (!always && (pending || recent.length >= CLAIM_MAILS.most)) return null;
      let former = tx
        .updateTable('claims')
        .set({ replaced_at: now })
        .where('dataset', '=', input.dataset)
        .where('entity_id', '=', input.entity_id)
        .where('email_normal', '=', input.email_normal)
        .where('verified_at', 'is', null)
        .where('replaced_at', 'is', null);
      // A claim that was committed after the check above is not older.
      if (!always) former = former.where('created_at', '<=', now - CLAIM_MAILS.within);
      const replaced = await former.returning('hash').execute();
      await dropMails(
        tx,
        replaced.map((claim) => claim.hash),
        now,
      );
      const { numInsertedOrUpdatedRows = 0n } = await tx
        .insertInto('claims')
        .values(row)
        .onConflict((c) => c.doNothing())
        .executeTakeFirst();
      // Nothing inserted: a concurrent request was first, and the next round sees its claim.
      if (numInsertedOrUpdatedRows === 0n) continue;
      await mail(tx, token);
      return token;
    }
  });
}

/**
 * The claim of a token in any state; null for an unknown token.
 *
 * @example
 * ```ts
 * const claim = await claimOf(store, token);
 * if (claim?.verified_at) await applyEdits(claim);
 * ```
 */
export async function claimOf(store: Pick<Store, 'db'>, token: string): Promise<Claim | null> {
  const row = await store.db.selectFrom('claims').selectAll().where('hash', '=', hashSecret(token)).executeTakeFirst();
  if (!row) return null;
  const { hash: _, ...claim } = row;
  return claim;
}

/**
 * Marks a claim as opened. Only the first call counts; it ends earlier claims of the same address on the
 * record. Null when the token is unknown or expired. `first`: this call verified the claim.
 */
export async function verifyClaim(
  store: Store,
  token: string,
  now: number,
): Promise<{ claim: Claim & { until: number }; first: boolean } | null> {
  const hash = hashSecret(token);
  const first = await store.db.transaction().execute(async (tx) => {
    const marked = await tx
      .updateTable('claims')
      .set({ verified_at: now, until: now + CLAIM_LASTS.edits })
      .where('hash', '=', hash)
      .where('verified_at', 'is', null)
      .where('replaced_at', 'is', null)
      .where('expires_at', '>', now)
      .returningAll()
      .executeTakeFirst();
    if (!marked) return false;
    await confirmAddress({ db: tx }, marked.email, now);
    await tx
      .updateTable('claims')
      .set({ replaced_at: now })
      .where('dataset', '=', marked.dataset)
      .where('entity_id', '=', marked.entity_id)
      .where('email_normal', '=', marked.email_normal)
      .where('id', '<>', marked.id)
      .where('replaced_at', 'is', null)
      .execute();
    return true;
  });
  const claim = await claimOf(store, token);
  return claim && mayEdit(claim, now) ? { claim, first } : null;
}

/** Whether edits are possible with a claim now. */
export function mayEdit(claim: Claim, now: number): claim is Claim & { until: number } {
  return claim.replaced_at === null && claim.until !== null && claim.until > now;
}

/** Deletes claims that expired a month ago; the audit log has their edits. */
export async function forgetClaims(store: Store, now: number): Promise<void> {
  await store.db
    .deleteFrom('claims')
    .where('expires_at', '<', now - 30 * 24 * 3_600_000)
    .execute();
}
