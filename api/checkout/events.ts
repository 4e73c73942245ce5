// Reads Stripe's events; events that the register does not use are ignored.
import { z } from 'zod';
import type { InvoiceEvent } from '../../data/state/money/invoices.ts';
import type { SessionEvent } from '../../data/state/money/receipts.ts';
import type { DisputeEvent, RefundEvent } from '../../data/state/money/returns.ts';
import { ApiError } from '../contract/errors.ts';

export type CheckoutEvent =
  | { kind: 'session'; details: SessionEvent }
  | { kind: 'closed'; session: string }
  | { kind: 'invoice'; details: InvoiceEvent }
  | { kind: 'invoice_payment'; details: { event: string; invoice: string; payment: string } }
  | { kind: 'turn'; details: { turn: 'renewing' | 'failed' | 'ended'; subscription: string; at: number } }
  | { kind: 'refund'; details: RefundEvent }
  | { kind: 'dispute'; details: DisputeEvent };

/** Id and time of an event (milliseconds since 1970). */
interface Head {
  event: string;
  at: number;
}

/** An id, or the object of an expanded field. */
const ID = z.union([z.string(), z.object({ id: z.string() }).transform(({ id }) => id)]);
const METADATA = z.record(z.string(), z.string()).nullish();

const Session = z.object({
  id: z.string(),
  mode: z.string(),
  payment_status: z.string(),
  amount_total: z.number().nullable(),
  currency: z.string().nullable(),
  client_reference_id: z.string().nullish(),
  metadata: METADATA,
  payment_intent: ID.nullish(),
  subscription: ID.nullish(),
  customer: ID.nullish(),
});

function session(object: unknown, { event, at }: Head): CheckoutEvent | null {
  const { id, mode, payment_status, amount_total, currency, ...details } = Session.parse(object);
  if (mode !== 'payment' && mode !== 'subscription') return null;
  return {
    kind: 'session',
    details: {
      provider: 'stripe',
      event,
      session: id,
      checkout: details.metadata?.['checkout'] ?? null,
      reference: details.client_reference_id ?? null,
      kind: mode === 'payment' ? 'topup' : 'plan',
      paid: payment_status === 'paid',
      cents: amount_total,
      currency,
      payment: details.payment_intent ?? null,
      subscription: details.subscription ?? null,
      customer: details.customer ?? null,
      at,
    },
  };
}

const closed = (object: unknown): CheckoutEvent => ({
  kind: 'closed',
  session: z.object({ id: z.string() }).parse(object).id,
});

/** Since the API version of March 2025, the subscription of an invoice is in `parent`. */
const Invoice = z.object({
  id: z.string(),
  total: z.number(),
  currency: z.string(),
  billing_reason: z.string().nullish(),
  customer: ID.nullish(),
  parent: z.object({ subscription_details: z.object({ subscription: ID, metadata: METADATA }).nullish() }).nullish(),
  subscription: ID.nullish(),
  subscription_details: z.object({ metadata: METADATA }).nullish(),
  lines: z.object({ data: z.array(z.object({ period: z.object({ end: z.number() }) })).min(1) }),
});

/** Reasons of invoices that pay a month; others settle differences, such as the rest of a changed plan. */
const MONTHLY = ['subscription_create', 'subscription_cycle', 'subscription'];

function invoiceOf(object: unknown) {
  const invoice = Invoice.parse(object);
  const details = invoice.parent?.subscription_details;
  const subscription = details?.subscription ?? invoice.subscription ?? null;
  if (subscription === null || !MONTHLY.includes(invoice.billing_reason ?? 'subscription')) return null;
  return { invoice, subscription, metadata: details?.metadata ?? invoice.subscription_details?.metadata };
}

function invoicePaid(object: unknown, { event, at }: Head): CheckoutEvent | null {
  const subscribed = invoiceOf(object);
  if (subscribed === null) return null;
  const { id, total, currency, customer, lines } = subscribed.invoice;
  const { subscription } = subscribed;
  // The invoice's own period is the previous month; its lines have the month that it pays.
  const ends_at = Math.max(0, ...lines.data.map(({ period }) => period.end)) * 1000;
  const checkout = subscribed.metadata?.['checkout'] ?? null;
  const names = { provider: 'stripe', event, invoice: id, subscription, checkout, customer: customer ?? null } as const;
  return { kind: 'invoice', details: { ...names, cents: total, currency, ends_at, at } };
}

