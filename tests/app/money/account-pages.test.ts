// The pages of keys and accounts, on both stores: creating a key, signing in with it or by mail, and attacks
// with cookies, forms of other sites, used links and simultaneous requests.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newCheckout } from '../../../data/state/money/checkouts.ts';
import { createPrepaid, prepaidKey } from '../../../data/state/money/prepaid.ts';
import { takeSession } from '../../../data/state/money/receipts.ts';
import { takeRefund } from '../../../data/state/money/returns.ts';
import { openGrant } from '../../../data/state/oauth/grants.ts';
import { confirmAddress } from '../../../data/state/sends.ts';
import { SESSION_LIFETIME } from '../../../data/state/sessions.ts';
import type { PaymentTable } from '../../../data/state/tables/payments.ts';
import { ADMIN, BASE, NOW, type TestApp } from '../../support/app.ts';
import { callStatus, describeApps, newKey } from '../../support/money-on-stores.ts';

const OWN = { Origin: BASE, 'Sec-Fetch-Site': 'same-origin' };
const SECRET = /dsr_[0-9A-Za-z]{43}/;
const FORMS = [
  'sign-in',
  'mail-link',
  'link',
  'sign-out',
  'topup',
  'limits',
  'email',
  'child',
  'end-child',
  'plan',
  'rotate',
  'revoke',
  'disconnect',
];

let clock = NOW;
const now = () => clock;
let addresses = 0;

