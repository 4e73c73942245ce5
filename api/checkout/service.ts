// Buying credit or a plan: inserts our row, then opens a checkout at the provider and returns its URL.
import { setTimeout } from 'node:timers/promises';
import type { Requester } from '../../data/model/accounts.ts';
import { currentPlan, type PlanName, SUBSCRIPTIONS } from '../../data/model/subscriptions.ts';
import { isoTime } from '../../data/model/time.ts';
import { type Key, keyById } from '../../data/state/keys/keys.ts';
import {
  attachSession,
  type Checkout,
  newCheckout,
  noteProblem,
  type Order,
} from '../../data/state/money/checkouts.ts';
import { billedSubscriptions, customerOf, endSubscription, supersede } from '../../data/state/money/paid-plans.ts';
import { orderRefund, type RefundOrder, recordRefusal } from '../../data/state/money/refunds.ts';
import type { Store } from '../../data/state/store.ts';
import { ApiError } from '../contract/errors.ts';
import { NO_CHECKOUT } from '../payments/payments.ts';
import { printDate, printEuro } from '../render/print.ts';
import { cancelSuperseded, expireRevoked } from './cancel.ts';
import { newSandboxSession } from './sandbox.ts';
import { RefundRefused, type StripeApi } from './stripe.ts';

interface Parts {
  store: Store;
  base_url: string;
  /** Stripe, the sandbox, or no checkout. */
  provider: StripeApi | 'sandbox' | null;
  log(line: string): void;
}

export interface CheckoutService {
  /** Opens a checkout for credit (micro-euros, whole cents) and returns its URL. Throws `unavailable`. */
  topup(amount: number, requester: Requester): Promise<string>;
  /** The same for a plan. Throws `invalid_parameter` if the key has the plan already. */
  subscribe(plan: string, requester: Requester): Promise<string>;
  /**
   * Refunds a row of the ledger: `credited` to the key, or `ordered` at the card. Throws `not_found`, `already_decided`,
   * `invalid_parameter` where it is not possible, and `unavailable`; after that the same refund may be repeated.
   */
  refund(order: RefundOrder): Promise<{ status: 'credited' | 'ordered'; key_id: string; amount: number }>;
  /** Cancels the renewal of the current plan, which then ends with its paid month. Throws `unavailable`. */
  cancel(key_id: string, now: number): Promise<void>;
  /**
   * Cancels the subscriptions of a revoked key and expires its open checkouts. Never throws, and waits a few seconds at
   * most: `sweep` retries a checkout, and the next invoice a subscription.
   */
  close(key_id: string, now: number): Promise<void>;
  /** Expires open checkouts of revoked keys that could not be expired when they were revoked. Never throws. */
  sweep(now: number): Promise<void>;
}

/** Milliseconds that a revocation waits for Stripe. */
const PATIENCE = 5_000;

/** Values of `retry_after_seconds`. */
const SOON = 30;
const NO_ANSWER = 'The payment service does not respond; nothing was charged. Try again in a moment.';
const NEVER_BY_ITSELF = 3600;

