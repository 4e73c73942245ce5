// Opens x402: a key's credit pays first, an x402 payment if the credit does not.
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
import type { PaymentSigner } from './discovery.ts';
import { type FacilitatorTimeouts, httpFacilitator } from './facilitator.ts';
import { Paywall } from './paywall.ts';
import { offeredPrices } from './prices.ts';
import { findOnChain, nextCheckDelay, type SettlementParts } from './settle.ts';
import { EXTENSIONS, type PaymentTerms, requirementsFor } from './terms.ts';

/** X402_PAY_TO, X402_TOKENS, X402_FACILITATOR_URL and X402_RPC_URL. */
export interface X402Settings extends PaymentTerms {
  facilitator_url: string;
  rpc_url: string;
  /** Timeouts of the facilitator; tests use shorter ones. */
  patience?: FacilitatorTimeouts;
}

interface Parts {
  store: Store;
  repeats: IdempotencyStore;
  settings: X402Settings;
  signer: PaymentSigner;
  eur_usd: number;
  now(): Date;
  log(line: string): void;
}

/** Milliseconds between two checks of open payments whose clients did not return. */
const SWEEP = 30_000;

/**
 * Opens x402. `asks` returns the x402 part of a quote; `front` adds x402 to the credits; `sweep` checks open
 * payments, which also happens periodically.
 */
export function openX402({ store, repeats, settings, signer, eur_usd, now, log }: Parts) {
  const prices = offeredPrices({ store, terms: settings, eur_usd, now, log });
  const settling = {
    store,
    now,
    facilitator: httpFacilitator(settings.facilitator_url, settings.patience),
    chain: rpcChain(settings.rpc_url),
  };
  const sweep = () => sweepPayments(settling, log);
  let closed = false;
  const sweepAll = () =>
    void sweep().catch((error: Error) => {
      if (!closed) log(`x402: cannot check open payments: ${error.message}`);
    });
  const sweeping = setInterval(sweepAll, SWEEP).unref();
  sweepAll();
  const asks: X402Offer = (price) => {
    prices.recordOffer(price);
    const accepts = requirementsFor(settings, price.micros, eur_usd);
    return { accepts, extensions: EXTENSIONS, indexed: signer.offers(price, accepts, now().getTime()) };
  };
  const front = (credits: Payments): Payments => {
    const paywall = new Paywall({ ...settling, repeats, prices, signer, quote: credits.quote, log });
    return {
      quote: credits.quote,
      afford: async (caller, price) => credits.afford?.(caller, price),
      waiting: (secret) => paywall.waiting(secret),
      async reserve(caller, price, attached) {
        try {
          return await credits.reserve(caller, price, attached);
        } catch (error) {
          const unpaid = error instanceof ApiError && /^(payment_required|insufficient_credits)$/.test(error.code);
          const reservation = unpaid && attached !== null ? await paywall.reserve(caller, price, attached) : null;
          if (reservation === null) throw error;
          return reservation;
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

/** How long offers are stored, in milliseconds; they are accepted for minutes. */
const OFFERS = 3_600_000;

/**
 * Checks all due payments once. Processes can do this in parallel: a lease gives each payment to one of them.
 */
async function sweepPayments(parts: SettlementParts, log: (line: string) => void): Promise<void> {
  const { store } = parts;
  const now = parts.now().getTime();
  await forgetPayments(store, now);
  await forgetOffers(store, now - OFFERS);
  for (const due of await duePayments(store, now)) {
    const row = await leasePayment(store, due, parts.now().getTime());
    if (row === null) continue;
    const finding = await findOnChain(parts, row);
    const at = parts.now().getTime();
    if (finding.state === 'settled') {
      const { hash, transfer } = finding;
      const settled = await settlePayment(store, row, { hash, transfer, now: at, delivered: false });
      if (settled === 'taken') await dropPayment(store, row);
      else log(`x402: ${row.request_id} was paid by ${hash}; its answer is stored for the client`);
    } else if (finding.state === 'void') await dropPayment(store, row);
    else await leavePayment(store, row, { look_at: at + nextCheckDelay(at - row.created_at) });
  }
}
