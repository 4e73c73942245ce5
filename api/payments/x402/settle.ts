// Settlement: the facilitator submits the payment; if its outcome is unclear, the chain decides.
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

/** The known state of an open payment. */
type Known = Finding | { state: 'refused'; reason: string };

/** Delay before the next check of the chain for a payment of this age, in milliseconds. */
export const nextCheckDelay = (age: number): number => Math.min(3_600_000, Math.max(30_000, age));

/** The signed transfer of a row. */
export function transferOf({ payload, created_at }: Payment): Transfer {
  return readPayment(JSON.parse(payload), created_at).transfer;
}

/** Reads the state of an open payment from the chain. */
export function findOnChain({ chain }: SettlementParts, row: Payment): Promise<Finding> {
  return chain.look(transferOf(row), row.created_at, row.hash);
}

/**
 * Submits an open payment; the caller holds the lease of its row. `again`: it was submitted before, and that
 * transaction may still be pending, whatever the facilitator reports now.
 */
async function submit(
  { facilitator, chain }: SettlementParts,
  row: Payment,
  again: boolean,
): Promise<{ finding: Known; hash: string | null }> {
  const payload = JSON.parse(row.payload) as PaymentPayload;
  const settlement = await facilitator.settle(payload, JSON.parse(row.requirements) as PaymentRequirements);
  if (settlement.outcome === 'settled')
    return { finding: { state: 'settled', hash: settlement.hash, transfer: '' }, hash: settlement.hash };
  const hash = (settlement.outcome === 'unclear' ? settlement.hash : undefined) ?? row.hash;
  const finding = await chain.look(transferOf(row), row.created_at, hash);
  if (finding.state !== 'unused') return { finding, hash };
  // A clear rejection that the chain does not contradict. Anything else may still be pending.
  if (settlement.outcome === 'refused' && !again)
    return { finding: { state: 'refused', reason: settlement.reason }, hash };
  return { finding: { state: 'unknown' }, hash };
}

/**
 * Settles an open payment and stores the result. Throws the client's error: that of `refuse` for a rejected
 * payment, a 503 while the outcome is unknown.
 */
export async function settleOpen(
  parts: SettlementParts,
  row: Payment,
  again: boolean,
  gone: AbortSignal,
  refuse: (reason: string) => Error,
): Promise<Payment> {
  const { finding, hash } = await submit(parts, row, again);
  return conclude(parts, row, finding, hash, gone, refuse);
}

/** Stores the known state of an open payment. */
export async function conclude(
  parts: SettlementParts,
  row: Payment,
  finding: Known,
  hash: string | null,
  gone: AbortSignal,
  refuse: (reason: string) => Error,
): Promise<Payment> {
  const { store } = parts;
  const now = parts.now().getTime();
  const look_at = now + nextCheckDelay(now - row.created_at);
  if (finding.state === 'settled') {
    const paid = { hash: finding.hash, transfer: finding.transfer || null, now, delivered: !gone.aborted };
    // The money moved, so a failure keeps the row for the next check and is not a 402.
    const settled = await settlePayment(store, row, paid).catch(() => {
      throw outcomeUnknown();
    });
    if (settled === 'lost') throw paymentInProgress();
    if (settled !== 'taken') return settled;
    await dropPayment(store, row);
    throw refuse('payment_already_used');
  }
  if (finding.state === 'void') {
    await dropPayment(store, row);
    throw refuse(finding.reason);
  }
  if (finding.state === 'refused') {
    // Nothing was submitted. The client may pay in another way under the same Idempotency-Key.
    await leavePayment(store, row, { look_at, secret: null, refused: finding.reason });
    throw refuse(finding.reason);
  }
  await leavePayment(store, row, { look_at, refused: null, ...(hash === null ? {} : { hash }) });
  throw outcomeUnknown();
}
