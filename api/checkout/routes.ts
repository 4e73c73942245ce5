// /checkout: return pages of a checkout, the sandbox checkout, and Stripe's webhook. Only the webhook books
// payments by Stripe.

import { isIPv4 } from 'node:net';
import { eur } from '../../packs/define/money.ts';
import type { App, RestDeps } from '../channels/rest/rest.ts';
import { ApiError, toApiError } from '../contract/errors.ts';
import { admit, type CallDeps, type Visitor } from '../gate/execute.ts';
import { type Http, readBytes, readRequest, readText } from '../http/request.ts';
import { errorResponse } from '../http/respond.ts';
import { type Html, html } from '../pages/html.ts';
import { SHELL_HEADERS, type ShellPage, shellPage } from '../pages/shell.ts';
import { printEuro } from '../render/print.ts';

/** A checkout as its pages show it. */
type Look = (session: string, now: Date) => Promise<Parameters<typeof checkoutPage>[0] | null>;

export interface CheckoutPages {
  look: Look;
  /** Absent where there is no sandbox. */
  sandbox: {
    /** Whether only loopback clients may pay. */
    local: boolean;
    look: Look;
    pay(session: string, now: Date): Promise<boolean>;
    cancel(session: string): Promise<void>;
  } | null;
}

type Page = { status: number; html: string } | { to: string };

/** Mounts the pages. */
export function mountCheckout(app: App, deps: RestDeps & { checkout: CheckoutPages }): void {
  const { gate, report, checkout } = deps;
  const { sandbox } = checkout;

  const guarded = async (c: Http, make: (client: { local: boolean }) => Promise<Page>): Promise<Response> => {
    const { visitor, headers, request_id, accept } = readRequest(gate, c);
    try {
      await admit(gate, visitor, 'free');
      const page = await make({ local: isLocal(c, visitor.address) });
      if ('to' in page)
        return new Response(null, {
          status: 303,
          headers: { ...headers, 'Cache-Control': 'no-store', Location: page.to },
        });
      return new Response(page.html, { status: page.status, headers: { ...headers, ...SHELL_HEADERS } });
    } catch (error) {
      const apiError = toApiError(error);
      if (apiError.code === 'internal') report(error, request_id);
      return errorResponse(apiError, { base_url: gate.base_url, request_id, accept, headers, resource: '' });
    }
  };
  const shown = (page: Parameters<typeof shellPage>[1], status = 200): Page => ({
    status,
    html: shellPage(gate.base_url, page),
  });

  app.get('/checkout/done', (c) =>
    guarded(c, async () => {
      const session = new URL(c.req.url).searchParams.get('session') ?? '';
      return shown(returnPage(session === '' ? null : await checkout.look(session, gate.now()), gate.base_url));
    }),
  );
  app.get('/checkout/cancelled', (c) => guarded(c, async () => shown(returnPage('cancelled', gate.base_url))));
  if (sandbox === null) return;

  const OVER = { title: 'This checkout has expired', body: GONE };
  app.get('/checkout/sandbox/:session', (c) =>
    guarded(c, async () => {
      const checkout = await sandbox.look(c.req.param('session'), gate.now());
      if (checkout === null || checkout.state === 'over') return shown(OVER, 404);
      return checkout.state === 'paid' ? shown(returnPage(checkout, gate.base_url)) : shown(checkoutPage(checkout));
    }),
  );
  app.post('/checkout/sandbox/:session', (c) =>
    guarded(c, async (client) => {
      const session = c.req.param('session');
      const pressed = new URLSearchParams(await readText(c)).get('action');
      if (pressed === 'cancel') {
        await sandbox.cancel(session);
        return { to: '../cancelled' };
      }
      if (pressed === 'pay' && sandbox.local && !client.local) return shown(ELSEWHERE, 403);
      if (pressed !== 'pay' || !(await sandbox.pay(session, gate.now()))) return shown(OVER, 404);
      return { to: `../done?session=${session}` };
    }),
  );
}

/** Headers that a proxy adds: a request with one may come from anywhere, although its connection is local. */
const FORWARDED = ['x-forwarded-for', 'forwarded', 'x-real-ip'];

/** Whether a request comes from this machine, not through a proxy on it. */
function isLocal(c: Http, address: string): boolean {
  const loopback = address === LOOPBACK_64 || (isIPv4(address) && address.startsWith('127.'));
  return loopback && FORWARDED.every((name) => c.req.header(name) === undefined);
}

