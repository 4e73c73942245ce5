// What nobody comes back for: payments that were begun and not concluded. The chain is asked; nothing is ever settled from here.
import { forgetOffers } from '../../../data/state/offers.ts';
import {
  dropPayment,
  duePayments,
  forgetPayments,
  leasePayment,
  leavePayment,
  settlePayment,
} from '../../../data/state/payments.ts';
import { lookAt, nextLook, type Settling } from './settle.ts';

/** How long an asked price is remembered, in milliseconds; it is taken for minutes only. */
const OFFERS = 3_600_000;

/** One round. Several processes may do it at once: each payment is looked at by one of them. */
export async function sweepPayments(parts: Settling, log: (line: string) => void): Promise<void> {
  const { store } = parts;
  const now = parts.now().getTime();
  await forgetPayments(store, now);
  await forgetOffers(store, now - OFFERS);
  for (const due of await duePayments(store, now)) {
    const row = await leasePayment(store, due, parts.now().getTime());
    if (row === null) continue;
    const found = await lookAt(parts, row);
    const at = parts.now().getTime();
    if (found.state === 'settled') {
      const { hash, transfer } = found;
      const settled = await settlePayment(store, row, { hash, transfer, now: at, delivered: false });
      if (settled === 'taken') await dropPayment(store, row);
      else log(`x402: ${row.request_id} was paid by ${hash}; its answer waits for its client`);
    } else if (found.state === 'void') await dropPayment(store, row);
    else await leavePayment(store, row, { look_at: at + nextLook(at - row.created_at) });
  }
}
