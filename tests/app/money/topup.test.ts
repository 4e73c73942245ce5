// Top-ups through the real stripe package: our row first, one credit per session, nothing for mismatches.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { verify } from '../../../data/state/money/ledger.ts';
import { paymentIssues } from '../../../data/state/ops/attention.ts';
import { BASE, NOW, type TestApp } from '../../support/app.ts';
import { balance, describeApps, newKey } from '../../support/money-on-stores.ts';
import {
  chargeObject,
  deliver,
  eventOf,
  paidSession,
  SECRET,
  signatureOf,
  startDouble,
} from '../../support/stripe-double.ts';
import { verifies } from '../../support/verifies.ts';

verifies('keys.topup', 'setting.stripe', 'shape.topup', 'body.topup.amount');

const double = await startDouble();
afterAll(() => double.close());
beforeEach(() => {
  double.requests.length = 0;
  double.faults.length = 0;
  double.before = null;
});

const logged: string[] = [];
const options = {
  log: (line: string) => logged.push(line),
  get stripe() {
    return double.stripe;
  },
};
const WELCOME = 0.5;
const COMPLETED = 'checkout.session.completed';

/** Requests a top-up; returns the answer and the opened session. */
async function topup(app: TestApp, headers: Record<string, string>, amount_eur = 20) {
  const answer = await app.json('/v1/keys/topup', { method: 'POST', body: JSON.stringify({ amount_eur }), headers });
  const session = double.sessions.get(String(answer.body['checkout_url'] ?? '').split('/pay/')[1] ?? '') ?? {};
  return { ...answer, session };
}

const rows = async (app: TestApp, headers: Record<string, string>) =>
  ((await app.json('/v1/keys/me', { headers })).body['ledger'] as { kind: string; amount_eur: number }[])
    .map(({ kind, amount_eur }) => `${kind} ${amount_eur}`)
    .reverse();