/** `::1` in the form of access/address.ts. */
const LOOPBACK_64 = '0:0:0:0::/64';

const ELSEWHERE = {
  title: 'Not allowed from this address',
  body: html`<p>The sandbox checkout can only be paid from the machine that runs the service, without a proxy. Nothing was paid.</p>
<p>The operator can allow all addresses with the setting <code>CHECKOUT=sandbox</code>.</p>`,
};

const GONE = html`<p>It was cancelled, is more than a day old, or the link is invalid. Nothing was paid.</p>
<p><a href="../../account">Open another in your account</a>, or with <code>POST /v1/keys/topup</code> or <code>POST /v1/keys/subscribe</code>.</p>`;

/** A checkout as its pages show it. */
interface SeenCheckout {
  kind: 'topup' | 'plan';
  plan: string | null;
  eur: number;
  email: string;
  state: 'open' | 'paid' | 'over';
  /** Balance of the key in micro-euros. */
  balance: number;
  /** A sandbox payment. */
  play: boolean;
}

/** The item that is bought. */
const bought = ({ kind, plan }: SeenCheckout): string =>
  kind === 'topup' ? 'Credit for API calls' : `Plan ${plan}, one month`;

const row = (term: string, value: string, isTotal = false): Html =>
  html`<div${isTotal && html` class="total"`}><dt>${term}</dt><dd>${value}</dd></div>`;

const play = (text: string): Html => html`<p class="play" role="note"><strong>No real money</strong> ${text}</p>`;

/** The payment page of the sandbox. Its form posts to its own URL, which cannot be guessed and pays once. */
function checkoutPage(checkout: SeenCheckout): ShellPage {
  const sum = printEuro(checkout.eur);
  return {
    title: 'Sandbox checkout',
    above: play(
      'This page replaces a payment service while you try the register on your own machine. No real payment is made.',
    ),
    body: html`<dl class="sum">
${row('Item', bought(checkout))}
${row('Key of', checkout.email)}
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
function returnPage(checkout: SeenCheckout | 'cancelled' | null, base_url: string): ShellPage {
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
  const thing = checkout.kind === 'topup' ? `${printEuro(checkout.eur)} of credit` : `The plan ${checkout.plan ?? ''}`;
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

/** Maximum size of an event in bytes; most have a few thousand, an invoice with many lines more. */
const LONGEST_EVENT = 1_048_576;

export interface WebhookReceiver {
  /**
   * Processes one delivery and returns the response; null without Stripe. `invalid_parameter` for a wrong
   * signature.
   */
  webhook: ((body: Uint8Array, signature: string | undefined, now: Date) => Promise<object>) | null;
}

const PATH = '/webhooks/stripe';

/** Mounts the webhook. Stripe repeats a delivery for three days until it gets a success. */
export function mountWebhook(app: App, deps: RestDeps & { checkout: WebhookReceiver }): void {
  const { gate, report, checkout } = deps;
  app.all(PATH, async (c) => {
    const { visitor, headers, request_id, accept, method } = readRequest(gate, c);
    try {
      if (checkout.webhook === null) throw new ApiError('not_found', 'Not found.');
      if (method !== 'POST')
        throw new ApiError('method_not_allowed', 'This path allows POST.', { headers: { Allow: 'POST, OPTIONS' } });
      const body = await readBytes(c, LONGEST_EVENT);
      const result = await checkout.webhook(body, c.req.header('stripe-signature'), gate.now());
      return new Response(JSON.stringify(result), {
        headers: { ...headers, 'Content-Type': 'application/json', 'Cache-Control': 'no-store' },
      });
    } catch (error) {
      let apiError = toApiError(error);
      if (apiError.code === 'internal') report(error, request_id);
      // Signed deliveries have no rate limit, since Stripe sends bursts from few addresses; others have one.
      else if (apiError.code !== 'unavailable') apiError = await limitError(gate, visitor, apiError);
      return errorResponse(apiError, { base_url: gate.base_url, request_id, accept, headers, resource: '' });
    }
  });
}

/** The error of a request; 429 instead when its address sends too many. */
async function limitError(gate: CallDeps, visitor: Visitor, error: ApiError): Promise<ApiError> {
  try {
    await admit(gate, visitor, 'free');
    return error;
  } catch (limited) {
    return toApiError(limited);
  }
}
