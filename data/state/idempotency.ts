// Idempotency-Key: one run for a key and request, its answer kept 24 hours and repeated (contract section 3, "Charge").
import { type ExpressionBuilder, sql } from 'kysely';
import type { Tables } from './schema.ts';
import type { Store } from './store.ts';
import type { KeptAnswer } from './writer-jobs.ts';

/** How long an answer is repeated. */
const KEPT = 24 * 3_600_000;
/** After this a run without an answer is taken for dead: no run may take that long, and a charge keeps its answer with it. */
const DEAD = 120_000;

/** `claimed`: run it. `kept`: repeat it. `running`: another is at it. `other`: the key was used for another request. */
export type Claim =
  | { state: 'claimed'; claim: number }
  | { state: 'kept'; text: string }
  | { state: 'running' }
  | { state: 'other' };

/** Claims a key for a request (a hash of it). One caller gets the claim, whoever else asks at the same moment. */
export async function claimRequest(
  store: Store,
  owner: string,
  idempotency_key: string,
  request: string,
  now: number,
): Promise<Claim> {
  const row = { key_id: owner, idempotency_key, request, answer: null, records: '', created_at: now };
  const free = (e: ExpressionBuilder<Tables, 'idempotency'>) =>
    e.or([
      e('idempotency.created_at', '<', now - KEPT),
      e.and([e('idempotency.answer', 'is', null), e('idempotency.created_at', '<', now - DEAD)]),
    ]);
  const mine = await store.db
    .insertInto('idempotency')
    .values(row)
    .onConflict((c) =>
      c
        .columns(['key_id', 'idempotency_key'])
        .doUpdateSet({ request, answer: null, records: '', created_at: now })
        .where((e) => free(e as unknown as ExpressionBuilder<Tables, 'idempotency'>)),
    )
    .returning('created_at')
    .executeTakeFirst();
  if (mine) return { state: 'claimed', claim: now };
  const found = await store.db
    .selectFrom('idempotency')
    .select(['request', 'answer'])
    .where('key_id', '=', owner)
    .where('idempotency_key', '=', idempotency_key)
    .executeTakeFirst();
  if (!found) return { state: 'running' };
  if (found.request !== request) return { state: 'other' };
  return found.answer === null ? { state: 'running' } : { state: 'kept', text: found.answer };
}

/** Keeps an answer that cost nothing; one that was charged is kept by the charge itself. */
export async function keepAnswer(store: Store, owner: string, answer: KeptAnswer): Promise<void> {
  await store.db
    .updateTable('idempotency')
    .set({ answer: answer.text, records: answer.records })
    .where('key_id', '=', owner)
    .where('idempotency_key', '=', answer.idempotency_key)
    .where('created_at', '=', answer.claim)
    .execute();
}

/** Gives a claim back: the request failed and may be tried again. */
export async function dropClaim(store: Store, owner: string, idempotency_key: string, claim: number): Promise<void> {
  await store.db
    .deleteFrom('idempotency')
    .where('key_id', '=', owner)
    .where('idempotency_key', '=', idempotency_key)
    .where('created_at', '=', claim)
    .where('answer', 'is', null)
    .execute();
}

/** Drops every kept answer that holds a record: it was opted out. */
export async function dropAnswersWith(store: Pick<Store, 'db'>, record: string): Promise<void> {
  const among = sql<string>`' ' || records || ' '`;
  await store.db.deleteFrom('idempotency').where(among, 'like', `% ${record} %`).execute();
  await store.db
    .updateTable('payments')
    .set({ answer: null, records: '' })
    .where(among, 'like', `% ${record} %`)
    .execute();
}

/** Forgets what is older than a day. */
export async function forgetAnswers(store: Store, now: number): Promise<void> {
  await store.db
    .deleteFrom('idempotency')
    .where('created_at', '<', now - KEPT)
    .execute();
}