describeApps('a top-up', options, (stage) => {
  it('opens a session with our ids in it, and the webhook credits the payment to the key only', async () => {
    const { app, other } = stage;
    const { id, headers } = await newKey(app);
    const { status, body, session } = await topup(app, headers, 12.34);
    expect([status, body['amount_eur'], body['checkout_url']]).toEqual([200, 12.34, session['url']]);
    expect(Object.keys(body).sort()).toEqual(['amount_eur', 'attribution', 'checkout_url', 'license']);
    const [asked] = double.requests;
    expect(asked?.version).toBe('2026-10-28.endive');
    expect(asked?.form).toMatchObject({
      mode: 'payment',
      'line_items[0][price_data][unit_amount]': '1234',
      'line_items[0][price_data][currency]': 'eur',
      client_reference_id: id,
      success_url: `${BASE}/checkout/done?session={CHECKOUT_SESSION_ID}`,
      cancel_url: `${BASE}/checkout/cancelled`,
    });
    expect(asked?.form['payment_intent_data[metadata][checkout]']).toBe(asked?.form['metadata[checkout]']);
    expect(await balance(app, headers)).toBe(WELCOME);
    const told = eventOf(COMPLETED, paidSession(session));
    expect(await deliver(other, told)).toBe('200 booked');
    expect(await balance(app, headers)).toBe(12.84);
    expect(await rows(app, headers)).toEqual(['welcome 0.5', 'topup 12.34']);
    const [entry] = await app.state.db.selectFrom('entries').selectAll().where('kind', '=', 'topup').execute();
    expect(entry?.reference).toBe(session['id']);
  });

  it('takes bounds, whole cents and a key, before Stripe is called', async () => {
    const { app } = stage;
    const { headers } = await newKey(app);
    for (const amount of [4.99, 1000.01, 5.001, 5.0000001])
      expect((await topup(app, headers, amount)).status).toBe(422);
    for (const body of ['{}', '{"amount_eur":"20"}', '{"amount_eur":null}', '']) {
      const answer = await app.json('/v1/keys/topup', { method: 'POST', body, headers });
      expect([answer.status, answer.body['error']], body).toEqual([422, 'validation_failed']);
    }
    expect((await topup(app, {}, 20)).status).toBe(401);
    expect(double.requests).toEqual([]);
    expect((await topup(app, headers, 5)).status).toBe(200);
    expect((await topup(app, headers, 1000)).status).toBe(200);
  });

  it('counts a session once: replayed, under other event ids, ten at once, in two processes', async () => {
    const { app, other } = stage;
    const { headers } = await newKey(app);
    const { session } = await topup(app, headers);
    const paid = paidSession(session);
    const one = eventOf(COMPLETED, paid);
    const told = await Promise.all(
      Array.from({ length: 10 }, (_, i) => deliver(i % 2 ? app : other, i < 5 ? one : eventOf(COMPLETED, paid))),
    );
    expect(told.sort()).toEqual(['200 booked', ...Array(9).fill('200 known')].sort());
    expect(await deliver(other, eventOf('checkout.session.async_payment_succeeded', paid))).toBe('200 known');
    expect(await balance(other, headers)).toBe(20.5);
  });

  it('waits for a payment that takes days, and then counts it once', async () => {
    const { app } = stage;
    const { headers } = await newKey(app);
    const { session } = await topup(app, headers);
    const unpaid = { ...paidSession(session), payment_status: 'unpaid' };
    expect(await deliver(app, eventOf(COMPLETED, unpaid))).toBe('200 waiting');
    expect(await balance(app, headers)).toBe(WELCOME);
    const later = eventOf('checkout.session.async_payment_succeeded', { ...unpaid, payment_status: 'paid' });
    expect(await deliver(app, later)).toBe('200 booked');
    // Out of order: the completion is repeated after the payment.
    expect(await deliver(app, eventOf(COMPLETED, unpaid))).toBe('200 waiting');
    expect(await balance(app, headers)).toBe(20.5);
  });

  it('gives nothing for a payment that failed or a session that expired, and still takes one that was paid after all', async () => {
    const { app } = stage;
    const { headers } = await newKey(app);
    const { session } = await topup(app, headers);
    for (const type of ['checkout.session.async_payment_failed', 'checkout.session.expired'])
      expect(await deliver(app, eventOf(type, { ...session, payment_status: 'unpaid' }))).toBe('200 waiting');
    expect(await balance(app, headers)).toBe(WELCOME);
    expect(await deliver(app, eventOf(COMPLETED, paidSession(session)))).toBe('200 booked');
    expect(await balance(app, headers)).toBe(20.5);
  });

  it('refuses what differs from our own row, reports it to the operator, and takes what fits afterwards', async () => {
    const { app } = stage;
    const { headers } = await newKey(app);
    const { id: stranger } = await newKey(app);
    const { session } = await topup(app, headers);
    const paid = paidSession(session);
    const wrong: [string, Record<string, unknown>][] = [
      ['20.01 eur, not 20.00 eur', { amount_total: 2001 }],
      ['19.99 eur, not 20.00 eur', { amount_total: 1999 }],
      ['20.00 usd, not 20.00 eur', { currency: 'usd' }],
      ['nothing eur', { amount_total: null }],
      ['the key is another one', { client_reference_id: stranger }],
      ['the key is another one', { client_reference_id: null }],
      ['it has another session', { id: 'cs_test_of_somebody' }],
      ['it is for a topup', { mode: 'subscription', subscription: 'sub_1' }],
    ];
    for (const [why, more] of wrong) {
      logged.length = 0;
      expect(await deliver(app, eventOf(COMPLETED, { ...paid, ...more })), why).toBe('200 refused');
      expect(logged.join()).toContain(why);
    }
    expect(await balance(app, headers)).toBe(WELCOME);
    const checkouts = app.state.db.selectFrom('checkouts').select(['state', 'problem']);
    expect(await checkouts.where('session', '=', String(session['id'])).execute()).toEqual([
      { state: 'open', problem: 'it is for a topup' },
    ]);
    expect(await deliver(app, eventOf(COMPLETED, paid))).toBe('200 booked');
    expect(await balance(app, headers)).toBe(20.5);
  });

  it('ignores foreign objects: unknown sessions, set-ups, other events', async () => {
    const { app } = stage;
    const { headers } = await newKey(app);
    const { session } = await topup(app, headers);
    const paid = paidSession(session);
    const foreign = { ...paid, id: 'cs_test_unknown', metadata: { checkout: randomUUID() } };
    expect(await deliver(app, eventOf(COMPLETED, foreign))).toBe('200 foreign');
    expect(await deliver(app, eventOf(COMPLETED, { ...foreign, metadata: {} }))).toBe('200 foreign');
    expect(await deliver(app, eventOf(COMPLETED, { ...paid, mode: 'setup' }))).toBe('200 ignored');
    expect(await deliver(app, eventOf('customer.created', { id: 'cus_1' }))).toBe('200 ignored');
    expect(await deliver(app, eventOf('constructor', paid))).toBe('200 ignored');
    expect(await balance(app, headers)).toBe(WELCOME);
  });

  it('accepts its webhook even before the call has answered', async () => {
    const { app, other } = stage;
    const { headers } = await newKey(app);
    const early: string[] = [];
    double.before = async (session) => early.push(await deliver(other, eventOf(COMPLETED, paidSession(session))));
    const { status } = await topup(app, headers);
    expect([status, early]).toEqual([200, ['200 booked']]);
    expect(await balance(app, headers)).toBe(20.5);
  });

  it('is retried under one key when a try fails, and the second answer is the same session', async () => {
    const { app } = stage;
    const { headers } = await newKey(app);
    double.faults.push(500, 'drop');
    const { status, session } = await topup(app, headers);
    expect(status).toBe(200);
    expect(double.requests).toHaveLength(3);
    expect(new Set(double.requests.map(({ key }) => key)).size).toBe(1);
    expect(double.requests[0]?.key).toBe(`checkout:${(session['metadata'] as { checkout: string }).checkout}`);
  });

  it('is 503 when Stripe is down or refuses us: the row stays, nothing is credited, the next one works', async () => {
    const { app } = stage;
    const { headers, id } = await newKey(app);
    for (const faults of [[500, 'drop', 500], [401]] as const) {
      double.faults.push(...faults);
      logged.length = 0;
      const { status, body, headers: sent } = await topup(app, headers);
      expect([status, body['error'], body['is_retriable'], sent.get('retry-after')]).toEqual([
        503,
        'unavailable',
        true,
        '30',
      ]);
      expect(logged.join()).toMatch(/Stripe opened no checkout for/);
      expect(logged.join()).not.toContain(double.stripe.secretKey);
    }
    const kept = await app.state.db.selectFrom('checkouts').selectAll().where('key_id', '=', id).execute();
    expect(kept.map(({ state, session, amount }) => [state, session, amount])).toEqual([
      ['made', null, 20_000_000],
      ['made', null, 20_000_000],
    ]);
    expect(kept.map(({ problem }) => problem).sort()).toEqual(['StripeAPIError', 'StripeAuthenticationError']);
    expect(await balance(app, headers)).toBe(WELCOME);
    expect((await topup(app, headers)).status).toBe(200);
  });

  it('of a key that is revoked is expired at Stripe, later if Stripe does not answer', async () => {
    const { app, other } = stage;
    const [one, two] = [await newKey(app), await newKey(app)];
    const close = (headers: Record<string, string>) => app.json('/v1/keys/me', { method: 'DELETE', headers });
    const first = await topup(app, one.headers);
    expect((await close(one.headers)).status).toBe(200);
    expect(first.session['status']).toBe('expired');
    const second = await topup(app, two.headers);
    double.faults.push('hang');
    const began = Date.now();
    expect((await close(two.headers)).status).toBe(200);
    expect(Date.now() - began).toBeLessThan(8_000);
    expect(second.session['status']).toBe('open');
    await other.sweepCheckouts();
    expect(second.session['status']).toBe('expired');
    double.requests.length = 0;
    await other.sweepCheckouts();
    expect(double.requests).toEqual([]);
    // Revoked while Stripe opens the session.
    const late = await newKey(app);
    double.before = () => close(late.headers);
    expect((await topup(app, late.headers)).body['error']).toBe('invalid_key');
    expect([...double.sessions.values()].at(-1)?.['status']).toBe('expired');
  });

  it('that is paid after its key was revoked is shown to operators until it is paid back', async () => {
    const { app } = stage;
    const { id, headers } = await newKey(app);
    const { session } = await topup(app, headers, 20);
    await app.json('/v1/keys/me', { method: 'DELETE', headers });
    const paid = paidSession(session);
    await app.state.db
      .updateTable('keys')
      .set({ revoked_at: NOW.getTime() - 1 })
      .where('id', '=', id)
      .execute();
    expect(await deliver(app, eventOf(COMPLETED, paid))).toBe('200 booked');
    const issues = async () => (await paymentIssues(app.state, NOW.getTime())).filter(({ key_id }) => key_id === id);
    expect(await issues()).toMatchObject([{ kind: 'revoked_key', amount: 20_000_000, at: NOW.getTime() }]);
    const refunded = (cents: number) => eventOf('charge.refunded', chargeObject(paid['payment_intent'], 2000, cents));
    expect(await deliver(app, refunded(500))).toBe('200 booked');
    expect(await issues()).toMatchObject([{ kind: 'revoked_key', amount: 15_000_000 }]);
    expect(await deliver(app, refunded(2000))).toBe('200 booked');
    expect(await issues()).toEqual([]);
    expect(await verify(app.state)).toMatchObject({ sum: 0, unbalanced: [], wrong: [] });
  });

  it('is repeated by Idempotency-Key: one session, for any number of requests', async () => {
    const { app } = stage;
    const { headers } = await newKey(app);
    const once = { ...headers, 'Idempotency-Key': 'topup-of-november-26' };
    const [first, again] = [await topup(app, once), await topup(app, once)];
    expect(again.body['checkout_url']).toBe(first.body['checkout_url']);
    expect(double.requests).toHaveLength(1);
  });

  it('accepts only bodies that Stripe signed recently', async () => {
    const { app } = stage;
    const { headers } = await newKey(app);
    const { session } = await topup(app, headers);
    const body = eventOf(COMPLETED, paidSession(session));
    const good = signatureOf(body);
    const at = (seconds: number) => NOW.getTime() + seconds * 1000;
    const refused: [string, string, string][] = [
      ['tampered', body.replace('"amount_total": 2000', '"amount_total": 2000 '), good],
      ['parsed and written again', JSON.stringify(JSON.parse(body)), good],
      ['wrong secret', body, signatureOf(body, NOW, 'whsec_of_somebody')],
      ['301 s old', body, signatureOf(body, at(-301))],
      ['another time beside the signature', body, good.replace(/t=\d+/, `t=${Math.floor(at(1) / 1000)}`)],
      ['an old scheme alone', body, good.replace('v1=', 'v0=')],
      ['none', body, ''],
      ['no signature at all', body, 'nonsense'],
      ['an empty body', '', signatureOf('')],
    ];
    for (const [what, sent, signature] of refused)
      expect(await deliver(app, sent, signature), what).toBe('400 invalid_parameter');
    expect(await deliver(app, 'no JSON', signatureOf('no JSON'))).toBe('400 invalid_parameter');
    expect(await deliver(app, '{}', signatureOf('{}'))).toBe('422 validation_failed');
    const crooked = eventOf(COMPLETED, { ...session, amount_total: 'all of it' });
    expect(await deliver(app, crooked)).toBe('422 validation_failed');
    expect(await deliver(app, `"${'a'.repeat(1_100_000)}"`)).toBe('413 payload_too_large');
    expect(await balance(app, headers)).toBe(WELCOME);
    // A secret that is being replaced signs in parallel with the new one; one valid signature is enough, in
    // either order.
    const old = signatureOf(body, at(-299), 'whsec_before').replace(/^t=\d+,/, '');
    const rolled = `${signatureOf(body, at(-299), SECRET)},${old}`;
    expect(await deliver(app, body, rolled)).toBe('200 booked');
    const [t = '', v1 = ''] = signatureOf(body, at(-299)).split(',');
    expect(await deliver(app, body, `${t},${old},${v1}`)).toBe('200 known');
    expect(await balance(app, headers)).toBe(20.5);
  });

  it('limits callers with wrong signatures, not Stripe', async () => {
    const { app } = stage;
    expect((await app.ask('/webhooks/stripe')).status).toBe(405);
    const { headers } = await newKey(app);
    const { session } = await topup(app, headers);
    const body = eventOf(COMPLETED, { ...session, payment_status: 'unpaid' });
    const knock = (signature: string) =>
      app.ask('/webhooks/stripe', {
        method: 'POST',
        body,
        headers: { 'Stripe-Signature': signature },
        address: '192.0.2.77',
      });
    expect((await knock('t=1,v1=00')).headers.get('x-ratelimit-limit')).not.toBeNull();
    expect((await knock(signatureOf(body))).headers.get('x-ratelimit-limit')).toBeNull();
  });

  it('keeps the books correct, and no secret of Stripe in any row or log', async () => {
    const { app, other } = stage;
    expect(await verify(app.state)).toMatchObject({ sum: 0, unbalanced: [], wrong: [] });
    expect([...app.faults, ...other.faults]).toEqual([]);
    expect(logged.join()).not.toMatch(/sk_test_of|whsec_/);
  });
});