/** The service over the store. */
export function checkoutService({ store, base_url, provider, log }: Parts): CheckoutService {
  async function buyer(requester: Requester): Promise<Key> {
    const key = requester.key === null ? null : await keyById(store, requester.key);
    if (key === null) throw new ApiError('not_found', 'An operator’s key has no account to buy for.');
    return key;
  }

  async function open(requester: Requester, key: Key, what: Pick<Order, 'kind' | 'plan' | 'amount'>): Promise<string> {
    if (provider === null)
      throw new ApiError('unavailable', NO_CHECKOUT, {
        retry_after_seconds: NEVER_BY_ITSELF,
      });
    const { now, request_id } = requester;
    const order = { ...what, key_id: key.id, request_id, now };
    if (provider === 'sandbox') {
      const { id } = await newCheckout(store, { ...order, provider });
      const session = newSandboxSession();
      await attachSession(store, id, session);
      return `${base_url}/checkout/sandbox/${session}`;
    }
    const row = await newCheckout(store, { ...order, provider: 'stripe' });
    const { session, url } = await atStripe(provider, row, key);
    if (!(await attachSession(store, row.id, session))) throw new Error(`checkout ${row.id} has two sessions`);
    // The key may have been revoked while Stripe opened the session.
    if ((await keyById(store, key.id))?.revoked_at !== null) {
      await expireRevoked({ store, stripe: provider, log }, now).catch(() => {});
      throw new ApiError('invalid_key', 'This key was just revoked.');
    }
    return url;
  }

  /**
   * Opens a session at Stripe. If Stripe fails, our row stays and nothing was charged, so the caller can
   * retry.
   */
  async function atStripe(stripe: StripeApi, row: Checkout, key: Key): Promise<{ session: string; url: string }> {
    try {
      const customer = await customerOf(store, key.id);
      return await stripe.open(row, { email: key.email, customer, base_url });
    } catch (error) {
      const { type, message } = error as Error & { type?: string };
      log(`Stripe opened no checkout for ${row.id}: ${type ?? 'Error'}: ${message}`);
      await noteProblem(store.db, row.id, type ?? message);
      throw new ApiError('unavailable', NO_ANSWER, { retry_after_seconds: SOON });
    }
  }

  return {
    topup: async (amount, requester) => open(requester, await buyer(requester), { kind: 'topup', plan: null, amount }),
    async subscribe(plan, requester) {
      const key = await buyer(requester);
      const price = SUBSCRIPTIONS[plan as PlanName].eur_per_month ?? 0;
      const current = currentPlan(key, requester.now);
      if (current !== 'payg' && key.plan_until === null)
        throw new ApiError('invalid_parameter', `plan: this key has ${current} from an operator, without an end date.`);
      const [running] = await billedSubscriptions(store, key.id, false);
      if (current === plan && running?.plan === plan)
        throw new ApiError(
          'invalid_parameter',
          `plan: this key already has ${plan}, paid until ${isoTime(key.plan_until ?? 0)} and renewed then.`,
        );
      return open(requester, key, { kind: 'plan', plan, amount: price * 1_000_000 });
    },
    refund: (order) => refundRow({ store, provider, log }, order),
    cancel: (key_id, now) => cancelRenewal({ store, provider, log }, key_id, now),
    close: (key_id, now) => closeRevoked({ store, provider, log }, key_id, now),
    async sweep(now) {
      if (provider === null || provider === 'sandbox') return;
      await expireRevoked({ store, stripe: provider, log }, now).catch(() => {});
    },
  };
}

async function refundRow({ store, provider, log }: Omit<Parts, 'base_url'>, order: RefundOrder) {
  const outcome = await orderRefund(store, order);
  if (outcome.state === 'unknown') throw new ApiError('not_found', 'The ledger has no row with this id.');
  if (outcome.state === 'refused') throw new ApiError('invalid_parameter', outcome.why);
  if (outcome.state === 'already')
    throw new ApiError(
      'already_decided',
      `This row was refunded before: ${printEuro(outcome.amount / 1e6)} on ${printDate(outcome.at)}.`,
    );
  const { state, key_id, amount } = outcome;
  if (state === 'credited') return { status: 'credited' as const, key_id, amount };
  if (provider === null || provider === 'sandbox')
    throw new ApiError('unavailable', NO_CHECKOUT, { retry_after_seconds: NEVER_BY_ITSELF });
  await provider.refund(outcome.payment, amount, String(order.entry)).catch(async (error: Error) => {
    log(`Stripe did not refund ${outcome.payment}: ${error.message}`);
    if (!(error instanceof RefundRefused))
      throw new ApiError('unavailable', 'Stripe does not respond. Repeat the same refund: it is made once.', {
        retry_after_seconds: SOON,
      });
    await recordRefusal(store, order, error.message);
    throw new ApiError('invalid_parameter', `Stripe refused the refund: ${error.message}`);
  });
  return { status: 'ordered' as const, key_id, amount };
}

async function cancelRenewal({ store, provider, log }: Omit<Parts, 'base_url'>, key_id: string, now: number) {
  // The sandbox bills one month and renews nothing.
  if (provider === null || provider === 'sandbox') return;
  for (const { id } of await billedSubscriptions(store, key_id, false)) {
    await provider.endWithMonth(id).catch((error: Error) => {
      log(`cannot cancel the renewal of ${id}: ${error.message}`);
      throw new ApiError('unavailable', NO_ANSWER, { retry_after_seconds: SOON });
    });
    await endSubscription(store.db, id, now);
  }
}

/** Ends what a revoked key could still pay for. Waits a few seconds at most for Stripe. */
async function closeRevoked({ store, provider, log }: Omit<Parts, 'base_url'>, key_id: string, now: number) {
  await supersede(store, key_id, now);
  if (provider === null || provider === 'sandbox') return;
  const parts = { store, stripe: provider, log };
  const ended = Promise.allSettled([cancelSuperseded(parts, key_id, now), expireRevoked(parts, now)]);
  await Promise.race([ended, setTimeout(PATIENCE, undefined, { ref: false })]);
}
