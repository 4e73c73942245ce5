// x402 put together from its settings, in front of the credits: a key's credit pays first, and a payment where it does not.
import { forgetOffers } from '../../../data/state/money/offers.ts';
import {
  dropPayment,
  duePayments,
  forgetPayments,
  leasePayment,
  leavePayment,
  settlePayment,
} from '../../../data/state/money/payments.ts';
import type { Store } from '../../../data/state/store.ts';
import { ApiError } from '../../contract/errors.ts';
import type { IdempotencyStore } from '../idempotency.ts';
import type { Payments, X402Offer } from '../payments.ts';
import { rpcChain } from './chain.ts';
import { type FacilitatorTimeouts, httpFacilitator } from './facilitator.ts';
import { Paywall } from './paywall.ts';
import { offeredPrices } from './prices.ts';
import { findOnChain, nextCheckDelay, type SettlementParts } from './settle.ts';
import { EXTENSIONS, type PaymentTerms, requirementsFor } from './terms.ts';

/** X402_PAY_TO, X402_TOKENS, X402_FACILITATOR_URL and X402_RPC_URL. */
export interface X402Settings extends PaymentTerms {
  facilitator_url: string;
  rpc_url: string;
  /** How long the facilitator is waited for; tests have less. */
  patience?: FacilitatorTimeouts;
}

interface Parts {
  store: Store;
  repeats: IdempotencyStore;
  settings: X402Settings;
  eur_usd: number;
  now(): Date;
  log(line: string): void;
}

/** How often payments that nobody came back for are looked after, in milliseconds. */
const SWEEP = 30_000;

/**
 * Opens x402. `asks` makes the x402 part of every quote; `front` puts it before the credits; `sweep` looks after what nobody came
 * back for, as happens by itself from time to time.
 */
export function openX402({ store, repeats, settings, eur_usd, now, log }: Parts) {
  const prices = offeredPrices({ store, terms: settings, eur_usd, now, log });
  const settling = {
    store,
    now,
    facilitator: httpFacilitator(settings.facilitator_url, settings.patience),
    chain: rpcChain(settings.rpc_url),
  };
  const sweep = () => sweepPayments(settling, log);
  let closed = false;
  const told = () =>
    void sweep().catch((error: Error) => {
      if (!closed) log(`x402: cannot look after payments: ${error.message}`);
    });
  const sweeping = setInterval(told, SWEEP).unref();
  told();
  const asks: X402Offer = (charge) => {
    prices.asked(charge);
    return { accepts: requirementsFor(settings, charge.micros, eur_usd), extensions: EXTENSIONS };
  };
  const front = (credits: Payments): Payments => {
    const paywall = new Paywall({ ...settling, repeats, prices, quote: credits.quote, log });
    return {
      quote: credits.quote,
      afford: async (caller, charge) => credits.afford?.(caller, charge),
      waiting: (secret) => paywall.waiting(secret),
      async reserve(caller, charge, attached) {
        try {
          return await credits.reserve(caller, charge, attached);
        } catch (error) {
          const unpaid = error instanceof ApiError && /^(payment_required|insufficient_credits)$/.test(error.code);
          const paid = unpaid && attached !== null ? await paywall.reserve(caller, charge, attached) : null;
          if (paid === null) throw error;
          return paid;
        }
      },
    };
  };
  const close = () => {
    closed = true;
    clearInterval(sweeping);
  };
  return { asks, front, sweep, close };
}

/** How long an asked price is remembered, in milliseconds; it is taken for minutes only. */
const OFFERS = 3_600_000;

/** One round. Several processes may do it at once: each payment is looked at by one of them. */
async function sweepPayments(parts: SettlementParts, log: (line: string) => void): Promise<void> {
  const { store } = parts;
  const now = parts.now().getTime();
  await forgetPayments(store, now);
  await forgetOffers(store, now - OFFERS);
  for (const due of await duePayments(store, now)) {
    const row = await leasePayment(store, due, parts.now().getTime());
    if (row === null) continue;
    const found = await findOnChain(parts, row);
    const at = parts.now().getTime();
    if (found.state === 'settled') {
      const { hash, transfer } = found;
      const settled = await settlePayment(store, row, { hash, transfer, now: at, delivered: false });
      if (settled === 'taken') await dropPayment(store, row);
      else log(`x402: ${row.request_id} was paid by ${hash}; its answer waits for its client`);
    } else if (found.state === 'void') await dropPayment(store, row);
    else await leavePayment(store, row, { look_at: at + nextCheckDelay(at - row.created_at) });
  }
}
