// Opens the checkout: Stripe if a key is set, else the sandbox if only this machine can reach the service or
// CHECKOUT=sandbox, else none.

import { keyById } from '../../data/state/keys/keys.ts';
import { type BookingOutcome, type Checkout, checkoutOf, closeCheckout } from '../../data/state/money/checkouts.ts';
import { takeInvoice, takeInvoicePayment, takeSubscriptionEvent } from '../../data/state/money/invoices.ts';
import { supersede } from '../../data/state/money/paid-plans.ts';
import { takeSession } from '../../data/state/money/receipts.ts';
import { takeDispute, takeRefund } from '../../data/state/money/returns.ts';
import type { Store } from '../../data/state/store.ts';
import { eur } from '../../packs/define/money.ts';
import { cancelSuperseded } from './cancel.ts';
import { type CheckoutEvent, readStripeEvent } from './events.ts';
import { isPayable, type Sandbox, type SandboxSettings, sandbox, sandboxMode } from './sandbox.ts';
import { type CheckoutService, checkoutService } from './service.ts';
import { openStripe, type StripeApi, type StripeSettings } from './stripe.ts';

/** A checkout as its pages show it. */
export interface CheckoutView {
  kind: Checkout['kind'];
  plan: string | null;
  eur: number;
  email: string;
  state: 'open' | 'paid' | 'over';
  /** Balance of the key in micro-euros. */
  balance: number;
  /** A sandbox payment. */
  play: boolean;
}

/** The operations behind /checkout and the webhook. */
export interface CheckoutOperations {
  /** The checkout of a session; null for an unknown one. */
  look(session: string, now: Date): Promise<CheckoutView | null>;
  /** The same for sandbox sessions only; null without a sandbox. */
  sandbox: (Sandbox & Pick<CheckoutOperations, 'look'>) | null;
  /** Null without Stripe. */
  webhook: Webhook | null;
}

interface Options extends SandboxSettings {
  store: Store;
  /** Absent: the sandbox or no checkout, as sandboxMode decides. */
  stripe?: StripeSettings | undefined;
  log(line: string): void;
}

/**
 * Opens the checkout; `sells`: whether there is one.
 *
 * @example
 * ```ts
 * const { service } = await openCheckout({ store, base_url, stripe, log, … });
 * const checkout_url = await service.topup(5_000_000, requester);
 * ```
 */
export async function openCheckout(
  options: Options,
): Promise<{ service: CheckoutService; pages: CheckoutOperations; sells: boolean }> {
  const { store, base_url, log } = options;
  const stripe = options.stripe === undefined ? null : await openStripe(options.stripe);
  const sandboxed = sandboxMode(options);
  const playing = stripe === null && sandboxed.mode !== 'off';
  if (playing) log('Sandbox checkout: no Stripe key is set, so top-ups and plans are paid with play money');
  else if (stripe === null && sandboxed.mode === 'off')
    log(`No checkout: no Stripe key is set, and ${sandboxed.reason}`);

  const look = async (session: string, now: Date, only?: Checkout['provider']): Promise<CheckoutView | null> => {
    const row = await checkoutOf(store, session);
    if (row === null || (only !== undefined && row.provider !== only)) return null;
    const { kind, plan, amount, state, provider } = row;
    const key = await keyById(store, row.key_id);
    const open = provider === 'sandbox' ? isPayable(row, now.getTime()) : state !== 'over';
    const standing = state === 'paid' ? 'paid' : open ? 'open' : 'over';
    return {
      ...{ kind, plan, eur: eur(amount), email: key?.email ?? '', balance: key?.balance ?? 0 },
      ...{ state: standing, play: provider === 'sandbox' },
    };
  };
  return {
    sells: stripe !== null || playing,
    service: checkoutService({ store, base_url, provider: stripe ?? (playing ? 'sandbox' : null), log }),
    pages: {
      look: (session, now) => look(session, now),
      sandbox: playing
        ? { ...sandbox(store, sandboxed.mode === 'local'), look: (session, now) => look(session, now, 'sandbox') }
        : null,
      webhook: stripe === null ? null : stripeWebhook({ store, stripe, log }),
    },
  };
}

interface Parts {
  store: Store;
  stripe: StripeApi;
  log(line: string): void;
}

/**
 * Processes one delivery from its raw body, since the signature covers bytes. Stripe repeats a rejected one.
 */
type Webhook = (
  body: Uint8Array,
  signature: string | undefined,
  now: Date,
) => Promise<{ received: true; outcome: BookingOutcome['state'] | 'ignored' }>;

/** The webhook over the store. */
function stripeWebhook({ store, stripe, log }: Parts): Webhook {
  return async (body, signature, now) => {
    const event = await stripe.read(body, signature, now);
    const news = readStripeEvent(event);
    if (news === null) return { received: true, outcome: 'ignored' };
    const outcome = await take(store, news, now.getTime());
    // Money may have arrived for nothing in return, so an operator must check. A repeat by Stripe would not
    // help.
    if (outcome.state === 'refused')
      log(`Stripe's event ${(event as { id: string }).id} was not booked: ${outcome.why}`);
    // If Stripe does not respond, the event is rejected; its repeat retries this.
    if ('key_id' in outcome) {
      const { key_id } = outcome;
      // A plan that was paid after its key was revoked must not be renewed.
      if ((await keyById(store, key_id))?.revoked_at != null) await supersede(store, key_id, now.getTime());
      await cancelSuperseded({ store, stripe, log }, key_id, now.getTime());
    }
    return { received: true, outcome: outcome.state };
  };
}

async function take(store: Store, news: CheckoutEvent, now: number): Promise<BookingOutcome> {
  switch (news.kind) {
    case 'session':
      return takeSession(store, news.details, now);
    case 'closed':
      await closeCheckout(store, 'stripe', news.session);
      return { state: 'waiting' };
    case 'invoice':
      return takeInvoice(store, news.details, now);
    case 'invoice_payment':
      return takeInvoicePayment(store, news.details, now);
    case 'turn':
      return takeSubscriptionEvent(store, news.details, now);
    case 'refund':
      return takeRefund(store, news.details, now);
    case 'dispute':
      return takeDispute(store, news.details, now);
  }
}