const post = (app: TestApp, path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  app.ask(path, {
    method: 'POST',
    body: new URLSearchParams(fields).toString(),
    headers: { ...OWN, ...headers },
    address: `2001:db8:acc0:${(++addresses).toString(16)}::1`,
  });

/** The session cookie that an answer sets, as a browser sends it. */
const sessionOf = (response: Response) =>
  response.headers
    .getSetCookie()
    .find((cookie) => cookie.startsWith('__Secure-register_account='))
    ?.split(';')[0] ?? '';

const signIn = async (app: TestApp, key: string) => sessionOf(await post(app, '/account/sign-in', { key }));

/** The title of the account page for a cookie. */
const titleFor = async (app: TestApp, Cookie: string) =>
  /<h1>(.*?)<\/h1>/.exec(await (await app.ask('/account', { headers: { Cookie } })).text())?.[1];

const pageOf = async (app: TestApp, Cookie: string) => (await app.ask('/account', { headers: { Cookie } })).text();

const mails = (app: TestApp) =>
  readdirSync(join(app.dataDir, 'outbox')).map((name) => readFileSync(join(app.dataDir, 'outbox', name), 'utf8'));

/** The sign-in links in the outbox. */
const links = (app: TestApp) => mails(app).flatMap((mail) => /account\/link\?token=([\w-]{43})/.exec(mail)?.[1] ?? []);

/** The secret of a key that a settled payment of 2 EUR bought. */
async function prepaidKeyIn(app: TestApp, payment: string): Promise<string> {
  const { secret, ...purchase } = prepaidKey('server secret', payment, 'idempotency key');
  const row = {
    id: payment,
    micros: 2_000_000,
    purchase: JSON.stringify({ ...purchase, expires_at: NOW.getTime() + 9e9 }),
  };
  await app.state.db
    .transaction()
    .execute((tx) => createPrepaid(tx, { ...row, request_id: 'r' } as PaymentTable, NOW.getTime()));
  return secret;
}

const seller = { name: 'Register GmbH', address: 'Ring 1, 10115 Berlin', tax_id: 'DE123' };

describeApps('the pages of an account', { now, seller, calls: { signin: 10 } }, (stage) => {
  it('create a key by a form without script, shown once, and sign its owner in', async () => {
    const { app } = stage;
    const form = await app.ask('/keys');
    expect([form.status, form.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(await form.text()).toMatch(/<form[^>]* method="post" action="\/keys"/);
    const made = await post(app, '/keys', { email: 'page@example.org' });
    expect([made.status, made.headers.get('cache-control')]).toEqual([201, 'no-store']);
    const page = await made.text();
    const key = SECRET.exec(page)?.[0] ?? '';
    expect(await callStatus(app, '/v1/keys/me', { headers: { Authorization: `Bearer ${key}` } })).toBe('200');
    expect(page).toMatch(/data-call="\/v1\/tools\/entities\?limit=3&amp;fields=/);
    expect(await titleFor(app, sessionOf(made))).toBe('Account');
    const again = await post(app, '/keys', { email: 'Page+1@example.org' });
    expect(again.status).toBe(409);
    expect(await again.text()).toContain('already has a key');
    for (const email of ['', 'x', 'a@mailinator.com', `${'a'.repeat(300)}@example.org`])
      expect((await post(app, '/keys', { email })).status, email).toBe(422);
    const markup = await (await post(app, '/keys', { email: '"><b>x@example.org' })).text();
    expect(markup).not.toContain('<b>x@');
  });

  it('set a cookie for themselves only, under a token of their own', async () => {
    const { app } = stage;
    const { key } = await newKey(app);
    const planted = `__Secure-register_account=${'a'.repeat(43)}`;
    const answer = await post(app, '/account/sign-in', { key }, { Cookie: planted });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/account']);
    const [cookie = '', mark = ''] = answer.headers.getSetCookie();
    for (const part of [
      'HttpOnly',
      'SameSite=Lax',
      'Secure',
      'Path=/account',
      `Max-Age=${SESSION_LIFETIME.life / 1000}`,
    ])
      expect(cookie.split('; ')).toContain(part);
    expect(mark).toMatch(/^register_signed_in=1; .*Path=\/;/);
    expect(sessionOf(answer)).not.toBe(planted);
    expect(await titleFor(app, planted)).toBe('Sign in to your account');
    const second = await post(app, '/account/sign-in', { key }, { Cookie: sessionOf(answer) });
    expect(await titleFor(app, sessionOf(answer))).toBe('Sign in to your account');
    expect(await titleFor(app, sessionOf(second))).toBe('Account');
    const stored = JSON.stringify(await app.state.db.selectFrom('account_sessions').selectAll().execute());
    expect(stored).not.toContain(sessionOf(second).split('=')[1]);
  });

  it('are the only place where the cookie counts', async () => {
    const { app } = stage;
    const { key } = await newKey(app);
    const Cookie = await signIn(app, key);
    for (const path of ['/v1/keys/me', '/v1/keys/me/usage', '/v1/tools/entities/record-1/facts', '/ops'])
      expect([path, await (await app.ask(path, { headers: { Cookie } })).text()]).not.toEqual([
        path,
        expect.stringMatching(/reader\d+@example|"balance_eur"|"facts":/),
      ]);
    expect(await callStatus(app, '/v1/keys/me', { headers: { Cookie } })).toBe('401 key_required');
    expect(await callStatus(app, '/v1/keys/me/rotate', { method: 'POST', headers: { Cookie, ...OWN } })).toBe(
      '401 key_required',
    );
    expect(await callStatus(app, '/v1/tools/entities/record-1/facts', { headers: { Cookie } })).toBe(
      '402 payment_required',
    );
    const tool = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'entity_history', arguments: { dataset: 'tools', entity_id: 'record-1' } },
    };
    const headers = {
      Cookie,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      Host: 'register.example',
    };
    const mcp = await app.ask('/mcp', { method: 'POST', body: JSON.stringify(tool), headers });
    expect(await mcp.text()).toMatch(/payment_required|402/);
    const skill = {
      message: {
        role: 'ROLE_USER',
        messageId: 'm',
        parts: [{ data: { skill: 'entity_history', dataset: 'tools', entity_id: 'record-1' } }],
      },
    };
    const a2a = await app.ask('/a2a/v1/message:send', { method: 'POST', body: JSON.stringify(skill), headers });
    expect(await a2a.text()).toMatch(/payment_required/);
  });

  it('refuse wrong keys and those of operators, and forms of other sites', async () => {
    const { app } = stage;
    const { key, headers } = await newKey(app);
    for (const wrong of ['', 'x', `${key}x`, ADMIN]) {
      const answer = await post(app, '/account/sign-in', { key: wrong });
      expect([answer.status, sessionOf(answer)]).toEqual([422, '']);
    }
    const Cookie = await signIn(app, key);
    const foreign: Record<string, string>[] = [
      { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' },
      { Origin: 'https://evil.register.example', 'Sec-Fetch-Site': 'same-site' },
      { Origin: 'null', 'Sec-Fetch-Site': 'cross-site' },
    ];
    for (const each of foreign)
      for (const form of FORMS) {
        const answer = await post(
          app,
          `/account/${form}`,
          { key, sure: 'yes', amount: '20', plan: 'pro' },
          { Cookie, ...each },
        );
        expect([form, answer.status, answer.headers.getSetCookie()]).toEqual([form, 403, []]);
      }
    const bare = { method: 'POST', body: 'sure=yes', headers: { Cookie } };
    expect((await app.ask('/account/revoke', bare)).status).toBe(403);
    expect(await callStatus(app, '/v1/keys/me', { headers })).toBe('200');
    expect(await titleFor(app, Cookie)).toBe('Account');
    const cors = await app.ask('/account', { headers: { Cookie, Origin: 'https://evil.example' } });
    expect(cors.headers.get('access-control-allow-origin')).toBeNull();
    for (const form of FORMS.slice(4)) expect((await post(app, `/account/${form}`, {})).status, form).toBe(401);
  });

  it('replace the key once for two presses at the same moment, and end other sessions', async () => {
    const { app, other } = stage;
    const { id, key, headers } = await newKey(app);
    const [Cookie, elsewhere] = [await signIn(app, key), await signIn(other, key)];
    const times = { expires_at: null, created_at: NOW.getTime() };
    await openGrant(app.state, `grant of ${id}`, {
      key_id: id,
      client_id: 'c',
      client_name: 'My agent',
      cap: null,
      ...times,
    });
    const pressed = await Promise.all(
      [app, other].map((each) => post(each, '/account/rotate', { keep_apps: 'yes' }, { Cookie })),
    );
    const pages = await Promise.all(pressed.map((answer) => answer.text()));
    const fresh = pages.flatMap((page) => SECRET.exec(page)?.[0] ?? []);
    expect(fresh).toHaveLength(1);
    expect(await callStatus(other, '/v1/keys/me', { headers })).toBe('401 invalid_key');
    expect(await callStatus(other, '/v1/keys/me', { headers: { Authorization: `Bearer ${fresh[0]}` } })).toBe('200');
    for (const old of [Cookie, elsewhere]) expect(await titleFor(app, old)).toBe('Sign in to your account');
    const session = sessionOf(pressed.find(({ status }) => status === 200)!);
    const page = await (await app.ask('/account', { headers: { Cookie: session } })).text();
    expect(page).toContain('My agent');
    expect(page).not.toMatch(SECRET);
    const grant = /name="grant" value="(\w{64})"/.exec(page)?.[1] ?? '';
    const stranger = await signIn(app, (await newKey(app)).key);
    await post(app, '/account/disconnect', { grant }, { Cookie: stranger });
    expect(await (await app.ask('/account', { headers: { Cookie: session } })).text()).toContain('My agent');
    await post(app, '/account/disconnect', { grant }, { Cookie: session });
    expect(await (await app.ask('/account', { headers: { Cookie: session } })).text()).not.toContain('My agent');
  });

  it('revoke a key after a confirmation', async () => {
    const { app } = stage;
    const { key, headers } = await newKey(app);
    const Cookie = await signIn(app, key);
    expect((await post(app, '/account/revoke', {}, { Cookie })).status).toBe(422);
    expect(await callStatus(app, '/v1/keys/me', { headers })).toBe('200');
    expect(await (await post(app, '/account/revoke', { sure: 'yes' }, { Cookie })).text()).toContain('is revoked');
    expect(await callStatus(app, '/v1/keys/me', { headers })).toBe('401 invalid_key');
    expect(await titleFor(app, Cookie)).toBe('Sign in to your account');
    expect(await signIn(app, key)).toBe('');
  });

  it('sign in by a mailed link once; the answer does not reveal whether the address has a key', async () => {
    const { app, other } = stage;
    await post(app, '/keys', { email: 'mail@example.org' });
    const asked = async (email: string) => {
      const answer = await post(app, '/account/mail-link', { email });
      return [answer.status, (await answer.text()).replaceAll(email, '{email}')];
    };
    const known = await asked('mail@example.org');
    expect(await asked('nobody@example.org')).toEqual(known);
    expect(links(app)).toHaveLength(1);
    // A second mail within the hour is not sent.
    expect(await asked('mail@example.org')).toEqual(known);
    const [token = '', ...more] = links(app);
    expect(more).toEqual([]);
    for (let i = 0; i < 3; i++) {
      const page = await app.ask(`/account/link?token=${token}`);
      expect([page.status, page.headers.getSetCookie()]).toEqual([200, []]);
    }
    const pressed = await Promise.all([app, other].map((each) => post(each, '/account/link', { token })));
    expect(pressed.map(({ status }) => status).sort()).toEqual([303, 404]);
    expect(await titleFor(app, pressed.map(sessionOf).join(''))).toBe('Account');
    expect((await post(app, '/account/link', { token })).status).toBe(404);
    expect((await app.ask(`/account/link?token=${token}`)).status).toBe(404);
    // The token of a link to replace a key does not sign in, and the reverse.
    await asked('mail@example.org');
    const next = links(app).find((each) => each !== token) ?? '';
    expect((await post(app, '/keys/recover', { token: next })).status).toBe(404);
    clock = new Date(NOW.getTime() + 3_600_001);
    expect((await post(app, '/account/link', { token: next })).status).toBe(404);
    clock = NOW;
  });

  it('return by a mailed link to the page where the sign-in began, on this site only', async () => {
    const { app } = stage;
    const path = '/datasets/tools/?fields=runtime&sort=-name';
    for (const [i, next] of [path, 'https://evil.example/', '//evil.example', '/\\evil.example', '/a\n/b'].entries()) {
      const email = `return-${i}@example.org`;
      await post(app, '/keys', { email });
      const form = await app.ask(`/account?next=${encodeURIComponent(next)}`);
      expect((await form.text()).split('name="next"').length - 1, next).toBe(next === path ? 2 : 0);
      const before = new Set(links(app));
      await post(app, '/account/mail-link', { email, next });
      const token = links(app).find((link) => !before.has(link)) ?? '';
      const mail = mails(app).find((text) => text.includes(token)) ?? '';
      expect(mail.includes('&next='), next).toBe(next === path);
      // The address of the link is not trusted either.
      const page = await app.ask(`/account/link?token=${token}&next=${encodeURIComponent(next)}`);
      expect((await page.text()).includes('name="next"'), next).toBe(next === path);
      const used = await post(app, '/account/link', { token, next });
      expect([used.status, used.headers.get('location')], next).toEqual([303, next === path ? path : '/account']);
    }
  });

  it('end a session after an idle hour, and after half a day of use', async () => {
    const { app } = stage;
    const { key } = await newKey(app);
    const { idle, life } = SESSION_LIFETIME;
    const at = async (ms: number, Cookie: string) => {
      clock = new Date(NOW.getTime() + ms);
      return titleFor(app, Cookie);
    };
    const [lazy, busy] = [await signIn(app, key), await signIn(app, key)];
    for (let ms = idle / 2; ms < life; ms += idle / 2) expect(await at(ms, busy)).toBe('Account');
    expect(await at(idle, lazy)).toBe('Sign in to your account');
    expect(await at(life, busy)).toBe('Sign in to your account');
    clock = NOW;
    const out = await signIn(app, key);
    const left = await post(app, '/account/sign-out', {}, { Cookie: out });
    expect(left.headers.getSetCookie().map((cookie) => /=;.*Max-Age=0/.test(cookie))).toEqual([true, true]);
    expect(await titleFor(app, out)).toBe('Sign in to your account');
  });

  it('show the ledger page by page, the usage, and why there is no checkout', async () => {
    const { app } = stage;
    const { key, headers } = await newKey(app);
    for (let i = 0; i < 30; i++) await app.ask('/v1/tools/entities/record-1', { headers });
    const Cookie = await signIn(app, key);
    const page = await (await app.ask('/account', { headers: { Cookie } })).text();
    const older = /href="([^"]*before=\d+)#ledger"/.exec(page)?.[1] ?? '';
    expect(page.match(/<time datetime/g)).toHaveLength(25);
    const second = await (await app.ask(older, { headers: { Cookie } })).text();
    expect(second.match(/<time datetime/g)).toHaveLength(6);
    expect(second).toContain('Welcome credit');
    for (const text of [page, second]) expect(text).toContain('<svg class="cols" role="img"');
    for (const [form, fields] of [
      ['topup', { amount: '20' }],
      ['plan', { plan: 'pro' }],
    ] as const) {
      const answer = await post(app, `/account/${form}`, fields, { Cookie });
      expect([form, answer.status]).toEqual([form, 503]);
      expect(await answer.text()).toContain('role="alert"');
    }
    for (const amount of ['', '4.99', '1001', '5.001', 'x', '-20'])
      expect((await post(app, '/account/topup', { amount }, { Cookie })).status, amount).toBe(422);
    for (const query of ['?days=x&before=y', '?before=9999999999999999', '?done=x'])
      expect((await app.ask(`/account${query}`, { headers: { Cookie } })).status).toBe(200);
  });

  it('set the limits and the alert of the key, for its next call', async () => {
    const { app, other } = stage;
    const { key, headers } = await newKey(app);
    const Cookie = await signIn(app, key);
    await app.ask('/v1/tools/entities/record-1', { headers });
    const saved = await post(
      other,
      '/account/limits',
      { per_day: '0.006', per_month: '1,5', alert_below: '5 EUR' },
      { Cookie },
    );
    expect([saved.status, saved.headers.get('location')]).toEqual([303, '/account?done=limited#limits']);
    expect(await callStatus(app, '/v1/tools/entities/record-1', { headers })).toBe('403 limit_exceeded');
    const page = await pageOf(app, Cookie);
    for (const part of ['value="0.006"', 'value="1.5"', 'value="5"', 'Spent today: €0.004.', 'Mailed once to reader'])
      expect(page).toContain(part);
    for (const per_day of ['-1', '0', 'x', '1000001'])
      expect((await post(app, '/account/limits', { per_day }, { Cookie })).status, per_day).toBe(422);
    // Only an address whose reader followed a mailed link gets an alert.
    const { body } = await app.json('/v1/keys/me', { headers });
    await confirmAddress(app.state, String(body['email']), NOW.getTime());
    expect((await post(app, '/account/limits', { alert_below: '0.494' }, { Cookie })).status).toBe(303);
    expect(await callStatus(app, '/v1/tools/entities/record-1', { headers })).toBe('200');
    expect(mails(app).some((mail) => mail.includes('Low balance'))).toBe(true);
  });

  it('create a child key, show what each key spent, and end it', async () => {
    const { app, other } = stage;
    const { key, headers } = await newKey(app);
    const Cookie = await signIn(app, key);
    expect(await pageOf(app, Cookie)).toContain('No child keys.');
    const bounds = { name: 'research <agent>', cap: '5', child_per_day: '0.5', last_day: '2031-01-31' };
    const created = await post(app, '/account/child', bounds, { Cookie });
    expect([created.status, created.headers.get('cache-control')]).toEqual([201, 'no-store']);
    const child = { Authorization: `Bearer ${SECRET.exec(await created.text())?.[0]}` };
    for (const caller of [child, child, headers]) await app.ask('/v1/tools/entities/record-1', { headers: caller });
    const page = await pageOf(other, Cookie);
    const text = page.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
    expect(text).toMatch(/research &lt;agent&gt; €0.008 €5.00 €0.008 €0.50 Jan 31, 2031 End/);
    expect(text).toMatch(/Key Calls EUR Share research &lt;agent&gt; 2 €0.008 This key 1 €0.004 /);
    expect(page).not.toMatch(SECRET);
    for (const wrong of [{ name: '' }, { cap: 'x' }, { last_day: '2001-01-01' }, { last_day: 'x' }])
      expect((await post(app, '/account/child', { ...bounds, ...wrong }, { Cookie })).status).toBe(422);
    const id = /name="child" value="([\w-]{36})"/.exec(page)?.[1] ?? '';
    const stranger = await signIn(app, (await newKey(app)).key);
    expect((await post(app, '/account/end-child', { child: id }, { Cookie: stranger })).status).toBe(404);
    expect((await post(other, '/account/end-child', { child: id }, { Cookie })).status).toBe(303);
    expect(await callStatus(app, '/v1/keys/me', { headers: child })).toBe('401 invalid_key');
    const after = await pageOf(app, Cookie);
    expect(after).toContain('0 child keys can spend this balance.');
    expect(after).toMatch(/<tr class="ended"><th scope="row">research &lt;agent&gt;.*ended <time[^>]*>Nov 20, 2026/);
  });

  it('attach an address to a prepaid key by a mailed link', async () => {
    const { app, other } = stage;
    const key = await prepaidKeyIn(app, 'a purchase');
    const Cookie = await signIn(app, key);
    const page = await pageOf(app, Cookie);
    for (const part of ['Prepaid key without an address', 'Prepaid credit', 'action="/account/email"'])
      expect(page).toContain(part);
    expect((await post(app, '/account/email', { email: 'x' }, { Cookie })).status).toBe(422);
    expect((await post(app, '/account/email', { email: 'page@example.org' }, { Cookie })).status).toBe(409);
    expect((await post(app, '/account/email', { email: 'prepaid@example.org' }, { Cookie })).status).toBe(303);
    const token =
      mails(app)
        .flatMap((mail) => /keys\/email\?token=([\w-]{43})/.exec(mail)?.[1] ?? [])
        .at(-1) ?? '';
    expect(await (await app.ask(`/keys/email?token=${token}`)).text()).toContain('prepaid@example.org');
    const used = await Promise.all([app, other].map((target) => post(target, '/keys/email', { token })));
    expect(used.map(({ status }) => status).sort()).toEqual([200, 404]);
    expect(await pageOf(app, Cookie)).toContain('<dd>prepaid@example.org</dd>');
  });

  it('print an invoice of a payment, for its owner only', async () => {
    const { app, other } = stage;
    const Cookie = await signIn(app, await prepaidKeyIn(app, 'another purchase'));
    const path = /href="(\/account\/receipts\/\d+)">Invoice</.exec(await pageOf(app, Cookie))?.[1] ?? '';
    const answer = await other.ask(path, { headers: { Cookie } });
    const text = (await answer.text()).replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(text).toMatch(/Invoice 2026-\d{6} Seller Register GmbH Ring 1 10115 Berlin Tax ID: DE123 Buyer API key /);
    expect(text).toMatch(/Nov 20, 2026 For Credit for calls of the API Paid by x402 Currency EUR Total paid €2.00 /);
    const { id, key } = await newKey(app, 1);
    const stranger = await signIn(app, key);
    expect(await pageOf(app, stranger)).not.toContain('/account/receipts/');
    for (const unknown of [path, '/account/receipts/0', '/account/receipts/x'])
      expect((await app.ask(unknown, { headers: { Cookie: stranger } })).status, unknown).toBe(404);
    expect((await app.ask(path)).status).toBe(401);
    const order = {
      key_id: id,
      kind: 'topup',
      plan: null,
      amount: 20_000_000,
      provider: 'stripe',
      request_id: 'r',
    } as const;
    const row = await newCheckout(app.state, { ...order, now: NOW.getTime() });
    const session = { session: `cs_${id}`, checkout: row.id, reference: id, payment: `pi_${id}`, at: NOW.getTime() };
    const money = {
      kind: 'topup',
      paid: true,
      cents: 2000,
      currency: 'eur',
      subscription: null,
      customer: null,
    } as const;
    await takeSession(app.state, { provider: 'stripe', event: 'e1', ...session, ...money }, NOW.getTime());
    const refund = { event: 'e2', payment: `pi_${id}`, currency: 'eur', total: 500, refund: null, at: NOW.getTime() };
    await takeRefund(app.state, refund, NOW.getTime());
    const own = /href="(\/account\/receipts\/\d+)"/.exec(await pageOf(other, stranger))?.[1] ?? '';
    const topup = await (await other.ask(own, { headers: { Cookie: stranger } })).text();
    for (const part of ['Card, by Stripe', '€20.00', '−€5.00']) expect(topup).toContain(part);
  });

  it('stop guessing after ten attempts a minute from one address', async () => {
    const { app } = stage;
    const guess = () =>
      app.ask('/account/sign-in', { method: 'POST', body: 'key=x', headers: OWN, address: '192.0.2.99' });
    const answers = [];
    for (let i = 0; i < 11; i++) answers.push((await guess()).status);
    expect(answers).toEqual([...Array(10).fill(422), 429]);
  });

  it('leave no internal error', () => expect([...stage.app.faults, ...stage.other.faults]).toEqual([]));
});
