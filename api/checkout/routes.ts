// /checkout: return pages of a checkout, the sandbox checkout, and Stripe's webhook. Only the webhook books
// payments by Stripe.

import { isIPv4 } from 'node:net';
import { planTitle } from '../../data/model/subscriptions.ts';
import { monthAfter } from '../../data/model/time.ts';
import { eur } from '../../packs/define/money.ts';
import { toApiError } from '../contract/errors.ts';
import type { CallDeps } from '../gate/execute.ts';
import { readBytes } from '../http/request.ts';
import type { PlainAnswer, Route, RouteAnswer, RouteRequest, RouteTable } from '../http/server.ts';
import { type Html, html } from '../pages/html.ts';
import type { ShellPage } from '../pages/shell.ts';
import { printDay, printEuro } from '../render/print.ts';
import type { CheckoutOperations, CheckoutView } from './open.ts';

/** Maximum size of an event in bytes; most have a few thousand, an invoice with many lines more. */
const LONGEST_EVENT = 1_048_576;

/** The pages, and the webhook where there is one. */
export function checkoutTable({ base_url }: CallDeps, { look, sandbox, webhook }: CheckoutOperations): RouteTable {
  return {
    policy: { credentials: 'ignored', cors: false, errors: 'preferred', form: 'unchecked' },
    routes: {
      'GET /checkout/done': async (request) => {
        const session = request.parameter('session') ?? '';
        return { page: returnPage(session === '' ? null : await look(session, request.now), base_url) };
      },
      'GET /checkout/cancelled': () => ({ page: returnPage('cancelled', base_url) }),
      ...(sandbox && sandboxRoutes(base_url, sandbox)),
      ...(webhook && {
        'POST /webhooks/stripe': {
          bucket: null,
          errors: 'json',
          form: undefined,
          answer: (request) => receiveEvent(webhook, request),
        },
      }),
    },
  };
}

function sandboxRoutes(base_url: string, sandbox: NonNullable<CheckoutOperations['sandbox']>): Record<string, Route> {
  const sessionOf = (request: RouteRequest) => request.params['session'] ?? '';
  return {
    'GET /checkout/sandbox/:session': async (request) => {
      const checkout = await sandbox.look(sessionOf(request), request.now);
      if (checkout === null || checkout.state === 'over') return OVER;
      return { page: checkout.state === 'paid' ? returnPage(checkout, base_url) : checkoutPage(checkout, request.now) };
    },
    'POST /checkout/sandbox/:session': async (request) => {
      const session = sessionOf(request);
      const pressed = request.field('action');
      if (pressed === 'cancel') {
        await sandbox.cancel(session);
        return { to: '../cancelled' };
      }
      if (pressed === 'pay' && sandbox.local && !isLocal(request)) return { page: ELSEWHERE, status: 403 };
      if (pressed !== 'pay' || !(await sandbox.pay(session, request.now))) return OVER;
      return { to: `../done?session=${session}` };
    },
  };
}

/**
 * Receives an event. Signed ones have no rate limit, since Stripe sends bursts from few addresses; others have one.
 * Stripe repeats a delivery for three days until it gets a success.
 */
async function receiveEvent(
  webhook: NonNullable<CheckoutOperations['webhook']>,
  request: RouteRequest,
): Promise<RouteAnswer> {
  try {
    const body = await readBytes(request.http, LONGEST_EVENT);
    return { json: await webhook(body, request.header('stripe-signature'), request.now) };
  } catch (error) {
    if (!/^(internal|unavailable)$/.test(toApiError(error).code)) await request.count('free');
    throw error;
  }
}

/** Headers that a proxy adds: a request with one may come from anywhere, although its connection is local. */
const FORWARDED = ['x-forwarded-for', 'forwarded', 'x-real-ip'];

/** Whether a request comes from this machine, not through a proxy on it. */
function isLocal(request: RouteRequest): boolean {
  const { address } = request.visitor;
  const loopback = address === LOOPBACK_64 || (isIPv4(address) && address.startsWith('127.'));
  return loopback && FORWARDED.every((name) => request.header(name) === undefined);
}

