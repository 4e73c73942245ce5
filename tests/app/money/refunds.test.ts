// Refunds that operators order: once for each row, a charge to the key and a top-up to the card.
import { afterAll, expect, it } from 'vitest';
import { verify } from '../../../data/state/money/ledger.ts';
import { claimPayment, openPayment, settlePayment } from '../../../data/state/money/payments.ts';
import { NOW, type TestApp } from '../../support/app.ts';
import { balance, describeApps, newKey } from '../../support/money-on-stores.ts';
import { deliver, eventOf, paidSession, refundOf, startDouble } from '../../support/stripe-double.ts';
import { verifies } from '../../support/verifies.ts';

verifies('charge.refund-once');

const double = await startDouble();
afterAll(() => double.close());

const options = {
  log: () => {},
  get stripe() {
    return double.stripe;
  },
};
const CALL = '/v1/tools/stats?attribute=price.list';

/** The newest row of a kind on the account of a key. */
async function rowOf(app: TestApp, key_id: string, kind: string): Promise<number> {
  const rows = app.state.db.selectFrom('entries').select('id').where('account', '=', `key:${key_id}`);
  return Number((await rows.where('kind', '=', kind).orderBy('id', 'desc').executeTakeFirstOrThrow()).id);
}

/** Orders a refund as an operator: status, and outcome or message. */
async function refund(app: TestApp, entry: number | string, order: Record<string, unknown>, admin = true) {
  const { status, body } = await app.json(`/ops/ledger/${entry}/refund`, {
    method: 'POST',
    body: JSON.stringify(order),
    headers: { 'Content-Type': 'application/json' },
    admin,
  });
  return `${status} ${body['status'] ?? body['message']}`;
}

/** A key with a paid top-up of 20 EUR. */
async function bought(app: TestApp) {
  const { headers, id } = await newKey(app);
  const order = { method: 'POST', body: JSON.stringify({ amount_eur: 20 }), headers };
  const { body } = await app.json('/v1/keys/topup', order);
  const paid = paidSession(double.sessions.get(String(body['checkout_url']).split('/pay/')[1] ?? '') ?? {});
  await deliver(app, eventOf('checkout.session.completed', paid));
  return { headers, id, payment: paid['payment_intent'] };
}

