// A double of Stripe: the part of its API that we call, and its signed webhooks. The client is the real
// package.
import { createHmac, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NOW, type TestApp } from './app.ts';

export const SECRET = 'whsec_of_the_tests';
const KEY = 'sk_test_of_the_tests';

export interface StripeRequest {
  method: string;
  path: string;
  key: string | undefined;
  authorization: string | undefined;
  version: string | undefined;
  form: Record<string, string>;
}

type Json = Record<string, unknown>;
/** Outcome of the next request instead of an answer; `hang`: no answer. */
type Fault = 'drop' | 'hang' | 500 | 401;

export interface Double {
  stripe: { secretKey: string; webhookSecret: string; apiBase: string };
  requests: StripeRequest[];
  /** Sessions by id, as they were opened. */
  sessions: Map<string, Json>;
  faults: Fault[];
  /** Whether refunds are refused for good. */
  refuseRefund: boolean;
  /** Runs after a session was made and before the caller gets the answer. */
  before: ((session: Json) => Promise<unknown>) | null;
  close(): Promise<void>;
}

async function formOf(request: IncomingMessage): Promise<Record<string, string>> {
  let text = '';
  for await (const piece of request) text += String(piece);
  return Object.fromEntries(new URLSearchParams(text));
}

/** Starts it on a free port. */
export async function startDouble(): Promise<Double> {
  const replies = new Map<string, { sent: string; session: Json }>();
  const double: Double = {
    stripe: { secretKey: KEY, webhookSecret: SECRET, apiBase: '' },
    requests: [],
    sessions: new Map(),
    faults: [],
    refuseRefund: false,
    before: null,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  const send = (response: ServerResponse, status: number, body: unknown) => {
    response.writeHead(status, { 'Content-Type': 'application/json', 'Request-Id': 'req_of_the_double' });
    response.end(JSON.stringify(body));
  };
  const failure = (type: string, message: string, code?: string) => ({ error: { type, message, code } });

  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    const form = await formOf(request);
    const key = headers['idempotency-key'] as string | undefined;
    const version = headers['stripe-version'] as string | undefined;
    double.requests.push({ method, path: url, key, authorization: headers.authorization, version, form });
    const fault = double.faults.shift();
    if (fault === 'hang') return;
    if (fault === 'drop') return void request.socket.destroy();
    if (fault === 500) return send(response, 500, failure('api_error', 'Something is broken.'));
    if (fault === 401 || headers.authorization !== `Bearer ${KEY}`)
      return send(response, 401, failure('authentication_error', 'Invalid API Key provided: sk_test_****ests'));
    if (method === 'DELETE' && url.startsWith('/v1/subscriptions/')) {
      const id = url.split(/[/?]/)[3] ?? '';
      if (id.includes('gone'))
        return send(response, 404, failure('invalid_request_error', `No such subscription: ${id}`, 'resource_missing'));
      return send(response, 200, { id, object: 'subscription', status: 'canceled' });
    }
    if (method === 'POST' && url.startsWith('/v1/subscriptions/')) {
      const cancel_at_period_end = form['cancel_at_period_end'] === 'true';
      return send(response, 200, {
        ...{ id: url.split('/')[3], object: 'subscription', status: 'active', cancel_at_period_end },
      });
    }
    const expired = /^\/v1\/checkout\/sessions\/(\w+)\/expire$/.exec(url)?.[1];
    if (method === 'POST' && expired !== undefined) {
      const session = double.sessions.get(expired);
      if (session?.['status'] !== 'open')
        return send(response, 400, failure('invalid_request_error', 'Only open Checkout Sessions can be expired.'));
      session['status'] = 'expired';
      return send(response, 200, session);
    }
    if (method === 'POST' && url === '/v1/refunds') {
      if (double.refuseRefund)
        return send(response, 400, failure('invalid_request_error', 'Refund amount is greater than charge amount.'));
      return send(response, 200, { id: `re_${form['metadata[order]']}`, object: 'refund', status: 'pending' });
    }
    if (method !== 'POST' || url !== '/v1/checkout/sessions')
      return send(response, 404, failure('invalid_request_error', `Unrecognized request URL ${url}`));
    const sent = JSON.stringify(form);
    const before = replies.get(key ?? '');
    if (before !== undefined && before.sent !== sent)
      return send(response, 400, failure('idempotency_error', 'Keys for idempotent requests are for one request.'));
    const session = before?.session ?? sessionOf(form, double.stripe.apiBase);
    replies.set(key ?? '', { sent, session });
    double.sessions.set(session['id'] as string, session);
    await double.before?.(session);
    send(response, 200, session);
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  double.stripe.apiBase = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return double;
}

const random = (prefix: string) => `${prefix}_${randomBytes(9).toString('hex')}`;

/** An open and unpaid session in Stripe's format. */
function sessionOf(form: Record<string, string>, base: string): Json {
  const id = random('cs_test');
  return {
    id,
    object: 'checkout.session',
    mode: form['mode'],
    status: 'open',
    payment_status: 'unpaid',
    amount_total: Number(form['line_items[0][price_data][unit_amount]']) * Number(form['line_items[0][quantity]']),
    currency: form['line_items[0][price_data][currency]'],
    client_reference_id: form['client_reference_id'],
    metadata: { checkout: form['metadata[checkout]'] },
    customer: form['customer'] ?? null,
    payment_intent: null,
    subscription: null,
    url: `${base}/pay/${id}`,
  };
}

/** The session after a payment. */
export function paidSession(session: Json, more: Json = {}): Json {
  const plan = session['mode'] === 'subscription';
  const found = plan ? { subscription: random('sub'), customer: session['customer'] ?? random('cus') } : {};
  const payment_intent = plan ? null : random('pi');
  return { ...session, status: 'complete', payment_status: 'paid', payment_intent, ...found, ...more };
}

const seconds = (at: Date | number) => Math.floor(Number(at) / 1000);

/** An event with an object, as the text that Stripe sends. */
export function eventOf(type: string, object: Json, at: Date | number = NOW, id: string = random('evt')): string {
  const head = { id, object: 'event', api_version: '2026-10-28.endive', created: seconds(at), livemode: false, type };
  return JSON.stringify({ ...head, data: { object } }, null, 2);
}

/** Stripe-Signature of a body: HMAC-SHA256 over `t.body`, by the scheme of Stripe's documentation. */
export function signatureOf(body: string, at: Date | number = NOW, secret: string = SECRET): string {
  const t = seconds(at);
  return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`;
}

/** Delivers a body to an app; returns `status outcome` or `status code`. */
export async function deliver(app: TestApp, body: string, signature = signatureOf(body)): Promise<string> {
  const reply = await app.json('/webhooks/stripe', {
    method: 'POST',
    body,
    headers: { 'Content-Type': 'application/json', ...(signature === '' ? {} : { 'Stripe-Signature': signature }) },
  });
  return `${reply.status} ${reply.body['outcome'] ?? reply.body['error']}`;
}

/** An invoice of a subscription, paid. Times in milliseconds. */
export function invoiceOf(session: Json, period: { start: number; end: number }, more: Json = {}): Json {
  return {
    id: random('in'),
    object: 'invoice',
    status: 'paid',
    billing_reason: 'subscription_create',
    currency: session['currency'],
    total: session['amount_total'],
    amount_paid: session['amount_total'],
    customer: session['customer'],
    parent: {
      type: 'subscription_details',
      subscription_details: { subscription: session['subscription'], metadata: session['metadata'] },
    },
    // As in Stripe, the invoice's period is the month before, and its lines have the paid month.
    period_start: seconds(period.start),
    period_end: seconds(period.start),
    lines: {
      object: 'list',
      data: [{ id: random('il'), period: { start: seconds(period.start), end: seconds(period.end) } }],
    },
    ...more,
  };
}

export const refundOf = (payment: unknown, id: string, amount: number, status = 'succeeded'): Json => ({
  id,
  object: 'refund',
  amount,
  currency: 'eur',
  status,
  payment_intent: payment,
  charge: 'ch_of_it',
});

export const chargeObject = (payment: unknown, amount: number, amount_refunded: number, currency = 'eur'): Json => ({
  id: 'ch_of_it',
  object: 'charge',
  amount,
  amount_refunded,
  currency,
  refunded: amount === amount_refunded,
  payment_intent: payment,
});

export const disputeOf = (payment: unknown, id: string, amount: number, status: string, currency = 'eur'): Json => ({
  id,
  object: 'dispute',
  amount,
  currency,
  status,
  payment_intent: payment,
  charge: 'ch_of_it',
});