/** `::1` in the form of access/address.ts. */
const LOOPBACK_64 = '0:0:0:0::/64';

const ELSEWHERE = {
  title: 'Not allowed from this address',
  body: html`<p>The sandbox checkout can only be paid from the machine that runs the service, without a proxy. Nothing was paid.</p>
<p>The operator can allow all addresses with the setting <code>CHECKOUT=sandbox</code>.</p>`,
};

const OVER: PlainAnswer = {
  status: 404,
  page: {
    title: 'This checkout has expired',
    body: html`<p>It was cancelled, is more than a day old, or the link is invalid. Nothing was paid.</p>
<p><a href="../../account">Open another in your account</a>, or with <code>POST /v1/keys/topup</code> or <code>POST /v1/keys/subscribe</code>.</p>`,
  },
};

/** What is bought: `Pro plan, €49.00 per month, renews Dec 26`. */
const bought = ({ kind, plan, eur: price }: CheckoutView, now: Date): string =>
  kind === 'topup'
    ? 'Credit for API calls'
    : `${planTitle(plan)}, ${printEuro(price)} per month, renews ${printDay(monthAfter(now.getTime()))}`;

const row = (term: string, value: string, isTotal = false): Html =>
  html`<div${isTotal && html` class="total"`}><dt>${term}</dt><dd>${value}</dd></div>`;

const play = (text: string): Html => html`<p class="play" role="note"><strong>No real money</strong> ${text}</p>`;

/** The payment page of the sandbox. Its form posts to its own URL, which cannot be guessed and pays once. */
function checkoutPage(checkout: CheckoutView, now: Date): ShellPage {
  const sum = printEuro(checkout.eur);
  return {
    title: 'Sandbox checkout',
    above: play(
      'This page replaces a payment service while you try the register on your own machine. No real payment is made, and a plan ends after its month.',
    ),
    body: html`<dl class="sum">
${row('Description', bought(checkout, now))}
${row('Account', checkout.email)}
${row('Total', sum, true)}
</dl>
<form method="post">
<button type="submit" class="button" name="action" value="pay">Pay ${sum} (play money)</button>
<button type="submit" name="action" value="cancel">Cancel</button>
</form>`,
  };
}

const balanceHtml = (
  base_url: string,
): Html => html`<p class="actions"><a class="button" href="${base_url}/account">Back to your account</a></p>
<p class="hint">API: <code>GET /v1/keys/me</code></p>`;

/** Seconds between reloads while a payment is pending. */
const LOOK = 5;

/** The page after a checkout. It only shows what is booked; opening it books nothing. */
function returnPage(checkout: CheckoutView | 'cancelled' | null, base_url: string): ShellPage {
  if (checkout === 'cancelled')
    return {
      title: 'Checkout cancelled',
      body: html`<p>Nothing was paid. Your key, its credit and its plan did not change.</p>${balanceHtml(base_url)}`,
    };
  if (checkout === null || checkout.state === 'over')
    return {
      title: 'Thank you',
      body: html`<p>Your payment is booked when the payment service confirms it, usually within a minute.</p>${balanceHtml(base_url)}`,
    };
  const thing = checkout.kind === 'topup' ? `${printEuro(checkout.eur)} of credit` : planTitle(checkout.plan);
  if (checkout.state === 'open')
    return {
      title: 'Payment pending',
      body: html`<p>${thing} is booked when the payment service confirms the payment, usually within a minute. This page reloads automatically.</p>${balanceHtml(base_url)}`,
      refresh_seconds: LOOK,
    };
  const now = checkout.kind === 'topup' ? 'was added to your key' : 'is active';
  return {
    title: 'Paid',
    ...(checkout.play ? { above: play('This was the sandbox checkout. No real payment was made.') } : {}),
    body: html`<p>${thing} ${now}.</p>
<dl class="sum">${row('Balance', printEuro(eur(checkout.balance)), true)}</dl>${balanceHtml(base_url)}`,
  };
}
