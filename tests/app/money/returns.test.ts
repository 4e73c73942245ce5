// Refunds and disputes: booked to the cent, in any order and any number of Stripe's events.
import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { verify } from '../../../data/state/money/ledger.ts';
import { NOW, type TestApp } from '../../support/app.ts';
import { balance, callStatus, describeApps, newKey } from '../../support/money-on-stores.ts';
import {
  chargeObject,
  deliver,
  disputeOf,
  eventOf,
  paidSession,
  refundOf,
  startDouble,
} from '../../support/stripe-double.ts';
import { verifies } from '../../support/verifies.ts';

verifies('charge.refund-negative');

const double = await startDouble();
afterAll(() => double.close());

const logged: string[] = [];
const options = {
  log: (line: string) => logged.push(line),
  get stripe() {
    return double.stripe;
  },
};
const COMPLETED = 'checkout.session.completed';
const at = (seconds: number) => NOW.getTime() + seconds * 1000;

/** A key with a top-up of 20 EUR: opened, and paid at Stripe; `completed` is the event. */
async function bought(app: TestApp) {
  const { headers, id } = await newKey(app);
  const answer = await app.json('/v1/keys/topup', {
    method: 'POST',
    body: JSON.stringify({ amount_eur: 20 }),
    headers,
  });
  const session = double.sessions.get(String(answer.body['checkout_url']).split('/pay/')[1] ?? '') ?? {};
  const paid = paidSession(session);
  return { id, headers, payment: paid['payment_intent'], completed: eventOf(COMPLETED, paid) };
}

const kinds = async (app: TestApp, headers: Record<string, string>) =>
  ((await app.json('/v1/keys/me', { headers })).body['ledger'] as { kind: string; amount_eur: number }[])
    .map(({ kind, amount_eur }) => `${kind} ${amount_eur}`)
    .reverse();

