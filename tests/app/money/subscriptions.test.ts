// Monthly plans through the real stripe package: begun, renewed, changed, refunded, and expired without an
// event.
import { afterAll, beforeEach, expect, it } from 'vitest';
import { monthAfter } from '../../../data/model/time.ts';
import { verify } from '../../../data/state/money/ledger.ts';
import { paymentIssues } from '../../../data/state/ops/attention.ts';
import { BASE, NOW, type TestApp } from '../../support/app.ts';
import { balance, describeApps, grant, newKey } from '../../support/money-on-stores.ts';
import {
  chargeObject,
  deliver,
  disputeOf,
  eventOf,
  invoiceOf,
  paidSession,
  signatureOf,
  startDouble,
} from '../../support/stripe-double.ts';
import { verifies } from '../../support/verifies.ts';

verifies('plan.create', 'plan.subscribe', 'plan.fallback');

type Json = Record<string, unknown>;

const double = await startDouble();
afterAll(() => double.close());
let clock = NOW.getTime();
beforeEach(() => {
  clock = NOW.getTime();
  double.requests.length = 0;
  double.faults.length = 0;
});

const logged: string[] = [];
const options = {
  now: () => new Date(clock),
  log: (line: string) => logged.push(line),
  get stripe() {
    return double.stripe;
  },
};
const HOUR = 3_600_000;
const FIRST_END = monthAfter(NOW.getTime());
const SECOND_END = monthAfter(FIRST_END);

/** The session of a returned address. */
const sessionAt = (url: unknown): Json => double.sessions.get(String(url).split('/pay/')[1] ?? '') ?? {};

const tell = (app: TestApp, type: string, object: Json) => {
  const body = eventOf(type, object, clock);
  return deliver(app, body, signatureOf(body, clock));
};

async function subscribe(app: TestApp, headers: Record<string, string>, plan: string) {
  const answer = await app.json('/v1/keys/subscribe', { method: 'POST', body: JSON.stringify({ plan }), headers });
  return { ...answer, session: paidSession(sessionAt(answer.body['checkout_url'])) };
}

const month = (session: Json, start = NOW.getTime(), more: Json = {}) =>
  invoiceOf(session, { start, end: monthAfter(start) }, more);

/** A key on a plan: checkout and first invoice paid. */
async function subscribed(app: TestApp, plan = 'pro') {
  const key = await newKey(app);
  const { session } = await subscribe(app, key.headers, plan);
  const invoice = month(session, clock);
  expect(await tell(app, 'checkout.session.completed', session)).toBe('200 booked');
  expect(await tell(app, 'invoice.paid', invoice)).toBe('200 booked');
  return { ...key, session, invoice };
}

const planOf = async (app: TestApp, headers: Record<string, string>) =>
  (await app.json('/v1/keys/me', { headers })).body['plan'];
/** The change feed needs a plan: the decision of the gate. */
const feed = async (app: TestApp, headers: Record<string, string>) =>
  (await app.json('/v1/tools/changes?since=2026-01-01T00:00:00Z', { headers })).status;
const ledger = async (app: TestApp, headers: Record<string, string>) =>
  ((await app.json('/v1/keys/me', { headers })).body['ledger'] as { kind: string; amount_eur: number }[])
    .map(({ kind, amount_eur }) => `${kind} ${amount_eur}`)
    .reverse();

