// Paying with the credit of a key: looked at before the call runs, taken in one transaction when its answer is ready.

import type { Lookup } from '../../data/state/keys/lookup.ts';
import { charge as chargeKey } from '../../data/state/money/ledger.ts';
import type { Store } from '../../data/state/store.ts';
import { eur } from '../../packs/define/money.ts';
import { type Caller, isCharged } from '../access/caller.ts';
import { ApiError } from '../contract/errors.ts';
import { type Charge, type Payments, paymentError, type Reservation, told } from './payments.ts';
import { isKept, type Kept, type Repeats } from './repeats.ts';

interface Credits {
  store: Store;
  lookup: Lookup;
  repeats: Repeats;
  quote: Payments['quote'];
  now(): Date;
}

/** What this process holds for calls of one key that are running. */
interface Held {
  micros: number;
  calls: number;
  /** Others that wait for one of them to end. */
  waiting: PromiseWithResolvers<number> | null;
}

/**
 * Credits as payments. What a call costs is not taken until its answer is ready, so nothing is given back when it fails, when
 * the client hangs up or when the process dies (docs/decisions/0009). Meanwhile this process counts it as held, so that a
 * key does not start more calls than it can pay.
 */
export function creditPayments(credits: Credits): Payments {
  const { quote } = credits;
  const held = new Map<string, Held>();

  /** Waits until the balance covers the price beside what is held, or is known not to. */
  async function hold(key: string, balance: number | undefined, micros: number): Promise<number | null> {
    let known = balance ?? (await credits.lookup.balance(key));
    while (true) {
      const now = held.get(key);
      if (known - (now?.micros ?? 0) >= micros) break;
      // Only a fresh balance refuses: one that was read while a charge was on its way counts that charge twice.
      if (now === undefined) {
        known = await credits.lookup.balance(key);
        if (held.has(key)) continue;
        if (known < micros) return known;
        break;
      }
      now.waiting ??= Promise.withResolvers();
      known = await now.waiting.promise;
    }
    const mine = held.get(key) ?? { micros: 0, calls: 0, waiting: null };
    mine.micros += micros;
    mine.calls += 1;
    held.set(key, mine);
    return null;
  }

  function settle(key: string, micros: number): void {
    const mine = held.get(key);
    if (mine === undefined) return;
    mine.micros -= micros;
    mine.calls -= 1;
    if (mine.calls === 0) held.delete(key);
    // One look at the balance serves all who wait.
    mine.waiting?.resolve(credits.lookup.balance(key));
    mine.waiting = null;
  }

  const short = (caller: Caller, charge: Charge, balance: number) =>
    paymentError(
      'insufficient_credits',
      `${charge.operation} costs ${told(charge.micros)} and the key has ${told(balance)} left.`,
      quote(caller, charge),
    );

  /** The grant's cap is too close: more credit would not help, another consent would. */
  const capped = (caller: Caller, charge: Charge, left: number) =>
    paymentError(
      'insufficient_credits',
      `${charge.operation} costs ${told(charge.micros)} and this client may spend ${told(left)} more. Its user sets a higher limit by connecting it again.`,
      quote(caller, charge),
      { reason: 'spending_cap', left_eur: eur(left) },
    );

  /** Takes the price; what cannot be taken withholds the answer. */
  async function take(caller: Caller & { kind: 'key' }, charge: Charge, answer: Kept | undefined) {
    const { operation, micros, request_id } = charge;
    const dataset = charge.dataset === '' ? null : charge.dataset;
    const now = credits.now().getTime();
    const grant = caller.grant?.name;
    const given = { key_id: caller.id, amount: micros, operation, dataset, request_id, now, answer, grant };
    const outcome = await chargeKey(credits.store, given);
    if (outcome.state === 'revoked') throw new ApiError('invalid_key', 'This key was revoked meanwhile.');
    if (outcome.state === 'withdrawn')
      throw new ApiError('invalid_token', 'What this access token stands for was withdrawn meanwhile.');
    if (outcome.state === 'capped') throw capped(caller, charge, outcome.left);
    if (outcome.state === 'superseded') throw credits.repeats.busy();
    if (outcome.state === 'insufficient') throw short(caller, charge, outcome.balance);
    return { 'X-Charge-EUR': String(eur(micros)), 'X-Balance-EUR': String(eur(outcome.balance)) };
  }

  const free = (owner: string): Reservation => ({
    commit: async (kept) => {
      if (isKept(kept)) await credits.repeats.keep(owner, kept);
      return {};
    },
    release: async () => {},
  });

  /** The key that pays for a call; null where nothing is charged. Throws for who has no key, and for a client past its cap. */
  function payer(caller: Caller, charge: Charge): (Caller & { kind: 'key' }) | null {
    if (caller.kind === 'admin' || charge.micros === 0 || !isCharged(caller)) return null;
    if (caller.kind === 'anonymous') {
      const message = `${charge.operation} costs ${told(charge.micros)} and this call was not paid.`;
      throw paymentError('payment_required', message, quote(caller, charge));
    }
    const allowed = caller.grant?.left ?? null;
    if (allowed !== null && allowed < charge.micros) throw capped(caller, charge, allowed);
    return caller;
  }

  return {
    quote,
    async afford(caller, charge) {
      const key = payer(caller, charge);
      if (key === null) return;
      const left = await credits.lookup.balance(key.id);
      if (left < charge.micros) throw short(caller, charge, left);
    },
    async reserve(caller, charge) {
      const key = payer(caller, charge);
      if (key === null) return free(caller.kind === 'key' ? caller.id : caller.kind === 'admin' ? 'admin' : '');
      const left = await hold(key.id, key.balance, charge.micros);
      if (left !== null) throw short(caller, charge, left);
      let open = true;
      const end = () => {
        if (open) settle(key.id, charge.micros);
        open = false;
      };
      return {
        commit: (kept) => take(key, charge, isKept(kept) ? kept : undefined).finally(end),
        release: async () => end(),
      };
    },
  };
}
