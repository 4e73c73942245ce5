// Calls paid by the stock client of x402: the 402, the charge, the answer.
import type { PaymentRequired } from '@x402/core/types';
import { describe, expect, it } from 'vitest';
import { move, verify } from '../../../data/state/money/ledger.ts';
import { decoded, pay, stockBuyer } from '../../chain/buyer.ts';
import { newKey } from '../../support/money-on-stores.ts';
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

const NOTHING = { paid: 0n, got: 0n };

describeX402('paying by x402', {}, (stage) => {
  it.each([
    ['USDC', 'usdc', ROLES.payer],
    ['USDT through Permit2', 'usdt', ROLES.payerUsdt],
  ] as const)('takes %s from the stock client, and says so on the answer', async (_name, token, role) => {
    verifies('auth.x402-required', 'auth.x402-signature', 'auth.x402-response', 'auth.x402-tokens');
    verifies('header.x402-cache');
    const { app, chain } = stage;
    const before = await app.state.db
      .selectFrom('entries')
      .select((e) => e.fn.countAll<number>().as('n'))
      .executeTakeFirst();
    let response = new Response();
    const amounts = await amountsMoved(
      stage,
      async () => {
        response = await stockBuyer(fetchOf(app), role, token)(BASE + RECORD);
      },
      role,
      token,
    );
    expect([response.status, amounts]).toEqual([200, { paid: PRICE, got: PRICE }]);
    expect(await response.json()).toMatchObject({
      slug: 'record-1',
      attributes: expect.any(Object),
      provenance: expect.any(Object),
    });
    const receipt = decoded(response.headers.get('payment-response'));
    expect(receipt).toEqual({
      ...{ success: true, network: 'eip155:8453', payer: role.address.toLowerCase() },
      transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      extensions: { 'offer-receipt': expect.any(Object) },
    });
    expect((await chain.reader.getTransactionReceipt({ hash: receipt['transaction'] as `0x${string}` })).status).toBe(
      'success',
    );
    expect(response.headers.get('cache-control')).toBe('private, no-store');
    expect(response.headers.get('x-charge-eur')).toBe('0.004');
    expect(response.headers.get('access-control-expose-headers')).toMatch(/PAYMENT-REQUIRED, PAYMENT-RESPONSE/);
    const rows = await app.state.db
      .selectFrom('entries')
      .selectAll()
      .where('kind', '=', 'x402')
      .orderBy('id', 'desc')
      .limit(2)
      .execute();
    expect(rows.map(({ account, amount, operation, dataset }) => [account, amount, operation, dataset]).sort()).toEqual(
      [
        ['revenue', 4000, 'entity_get', 'tools'],
        ['x402', -4000, 'entity_get', 'tools'],
      ],
    );
    expect((await verify(app.state)).entries).toBe((before?.n ?? 0) + 2);
    expect(await verify(app.state)).toMatchObject({ sum: 0, unbalanced: [], wrong: [] });
  });

  it('batch costs get times the ids, in one payment', async () => {
    verifies('batch.access');
    const { app } = stage;
    const batch = '/v1/tools/entities/batch?ids=record-1,record-2,nobody';
    let response = new Response();
    const amounts = await amountsMoved(stage, async () => {
      response = await stockBuyer(fetchOf(app), ROLES.payer)(BASE + batch);
    });
    expect(await response.json()).toMatchObject({
      items: [{ slug: 'record-1' }, { slug: 'record-2' }],
      missing: ['nobody'],
    });
    expect(amounts).toEqual({ paid: 3n * PRICE, got: 3n * PRICE });
  });

  it('25 in parallel: 25 answers, 25 prices', async () => {
    verifies('x402.one-delivery');
    const { app, other } = stage;
    const amounts = await amountsMoved(stage, async () => {
      const answers = await Promise.all(
        Array.from({ length: 25 }, (_, i) =>
          stockBuyer(fetchOf(i % 2 ? app : other), ROLES.payer)(`${BASE}${SLOW}?i=${i}`),
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array(25).fill(200));
      const transactions = answers.map(({ headers }) => decoded(headers.get('payment-response'))['transaction']);
      expect(new Set(transactions).size).toBe(25);
    });
    expect([amounts, stage.runs]).toEqual([{ paid: 25n * PRICE, got: 25n * PRICE }, 25]);
  });

  it('a search that is paid shows everything, whether its previews are used up or it has none', async () => {
    verifies('preview.paid-entities');
    const { app } = stage;
    const address = '192.0.2.9';
    const used = await app.json('/v1/tools/entities?limit=20', { address });
    expect((used.body['items'] as object[]).length).toBe(12);
    await app.json('/v1/tools/entities?limit=20', { address });
    const empty = await app.json('/v1/tools/entities?limit=20', { address });
    expect([empty.status, empty.body['error'], (empty.body['accepts'] as object[]).length]).toEqual([
      402,
      'quota_exceeded',
      2,
    ]);
    for (const path of ['/v1/tools/entities', '/v1/tools/paid/entities']) {
      const fetched = await stockBuyer(
        ((input: Request) => {
          const request = new Request(input);
          request.headers.set('X-Forwarded-For', address);
          return app.fetch(request);
        }) as never,
        ROLES.payer,
      )(`${BASE}${path}?limit=20&sort=-price.list`);
      const { items } = (await fetched.json()) as { items: { preview?: boolean; provenance: object }[] };
      expect([fetched.status, items.length, items.some(({ preview }) => preview)]).toEqual([200, 12, false]);
    }
  });

  it('Markdown costs and shows the same', async () => {
    const { app } = stage;
    let response = new Response();
    const amounts = await amountsMoved(stage, async () => {
      response = await stockBuyer(fetchOf(app), ROLES.payer)(`${BASE}${RECORD}.md`);
    });
    expect([response.headers.get('content-type'), amounts.paid]).toEqual(['text/markdown; charset=utf-8', PRICE]);
    expect(await response.text()).toMatch(/record/i);
  });

  it('HEAD and 304 cost nothing', async () => {
    verifies('gate.conditional');
    const { app, facilitator } = stage;
    const payment = await signedPayment(app, RECORD);
    const before = { ...facilitator.count };
    const amounts = await amountsMoved(stage, async () => {
      const signature = Buffer.from(JSON.stringify(payment)).toString('base64');
      const headers = { 'PAYMENT-SIGNATURE': signature };
      expect((await app.ask(RECORD, { method: 'HEAD', headers })).status).toBe(402);
      const unchanged = await app.ask(RECORD, { headers: { ...headers, 'If-None-Match': '*' } });
      expect([unchanged.status, unchanged.headers.get('payment-response')]).toEqual([304, null]);
    });
    expect([amounts, facilitator.count]).toEqual([NOTHING, before]);
    expect((await callPaid(app, RECORD, payment)).status).toBe(200);
  });

  it('an answer that is an error costs nothing: 500, a client that disconnected', async () => {
    verifies('x402.after-answer');
    const { app, facilitator } = stage;
    const payment = await signedPayment(app, SLOW);
    const amounts = await amountsMoved(stage, async () => {
      stage.during = () => Promise.reject(new Error('broken'));
      expect((await callPaid(app, SLOW, payment)).summary).toBe('500 internal');
      expect(app.faults.splice(0)).toHaveLength(1);
      const client = new AbortController();
      stage.during = async () => client.abort();
      const signature = Buffer.from(JSON.stringify(payment)).toString('base64');
      await app.ask(SLOW, { headers: { 'PAYMENT-SIGNATURE': signature }, signal: client.signal });
    });
    expect([amounts, facilitator.count.settle, stage.runs]).toEqual([NOTHING, expect.any(Number), 2]);
    // The payment can be used again.
    stage.during = async () => {};
    const settles = facilitator.count.settle;
    expect((await callPaid(app, SLOW, payment)).summary).toBe('200');
    expect(facilitator.count.settle).toBe(settles + 1);
  });

  it('settles only when the answer is ready', async () => {
    verifies('x402.after-answer');
    const { app, facilitator } = stage;
    const payment = await signedPayment(app, SLOW);
    const before = facilitator.count.settle;
    stage.during = async () => expect(facilitator.count.settle).toBe(before);
    expect((await callPaid(app, SLOW, payment)).body).toMatchObject({ n: 1, seen: 'full' });
    expect(facilitator.count.settle).toBe(before + 1);
  });

  describe('together with a key', () => {
    it('credit pays first, and the payment is left alone', async () => {
      const { app, facilitator } = stage;
      const { headers } = await newKey(app);
      const payment = await signedPayment(app, SLOW);
      const before = { ...facilitator.count };
      const amounts = await amountsMoved(stage, async () => {
        const answer = await callPaid(app, SLOW, payment, headers);
        expect([answer.summary, answer.headers.get('x-balance-eur'), answer.headers.get('payment-response')]).toEqual([
          '200',
          '0.496',
          null,
        ]);
        expect((await callPaid(app, SLOW, undefined, headers)).summary).toBe('200');
      });
      expect([amounts, facilitator.count]).toEqual([NOTHING, before]);
    });

    it('pays when the credit does not suffice, and the credit is unchanged', async () => {
      const { app } = stage;
      const { headers, id } = await newKey(app);
      await move(app.state, { key_id: id, amount: -499_000, kind: 'refund', against: 'refund', now: 0 });
      const broke = await callPaid(app, SLOW, undefined, headers);
      expect([broke.summary, (broke.body['accepts'] as object[]).length]).toEqual(['402 insufficient_credits', 2]);
      const once = { ...headers, 'Idempotency-Key': `broke-but-paying-${id}` };
      const amounts = await amountsMoved(stage, async () => {
        const answer = await callPaid(app, SLOW, await signedPayment(app, SLOW), once);
        expect([answer.summary, answer.headers.get('x-charge-eur'), answer.headers.get('x-balance-eur')]).toEqual([
          '200',
          '0.004',
          null,
        ]);
        // When the key has credit again, the same call is not paid twice.
        await move(app.state, { key_id: id, amount: 100_000, kind: 'refund', against: 'refund', now: 0 });
        const again = await callPaid(app, SLOW, undefined, once);
        expect([again.summary, again.body['n'], again.headers.get('idempotency-replayed')]).toEqual(['200', 1, 'true']);
      });
      expect([amounts.paid, stage.runs]).toEqual([PRICE, 1]);
      expect((await app.json('/v1/keys/me', { headers })).body['balance_eur']).toBe(0.101);
    });
  });

  it('a browser of any origin may pay: the headers that the stock client sends are allowed, those it reads are exposed', async () => {
    const { app } = stage;
    const preflight = await app.ask(SLOW, {
      method: 'OPTIONS',
      headers: { Origin: 'https://agent.example', 'Access-Control-Request-Method': 'GET' },
    });
    const allowed = (preflight.headers.get('access-control-allow-headers') ?? '').toLowerCase().split(', ');
    expect(allowed).toEqual(
      expect.arrayContaining(['payment-signature', 'idempotency-key', 'access-control-expose-headers']),
    );
    const { headers } = await callPaid(app, SLOW, undefined, { Origin: 'https://agent.example' });
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-expose-headers')).toMatch(/PAYMENT-REQUIRED, PAYMENT-RESPONSE/);
  });

  it('an MCP tool is paid through the same gate: the payment in _meta, the receipt in _meta, once', async () => {
    const { app } = stage;
    const call = async (meta: object) => {
      const response = await app.ask('/mcp', {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
          'MCP-Protocol-Version': '2025-11-25',
          Host: 'register.example',
        },
        body: JSON.stringify({
          ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
          params: {
            name: 'entity_get',
            arguments: { dataset: 'tools', entity_id: 'record-1', format: 'json' },
            _meta: meta,
          },
        }),
      });
      const text = await response.text();
      if (!text.includes('"result"')) throw new Error(text);
      const { result } = JSON.parse(text) as {
        result: { isError?: boolean; content: { text: string }[]; _meta?: Record<string, unknown> };
      };
      return {
        failed: result.isError === true,
        body: JSON.parse(result.content[0]?.text ?? '{}') as Record<string, unknown>,
        meta: result._meta,
      };
    };
    const unpaid = await call({});
    expect([unpaid.failed, unpaid.body['error'], (unpaid.body['accepts'] as object[]).length]).toEqual([
      true,
      'payment_required',
      2,
    ]);
    const payment = await pay(unpaid.body as unknown as PaymentRequired, ROLES.payer);
    const amounts = await amountsMoved(stage, async () => {
      const paid = await call({ 'x402/payment': payment });
      expect([paid.failed, paid.body['slug'], paid.meta?.['x402/payment-response']]).toEqual([
        false,
        'record-1',
        expect.objectContaining({ success: true }),
      ]);
      const twice = await call({ 'x402/payment': payment });
      expect([twice.failed, twice.body['error']]).toEqual([true, 'payment_already_used']);
    });
    expect(amounts).toEqual({ paid: PRICE, got: PRICE });
  });

  it('leaves correct books and no internal error', async () => {
    const { app, other } = stage;
    expect(await verify(app.state)).toMatchObject({ sum: 0, unbalanced: [], wrong: [] });
    expect([app.faults, other.faults, app.lent(), other.lent()]).toEqual([[], [], 0, 0]);
  });
});
