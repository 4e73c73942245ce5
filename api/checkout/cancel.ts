// Cancels at Stripe what must not be paid any more: superseded subscriptions (their plan was replaced, or their key was
// revoked), and open sessions of revoked keys.
import { closeCheckout, sessionsOfRevokedKeys } from '../../data/state/money/checkouts.ts';
import { billedSubscriptions, endSubscription } from '../../data/state/money/paid-plans.ts';
import type { Store } from '../../data/state/store.ts';
import { ApiError } from '../contract/errors.ts';
import type { StripeApi } from './stripe.ts';

interface Parts {
  store: Store;
  stripe: StripeApi;
  log(line: string): void;
}

/**
 * Cancels the superseded subscriptions of a key, and records `now` (milliseconds since 1970) as their end.
 * Throws `unavailable` if Stripe does not respond; the next call continues.
 */
export async function cancelSuperseded({ store, stripe, log }: Parts, key_id: string, now: number): Promise<void> {
  for (const { id } of await billedSubscriptions(store, key_id, true)) {
    await stripe.stop(id).catch((error: Error) => {
      log(`cannot cancel the subscription ${id}: ${error.message}`);
      throw new ApiError('unavailable', 'Stripe does not respond.', { retry_after_seconds: 60 });
    });
    await endSubscription(store.db, id, now);
  }
}

/**
 * Expires the open sessions of revoked keys at Stripe. Throws if Stripe does not respond; the next call continues, and
 * a payment that arrives before is shown to operators.
 */
export async function expireRevoked({ store, stripe, log }: Parts, now: number): Promise<void> {
  for (const session of await sessionsOfRevokedKeys(store, 'stripe', now)) {
    await stripe.expire(session).catch((error: Error) => {
      log(`cannot expire the checkout ${session} of a revoked key: ${error.message}`);
      throw error;
    });
    await closeCheckout(store, 'stripe', session);
  }
}
