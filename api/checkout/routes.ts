// /checkout: where a checkout leads back to, and the sandbox checkout of one machine. None of these pages credits what Stripe takes.

import { isIPv4 } from 'node:net';
import type { App, RestDeps } from '../channels/rest/rest.ts';
import { ApiError, toApiError } from '../contract/errors.ts';
import { admit } from '../gate/execute.ts';
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
      const told = toApiError(error);
      if (told.code === 'internal') report(error, request_id);
      return errorResponse(told, { base_url: gate.base_url, request_id, accept, headers, resource: '' });
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

  const OVER = { title: 'This checkout is over', body: GONE };
  app.get('/checkout/sandbox/:session', (c) =>
    guarded(c, async () => {
      const seen = await sandbox.look(c.req.param('session'), gate.now());
      if (seen === null || seen.state === 'over') return shown(OVER, 404);
      return seen.state === 'paid' ? shown(returnPage(seen, gate.base_url)) : shown(checkoutPage(seen));
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

/** Headers that a proxy adds: a request that has one may come from anywhere, though its connection comes from this machine. */
const FORWARDED = ['x-forwarded-for', 'forwarded', 'x-real-ip'];

/** Whether a request comes from this machine, and not through a proxy on it. */
function isLocal(c: Http, address: string): boolean {
  const loopback = address === LOOPBACK_64 || (isIPv4(address) && address.startsWith('127.'));
  return loopback && FORWARDED.every((name) => c.req.header(name) === undefined);
}

/** `::1` as access/address.ts counts it. */
const LOOPBACK_64 = '0:0:0:0::/64';

const ELSEWHERE = {
  title: 'Not from this address',
  body: html`<p>The sandbox checkout can be paid from the machine that the service runs on, and not through a proxy. Nothing was paid.</p>
<p>The operator can open it to every address with the setting <code>CHECKOUT=sandbox</code>.</p>`,
};

const GONE = html`<p>It was cancelled, it is older than a day, or there never was one at this address. Nothing was paid.</p>
<p>Ask for another with <code>POST /v1/keys/topup</code> or <code>POST /v1/keys/subscribe</code>.</p>`;

/** A checkout as its pages show it. */
interface SeenCheckout {
  kind: 'topup' | 'plan';
  plan: string | null;
  eur: number;
  email: string;
  state: 'open' | 'paid' | 'over';
  /** Paid with play money, in the sandbox. */
  play: boolean;
}

/** What is bought, in a few words. */
const bought = ({ kind, plan }: SeenCheckout): string =>
  kind === 'topup' ? 'Credit for API calls' : `Plan ${plan}, one month`;

const row = (term: string, value: string, isTotal = false): Html =>
  html`<div${isTotal && html` class="total"`}><dt>${term}</dt><dd>${value}</dd></div>`;

const play = (text: string): Html => html`<p class="play" role="note"><strong>No real money</strong> ${text}</p>`;

/** The sandbox's page to pay on. Its form posts to its own address, which nobody can guess and which pays once. */
function checkoutPage(seen: SeenCheckout): ShellPage {
  const sum = printEuro(seen.eur);
  return {
    title: 'Sandbox checkout',
    above: play(
      'This page stands in for a payment service while you try the register on your own machine. Nobody is charged.',
    ),
    body: html`<dl class="sum">
${row('What', bought(seen))}
${row('For the key of', seen.email)}
${row('To pay', sum, true)}
</dl>
<form method="post">
<button type="submit" class="button" name="action" value="pay">Pay ${sum} of play money</button>
<button type="submit" name="action" value="cancel">Cancel</button>
</form>`,
  };
}

const BALANCE = html`<p><code>GET /v1/keys/me</code> shows the balance, the plan and every movement.</p>`;

/** Seconds between two looks at a payment that is on its way. */
const LOOK = 5;

/** Where a checkout leads back to. It only tells what is booked already: coming here credits nothing. */
function returnPage(seen: SeenCheckout | 'cancelled' | null, base_url: string): ShellPage {
  if (seen === 'cancelled')
    return {
      title: 'Nothing was paid',
      body: html`<p>The checkout was cancelled. Your key, its credit and its plan are as they were.</p>${BALANCE}`,
    };
  if (seen === null || seen.state === 'over')
    return {
      title: 'Thank you',
      body: html`<p>If you have paid, it is booked as soon as the payment service confirms it, usually within a minute.</p>${BALANCE}`,
    };
  const thing = seen.kind === 'topup' ? `${printEuro(seen.eur)} of credit` : `The plan ${seen.plan ?? ''}`;
  if (seen.state === 'open')
    return {
      title: 'On its way',
      body: html`<p>${thing} is booked as soon as the payment service confirms the payment, usually within a minute. This page looks again by itself.</p>${BALANCE}`,
      refresh_seconds: LOOK,
    };
  const now = seen.kind === 'topup' ? 'is on your key' : 'is yours';
  return {
    title: 'Paid',
    ...(seen.play ? { above: play('That was the sandbox checkout. Nobody was charged.') } : {}),
    body: html`<p>${thing} ${now}. You can close this page.</p>${BALANCE}<p class="actions"><a class="button" href="${base_url}/llms.txt">Go on to the guide</a></p>`,
  };
}

/** Longest event that is read, in bytes; Stripe's are a few thousand, with many lines on an invoice more. */
const LONGEST_EVENT = 1_048_576;

export interface WebhookReceiver {
  /** Takes one delivery and answers what became of it; absent where there is no Stripe. `invalid_parameter` for a wrong signature. */
  webhook: ((body: Uint8Array, signature: string | undefined, now: Date) => Promise<object>) | null;
}

const PATH = '/webhooks/stripe';

/** Mounts it. Stripe repeats for three days whatever is not answered with success. */
export function mountWebhook(app: App, deps: RestDeps & { checkout: WebhookReceiver }): void {
  const { gate, report, checkout } = deps;
  app.all(PATH, async (c) => {
    const { visitor, headers, request_id, accept, method } = readRequest(gate, c);
    try {
      if (checkout.webhook === null) throw new ApiError('not_found', 'There is nothing at this address.');
      if (method !== 'POST')
        throw new ApiError('method_not_allowed', 'This address answers POST.', { headers: { Allow: 'POST, OPTIONS' } });
      const body = await readBytes(c, LONGEST_EVENT);
      const told = await checkout.webhook(body, c.req.header('stripe-signature'), gate.now());
      return new Response(JSON.stringify(told), {
        headers: { ...headers, 'Content-Type': 'application/json', 'Cache-Control': 'no-store' },
      });
    } catch (error) {
      let told = toApiError(error);
      if (told.code === 'internal') report(error, request_id);
      // What Stripe signed is not limited, since it comes in bursts from few addresses; everybody else is.
      else if (told.code !== 'unavailable') told = await admit(gate, visitor, 'free').then(() => told, toApiError);
      return errorResponse(told, { base_url: gate.base_url, request_id, accept, headers, resource: '' });
    }
  });
}
