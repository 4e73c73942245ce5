// Cancels superseded subscriptions at Stripe: their plan was replaced, or their key was revoked.
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
