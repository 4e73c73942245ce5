// Stripe by its own package: opens hosted checkouts, cancels subscriptions, verifies signed events.
import type { Stripe as StripeClient } from 'stripe';
import { planTitle } from '../../data/model/subscriptions.ts';
import type { Checkout } from '../../data/state/money/checkouts.ts';
import { ApiError } from '../contract/errors.ts';

export interface StripeSettings {
  secretKey: string;
  webhookSecret: string;
  /** Base URL of the API; absent: Stripe's. */
  apiBase?: string | undefined;
  /** Timeout of one attempt in milliseconds; tests use a shorter one. */
  timeout?: number | undefined;
}

/** Data of a checkout that is not in its row. */
export interface Buyer {
  email: string;
  /** Stripe's customer id, if the key was billed before. */
  customer: string | null;
  base_url: string;
}

export interface StripeApi {
  /** Opens the session of a checkout; the same row gets the same session. Throws the package's errors. */
  open(checkout: Checkout, buyer: Buyer): Promise<{ session: string; url: string }>;
  /**
   * Cancels a subscription now and credits the rest of its month to the customer. A missing one counts as
   * cancelled.
   */
  stop(subscription: string): Promise<void>;
  /** Expires an open session, so that it cannot be paid, in one attempt; one that is paid or expired stays as it is. */
  expire(session: string): Promise<void>;
  /** Returns micro-euros of a payment to its card; the same `order` returns them once. Throws `RefundRefused`. */
  refund(payment: string, amount: number, order: string): Promise<void>;
  /** Cancels the renewal of a subscription, which ends with its paid month. */
  endWithMonth(subscription: string): Promise<void>;
  /**
   * Verifies the raw body of a webhook. Throws `invalid_parameter` if the signature is wrong or over 5
   * minutes old.
   */
  read(body: Uint8Array, signature: string | undefined, now: Date): Promise<unknown>;
}

/** Stripe refused a refund for good: nothing was returned. */
export class RefundRefused extends Error {}

/** Maximum age of a signature in seconds. */
const TOLERANCE = 300;
/**
 * Timeout of one attempt in milliseconds, and the number of retries with the same key: a caller waits for
 * both.
 */
const TIMEOUT = 8_000;
const RETRIES = 2;

/** Connects to Stripe. The package is only loaded if a key is set. */
export async function openStripe(settings: StripeSettings): Promise<StripeApi> {
  const { secretKey, webhookSecret, apiBase, timeout = TIMEOUT } = settings;
  const { default: Stripe } = await import('stripe');
  const base = apiBase === undefined ? {} : hostOf(apiBase);
  const options = { maxNetworkRetries: RETRIES, timeout, telemetry: false, ...base };
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
    async expire(session) {
      try {
        await client.checkout.sessions.expire(session, {}, { timeout: TIMEOUT / 2, maxNetworkRetries: 0 });
      } catch (error) {
        if (!(error instanceof Stripe.errors.StripeInvalidRequestError)) throw error;
      }
    },
    async refund(payment, amount, order) {
      const parameters = { payment_intent: payment, amount: amount / 10_000, metadata: { order } };
      try {
        await client.refunds.create(parameters, { idempotencyKey: `refund:${order}:${amount}` });
      } catch (error) {
        if (error instanceof Stripe.errors.StripeInvalidRequestError) throw new RefundRefused(error.message);
        throw error;
      }
    },
    async endWithMonth(subscription) {
      await client.subscriptions.update(subscription, { cancel_at_period_end: true });
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
          throw new ApiError('invalid_parameter', 'Stripe-Signature: does not match this body, or is too old.');
        if (error instanceof SyntaxError) throw new ApiError('invalid_parameter', 'The body is not a Stripe event.');
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

/** Parameters of a session. Amounts are in cents; every event returns our ids. */
function sessionOf(
  checkout: Checkout,
  { email, customer, base_url }: Buyer,
): StripeClient.Checkout.SessionCreateParams {
  const { id, key_id, kind, plan, amount } = checkout;
  const metadata = { checkout: id };
  const price_data = {
    currency: 'eur',
    unit_amount: amount / 10_000,
    product_data: {
      name: kind === 'topup' ? 'Dataset Register: credit' : `Dataset Register: ${planTitle(plan)}, billed monthly`,
    },
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
