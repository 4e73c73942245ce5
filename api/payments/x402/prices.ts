// Prices that a payment may pay: the current one, or one offered shortly before a new pack or rate
// (payments.md 7.12).
import type { PaymentRequirements } from '@x402/core/types';
import { type Offer, offersSince, rememberOffer } from '../../../data/state/money/offers.ts';
import type { Store } from '../../../data/state/store.ts';
import { type Price, totalPrice } from '../../contract/pricing.ts';
import { type PaymentTerms, requirementsFor, sameRequirements, TIMEOUT } from './terms.ts';

/** Minimum time between two writes of the same offer, in milliseconds. */
const OFTEN = 30_000;

export interface OfferedPrices {
  /** Stores that a 402 offered this price. */
  recordOffer(price: Price): void;
  /** The offer that the client accepted; null if it was not offered. */
  matching(price: Price, accepted: PaymentRequirements): Promise<PaymentRequirements | null>;
}

interface Parts {
  store: Store;
  terms: PaymentTerms;
  eur_usd: number;
  now(): Date;
  log(line: string): void;
}

/**
 * Offers in the store: processes without the new pack still offer the old price, and the others accept it.
 */
export function offeredPrices({ store, terms, eur_usd, now, log }: Parts): OfferedPrices {
  const written = new Map<string, number>();
  return {
    recordOffer({ dataset, of, unit }) {
      // The amount of a sale is in its request.
      if (of === '') return;
      const at = now().getTime();
      const name = `${dataset} ${of} ${unit}`;
      if (at - (written.get(name) ?? 0) < OFTEN) return;
      written.set(name, at);
      const offer: Offer = { dataset, price: of, micros: unit, rate: String(eur_usd) };
      rememberOffer(store, offer, at).catch((error: Error) => {
        written.delete(name);
        log(`cannot store an offered price: ${error.message}`);
      });
    },
    async matching({ dataset, micros, of, times }, accepted) {
      const among = (total: number, rate: number) =>
        requirementsFor(terms, total, rate).find((offered) => sameRequirements(offered, accepted));
      const current = among(micros, eur_usd);
      if (current) return current;
      const since = now().getTime() - TIMEOUT * 1000 - OFTEN;
      for (const earlier of await offersSince(store, dataset, of, since)) {
        const match = among(totalPrice(of, earlier.micros, times), Number(earlier.rate));
        if (match) return match;
      }
      return null;
    },
  };
}