describeApps('money that went back', options, (stage) => {
  it('by a partial refund: each is a row, with repeated or unordered events too', async () => {
    const { app, other } = stage;
    const { headers, payment, completed } = await bought(app);
    await deliver(app, completed);
    const part = eventOf('charge.refunded', chargeObject(payment, 2000, 500));
    const whole = eventOf('charge.refunded', chargeObject(payment, 2000, 2000));
    expect(await deliver(app, part)).toBe('200 booked');
    expect(await balance(app, headers)).toBe(15.5);
    expect(await deliver(other, whole)).toBe('200 booked');
    expect(await deliver(app, part)).toBe('200 known');
    expect(await deliver(other, whole)).toBe('200 known');
    expect(await kinds(app, headers)).toEqual(['welcome 0.5', 'topup 20', 'refund -5', 'refund -15']);
    const refunds = await app.state.db.selectFrom('entries').selectAll().where('kind', '=', 'refund').execute();
    expect(new Set(refunds.map(({ note }) => note))).toEqual(new Set([payment]));
  });

  it('by a refund that fails afterwards, and another one that does not', async () => {
    const { app } = stage;
    const { headers, payment, completed } = await bought(app);
    await deliver(app, completed);
    const refund = (id: string, status: string) => refundOf(payment, id, 800, status);
    const told = [
      eventOf('refund.created', refund('re_1', 'pending'), at(1)),
      eventOf('charge.refunded', chargeObject(payment, 2000, 800), at(1)),
      eventOf('refund.failed', refund('re_1', 'failed'), at(2)),
      // A late event about a refund that has failed since.
      eventOf('refund.updated', refund('re_1', 'pending'), at(1)),
      eventOf('refund.created', refund('re_2', 'succeeded'), at(3)),
      eventOf('charge.refunded', chargeObject(payment, 2000, 800), at(3)),
    ];
    for (const each of told) expect(await deliver(app, each)).toMatch(/^200 (booked|known)$/);
    expect(await kinds(app, headers)).toEqual(['welcome 0.5', 'topup 20', 'refund -8', 'refund_failed 8', 'refund -8']);
    expect(await balance(app, headers)).toBe(12.5);
  });

  it('by a dispute: taken when it is opened, given back when it is won, gone when it is lost', async () => {
    const { app } = stage;
    const [won, lost] = [await bought(app), await bought(app)];
    for (const { completed } of [won, lost]) await deliver(app, completed);
    const dispute = (of: typeof won, type: string, status: string) =>
      deliver(app, eventOf(`charge.dispute.${type}`, disputeOf(of.payment, `dp_${of.id}`, 2000, status)));
    for (const each of [won, lost]) {
      expect(await dispute(each, 'created', 'needs_response')).toBe('200 booked');
      expect(await dispute(each, 'funds_withdrawn', 'needs_response')).toBe('200 known');
      expect(await dispute(each, 'updated', 'under_review')).toBe('200 known');
      expect(await balance(app, each.headers)).toBe(0.5);
    }
    expect(await dispute(won, 'closed', 'won')).toBe('200 booked');
    expect(await dispute(won, 'funds_reinstated', 'won')).toBe('200 known');
    expect(await dispute(lost, 'closed', 'lost')).toBe('200 known');
    // Late events of either kind change nothing.
    for (const each of [won, lost]) expect(await dispute(each, 'created', 'needs_response')).toBe('200 known');
    expect(await kinds(app, won.headers)).toEqual(['welcome 0.5', 'topup 20', 'dispute -20', 'dispute_won 20']);
    expect(await kinds(app, lost.headers)).toEqual(['welcome 0.5', 'topup 20', 'dispute -20']);
  });

  it('not by an inquiry, unless it becomes a dispute', async () => {
    const { app } = stage;
    const { headers, payment, completed } = await bought(app);
    await deliver(app, completed);
    const inquiry = (type: string, status: string, seconds: number) =>
      deliver(app, eventOf(`charge.dispute.${type}`, disputeOf(payment, 'dp_inquiry', 2000, status), at(seconds)));
    expect(await inquiry('created', 'warning_needs_response', 1)).toBe('200 known');
    expect(await balance(app, headers)).toBe(20.5);
    expect(await inquiry('updated', 'needs_response', 2)).toBe('200 booked');
    expect(await balance(app, headers)).toBe(0.5);
  });

  it('may take a balance below zero, and calls are then 402 until it is paid', async () => {
    const { app } = stage;
    const { headers, payment, completed } = await bought(app);
    await deliver(app, completed);
    for (let i = 0; i < 3; i++) await (await app.ask('/v1/tools/stats?attribute=price.list', { headers })).text();
    await app.json('/v1/keys/me', { headers });
    await deliver(app, eventOf('charge.refunded', chargeObject(payment, 2000, 2000)));
    await deliver(app, eventOf('charge.dispute.created', disputeOf(payment, 'dp_more', 2000, 'needs_response')));
    expect(await balance(app, headers)).toBe(-19.545);
    expect(await callStatus(app, '/v1/tools/entities/record-1', { headers })).toBe('402 insufficient_credits');
  });

  it('is not booked before the payment is, nor ever for a payment that was never credited', async () => {
    const { app } = stage;
    const early = await bought(app);
    expect(await deliver(app, eventOf('charge.refunded', chargeObject(early.payment, 2000, 700)))).toBe('200 foreign');
    expect(await balance(app, early.headers)).toBe(0.5);
    expect(await deliver(app, early.completed)).toBe('200 booked');
    expect(await kinds(app, early.headers)).toEqual(['welcome 0.5', 'topup 20', 'refund -7']);

    const wrong = await bought(app);
    const dearer = JSON.parse(wrong.completed) as { data: { object: Record<string, unknown> } };
    const changed = eventOf(COMPLETED, { ...dearer.data.object, amount_total: 2001 });
    expect(await deliver(app, changed)).toBe('200 refused');
    expect(await deliver(app, eventOf('charge.refunded', chargeObject(wrong.payment, 2001, 2001)))).toBe('200 foreign');
    expect(await kinds(app, wrong.headers)).toEqual(['welcome 0.5']);
  });

  it('in another currency, or on a payment without a name, is left to the operator', async () => {
    const { app } = stage;
    const { headers, payment, completed } = await bought(app);
    await deliver(app, completed);
    logged.length = 0;
    expect(await deliver(app, eventOf('charge.refunded', chargeObject(payment, 2000, 2000, 'usd')))).toBe(
      '200 refused',
    );
    const dispute = disputeOf(payment, 'dp_usd', 2000, 'needs_response', 'usd');
    expect(await deliver(app, eventOf('charge.dispute.created', dispute))).toBe('200 refused');
    expect(logged).toHaveLength(2);
    expect(await deliver(app, eventOf('charge.refunded', chargeObject(null, 2000, 2000)))).toBe('200 ignored');
    expect(await balance(app, headers)).toBe(20.5);
  });

  it('comes to the same sum in every order, with every repetition, over two processes', async () => {
    const { app, other } = stage;
    const orders = fc.sample(fc.shuffledSubarray([0, 1, 2, 3, 4, 5, 6, 7, 0, 2, 4, 6], { minLength: 12 }), 8);
    for (const order of orders) {
      const { headers, payment, completed } = await bought(app);
      const news = [
        completed,
        eventOf('refund.created', refundOf(payment, `re_a_${payment}`, 300, 'pending'), at(1)),
        eventOf('charge.refunded', chargeObject(payment, 2000, 300), at(1)),
        eventOf('refund.failed', refundOf(payment, `re_a_${payment}`, 300, 'failed'), at(2)),
        eventOf('refund.created', refundOf(payment, `re_b_${payment}`, 450), at(3)),
        eventOf('charge.refunded', chargeObject(payment, 2000, 450), at(3)),
        eventOf('charge.dispute.created', disputeOf(payment, `dp_${payment}`, 1550, 'needs_response'), at(4)),
        eventOf('charge.dispute.closed', disputeOf(payment, `dp_${payment}`, 1550, 'won'), at(5)),
      ];
      // In two groups in parallel, each in its order.
      const piles = [order.slice(0, 6), order.slice(6)];
      await Promise.all(
        piles.map(async (pile, i) => {
          for (const one of pile) expect(await deliver(i ? other : app, news[one] ?? '')).toMatch(/^200/);
        }),
      );
      expect(await balance(app, headers), order.join()).toBe(16);
    }
    expect(await verify(app.state)).toMatchObject({ sum: 0, unbalanced: [], wrong: [] });
    expect([...app.faults, ...other.faults]).toEqual([]);
  });
});
