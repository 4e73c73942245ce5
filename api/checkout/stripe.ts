// Stripe through its own package: opens hosted checkouts, stops subscriptions, and reads signed events.
import type { Stripe as StripeClient } from 'stripe';
import type { Checkout } from '../../data/state/money/checkouts.ts';
import { ApiError } from '../contract/errors.ts';

export interface StripeSettings {
  secretKey: string;
  webhookSecret: string;
  /** Where its API is; absent: Stripe's own. */
  apiBase?: string | undefined;
}

/** What a checkout needs to know beside its row. */
export interface Buyer {
  email: string;
  /** Stripe's customer, where the key has been billed before. */
  customer: string | null;
  base_url: string;
}

export interface StripeApi {
  /** Opens the session of a checkout. The same row asked twice is the same session. Throws what the package throws. */
  open(checkout: Checkout, buyer: Buyer): Promise<{ session: string; url: string }>;
  /** Ends a subscription now; what is left of its month is credited to the customer. One that is gone counts as ended. */
  stop(subscription: string): Promise<void>;
  /** The event of a webhook's raw body. `invalid_parameter` when the signature is wrong or older than five minutes. */
  read(body: Uint8Array, signature: string | undefined, now: Date): Promise<unknown>;
}

/** Seconds that an event may have been on its way. */
const TOLERANCE = 300;
/** Milliseconds for one try, and how often a try is repeated with the same key. A checkout is asked for by a waiting caller. */
const TIMEOUT = 8_000;
const RETRIES = 2;

/** Connects to Stripe. The package is only loaded where a key is set. */
export async function openStripe({ secretKey, webhookSecret, apiBase }: StripeSettings): Promise<StripeApi> {
  const { default: Stripe } = await import('stripe');
  const base = apiBase === undefined ? {} : hostOf(apiBase);
  const options = { maxNetworkRetries: RETRIES, timeout: TIMEOUT, telemetry: false, ...base };
  const client: StripeClient = new Stripe(secretKey, options);
  return {
    async open(checkout, buyer) {
      const parameters = sessionOf(checkout, buyer);
      const session = await client.checkout.sessions.create(parameters, { idempotencyKey: `checkout:${checkout.id}` });
      if (session.url === null) throw new Error('Stripe opened a session without an address');
      return { session: session.id, url: session.url };
    },
    async stop(subscription) {
      try {
        await client.subscriptions.cancel(
          subscription,
          { prorate: true, invoice_now: true },
          { idempotencyKey: `stop:${subscription}` },
        );
      } catch (error) {
        if (!(error instanceof Stripe.errors.StripeError) || error.code !== 'resource_missing') throw error;
      }
    },
    async read(body, signature, now) {
      try {
        return await client.webhooks.constructEventAsync(
          body,
          signature ?? '',
          webhookSecret,
          TOLERANCE,
          undefined,
          now.getTime(),
        );
      } catch (error) {
        if (error instanceof Stripe.errors.StripeSignatureVerificationError)
          throw new ApiError('invalid_parameter', 'Stripe-Signature: does not sign this body, or is too old.');
        if (error instanceof SyntaxError) throw new ApiError('invalid_parameter', 'The body is no event of Stripe.');
        throw error;
      }
    },
  };
}

function hostOf(apiBase: string): { host: string; port: string; protocol: 'http' | 'https' } {
  const { hostname, port, protocol } = new URL(apiBase);
  const plain = protocol === 'http:';
  return { host: hostname, port: port || (plain ? '80' : '443'), protocol: plain ? 'http' : 'https' };
}

/** What Stripe is asked for. Amounts in cents; our ids go along and come back with every event. */
function sessionOf(
  checkout: Checkout,
  { email, customer, base_url }: Buyer,
): StripeClient.Checkout.SessionCreateParams {
  const { id, key_id, kind, plan, amount } = checkout;
  const metadata = { checkout: id };
  const price_data = {
    currency: 'eur',
    unit_amount: amount / 10_000,
    product_data: { name: kind === 'topup' ? 'Dataset Register: credit' : `Dataset Register: plan ${plan}` },
  };
  const common = {
    client_reference_id: key_id,
    metadata,
    ...(customer === null ? { customer_email: email } : { customer }),
    success_url: `${base_url}/checkout/done?session={CHECKOUT_SESSION_ID}`,
    cancel_url: `${base_url}/checkout/cancelled`,
  };
  if (kind === 'topup')
    return { ...common, mode: 'payment', line_items: [{ quantity: 1, price_data }], payment_intent_data: { metadata } };
  const recurring = { interval: 'month' as const };
  const line_items = [{ quantity: 1, price_data: { ...price_data, recurring } }];
  return { ...common, mode: 'subscription', line_items, subscription_data: { metadata } };
}
