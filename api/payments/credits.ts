// Payment with a key's credit: checked before a call runs, charged in one transaction with its answer.

import { balanceOf, charge } from '../../data/state/money/ledger.ts';
import type { StoredAnswer } from '../../data/state/statements.ts';
import type { Store } from '../../data/state/store.ts';
import { eur } from '../../packs/define/money.ts';
import { type Caller, paysForCalls } from '../access/caller.ts';
import { ApiError } from '../contract/errors.ts';
import type { Price } from '../contract/pricing.ts';
import type { IdempotencyStore } from './idempotency.ts';
import {
  boundError,
  formatEurAmount,
  freeReservation,
  type Payments,
  paymentError,
  type Reservation,
} from './payments.ts';

interface Parts {
  store: Store;
  repeats: IdempotencyStore;
  quote: Payments['quote'];
  now(): Date;
  /** Alerts the owner of a key whose balance fell below the mark; the balance in micro-euros. */
  onLowBalance(key_id: string, balance: number): Promise<void>;
}

type KeyCaller = Caller & { kind: 'key' };

/** Credit held in this process for running calls of one key. */
interface Hold {
  micros: number;
  calls: number;
  /** Resolves to a fresh balance when one of the calls ends; null while no other call waits. */
  waiting: PromiseWithResolvers<number> | null;
}

/** Credit of running calls, by key, so that a key does not start more calls than it can pay. */
class Holds {
  readonly #store: Store;
  readonly #byKey = new Map<string, Hold>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Waits until the credit that is not held covers the price. Null, or the balance if it does not. */
  async add(key: string, cached: number | undefined, micros: number): Promise<number | null> {
    let balance = cached ?? (await balanceOf(this.#store, key));
    while (balance - this.#held(key) < micros) {
      const current = this.#byKey.get(key);
      if (current === undefined) {
        // Only a fresh balance rejects: one read during a charge may count that charge twice.
        balance = await balanceOf(this.#store, key);
        if (balance < micros && !this.#byKey.has(key)) return balance;
      } else {
        current.waiting ??= Promise.withResolvers();
        balance = await current.waiting.promise;
      }
    }
    this.#hold(key, micros);
    return null;
  }

  #held(key: string): number {
    return this.#byKey.get(key)?.micros ?? 0;
  }

  #hold(key: string, micros: number): void {
    const hold = this.#byKey.get(key) ?? { micros: 0, calls: 0, waiting: null };
    hold.micros += micros;
    hold.calls += 1;
    this.#byKey.set(key, hold);
  }

  /** Ends one call's hold. */
  remove(key: string, micros: number): void {
    const hold = this.#byKey.get(key);
    if (hold === undefined) return;
    hold.micros -= micros;
    hold.calls -= 1;
    if (hold.calls === 0) this.#byKey.delete(key);
    // One query for the balance serves all waiting calls.
    hold.waiting?.resolve(balanceOf(this.#store, key));
    hold.waiting = null;
  }
}

/**
 * Credits as payments. The price is charged when the answer is ready, so there is nothing to refund when the
 * call fails, the client disconnects or the process dies (docs/decisions/0009). Until then this process holds
 * it.
 */
export class CreditPayments implements Payments {
  /** A property, since callers use it without the object. */
  readonly quote: Payments['quote'];
  readonly #parts: Parts;
  readonly #holds: Holds;

  constructor(parts: Parts) {
    this.quote = parts.quote;
    this.#parts = parts;
    this.#holds = new Holds(parts.store);
  }

  async afford(caller: Caller, price: Price): Promise<void> {
    const key = this.#payer(caller, price);
    if (key === null) return;
    const balance = await balanceOf(this.#parts.store, key.id);
    if (balance < price.micros) throw this.#insufficient(caller, price, balance);
  }

  async reserve(caller: Caller, price: Price): Promise<Reservation> {
    const key = this.#payer(caller, price);
    if (key === null) return freeReservation(this.#parts.repeats);
    const { micros } = price;
    const balance = await this.#holds.add(key.id, key.balance, micros);
    if (balance !== null) throw this.#insufficient(caller, price, balance);
    let held = true;
    const release = async () => {
      if (held) this.#holds.remove(key.id, micros);
      held = false;
    };
    return { micros, release, commit: (answer) => this.#charge(key, price, answer).finally(release) };
  }

  /** The key that pays for a call, within the bounds that the gate checked; null for a free call. Throws without a key. */
  #payer(caller: Caller, price: Price): KeyCaller | null {
    if (caller.kind === 'admin' || price.micros === 0 || !paysForCalls(caller)) return null;
    if (caller.kind === 'anonymous') {
      const message = `${price.operation} costs ${formatEurAmount(price.micros)} and this call was not paid.`;
      throw paymentError('payment_required', message, this.quote(caller, price));
    }
    return caller;
  }

  /** Charges the price; an error withholds the answer. */
  async #charge(caller: KeyCaller, price: Price, answer: StoredAnswer | null): Promise<Record<string, string>> {
    const { store, repeats } = this.#parts;
    const { operation, micros, request_id } = price;
    const dataset = price.dataset === '' ? null : price.dataset;
    const now = this.#parts.now().getTime();
    const { id, limited, child, grant } = caller;
    const call = { amount: micros, operation, dataset, request_id, now, answer, grant, limited };
    const outcome = await charge(store, { ...call, key_id: id, child: child?.id });
    if (outcome.state === 'revoked') throw new ApiError('invalid_key', 'This key was revoked.');
    if (outcome.state === 'withdrawn') throw new ApiError('invalid_token', 'This access token was revoked.');
    // Other calls spent the rest of the bound meanwhile.
    if (outcome.state === 'bounded') throw boundError(price, outcome.bound);
    if (outcome.state === 'superseded') throw repeats.busy();
    if (outcome.state === 'insufficient') throw this.#insufficient(caller, price, outcome.balance);
    if (outcome.alert) await this.#parts.onLowBalance(id, outcome.balance);
    const left = child ? Math.min(outcome.balance, outcome.left ?? outcome.balance) : outcome.balance;
    return { 'X-Charge-EUR': String(eur(micros)), 'X-Balance-EUR': String(eur(left)) };
  }

  #insufficient(caller: Caller, price: Price, balance: number): ApiError {
    const message = `${price.operation} costs ${formatEurAmount(price.micros)} and the key has ${formatEurAmount(balance)} left.`;
    return paymentError('insufficient_credits', message, this.quote(caller, price));
  }
}
