// Repeats of a payment: in parallel, later, for another call, by another caller; one run, one charge, one
// delivery (payments.md 7).
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { dropAnswersWith } from '../../../data/state/idempotency.ts';
import { decoded, encodePayload, stockBuyer } from '../../chain/buyer.ts';
import { verifies } from '../../support/verifies.ts';
import {
  amountsMoved,
  BASE,
  callPaid,
  describeX402,
  fetchOf,
  PRICE,
  RECORD,
  ROLES,
  SLOW,
  signedPayment,
} from '../../support/x402-stage.ts';

const ONE = { paid: PRICE, got: PRICE };
const USED = '402 payment_invalid payment_already_used';
const named = (key: string = randomUUID()) => ({ 'Idempotency-Key': key });

describeX402('the same payment again', {}, (stage) => {
  it('the same request is 409, another one 402, with a forged signature too', async () => {
    verifies('x402.one-delivery', 'code.payment-already-used', 'code.payment-in-progress');
    const { app, other } = stage;
    const payment = await signedPayment(app, SLOW);
    const amounts = await amountsMoved(stage, async () => {
      expect((await callPaid(app, SLOW, payment)).summary).toBe('200');
      expect((await callPaid(app, SLOW, payment)).summary).toBe('409 payment_already_used');
      expect((await callPaid(other, SLOW, payment)).summary).toBe('409 payment_already_used');
      for (const path of [`${SLOW}?other=1`, `${SLOW}.md`, RECORD, '/v1/harbours/slow'])
        expect((await callPaid(other, path, payment)).summary, path).toMatch(
          /^402 payment_invalid (payment_already_used|invalid_payment_requirements)$/,
        );
      const { signature } = payment.payload as { signature: string };
      const forged = { ...payment, payload: { ...payment.payload, signature: `${signature.slice(0, -4)}dead` } };
      expect((await callPaid(app, SLOW, forged)).summary).toBe(USED);
      // The nonce is the same in upper case.
      const { authorization } = payment.payload as { authorization: { nonce: string } };
      const loud = { ...authorization, nonce: `0x${authorization.nonce.slice(2).toUpperCase()}` };
      expect(
        (await callPaid(app, SLOW, { ...payment, payload: { ...payment.payload, authorization: loud } })).status,
      ).toBe(409);
    });
    expect([amounts, stage.runs]).toEqual([ONE, 1]);
  });

  it.each([
    ['USDC', 'usdc', ROLES.payer],
    ['USDT', 'usdt', ROLES.payerUsdt],
  ] as const)('two at once, %s: one runs, the other is told that it does', async (_name, token, role) => {
    const { app, other } = stage;
    const payment = await signedPayment(app, SLOW, role, { token });
    const amounts = await amountsMoved(
      stage,
      async () => {
        const running = new Promise<void>((began) => {
          stage.during = async () => {
            began();
            const second = await callPaid(other, SLOW, payment);
            expect([second.summary, second.headers.get('retry-after'), second.body['is_retriable']]).toEqual([
              '409 payment_in_progress',
              '2',
              true,
            ]);
          };
        });
        const first = callPaid(app, SLOW, payment);
        await running;
        expect((await first).summary).toBe('200');
      },
      role,
      token,
    );
    expect([amounts, stage.runs]).toEqual([ONE, 1]);
  });

  it('on ten addresses in parallel: one answer, one charge, one run', async () => {
    const { app, other } = stage;
    const payment = await signedPayment(app, `${SLOW}?i=0`);
    const amounts = await amountsMoved(stage, async () => {
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, i) => callPaid(i % 2 ? app : other, `${SLOW}?i=${i}`, payment)),
      );
      const told = answers.map((answer) => answer.summary).sort();
      expect(told).toEqual(['200', ...Array(9).fill(USED)]);
    });
    expect([amounts, stage.runs]).toEqual([ONE, 1]);
  });

  it('with its Idempotency-Key the answer is repeated, byte for byte, also to a client that has not signed yet', async () => {
    const { app, other } = stage;
    const once = named();
    let first = new Response();
    const amounts = await amountsMoved(stage, async () => {
      first = await stockBuyer(fetchOf(app), ROLES.payer)(BASE + SLOW, { headers: once });
      const bytes = await first.text();
      // The answer was lost: the stock client requests it again, and would sign a second payment at a 402.
      for (const at of [app, other]) {
        const again = await stockBuyer(fetchOf(at), ROLES.payer)(BASE + SLOW, { headers: once });
        expect([again.status, await again.text()]).toEqual([200, bytes]);
        // Only the signature of a receipt is new.
        const [receipt, repeated] = [first, again].map(({ headers }) => decoded(headers.get('payment-response')));
        expect({ ...repeated, extensions: null }).toEqual({ ...receipt, extensions: null });
        for (const name of ['x-charge-eur', 'cache-control', 'content-type'])
          expect(again.headers.get(name), name).toBe(first.headers.get(name));
        expect(again.headers.get('idempotency-replayed')).toBe('true');
      }
      expect((await callPaid(app, `${SLOW}?other=1`, undefined, once)).summary).toBe('409 idempotency_conflict');
      expect((await callPaid(app, SLOW, undefined, named())).summary).toBe('402 payment_required');
    });
    expect([amounts, stage.runs]).toEqual([ONE, 1]);
  });

  it('an Idempotency-Key of one caller is separate from others’, and expires after a day', async () => {
    const { app } = stage;
    const once = named();
    expect((await callPaid(app, SLOW, await signedPayment(app, SLOW), once)).body['n']).toBe(1);
    const keyed = await app.json(SLOW, { headers: once, admin: true });
    expect([keyed.status, keyed.body['n']]).toEqual([200, 2]);
    stage.later = 25 * 3_600_000;
    await app.sweepPayments();
    expect((await callPaid(app, SLOW, undefined, once)).summary).toBe('402 payment_required');
  });

  it('with its payment-identifier too, also when it is signed anew', async () => {
    const { app } = stage;
    const extensions = { 'payment-identifier': { info: { required: false, id: `pay_${randomUUID()}` } } };
    const first = await signedPayment(app, SLOW, ROLES.payer, { extensions });
    const amounts = await amountsMoved(stage, async () => {
      expect((await callPaid(app, SLOW, first)).body['n']).toBe(1);
      expect((await callPaid(app, SLOW, first)).body['n']).toBe(1);
      const second = await signedPayment(app, SLOW, ROLES.payer, { extensions });
      expect((await callPaid(app, SLOW, second)).body['n']).toBe(1);
      expect((await callPaid(app, `${SLOW}?other=1`, second)).summary).toBe('409 idempotency_conflict');
      // An identifier that is too short to be secret is ignored.
      const short = { 'payment-identifier': { info: { required: false, id: 'pay_1' } } };
      const third = await signedPayment(app, SLOW, ROLES.payer, { extensions: short });
      expect((await callPaid(app, SLOW, third)).body['n']).toBe(2);
      expect((await callPaid(app, SLOW, third)).summary).toBe('409 payment_already_used');
    });
    expect(amounts.paid).toBe(2n * PRICE);
  });

  it('a guessable Idempotency-Key is bound to its payer', async () => {
    const { app, other } = stage;
    const order = { 'Idempotency-Key': 'order-0000000001' };
    const { payer, payerUsdt } = ROLES;
    const first = await signedPayment(app, SLOW, payer);
    const amounts = await amountsMoved(stage, async () => {
      expect((await callPaid(app, SLOW, first, order)).body['n']).toBe(1);
      // A stranger with the same identifier, without a payment and with a foreign one.
      expect((await callPaid(other, SLOW, undefined, order)).summary).toBe('402 payment_required');
      const forged = await signedPayment(app, SLOW, payer, { signer: ROLES.stranger });
      expect((await callPaid(other, SLOW, forged, order)).summary).toBe(
        `${USED.slice(0, 19)} invalid_exact_evm_signature`,
      );
      // The header of the first payment is public on the chain.
      expect((await callPaid(other, SLOW, first, order)).summary).toBe('409 payment_already_used');
      // Another payer with the same identifier pays for a separate answer, also for another request.
      const second = await signedPayment(app, SLOW, payerUsdt, { token: 'usdt' });
      expect((await callPaid(other, SLOW, second, order)).body['n']).toBe(2);
      // The payer signs again, as the stock client does: the first answer again, and no second charge.
      const lost = await stockBuyer(fetchOf(other), payer)(BASE + SLOW, { headers: order });
      const { n } = (await lost.json()) as { n: number };
      expect([lost.status, n, lost.headers.get('idempotency-replayed')]).toEqual([200, 1, 'true']);
      const anew = await signedPayment(app, `${SLOW}?other=1`, payer);
      expect((await callPaid(app, `${SLOW}?other=1`, anew, order)).summary).toBe('409 idempotency_conflict');
    });
    expect([amounts, stage.runs]).toEqual([ONE, 2]);
  });

  it('two parallel payments under one Idempotency-Key: one is taken', async () => {
    const { app, other } = stage;
    const once = named();
    const payments = [await signedPayment(app, SLOW), await signedPayment(app, SLOW)];
    const amounts = await amountsMoved(stage, async () => {
      const running = new Promise<void>((began) => {
        stage.during = async () => {
          began();
          expect((await callPaid(other, SLOW, payments[1], once)).summary).toBe('409 payment_in_progress');
          expect((await callPaid(other, SLOW, undefined, once)).summary).toBe('409 payment_in_progress');
        };
      });
      const first = callPaid(app, SLOW, payments[0], once);
      await running;
      expect((await first).summary).toBe('200');
      expect((await callPaid(app, SLOW, payments[1], once)).body['n']).toBe(1);
    });
    expect([amounts, stage.runs]).toEqual([ONE, 1]);
  });

  it('public data of the chain gets no answer: a rebuilt header is refused', async () => {
    const { app, chain } = stage;
    const payment = await signedPayment(app, SLOW);
    await callPaid(app, SLOW, payment, named());
    const sent = await chain.reader.getBlock({ includeTransactions: true });
    const { signature } = payment.payload as { signature: string };
    expect(sent.transactions[0]?.input).toContain(signature.slice(2, 66));
    // The complete header without the Idempotency-Key.
    expect((await callPaid(app, SLOW, payment)).summary).toBe('409 payment_already_used');
    expect((await callPaid(app, SLOW, payment, named())).summary).toBe('409 payment_already_used');
  });

  it('an undelivered answer is fetched once with the payment only', async () => {
    const { app, facilitator } = stage;
    const payment = await signedPayment(app, SLOW);
    const client = new AbortController();
    facilitator.between = async (task, _request, work) => {
      const done = await work();
      if (task === 'settle') client.abort();
      return done;
    };
    const amounts = await amountsMoved(stage, async () => {
      await app.ask(SLOW, { headers: { 'PAYMENT-SIGNATURE': encodePayload(payment) }, signal: client.signal });
      expect((await callPaid(app, SLOW, payment)).body['n']).toBe(1);
      expect((await callPaid(app, SLOW, payment)).summary).toBe('409 payment_already_used');
    });
    expect([amounts, stage.runs]).toEqual([ONE, 1]);
  });

  it('is not kept when a record of it is opted out', async () => {
    const { app } = stage;
    const once = named();
    const { body } = await callPaid(app, RECORD, await signedPayment(app, RECORD), once);
    await dropAnswersWith(app.state, 'r-0000000000000000');
    expect((await callPaid(app, RECORD, undefined, once)).body['id']).toBe(body['id']);
    await dropAnswersWith(app.state, String(body['id']));
    const gone = await callPaid(app, RECORD, undefined, once);
    expect([gone.summary, gone.body['message']]).toEqual([
      '409 payment_already_used',
      expect.stringMatching(/no longer stored/),
    ]);
  });

  it('leaves no internal error', () => {
    const { app, other } = stage;
    expect([app.faults, other.faults, app.lent(), other.lent()]).toEqual([[], [], 0, 0]);
  });
});
