// The sandbox checkout: only on one machine without Stripe, paid by a button only, once.
import { afterAll, beforeEach, describe, expect, it, test } from 'vitest';
import { isLoopback, sandboxMode } from '../../../api/checkout/sandbox.ts';
import { monthAfter } from '../../../data/model/time.ts';
import { verify } from '../../../data/state/money/ledger.ts';
import { takeSession } from '../../../data/state/money/receipts.ts';
import { NOW, type TestApp, testApp } from '../../support/app.ts';
import { balance, describeApps, newKey } from '../../support/money-on-stores.ts';
import { deliver, eventOf, startDouble } from '../../support/stripe-double.ts';
import { verifies } from '../../support/verifies.ts';

verifies('setting.stripe');

const LOCAL = 'http://localhost:8787';
const DAY = 86_400_000;
let clock = NOW.getTime();
beforeEach(() => {
  clock = NOW.getTime();
});

type Init = Parameters<TestApp['ask']>[1];
const ask = async (app: TestApp, path: string, body: unknown, init: Init = {}) =>
  app.json(path, { method: 'POST', body: JSON.stringify(body), ...init });

/** The path of a requested checkout. */
async function opened(app: TestApp, headers: Record<string, string>, plan?: string): Promise<string> {
  const what = plan === undefined ? { amount_eur: 20 } : { plan };
  const { status, body } = await ask(app, `/v1/keys/${plan === undefined ? 'topup' : 'subscribe'}`, what, { headers });
  expect(status).toBe(200);
  return String(body['checkout_url']).slice(LOCAL.length);
}

/** Presses a button of the page; returns the status and the redirect. */
async function press(app: TestApp, path: string, action: string): Promise<[number, string | null]> {
  const answer = await app.ask(path, { method: 'POST', body: new URLSearchParams({ action }) });
  await answer.body?.cancel();
  return [answer.status, answer.headers.get('location')];
}

const planOf = async (app: TestApp, headers: Record<string, string>) =>
  (await app.json('/v1/keys/me', { headers })).body['plan'];

