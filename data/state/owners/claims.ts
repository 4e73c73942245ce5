// Claims in the store: a token each, hashed; followed as often as one likes, good for edits for half an hour after the first time.
import { randomBytes, randomUUID } from 'node:crypto';
import { hashSecret } from '../key-format.ts';
import type { Store } from '../store.ts';
import type { ClaimTable } from '../tables/owners.ts';

/** How long a link may be followed for the first time, and how long edits are possible since (contract section 5, "Claim"). */
export const CLAIM_LASTS = { link: 24 * 3_600_000, edits: 30 * 60_000 };

const HOUR = 3_600_000;
/**
 * Mails of a link to one mailbox about one record: none within an hour after an unopened one, and at most three an hour in all. Anyone can ask for a mail,
 * so this bounds what a mailbox receives, while its owner always has a link that works or gets one within the hour.
 */
const CLAIM_MAILS = { within: HOUR, most: 3 };

/** A claim without its hash. */
export type Claim = Omit<ClaimTable, 'hash'>;
type NewClaim = Pick<ClaimTable, 'dataset' | 'entity_id' | 'email' | 'email_normal' | 'domain'>;

/**
 * Makes a claim; another of the same record by the same address that was not followed yet is over. The token is in this answer alone. Null where
 * CLAIM_MAILS allows no mail now: the pending link stays good. `always`: an operator decided, and the mail is sent in any case.
 */
export async function newClaim(store: Store, given: NewClaim, now: number, always = false): Promise<string | null> {
  const token = randomBytes(32).toString('base64url');
  const times = { created_at: now, expires_at: now + CLAIM_LASTS.link };
  const unused = { verified_at: null, until: null, replaced_at: null };
  const row = { id: randomUUID(), hash: hashSecret(token), ...given, ...times, ...unused };
  const made = await store.db.transaction().execute(async (tx) => {
    for (;;) {
      const recent = await tx
        .selectFrom('claims')
        .select(['verified_at', 'replaced_at'])
        .where('dataset', '=', given.dataset)
        .where('entity_id', '=', given.entity_id)
        .where('email_normal', '=', given.email_normal)
        .where('created_at', '>', now - CLAIM_MAILS.within)
        .execute();
      const pending = recent.some(({ verified_at, replaced_at }) => verified_at === null && replaced_at === null);
      if (!always && (pending || recent.length >= CLAIM_MAILS.most)) return false;
      let former = tx
        .updateTable('claims')
        .set({ replaced_at: now })
        .where('dataset', '=', given.dataset)
        .where('entity_id', '=', given.entity_id)
        .where('email_normal', '=', given.email_normal)
        .where('verified_at', 'is', null)
        .where('replaced_at', 'is', null);
      // One that was committed since the look above is no older one.
      if (!always) former = former.where('created_at', '<=', now - CLAIM_MAILS.within);
      await former.execute();
      const { numInsertedOrUpdatedRows = 0n } = await tx
        .insertInto('claims')
        .values(row)
        .onConflict((c) => c.doNothing())
        .executeTakeFirst();
      // Nothing inserted: another request was faster, and the next round sees its claim.
      if (numInsertedOrUpdatedRows > 0n) return true;
    }
  });
  return made ? token : null;
}

/** Deletes a claim whose mail could not be sent, so that the next request is not held back by it. */
export async function dropClaim({ db }: Pick<Store, 'db'>, token: string): Promise<void> {
  await db.deleteFrom('claims').where('hash', '=', hashSecret(token)).execute();
}

/** The claim of a token as it stands, over or not; null when there is none. */
export async function claimOf(store: Pick<Store, 'db'>, token: string): Promise<Claim | null> {
  const row = await store.db.selectFrom('claims').selectAll().where('hash', '=', hashSecret(token)).executeTakeFirst();
  if (!row) return null;
  const { hash: _, ...claim } = row;
  return claim;
}

/**
 * Marks a claim followed; the first time alone counts, and ends what the same address began earlier with the same record. Null when the token is
 * unknown or over. `first`: it was this call that verified it.
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

/** Whether edits are possible under a claim now. */
export function mayEdit(claim: Claim, now: number): claim is Claim & { until: number } {
  return claim.replaced_at === null && claim.until !== null && claim.until > now;
}

/** Forgets claims that nobody can use any more since a month; what came of them is in the audit log. */
export async function forgetClaims(store: Store, now: number): Promise<void> {
  await store.db
    .deleteFrom('claims')
    .where('expires_at', '<', now - 30 * 24 * 3_600_000)
    .execute();
}
