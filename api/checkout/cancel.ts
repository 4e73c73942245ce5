// Ending at Stripe what it must bill no more: a plan that another one replaced, or that of a key that was revoked.
import { billedSubscriptions, endSubscription } from '../../data/state/money/paid-plans.ts';
import type { Store } from '../../data/state/store.ts';
import { ApiError } from '../contract/errors.ts';
import type { StripeApi } from './stripe.ts';

interface Parts {
  store: Store;
  stripe: StripeApi;
  log(line: string): void;
}

/** Ends the superseded subscriptions of a key. `unavailable` while Stripe does not answer: to be asked again. */
export async function cancelSuperseded({ store, stripe, log }: Parts, key_id: string, now: number): Promise<void> {
  for (const { id } of await billedSubscriptions(store, key_id, true)) {
    await stripe.stop(id).catch((error: Error) => {
      log(`cannot end the subscription ${id}, which must be billed no more: ${error.message}`);
      throw new ApiError('unavailable', 'Stripe does not answer.', { retry_after_seconds: 60 });
    });
    await endSubscription(store.db, id, now);
  }
}
