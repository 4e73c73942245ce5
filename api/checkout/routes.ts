// /checkout: where a checkout leads back to, and the sandbox checkout of one machine. None of these pages credits what Stripe takes.
import { isIPv4 } from 'node:net';
import type { App, RestDeps } from '../channels/rest/rest.ts';
import { toApiError } from '../contract/errors.ts';
import { admit } from '../gate/execute.ts';
import { type Http, readRequest, readText } from '../http/request.ts';
import { errorResponse } from '../http/respond.ts';
import { SHELL_HEADERS, shellPage } from '../pages/shell.ts';
import { checkoutPage, returnPage } from './page.ts';

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
  body: `<p>The sandbox checkout can be paid from the machine that the service runs on, and not through a proxy. Nothing was paid.</p>
<p>The operator can open it to every address with the setting <code>CHECKOUT=sandbox</code>.</p>`,
};

const GONE = `<p>It was cancelled, it is older than a day, or there never was one at this address. Nothing was paid.</p>
<p>Ask for another with <code>POST /v1/keys/topup</code> or <code>POST /v1/keys/subscribe</code>.</p>`;
