// The webhook: the one thing that credits what was paid at Stripe. Every event may come late, twice or in another order.
import { closeCheckout, type Outcome } from '../../data/state/checkouts.ts';
import { takeInvoice, takeInvoicePayment, takeTurn } from '../../data/state/invoices.ts';
import { takeSession } from '../../data/state/receipts.ts';
import { takeDispute, takeRefund } from '../../data/state/returns.ts';
import type { Store } from '../../data/state/store.ts';
import { type News, newsOf } from './events.ts';
import { stopSuperseded } from './stop.ts';
import type { StripeApi } from './stripe.ts';

interface Parts {
  store: Store;
  stripe: StripeApi;
  log(line: string): void;
}

/** Takes one delivery: its raw body, as the signature covers bytes. Answers what became of it; Stripe repeats what is refused here. */
export type Webhook = (
  body: Uint8Array,
  signature: string | undefined,
  now: Date,
) => Promise<{ received: true; outcome: Outcome['state'] | 'ignored' }>;

/** The webhook over the store. */
export function stripeWebhook({ store, stripe, log }: Parts): Webhook {
  return async (body, signature, now) => {
    const event = await stripe.read(body, signature, now);
    const news = newsOf(event);
    if (news === null) return { received: true, outcome: 'ignored' };
    const outcome = await take(store, news, now.getTime());
    // Money may have come in that nothing was given for: somebody must look. Stripe has done its part and is not asked to repeat.
    if (outcome.state === 'refused')
      log(`Stripe's event ${(event as { id: string }).id} was not booked: ${outcome.why}`);
    // While Stripe is away the event is refused, comes again, and this with it.
    if ('key_id' in outcome) await stopSuperseded({ store, stripe, log }, outcome.key_id, now.getTime());
    return { received: true, outcome: outcome.state };
  };
}

async function take(store: Store, news: News, now: number): Promise<Outcome> {
  switch (news.kind) {
    case 'session':
      return takeSession(store, news.told, now);
    case 'closed':
      await closeCheckout(store, 'stripe', news.session);
      return { state: 'waiting' };
    case 'invoice':
      return takeInvoice(store, news.told, now);
    case 'invoice_payment':
      return takeInvoicePayment(store, news.told, now);
    case 'turn':
      return takeTurn(store, news.told, now);
    case 'refund':
      return takeRefund(store, news.told, now);
    case 'dispute':
      return takeDispute(store, news.told, now);
  }
}