describeApps('a plan', options, (stage) => {
  it('is bought by a monthly checkout at its price, with our ids on the subscription', async () => {
    const { app } = stage;
    const { id, headers } = await newKey(app);
    const { status, body } = await subscribe(app, headers, 'scale');
    expect([status, body['plan'], body['eur_per_month']]).toEqual([200, 'scale', 199]);
    const [asked] = double.requests;
    expect(asked?.form).toMatchObject({
      mode: 'subscription',
      'line_items[0][price_data][unit_amount]': '19900',
      'line_items[0][price_data][recurring][interval]': 'month',
      client_reference_id: id,
    });
    expect(asked?.form['subscription_data[metadata][checkout]']).toBe(asked?.form['metadata[checkout]']);
    expect(await planOf(app, headers)).toBe('payg');
  });

  it('can be requested with the key; the key is payg until it is paid, and is made even when Stripe is down', async () => {
    const { app } = stage;
    const create = (email: string) =>
      app.json('/v1/keys', { method: 'POST', body: JSON.stringify({ email, plan: 'pro' }), address: '203.0.113.9' });
    const { status, body } = await create('with-plan@example.org');
    expect([status, body['plan'], body['checkout_url']]).toEqual([201, 'payg', expect.stringContaining('/pay/cs_')]);
    const headers = { Authorization: `Bearer ${body['key']}` };
    expect(await tell(app, 'checkout.session.completed', paidSession(sessionAt(body['checkout_url'])))).toBe(
      '200 booked',
    );
    expect(await planOf(app, headers)).toBe('pro');
    double.faults.push(401);
    const without = await create('without-stripe@example.org');
    expect([without.status, without.body['key'], without.body['checkout_url']]).toEqual([
      201,
      expect.stringMatching(/^dsr_/),
      undefined,
    ]);
  });

  it('begins with the paid checkout, gets its exact end from the invoice, and is payg after it without an event', async () => {
    const { app, other } = stage;
    const { headers } = await newKey(app);
    const { session } = await subscribe(app, headers, 'pro');
    expect(await tell(app, 'checkout.session.completed', { ...session, payment_status: 'unpaid' })).toBe('200 waiting');
    expect(await feed(app, headers)).toBe(403);
    expect(await tell(app, 'checkout.session.completed', session)).toBe('200 booked');
    expect([await planOf(app, headers), await feed(other, headers)]).toEqual(['pro', 200]);
    const end = FIRST_END - 5000;
    expect(await tell(app, 'invoice.paid', invoiceOf(session, { start: clock, end }))).toBe('200 booked');
    clock = end - 1;
    expect([await planOf(app, headers), await feed(other, headers)]).toEqual(['pro', 200]);
    clock = end;
    expect([await planOf(other, headers), await feed(app, headers)]).toEqual(['payg', 403]);
  });

  it('is the same when the invoice comes first, both at once, again and again; the ledger has each month once', async () => {
    const { app, other } = stage;
    const { headers } = await newKey(app);
    const { session } = await subscribe(app, headers, 'pro');
    const invoice = month(session);
    const news = [
      ['invoice.paid', invoice],
      ['checkout.session.completed', session],
    ] as const;
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => {
        const [type, object] = news[i % 4 < 2 ? 0 : 1];
        return tell(i % 2 ? app : other, type, object);
      }),
    );
    expect(answers.filter((each) => each === '200 booked').length).toBeGreaterThanOrEqual(1);
    expect(await ledger(app, headers)).toEqual(['welcome 0.5', 'plan_payment 49', 'plan -49']);
    expect([await planOf(other, headers), await balance(app, headers)]).toEqual(['pro', 0.5]);
  });

  it('goes on with each paid month, and not with a late event of an older invoice', async () => {
    const { app } = stage;
    const { headers, session, invoice } = await subscribed(app);
    clock = FIRST_END - HOUR;
    const next = month(session, FIRST_END, { billing_reason: 'subscription_cycle' });
    expect(await tell(app, 'invoice.paid', next)).toBe('200 booked');
    expect(await tell(app, 'invoice.paid', invoice)).toBe('200 known');
    clock = SECOND_END - 1;
    expect(await planOf(app, headers)).toBe('pro');
    clock = SECOND_END;
    expect(await planOf(app, headers)).toBe('payg');
    // A paid month whose event is late still counts from the event.
    const late = month(session, SECOND_END, { billing_reason: 'subscription_cycle' });
    expect(await tell(app, 'invoice.paid', late)).toBe('200 booked');
    expect(await planOf(app, headers)).toBe('pro');
  });

  it('lasts while the next month is collected, and ends with the payment that fails', async () => {
    const { app } = stage;
    const { headers, session } = await subscribed(app);
    const next = { ...month(session, FIRST_END, { billing_reason: 'subscription_cycle' }), status: 'draft' };
    clock = FIRST_END;
    expect(await tell(app, 'invoice.created', next)).toBe('200 booked');
    clock = FIRST_END + HOUR;
    expect(await planOf(app, headers)).toBe('pro');
    expect(await tell(app, 'invoice.payment_failed', { ...next, status: 'open' })).toBe('200 booked');
    expect(await planOf(app, headers)).toBe('payg');
    clock = FIRST_END + 48 * HOUR;
    expect(await tell(app, 'invoice.paid', { ...next, status: 'paid' })).toBe('200 booked');
    expect(await planOf(app, headers)).toBe('pro');
    // No event about the next collection: the plan ends after a few hours.
    clock = SECOND_END;
    const third = month(session, SECOND_END, { billing_reason: 'subscription_cycle' });
    await tell(app, 'invoice.created', third);
    clock = SECOND_END + 7 * HOUR;
    expect(await planOf(app, headers)).toBe('payg');
  });

  it('is kept to the end of what was paid when it is cancelled', async () => {
    const { app } = stage;
    const { headers, session } = await subscribed(app);
    expect(await tell(app, 'customer.subscription.deleted', { id: session['subscription'] })).toBe('200 booked');
    expect(await tell(app, 'customer.subscription.deleted', { id: 'sub_of_somebody' })).toBe('200 foreign');
    expect(await planOf(app, headers)).toBe('pro');
    clock = FIRST_END;
    expect(await planOf(app, headers)).toBe('payg');
  });

  it('is cancelled on the account page: Stripe ends the renewal once, and the paid month stays', async () => {
    const { app, other } = stage;
    const { headers, session, key } = await subscribed(app);
    const post = (to: TestApp, path: string, fields: Record<string, string>, Cookie = '') =>
      to.ask(path, {
        method: 'POST',
        body: new URLSearchParams(fields).toString(),
        headers: { Origin: BASE, 'Sec-Fetch-Site': 'same-origin', Cookie },
      });
    const signedIn = await post(app, '/account/sign-in', { key });
    const cookie = signedIn.headers.getSetCookie().find((each) => each.includes('register_account=')) ?? '';
    const page = async (path = '/account') =>
      (await app.ask(path, { headers: { Cookie: cookie.split(';')[0] ?? '' } })).text();
    const cancel = (to: TestApp) => post(to, '/account/plan', { plan: 'payg' }, cookie.split(';')[0]);
    expect(await page()).toMatch(/Pro, renews on/);
    double.requests.length = 0;
    double.faults.push(500, 500, 500);
    expect((await cancel(app)).status).toBe(503);
    expect(await page()).toMatch(/Pro, renews on/);
    double.requests.length = 0;
    const cancelled = await cancel(other);
    expect([cancelled.status, cancelled.headers.get('location')]).toEqual([303, '/account?done=cancelled#plan']);
    expect((await cancel(app)).status).toBe(303);
    expect(double.requests.map(({ method, path, form }) => [method, path, form])).toEqual([
      ['POST', `/v1/subscriptions/${session['subscription']}`, { cancel_at_period_end: 'true' }],
    ]);
    const shown = await page('/account?done=cancelled');
    expect(shown).toMatch(/Pro, until/);
    expect(shown).toContain('The plan was cancelled.');
    expect(await planOf(app, headers)).toBe('pro');
    clock = FIRST_END;
    expect(await tell(app, 'customer.subscription.deleted', { id: session['subscription'] })).toMatch(/^200 /);
    expect(await planOf(app, headers)).toBe('payg');
  });

  it('is changed by another checkout: the new plan at once, the old subscription ended at Stripe, once', async () => {
    const { app, other } = stage;
    const { headers, session: old } = await subscribed(app, 'pro');
    clock += 24 * HOUR;
    const { session } = await subscribe(app, headers, 'scale');
    expect(double.requests.at(-1)?.form['customer']).toBe(old['customer']);
    expect(await planOf(app, headers)).toBe('pro');
    double.requests.length = 0;
    // Stripe is unavailable: the event is refused, repeated, and the subscription is then ended.
    double.faults.push(500, 500, 500);
    expect(await tell(app, 'checkout.session.completed', session)).toBe('503 unavailable');
    expect(await planOf(other, headers)).toBe('scale');
    expect(await tell(other, 'checkout.session.completed', session)).toBe('200 known');
    expect(await tell(other, 'invoice.paid', month(session, clock))).toBe('200 booked');
    const stops = double.requests.filter(({ method }) => method === 'DELETE');
    expect(new Set(stops.map(({ path }) => path.split('?')[0]))).toEqual(
      new Set([`/v1/subscriptions/${old['subscription']}`]),
    );
    expect(stops).toHaveLength(4);
    expect(`${stops[0]?.path}${JSON.stringify(stops[0]?.form)}`).toMatch(/prorate.*true/);
    // Stripe settles the rest of the old month; neither that nor the old plan's end affects the new one.
    await tell(app, 'invoice.paid', month(old, clock, { total: -4700, billing_reason: 'manual' }));
    await tell(app, 'customer.subscription.deleted', { id: old['subscription'] });
    expect(await ledger(app, headers)).toEqual([
      'welcome 0.5',
      'plan_payment 49',
      'plan -49',
      'plan_payment 199',
      'plan -199',
    ]);
    clock = FIRST_END + HOUR;
    expect(await planOf(app, headers)).toBe('scale');
    clock = monthAfter(NOW.getTime() + 24 * HOUR);
    expect(await planOf(app, headers)).toBe('payg');
  });

  it('of two that were bought at once, the one paid last counts and the other is ended', async () => {
    const { app } = stage;
    const { headers } = await newKey(app);
    const [one, two] = [await subscribe(app, headers, 'pro'), await subscribe(app, headers, 'pro')];
    await tell(app, 'checkout.session.completed', two.session);
    clock += HOUR;
    double.requests.length = 0;
    await tell(app, 'checkout.session.completed', one.session);
    expect(double.requests.map(({ path }) => path.split('?')[0])).toEqual([
      `/v1/subscriptions/${two.session['subscription']}`,
    ]);
    expect(await planOf(app, headers)).toBe('pro');
  });

  it('cannot be bought twice, nor where an operator gave one without an end', async () => {
    const { app } = stage;
    const { headers, id, session } = await subscribed(app);
    const again = await subscribe(app, headers, 'pro');
    expect([again.status, again.body['error']]).toEqual([400, 'invalid_parameter']);
    expect(again.body['message']).toContain('paid until 2026-12-20T12:00:00Z');
    await tell(app, 'customer.subscription.deleted', { id: session['subscription'] });
    expect((await subscribe(app, headers, 'pro')).status).toBe(200);
    await grant(app, { key_id: id, amount_eur: 0, plan: 'internal' });
    expect((await subscribe(app, headers, 'scale')).body['error']).toBe('invalid_parameter');
    // A month that is paid all the same is booked and keeps the grant.
    await tell(app, 'invoice.paid', month(session, FIRST_END, { billing_reason: 'subscription_cycle' }));
    expect(await planOf(app, headers)).toBe('internal');
  });

  it('is not begun nor renewed by what differs from our row', async () => {
    const { app } = stage;
    const { headers } = await newKey(app);
    const { session } = await subscribe(app, headers, 'pro');
    const wrong: Json[] = [{ total: 4899 }, { total: 19900 }, { currency: 'usd' }, { total: 0 }];
    for (const more of wrong) expect(await tell(app, 'invoice.paid', month(session, clock, more))).toBe('200 refused');
    expect(await tell(app, 'checkout.session.completed', { ...session, amount_total: 100 })).toBe('200 refused');
    const foreign = { ...session, subscription: 'sub_of_somebody', metadata: {} };
    expect(await tell(app, 'invoice.paid', month(foreign, clock))).toBe('200 foreign');
    expect(await tell(app, 'invoice.paid', { ...month(session, clock), lines: { data: [] } })).toBe(
      '422 validation_failed',
    );
    expect(await planOf(app, headers)).toBe('payg');
    expect(await ledger(app, headers)).toEqual(['welcome 0.5']);
    // One checkout begins one subscription.
    expect(await tell(app, 'invoice.paid', month(session, clock))).toBe('200 booked');
    const second = { ...session, subscription: 'sub_second' };
    expect(await tell(app, 'invoice.paid', month(second, clock))).toBe('200 foreign');
  });

  it('reads invoices of older API versions too', async () => {
    const { app } = stage;
    const { headers } = await newKey(app);
    const { session } = await subscribe(app, headers, 'pro');
    const { parent: _, ...invoice } = month(session, clock);
    const older = {
      ...invoice,
      subscription: session['subscription'],
      subscription_details: { metadata: session['metadata'] },
    };
    expect(await tell(app, 'invoice.paid', older)).toBe('200 booked');
    expect(await planOf(app, headers)).toBe('pro');
  });

  it('is over when its month is paid back or disputed, and back when the dispute is won; the balance stays', async () => {
    const { app } = stage;
    for (const order of ['linked first', 'linked last']) {
      const { headers, invoice, id } = await subscribed(app);
      const payment = `pi_month_${id}`;
      const link = () =>
        tell(app, 'invoice_payment.paid', {
          id: 'inpay_1',
          invoice: invoice['id'],
          payment: { type: 'payment_intent', payment_intent: payment },
        });
      const dispute = (type: string, status: string) =>
        tell(app, `charge.dispute.${type}`, disputeOf(payment, `dp_${id}`, 4900, status));
      if (order === 'linked first') await link();
      await dispute('created', 'needs_response');
      if (order === 'linked last') await link();
      expect([await planOf(app, headers), await feed(app, headers)], order).toEqual(['payg', 403]);
      await dispute('closed', 'won');
      expect(await planOf(app, headers)).toBe('pro');
      await tell(app, 'charge.refunded', chargeObject(payment, 4900, 1000));
      expect(await planOf(app, headers)).toBe('pro');
      await tell(app, 'charge.refunded', chargeObject(payment, 4900, 4900));
      expect(await planOf(app, headers)).toBe('payg');
      expect(await balance(app, headers)).toBe(0.5);
      expect(await ledger(app, headers)).toEqual([
        'welcome 0.5',
        'plan_payment 49',
        'plan -49',
        'dispute -49',
        'plan_returned 49',
        'dispute_won 49',
        'plan_returned -49',
        'refund -10',
        'plan_returned 10',
        'refund -39',
        'plan_returned 39',
      ]);
    }
  });

  it('that was refunded before the event of its payment never begins, and takes no other plan away', async () => {
    const { app } = stage;
    const [fresh, before] = [await newKey(app), await subscribed(app, 'pro')];
    for (const [{ headers, id }, plan] of [[fresh, 'payg'] as const, [before, 'pro'] as const]) {
      clock += HOUR;
      const { session } = await subscribe(app, headers, 'scale');
      double.requests.length = 0;
      const invoice = month(session, clock);
      const payment = `pi_early_${id}`;
      await tell(app, 'charge.refunded', chargeObject(payment, 19900, 19900));
      const payments = { id: 'inpay_1', invoice: invoice['id'], payment: { payment_intent: payment } };
      expect(await tell(app, 'invoice_payment.paid', payments)).toBe('200 waiting');
      expect(await tell(app, 'invoice.paid', invoice)).toBe('200 booked');
      expect(await tell(app, 'checkout.session.completed', session)).toBe('200 known');
      expect([await planOf(app, headers), await balance(app, headers)]).toEqual([plan, 0.5]);
      expect(double.requests).toEqual([]);
      const rows = (await ledger(app, headers)).slice(-4);
      expect(rows).toEqual(['plan_payment 199', 'plan -199', 'refund -199', 'plan_returned 199']);
    }
  });

  it('of a key that is revoked is ended at Stripe, at the latest before its next month', async () => {
    const { app, other } = stage;
    const [one, two] = [await subscribed(app), await subscribed(app)];
    double.requests.length = 0;
    const revoke = (id: string) => app.json(`/v1/keys/${id}`, { method: 'DELETE', admin: true });
    expect((await revoke(one.id)).status).toBe(200);
    expect(double.requests.map(({ path }) => path.split('?')[0])).toEqual([
      `/v1/subscriptions/${one.session['subscription']}`,
    ]);
    double.faults.push(500, 500, 500);
    expect((await revoke(two.id)).status).toBe(200);
    expect(logged.at(-1)).toContain(`cannot cancel the subscription ${two.session['subscription']}`);
    clock = FIRST_END;
    double.requests.length = 0;
    await tell(other, 'invoice.created', month(two.session, FIRST_END, { billing_reason: 'subscription_cycle' }));
    expect(double.requests.map(({ path }) => path.split('?')[0])).toEqual([
      `/v1/subscriptions/${two.session['subscription']}`,
    ]);
  });

  it('that is paid after its key was revoked is cancelled at Stripe and shown to operators', async () => {
    const { app } = stage;
    clock = NOW.getTime();
    const { id, headers } = await newKey(app);
    const { session } = await subscribe(app, headers, 'pro');
    await app.json(`/v1/keys/${id}`, { method: 'DELETE', admin: true });
    clock += 1;
    double.requests.length = 0;
    expect(await tell(app, 'checkout.session.completed', session)).toBe('200 booked');
    expect(double.requests.map(({ path }) => path.split('?')[0])).toEqual([
      `/v1/subscriptions/${session['subscription']}`,
    ]);
    expect(await tell(app, 'invoice.paid', month(session, clock))).toBe('200 booked');
    const issues = (await paymentIssues(app.state, clock)).filter(({ key_id }) => key_id === id);
    expect(issues).toMatchObject([{ kind: 'revoked_key', amount: 49_000_000 }]);
  });

  it('leaves correct books', async () => {
    const { app, other } = stage;
    expect(await verify(app.state)).toMatchObject({ sum: 0, unbalanced: [], wrong: [] });
    expect([...app.faults, ...other.faults]).toEqual([]);
  });
});