function turn(which: 'renewing' | 'failed') {
  return (object: unknown, { at }: Head): CheckoutEvent | null => {
    const subscribed = invoiceOf(object);
    if (subscribed === null || (which === 'renewing' && subscribed.invoice.billing_reason !== 'subscription_cycle'))
      return null;
    return { kind: 'turn', details: { turn: which, subscription: subscribed.subscription, at } };
  };
}

function ended(object: unknown, { at }: Head): CheckoutEvent {
  const { id } = z.object({ id: z.string() }).parse(object);
  return { kind: 'turn', details: { turn: 'ended', subscription: id, at } };
}

const InvoicePayment = z.object({
  invoice: ID,
  payment: z.object({ payment_intent: ID.nullish() }),
});

function invoicePayment(object: unknown, { event }: Head): CheckoutEvent | null {
  const { invoice, payment } = InvoicePayment.parse(object);
  if (typeof payment.payment_intent !== 'string') return null;
  return { kind: 'invoice_payment', details: { event, invoice, payment: payment.payment_intent } };
}

const Charge = z.object({ amount_refunded: z.number(), currency: z.string(), payment_intent: ID.nullish() });

function chargeRefunded(object: unknown, { event, at }: Head): CheckoutEvent | null {
  const { amount_refunded, currency, payment_intent } = Charge.parse(object);
  if (typeof payment_intent !== 'string') return null;
  return {
    kind: 'refund',
    details: { event, payment: payment_intent, currency, total: amount_refunded, refund: null, at },
  };
}

const Reversal = z.object({
  id: z.string(),
  amount: z.number(),
  currency: z.string(),
  status: z.string().nullish(),
  payment_intent: ID.nullish(),
});

function refund(object: unknown, { event, at }: Head): CheckoutEvent | null {
  const { id, amount, currency, status, payment_intent } = Reversal.parse(object);
  if (typeof payment_intent !== 'string') return null;
  const one = { id, cents: amount, failed: status === 'failed' || status === 'canceled' };
  return { kind: 'refund', details: { event, payment: payment_intent, currency, total: null, refund: one, at } };
}

function dispute(object: unknown, { event, at }: Head): CheckoutEvent | null {
  const { id, amount, currency, status, payment_intent } = Reversal.parse(object);
  if (typeof payment_intent !== 'string') return null;
  const details = { event, payment: payment_intent, currency, id, cents: amount, status: status ?? '', at };
  return { kind: 'dispute', details };
}

/** The events to subscribe to (docs/checkout.md), each with its reader. */
export const STRIPE_EVENTS: Readonly<Record<string, (object: unknown, head: Head) => CheckoutEvent | null>> = {
  'checkout.session.completed': session,
  'checkout.session.async_payment_succeeded': session,
  'checkout.session.async_payment_failed': closed,
  'checkout.session.expired': closed,
  'invoice.paid': invoicePaid,
  'invoice.created': turn('renewing'),
  'invoice.payment_failed': turn('failed'),
  'invoice_payment.paid': invoicePayment,
  'customer.subscription.deleted': ended,
  'charge.refunded': chargeRefunded,
  'refund.created': refund,
  'refund.updated': refund,
  'refund.failed': refund,
  'charge.dispute.created': dispute,
  'charge.dispute.updated': dispute,
  'charge.dispute.funds_withdrawn': dispute,
  'charge.dispute.funds_reinstated': dispute,
  'charge.dispute.closed': dispute,
};

const Event = z.object({
  id: z.string(),
  type: z.string(),
  created: z.number(),
  data: z.object({ object: z.unknown() }),
});

/** Reads a signed event; null for one that is not used. Throws `validation_failed` for an unreadable one. */
export function readStripeEvent(raw: unknown): CheckoutEvent | null {
  try {
    const { id, type, created, data } = Event.parse(raw);
    const reader = Object.hasOwn(STRIPE_EVENTS, type) ? STRIPE_EVENTS[type] : undefined;
    return reader?.(data.object, { event: id, at: created * 1000 }) ?? null;
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    const detail = error.issues.map(({ path, message, code }) => ({
      loc: ['body', ...path.map(String)],
      msg: message,
      type: code,
    }));
    throw new ApiError('validation_failed', `The event cannot be read: ${detail[0]?.loc.join('.')} ${detail[0]?.msg}`, {
      detail,
    });
  }
}
