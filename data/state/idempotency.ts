// Idempotency-Key: one run per key and request; its answer is stored for 24 hours and repeated (contract
// section 3, "Charge").
import { type ExpressionBuilder, sql } from 'kysely';
import type { KeyClaim } from './statements.ts';
import type { Store } from './store.ts';
import type { Tables } from './tables/schema.ts';

/** Milliseconds that an answer is stored. */
const KEPT = 24 * 3_600_000;
/** Milliseconds until a claim expires unless it is renewed: the longest wait of a client after a crash. */
export const CLAIM_LEASE = 15_000;

/**
 * `claimed`: run the request. `kept`: repeat the stored answer. `running`: another request holds the claim
 * until `leased_until` (milliseconds since 1970) or longer, if it renews it. `other`: the key was used for
 * another request.
 */
export type IdempotencyClaim =
  | { state: 'claimed'; claim: KeyClaim }
  | { state: 'kept'; text: string }
  | { state: 'running'; leased_until: number }
  | { state: 'other' };

/** Claims a key for a request, identified by its hash. Of concurrent callers exactly one gets the claim. */
export async function claimRequest(
  store: Store,
  owner: string,
  idempotency_key: string,
  request: string,
  now: number,
): Promise<IdempotencyClaim> {
  const leased_until = now + CLAIM_LEASE;
  const row = { key_id: owner, idempotency_key, request, answer: null, records: '', created_at: now, leased_until };
  const free = (e: ExpressionBuilder<Tables, 'idempotency'>) =>
    e.or([
      e('idempotency.created_at', '<', now - KEPT),
      e.and([e('idempotency.answer', 'is', null), e('idempotency.leased_until', '<', now)]),
    ]);
  const mine = await store.db
    .insertInto('idempotency')
    .values(row)
    .onConflict((c) =>
      c
        .columns(['key_id', 'idempotency_key'])
        .doUpdateSet({ request, answer: null, records: '', created_at: now, leased_until })
        .where((e) => free(e as unknown as ExpressionBuilder<Tables, 'idempotency'>)),
    )
    .returning('created_at')
    .executeTakeFirst();
  if (mine) return { state: 'claimed', claim: { owner, idempotency_key, claimed_at: now } };
  return (await findClaim(store, owner, idempotency_key, request, now)) ?? { state: 'running', leased_until };
}

/** The state of an earlier request; claims nothing. Null without one in a day, or if its process died. */
export async function findClaim(
  store: Store,
  owner: string,
  idempotency_key: string,
  request: string,
  now: number,
): Promise<Exclude<IdempotencyClaim, { state: 'claimed' }> | null> {
  const row = await store.db
    .selectFrom('idempotency')
    .select(['request', 'answer', 'leased_until'])
    .where('key_id', '=', owner)
    .where('idempotency_key', '=', idempotency_key)
    .where('created_at', '>=', now - KEPT)
    .executeTakeFirst();
  if (!row) return null;
  if (row.request !== request) return { state: 'other' };
  const { answer, leased_until } = row;
  if (answer !== null) return { state: 'kept', text: answer };
  return leased_until < now ? null : { state: 'running', leased_until };
}

/** Renews the lease of a claim while its request runs. */
export async function renewClaim(store: Store, claim: KeyClaim, now: number): Promise<void> {
  await store.db
    .updateTable('idempotency')
    .set({ leased_until: now + CLAIM_LEASE })
    .where('key_id', '=', claim.owner)
    .where('idempotency_key', '=', claim.idempotency_key)
    .where('created_at', '=', claim.claimed_at)
    .where('answer', 'is', null)
    .execute();
}

/** Releases a claim after a failed request, so that the client can retry. */
export async function releaseClaim(store: Store, claim: KeyClaim): Promise<void> {
  await store.db
    .deleteFrom('idempotency')
    .where('key_id', '=', claim.owner)
    .where('idempotency_key', '=', claim.idempotency_key)
    .where('created_at', '=', claim.claimed_at)
    .where('answer', 'is', null)
    .execute();
}

/** Deletes stored answers that contain an opted-out record. */
export async function dropAnswersWith(store: Pick<Store, 'db'>, record: string): Promise<void> {
  const among = sql<string>`' ' || records || ' '`;
  await store.db.deleteFrom('idempotency').where(among, 'like', `% ${record} %`).execute();
  await store.db
    .updateTable('payments')
    .set({ answer: null, records: '' })
    .where(among, 'like', `% ${record} %`)
    .execute();
}

/** Deletes answers older than a day. */
export async function forgetAnswers(store: Store, now: number): Promise<void> {
  await store.db
    .deleteFrom('idempotency')
    .where('created_at', '<', now - KEPT)
    .execute();
}
