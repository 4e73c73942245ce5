// Payment with a key's credit: checked before a call runs, charged in one transaction with its answer.

import { type Awaitable, whenReady } from '../../data/model/awaitable.ts';
import type { Lookup } from '../../data/state/keys/lookup.ts';
import { charge as chargeKey } from '../../data/state/money/ledger.ts';
import type { Store } from '../../data/state/store.ts';
import type { KeptAnswer } from '../../data/state/writer-jobs.ts';
import { eur } from '../../packs/define/money.ts';
import { type Caller, paysForCalls } from '../access/caller.ts';
import { ApiError } from '../contract/errors.ts';
import { hasClaim, type IdempotencyStore, type SerializedAnswer } from './idempotency.ts';
import { formatEurAmount, type Payments, type PricedCall, paymentError, type Reservation } from './payments.ts';

interface Parts {
  store: Store;
  lookup: Lookup;
  repeats: IdempotencyStore;
  quote: Payments['quote'];
  now(): Date;
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
  readonly #lookup: Lookup;
  readonly #byKey = new Map<string, Hold>();

  constructor(lookup: Lookup) {
    this.#lookup = lookup;
  }

  /** Waits until the credit that is not held covers the price. Null, or the balance if it does not. */
  add(key: string, cached: number | undefined, micros: number): Awaitable<number | null> {
    if (cached === undefined || cached - this.#held(key) < micros) return this.#wait(key, cached, micros);
    this.#hold(key, micros);
    return null;
  }

  async #wait(key: string, cached: number | undefined, micros: number): Promise<number | null> {
    let balance = cached ?? (await this.#lookup.balance(key));
    while (true) {
      const current = this.#byKey.get(key);
      if (balance - this.#held(key) >= micros) break;
      // Only a fresh balance rejects: one read during a charge may count that charge twice.
      if (current === undefined) {
        balance = await this.#lookup.balance(key);
        if (this.#byKey.has(key)) continue;
        if (balance < micros) return balance;
        break;
      }
      current.waiting ??= Promise.withResolvers();
      balance = await current.waiting.promise;
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
    hold.waiting?.resolve(this.#lookup.balance(key));
    hold.waiting = null;
  }
}

const NO_HEADERS: Record<string, string> = {};

/** The reservation of a call that costs its caller nothing. */
class FreeReservation implements Reservation {
  readonly #repeats: IdempotencyStore;

  constructor(repeats: IdempotencyStore) {
    this.#repeats = repeats;
  }

  commit(answer?: SerializedAnswer): Awaitable<Record<string, string>> {
    return hasClaim(answer) ? this.#repeats.keep(answer).then(() => NO_HEADERS) : NO_HEADERS;
  }

  release(): void {}
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
    this.#holds = new Holds(parts.lookup);
  }

  async afford(caller: Caller, charge: PricedCall): Promise<void> {
    const key = this.#payer(caller, charge);
    if (key === null) return;
    const balance = await this.#parts.lookup.balance(key.id);
    if (balance < charge.micros) throw this.#insufficient(caller, charge, balance);
  }

  reserve(caller: Caller, charge: PricedCall): Awaitable<Reservation> {
    const key = this.#payer(caller, charge);
    if (key === null) return new FreeReservation(this.#parts.repeats);
    return whenReady(this.#holds.add(key.id, key.balance, charge.micros), (balance) => {
      if (balance !== null) throw this.#insufficient(caller, charge, balance);
      return this.#reservation(key, charge);
    });
  }

  #reservation(key: KeyCaller, charge: PricedCall): Reservation {
    let open = true;
    const end = () => {
      if (open) this.#holds.remove(key.id, charge.micros);
      open = false;
    };
    return {
      commit: (answer) => this.#charge(key, charge, hasClaim(answer) ? answer : undefined).finally(end),
      release: end,
    };
  }

  /**
   * The key that pays for a call; null for a free call. Throws for a caller without a key, and for a client
   * over its cap.
   */
  #payer(caller: Caller, charge: PricedCall): KeyCaller | null {
    if (caller.kind === 'admin' || charge.micros === 0 || !paysForCalls(caller)) return null;
    if (caller.kind === 'anonymous') {
      const message = `${charge.operation} costs ${formatEurAmount(charge.micros)} and this call was not paid.`;
      throw paymentError('payment_required', message, this.quote(caller, charge));
    }
    const left = caller.grant?.left ?? null;
    if (left !== null && left < charge.micros) throw this.#overCap(caller, charge, left);
    return caller;
  }

  /** Charges the price; an error withholds the answer. */
  async #charge(
    caller: KeyCaller,
    charge: PricedCall,
    answer: KeptAnswer | undefined,
  ): Promise<Record<string, string>> {
    const { store, repeats } = this.#parts;
    const { operation, micros, request_id } = charge;
    const dataset = charge.dataset === '' ? null : charge.dataset;
    const now = this.#parts.now().getTime();
    const grant = caller.grant?.name;
    const call = { key_id: caller.id, amount: micros, operation, dataset, request_id, now, answer, grant };
    const outcome = await chargeKey(store, call);
    if (outcome.state === 'revoked') throw new ApiError('invalid_key', 'This key was revoked.');
    if (outcome.state === 'withdrawn') throw new ApiError('invalid_token', 'This access token was revoked.');
    if (outcome.state === 'capped') throw this.#overCap(caller, charge, outcome.left);
    if (outcome.state === 'superseded') throw repeats.busy();
    if (outcome.state === 'insufficient') throw this.#insufficient(caller, charge, outcome.balance);
    return { 'X-Charge-EUR': String(eur(micros)), 'X-Balance-EUR': String(eur(outcome.balance)) };
  }

  #insufficient(caller: Caller, charge: PricedCall, balance: number): ApiError {
    const message = `${charge.operation} costs ${formatEurAmount(charge.micros)} and the key has ${formatEurAmount(balance)} left.`;
    return paymentError('insufficient_credits', message, this.quote(caller, charge));
  }

  /** The grant's cap is reached. A top-up does not help; the user has to consent to a higher cap. */
  #overCap(caller: Caller, charge: PricedCall, left: number): ApiError {
    const message = `${charge.operation} costs ${formatEurAmount(charge.micros)} and this client may spend ${formatEurAmount(left)} more. Its user sets a higher limit by connecting it again.`;
    const detail = { reason: 'spending_cap', left_eur: eur(left) };
    return paymentError('insufficient_credits', message, this.quote(caller, charge), detail);
  }
}