describeApps('the sandbox checkout', { base: LOCAL, now: () => new Date(clock) }, (stage) => {
  it('shows what is bought and that it is play money; a GET pays nothing, also with the button in the query', async () => {
    const { app } = stage;
    const { headers } = await newKey(app);
    const path = await opened(app, headers);
    expect(path).toMatch(/^\/checkout\/sandbox\/sandbox_[\w-]{43}$/);
    for (const query of ['', '?action=pay', '?action=cancel']) {
      const page = await app.ask(path + query);
      expect(page.status).toBe(200);
      const html = await page.text();
      expect(html).toContain('No real money');
      expect(html).toContain('€20.00');
      expect(html).not.toMatch(/<script(?! id="theme")|<img|https:\/\//);
    }
    expect(await balance(app, headers)).toBe(0.5);
  });

  it('is not stored, not framed, and loads nothing', async () => {
    const { app } = stage;
    const { headers } = await newKey(app);
    const paths = [await opened(app, headers), '/checkout/done', '/checkout/cancelled', '/checkout/sandbox/none'];
    for (const path of paths) {
      const page = await app.ask(path);
      await page.body?.cancel();
      expect(page.headers.get('cache-control')).toBe('no-store');
      expect(page.headers.get('referrer-policy')).toBe('no-referrer');
      expect(page.headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; style-src 'sha256-[\w+/=]{44}'; script-src 'sha256-[\w+/=]{44}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'$/,
      );
    }
  });

  it('is paid once, however often and wherever it is pressed, and leads back', async () => {
    const { app, other } = stage;
    const { headers } = await newKey(app);
    const path = await opened(app, headers);
    const session = path.split('/').at(-1);
    const pressed = await Promise.all(Array.from({ length: 6 }, (_, i) => press(i % 2 ? app : other, path, 'pay')));
    expect(pressed).toEqual(Array(6).fill([303, `../done?session=${session}`]));
    expect(await balance(other, headers)).toBe(20.5);
    const done = await (await app.ask(`/checkout/done?session=${session}`)).text();
    expect(done).toContain('€20.00 of credit was added to your key.');
    expect(await (await app.ask(path)).text()).toContain('<h1>Paid</h1>');
    expect(await press(app, path, 'cancel')).toEqual([303, '../cancelled']);
    expect(await balance(app, headers)).toBe(20.5);
  });

  it('cancelled, a day old, unknown or pressed without a button pays nothing', async () => {
    const { app } = stage;
    const { headers } = await newKey(app);
    const [cancelled, old, fresh] = [
      await opened(app, headers),
      await opened(app, headers),
      await opened(app, headers),
    ];
    expect(await press(app, cancelled, 'cancel')).toEqual([303, '../cancelled']);
    expect((await press(app, cancelled, 'pay'))[0]).toBe(404);
    expect((await press(app, '/checkout/sandbox/sandbox_of_nobody', 'pay'))[0]).toBe(404);
    expect((await press(app, fresh, ''))[0]).toBe(404);
    clock += DAY;
    expect((await press(app, old, 'pay'))[0]).toBe(404);
    expect((await app.ask(old)).status).toBe(404);
    expect(await balance(app, headers)).toBe(0.5);
  });

  it('sells a plan for one month, and another in its place', async () => {
    const { app, other } = stage;
    const made = await ask(app, '/v1/keys', { email: "o'neil@example.org", plan: 'pro' }, { address: '198.51.100.4' });
    const headers = { Authorization: `Bearer ${made.body['key']}` };
    const path = String(made.body['checkout_url']).slice(LOCAL.length);
    const page = await (await app.ask(path)).text();
    expect(page).toContain('o&#39;neil@example.org');
    expect(page).toContain('Pro plan, €49.00 per month, renews ');
    expect(await planOf(app, headers)).toBe('payg');
    expect((await press(app, path, 'pay'))[0]).toBe(303);
    expect(await planOf(other, headers)).toBe('pro');
    clock += DAY;
    expect((await press(app, await opened(app, headers, 'scale'), 'pay'))[0]).toBe(303);
    expect(await planOf(app, headers)).toBe('scale');
    clock = monthAfter(NOW.getTime() + DAY) - 1;
    expect(await planOf(app, headers)).toBe('scale');
    clock += 1;
    expect(await planOf(app, headers)).toBe('payg');
    expect(await balance(app, headers)).toBe(0.5);
  });

  it('rejects events of Stripe, and leaves correct books', async () => {
    const { app, other } = stage;
    expect(await deliver(app, eventOf('checkout.session.completed', { id: 'cs_test_1' }))).toBe('404 not_found');
    expect(await verify(app.state)).toMatchObject({ sum: 0, unbalanced: [], wrong: [] });
    expect([...app.faults, ...other.faults]).toEqual([]);
  });
});

describe('when the sandbox is offered', () => {
  const double = startDouble();
  afterAll(async () => (await double).close());

  test.each([
    ['http://localhost:8787', true],
    ['http://127.0.0.1', true],
    ['http://127.9.9.9:80', true],
    ['http://[::1]:8787', true],
    ['http://register.localhost', true],
    ['https://register.example', false],
    ['http://localhost.example', false],
    ['http://127.0.0.1.example', false],
    ['http://0.0.0.0:8787', false],
    ['http://192.168.1.7', false],
    ['http://[::2]', false],
  ])('%s is this machine: %s', (url, here) => expect(isLoopback(url)).toBe(here));

  const LOCAL_SETTINGS = { base_url: LOCAL, host: '127.0.0.1', trust_proxy: 0 };
  test.each([
    [{}, 'local'],
    [{ host: 'localhost' }, 'local'],
    [{ host: '::1', base_url: 'http://[::1]:8787' }, 'local'],
    [{ host: '0.0.0.0' }, 'off'],
    [{ host: '::' }, 'off'],
    [{ host: '192.168.1.7' }, 'off'],
    [{ host: 'register.example' }, 'off'],
    [{ host: 'not a host' }, 'off'],
    [{ trust_proxy: 1 }, 'off'],
    [{ base_url: 'https://register.example' }, 'off'],
    [{ host: '0.0.0.0', trust_proxy: 1, base_url: 'https://register.example', checkout: 'sandbox' as const }, 'anyone'],
  ])('%o: %s', (changed, mode) => expect(sandboxMode({ ...LOCAL_SETTINGS, ...changed }).mode).toBe(mode));

  test.each([{ host: '0.0.0.0' }, { trust_proxy: 1 }])(
    'not with %o: a top-up is 503, and no 402 offers one',
    async (setting) => {
      const lines: string[] = [];
      const app = await testApp({ records: 5, base: LOCAL, log: (line) => lines.push(line), ...setting });
      const { headers } = await newKey(app);
      const refused = await ask(app, '/v1/keys/topup', { amount_eur: 20 }, { headers });
      expect([refused.status, refused.body['error']]).toEqual([503, 'unavailable']);
      await app.state.db.updateTable('balances').set({ amount: 0 }).execute();
      const unpaid = await app.json('/v1/tools/stats?attribute=price.list', { headers });
      expect(unpaid.status).toBe(402);
      expect(unpaid.body['how_to_pay']).toEqual({});
      expect(lines.filter((line) => line.startsWith('No checkout: '))).toHaveLength(1);
      await app.close();
    },
  );

  test('a local sandbox is not paid from elsewhere, nor through a proxy on this machine', async () => {
    const app = await testApp({ records: 5, base: LOCAL });
    const { headers } = await newKey(app);
    const path = await opened(app, headers);
    const body = () => new URLSearchParams({ action: 'pay' });
    const sent: Record<string, string>[] = [
      { 'X-Forwarded-For': '203.0.113.210' },
      { 'X-Forwarded-For': '127.0.0.1' },
      { Forwarded: 'for=127.0.0.1' },
      { 'X-Real-IP': '127.0.0.1' },
    ];
    for (const forwarded of sent) {
      const answer = await app.ask(path, { method: 'POST', body: body(), headers: forwarded });
      expect([answer.status, await answer.text()], JSON.stringify(forwarded)).toEqual([
        403,
        expect.stringContaining('CHECKOUT=sandbox'),
      ]);
    }
    for (const remoteAddress of ['203.0.113.210', '2001:db8::1', '192.168.1.7']) {
      const bindings = { incoming: { socket: { remoteAddress } } };
      const request = new Request(`${LOCAL}${path}`, { method: 'POST', body: body() });
      expect((await app.fetch(request, bindings)).status, remoteAddress).toBe(403);
    }
    expect(await balance(app, headers)).toBe(0.5);
    const bindings = { incoming: { socket: { remoteAddress: '::1' } } };
    const request = new Request(`${LOCAL}${path}`, { method: 'POST', body: body() });
    expect((await app.fetch(request, bindings)).status).toBe(303);
    expect(await balance(app, headers)).toBe(20.5);
    await app.close();
  });

  test('CHECKOUT=sandbox opens it to every client', async () => {
    const setting = { host: '0.0.0.0', trust_proxy: 1, checkout: 'sandbox' as const };
    const app = await testApp({ records: 5, base: 'https://register.example', ...setting });
    const { headers } = await newKey(app);
    const { body } = await ask(app, '/v1/keys/topup', { amount_eur: 20 }, { headers });
    const path = String(body['checkout_url']).slice('https://register.example'.length);
    const form = new URLSearchParams({ action: 'pay' });
    const paid = await app.ask(path, { method: 'POST', body: form, address: '203.0.113.210' });
    expect(paid.status).toBe(303);
    expect(await balance(app, headers)).toBe(20.5);
    await app.close();
  });

  test('not under another address: a top-up is 503 and the pages are nowhere', async () => {
    const app = await testApp({ records: 5 });
    const { headers } = await newKey(app);
    const refused = await ask(app, '/v1/keys/topup', { amount_eur: 20 }, { headers });
    expect([refused.status, refused.body['error'], refused.headers.get('retry-after')]).toEqual([
      503,
      'unavailable',
      '3600',
    ]);
    expect((await press(app, '/checkout/sandbox/sandbox_x', 'pay'))[0]).toBe(404);
    expect((await app.ask('/checkout/sandbox/sandbox_x')).status).toBe(404);
    expect(app.faults).toEqual([]);
    await app.close();
  });

  test('not with Stripe, whose sessions the sandbox cannot pay either', async () => {
    const { stripe, sessions } = await double;
    const app = await testApp({ records: 5, base: LOCAL, stripe });
    const { headers } = await newKey(app);
    const { body } = await ask(app, '/v1/keys/topup', { amount_eur: 20 }, { headers });
    const [session] = sessions.keys();
    expect(body['checkout_url']).toBe(`${stripe.apiBase}/pay/${session}`);
    expect((await press(app, `/checkout/sandbox/${session}`, 'pay'))[0]).toBe(404);
    const waiting = await (await app.ask(`/checkout/done?session=${session}`)).text();
    expect(waiting).toContain('Payment pending');
    expect(waiting).toContain('http-equiv="refresh"');
    expect(await balance(app, headers)).toBe(0.5);
    await app.close();
  });

  test('a session of the sandbox is not paid by Stripe when a key is set later', async () => {
    const app = await testApp({ records: 5, base: LOCAL });
    const { headers, id } = await newKey(app);
    await opened(app, headers);
    const row = await app.state.db.selectFrom('checkouts').selectAll().executeTakeFirstOrThrow();
    const told = {
      provider: 'stripe',
      event: 'evt_1',
      session: row.session ?? '',
      checkout: row.id,
      reference: id,
    } as const;
    const money = {
      kind: 'topup',
      paid: true,
      cents: 2000,
      currency: 'eur',
      payment: null,
      subscription: null,
    } as const;
    const outcome = await takeSession(app.state, { ...told, ...money, customer: null, at: 0 }, 0);
    expect(outcome).toEqual({ state: 'refused', why: 'it is a checkout of sandbox' });
    expect(await balance(app, headers)).toBe(0.5);
    await app.close();
  });
});
