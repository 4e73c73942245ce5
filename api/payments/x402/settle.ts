// From an answer that is ready to money that is ours: settle, and where that says neither yes nor no, ask the chain.
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types';
import { dropPayment, leavePayment, type Payment, settlePayment } from '../../../data/state/money/payments.ts';
import type { Store } from '../../../data/state/store.ts';
import type { Chain, Finding } from './chain.ts';
import { outcomeUnknown, paymentInProgress } from './errors.ts';
import type { Facilitator } from './facilitator.ts';
import { readPayment, type Transfer } from './signed.ts';

export interface SettlementParts {
  store: Store;
  facilitator: Facilitator;
  chain: Chain;
  now(): Date;
}

/** What is known of an open payment, and what to do about it. */
type Known = Finding | { state: 'refused'; reason: string };

/** After how long the chain is asked again about a payment of this age, in milliseconds. */
export const nextCheckDelay = (age: number): number => Math.min(3_600_000, Math.max(30_000, age));

/** The transfer that the client signed, as it stands in the row. */
export function transferOf({ payload, created_at }: Payment): Transfer {
  return readPayment(JSON.parse(payload), created_at).transfer;
}

/** Asks the chain about an open row. */
export function findOnChain({ chain }: SettlementParts, row: Payment): Promise<Finding> {
  return chain.look(transferOf(row), row.created_at, row.hash);
}

/**
 * Brings an open row onto the chain; the row is held by the caller. `again`: it was tried before, and what was sent then may
 * still be on its way, whatever is said now.
 */
async function bring(
  { facilitator, chain }: SettlementParts,
  row: Payment,
  again: boolean,
): Promise<{ known: Known; hash: string | null }> {
  const payload = JSON.parse(row.payload) as PaymentPayload;
  const told = await facilitator.settle(payload, JSON.parse(row.requirements) as PaymentRequirements);
  if (told.outcome === 'settled')
    return { known: { state: 'settled', hash: told.hash, transfer: '' }, hash: told.hash };
  const hash = (told.outcome === 'unclear' ? told.hash : undefined) ?? row.hash;
  const found = await chain.look(transferOf(row), row.created_at, hash);
  if (found.state !== 'unused') return { known: found, hash };
  // A plain no that the chain does not contradict. Anything else may still be on its way.
  if (told.outcome === 'refused' && !again) return { known: { state: 'refused', reason: told.reason }, hash };
  return { known: { state: 'unknown' }, hash };
}

/**
 * Settles an open row and writes down that it is ours. Throws what the client is to be told: `refuse` for a payment that
 * will not do, 503 while that is not known.
 */
export async function settleOpen(
  parts: SettlementParts,
  row: Payment,
  again: boolean,
  gone: AbortSignal,
  refuse: (reason: string) => Error,
): Promise<Payment> {
  const { known, hash } = await bring(parts, row, again);
  return conclude(parts, row, known, hash, gone, refuse);
}

/** Acts on what is known of an open row. */
export async function conclude(
  parts: SettlementParts,
  row: Payment,
  known: Known,
  hash: string | null,
  gone: AbortSignal,
  refuse: (reason: string) => Error,
): Promise<Payment> {
  const { store } = parts;
  const now = parts.now().getTime();
  const look_at = now + nextCheckDelay(now - row.created_at);
  if (known.state === 'settled') {
    const paid = { hash: known.hash, transfer: known.transfer || null, now, delivered: !gone.aborted };
    // The money moved: whatever fails from here on leaves the row to be found, and is no 402.
    const settled = await settlePayment(store, row, paid).catch(() => {
      throw outcomeUnknown();
    });
    if (settled === 'lost') throw paymentInProgress();
    if (settled !== 'taken') return settled;
    await dropPayment(store, row);
    throw refuse('payment_already_used');
  }
  if (known.state === 'void') {
    await dropPayment(store, row);
    throw refuse(known.reason);
  }
  if (known.state === 'refused') {
    // Nothing was sent. The client may pay in another way under the same Idempotency-Key.
    await leavePayment(store, row, { look_at, secret: null, refused: known.reason });
    throw refuse(known.reason);
  }
  await leavePayment(store, row, { look_at, refused: null, ...(hash === null ? {} : { hash }) });
  throw outcomeUnknown();
}
