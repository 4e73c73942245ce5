// Prepaid keys: bought by one x402 payment, without an address, and ended at a time (contract section 9, "Budgets").
// Amounts in micro-euros, times in milliseconds since 1970.
import { createHash, createHmac } from 'node:crypto';
import { sql, type Transaction } from 'kysely';
import { hashSecret, keyOf } from '../key-format.ts';
import { accountOf } from '../statements.ts';
import type { Store } from '../store.ts';
import type { PaymentTable } from '../tables/payments.ts';
import type { Tables } from '../tables/schema.ts';
import { moveIn } from './ledger.ts';

/** A key that a payment buys: stored with the payment, and created when it is settled. */
export interface Purchase {
  id: string;
  /** SHA-256 of the secret in hex. */
  hash: string;
  /** Lifetime in milliseconds from the settlement on, and its end as the answer shows it. */
  expires_at: number;
}

/**
 * Id and secret of the key that a payment buys: the same for every repeat with the same Idempotency-Key. Nobody can
 * compute the secret from the payment, which is public on the chain.
 */
export function prepaidKey(server_secret: string, payment_id: string, idempotency_key: string) {
  const secret = keyOf(createHmac('sha512', server_secret).update(`${payment_id}\n${idempotency_key}`).digest());
  const hex = createHash('sha256').update(`prepaid ${payment_id}`).digest('hex');
  const id = hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5');
  return { id, secret, hash: hashSecret(secret) };
}

/** Creates the key of a settled payment with its credit, in the transaction of the settlement. */
export async function createPrepaid(tx: Transaction<Tables>, payment: PaymentTable, now: number): Promise<void> {
  const { id, hash, expires_at } = JSON.parse(payment.purchase ?? '') as Purchase;
  // The address is unique, and a key has one only after its owner attached it.
  const address = { email: '', email_normal: `prepaid:${id}` };
  const plan = { plan: 'payg', plan_until: null, created_at: now, revoked_at: null };
  await tx
    .insertInto('keys')
    .values({ id, hash, ...address, ...plan, expires_at })
    .execute();
  const { id: reference, micros: amount, request_id } = payment;
  await moveIn(tx, { key_id: id, amount, kind: 'prepaid', against: 'x402', reference, request_id, now });
}

/** Ends keys that expired, and moves what is left to the operator's unclaimed balance. */
export async function expireKeys(store: Store, now: number): Promise<void> {
  const expired = await store.db
    .selectFrom('keys')
    .select('id')
    .where('expires_at', '<=', now)
    .where('revoked_at', 'is', null)
    .limit(1000)
    .execute();
  for (const { id } of expired)
    await store.db.transaction().execute(async (tx) => {
      // The balance first, as charges do, so that no charge happens between its reading and the movement.
      const account = accountOf(id);
      const balance = await tx
        .updateTable('balances')
        .set({ amount: sql.ref('amount') })
        .where('account', '=', account)
        .returning('amount')
        .executeTakeFirst();
      const { numUpdatedRows } = await tx
        .updateTable('keys')
        .set({ revoked_at: now })
        .where('id', '=', id)
        .where('revoked_at', 'is', null)
        .executeTakeFirst();
      const amount = balance?.amount ?? 0;
      if (numUpdatedRows > 0n && amount > 0)
        await moveIn(tx, { key_id: id, amount: -amount, kind: 'expired', against: 'unclaimed', reference: id, now });
    });
}