describeApps('a refund by an operator', options, (stage) => {
  it('credits a charge once, also when two operators order it together', async () => {
    const { app, other } = stage;
    const { headers, id } = await newKey(app);
    await (await app.ask(CALL, { headers })).text();
    const entry = await rowOf(app, id, 'charge');
    const paid = await balance(app, headers);
    expect(paid).toBeLessThan(0.5);
    const order = { reason: 'a wrong value' };
    const outcomes = await Promise.all([refund(app, entry, order), refund(other, entry, order)]);
    expect(outcomes.sort()).toEqual(['200 credited', expect.stringMatching(/^409 This row was refunded before: €/)]);
    expect(await balance(app, headers)).toBe(0.5);
    expect(await refund(app, await rowOf(app, id, 'welcome'), order)).toMatch(/^400 Only charges and top-ups/);
    expect(await refund(app, await rowOf(app, id, 'charge_refunded'), order)).toMatch(/^400 Only charges/);
    expect(await verify(app.state)).toMatchObject({ sum: 0, unbalanced: [], wrong: [] });
  });

  it('credits a part of a charge, never more than it', async () => {
    const { app } = stage;
    const { headers, id } = await newKey(app);
    await (await app.ask(CALL, { headers })).text();
    const entry = await rowOf(app, id, 'charge');
    expect(await refund(app, entry, { amount_eur: 1, reason: 'x' })).toMatch(
      /^400 amount_eur must be above 0 and at most/,
    );
    expect(await refund(app, entry, { amount_eur: 'much', reason: 'x' })).toMatch(/^422 amount_eur/);
    expect(await refund(app, entry, {})).toBe('422 reason: is required');
    const before = Number(await balance(app, headers));
    expect(await refund(app, entry, { amount_eur: 0.001, reason: 'x' })).toBe('200 credited');
    expect(Number(await balance(app, headers))).toBeCloseTo(before + 0.001, 6);
  });

  it('returns a top-up to its card once: the balance follows Stripe’s event', async () => {
    const { app, other } = stage;
    const { headers, id, payment } = await bought(app);
    const entry = await rowOf(app, id, 'topup');
    double.faults.push(500, 500, 500);
    expect(await refund(app, entry, { amount_eur: 5, reason: 'by mistake' })).toMatch(/^503 Stripe does not respond/);
    expect(await refund(app, entry, { amount_eur: 6, reason: 'by mistake' })).toMatch(/^409/);
    expect(await refund(other, entry, { amount_eur: 5, reason: 'by mistake' })).toBe('200 ordered');
    const requests = double.requests.filter(
      ({ path, form }) => path === '/v1/refunds' && form['payment_intent'] === payment,
    );
    expect(new Set(requests.map(({ key, form }) => `${key} ${form['amount']}`))).toEqual(
      new Set([`refund:${entry}:5000000 500`]),
    );
    expect(await balance(app, headers)).toBe(20.5);
    const made = eventOf('refund.created', refundOf(payment, `re_${entry}`, 500));
    expect(await deliver(app, made)).toBe('200 booked');
    expect(await balance(app, headers)).toBe(15.5);
    expect(await refund(app, entry, { amount_eur: 5, reason: 'again' })).toMatch(
      /^409 This row was refunded before: €5.00 on/,
    );
    expect(await verify(app.state)).toMatchObject({ sum: 0, unbalanced: [], wrong: [] });
  });

  it('that Stripe refuses can be ordered again with another amount', async () => {
    const { app } = stage;
    const { id, payment } = await bought(app);
    const entry = await rowOf(app, id, 'topup');
    expect(await refund(app, entry, { amount_eur: 20.01, reason: 'x' })).toMatch(/at most 20/);
    expect(await refund(app, entry, { amount_eur: 0.001, reason: 'x' })).toMatch(/whole cents/);
    double.refuseRefund = true;
    expect(await refund(app, entry, { reason: 'x' })).toMatch(/^400 Stripe refused the refund: /);
    double.refuseRefund = false;
    expect(await refund(app, entry, { amount_eur: 3, reason: 'x' })).toBe('200 ordered');
    expect(double.requests.at(-1)?.form).toMatchObject({ payment_intent: payment, amount: '300' });
  });

  it('of an x402 payment is refused, and the answer says so; only operators order refunds', async () => {
    const { app } = stage;
    const claim = {
      ...{ id: 'eip155:1', request: 'r', proof: 'p', secret: null, payload: '{}', requirements: '{}' },
      ...{ micros: 4000, operation: 'entity_get', dataset: 'tools', request_id: 'r' },
    };
    const row = (await claimPayment(app.state, claim, NOW.getTime()))!;
    await openPayment(app.state, row, { text: '{}', records: '' });
    await settlePayment(app.state, row, { hash: '0x1', transfer: null, now: NOW.getTime(), delivered: true });
    const rows = await app.state.db.selectFrom('entries').select('id').where('kind', '=', 'x402').execute();
    for (const { id } of rows)
      expect(await refund(app, Number(id), { reason: 'x' })).toMatch(/^400 x402 payments cannot be/);
    const { id, headers } = await newKey(app);
    const entry = await rowOf(app, id, 'welcome');
    const asKey = await app.json(`/ops/ledger/${entry}/refund`, { method: 'POST', body: '{}', headers });
    expect(asKey.status).toBe(403);
    expect(await refund(app, entry, { reason: 'x' }, false)).toMatch(/^401/);
    expect(await refund(app, 999_999_999, { reason: 'x' })).toMatch(/^404/);
    expect(await refund(app, 'x', { reason: 'x' })).toMatch(/^404/);
  });
});
