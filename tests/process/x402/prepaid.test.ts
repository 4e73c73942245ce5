// Prepaid keys bought by one x402 payment: exactly one key for a payment, for the buyer's Idempotency-Key alone
// (contract section 9, "Budgets").
import { randomUUID } from 'node:crypto';
import { x402Client } from '@x402/core/client';
import type { PaymentRequired } from '@x402/core/types';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment } from '@x402/fetch';
import { decodeFunctionData, type Hex, parseAbi } from 'viem';
import { expect, it } from 'vitest';
import { verify } from '../../../data/state/money/ledger.ts';
import { expireKeys } from '../../../data/state/money/prepaid.ts';
import { decoded, encodePayload, pay, stockBuyer } from '../../chain/buyer.ts';
import type { TestApp } from '../../support/app.ts';
import {
  amountsMoved,
  BASE,
  describeX402,
  fetchOf,
  HASTY,
  RECORD,
  ROLES,
  type X402Stage,
} from '../../support/x402-stage.ts';

const PATH = '/v1/keys/prepaid';
const named = (key: string = randomUUID()) => ({ 'Idempotency-Key': key });
const bearer = (key: unknown) => ({ Authorization: `Bearer ${key}` });

async function post(app: TestApp, body: unknown, headers: Record<string, string> = {}) {
  const answer = await app.json(PATH, { method: 'POST', body: JSON.stringify(body), headers });
  return { ...answer, summary: `${answer.status} ${answer.body['error'] ?? ''}`.trim() };
}

/** The header of a payment for a key, signed by hand. */
async function signed(app: TestApp, body: unknown, token: 'usdc' | 'usdt' = 'usdc') {
  const { headers } = await post(app, body, named());
  const required = decoded(headers.get('payment-required')) as unknown as PaymentRequired;
  const role = token === 'usdc' ? ROLES.payer : ROLES.payerUsdt;
  return { 'PAYMENT-SIGNATURE': encodePayload(await pay(required, role, { token })) };
}

const prepaidKeys = async ({ app }: X402Stage): Promise<number> =>
  (await app.state.db.selectFrom('keys').select('id').where('email_normal', 'like', 'prepaid:%').execute()).length;

const RIGHT = { sum: 0, unbalanced: [], wrong: [] };

describeX402('a prepaid key', {}, (stage) => {
  it('is bought by the stock client: 0.50 EUR with its defaults, 2 EUR with its setting', async () => {
    const { app } = stage;
    const call = (amount_eur: number, headers = named()) =>
      [
        `${BASE}${PATH}`,
        {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify({ amount_eur }),
        },
      ] as const;
    const buyer = stockBuyer(fetchOf(app), ROLES.payer);
    let key = '';
    const once = named();
    const amounts = await amountsMoved(stage, async () => {
      const answer = await buyer(...call(0.5, once));
      expect(answer.status).toBe(201);
      const body = (await answer.json()) as Record<string, unknown>;
      expect(body).toMatchObject({ balance_eur: 0.5, key: expect.stringMatching(/^dsr_/) });
      key = String(body['key']);
      // The stock client would sign a new payment; the repeat is answered before it is asked to.
      const again = await buyer(...call(0.5, once));
      expect([again.status, ((await again.json()) as Record<string, unknown>)['key']]).toEqual([201, key]);
    });
    expect(amounts).toEqual({ paid: 550_000n, got: 550_000n });
    const record = await app.ask(RECORD, { headers: bearer(key) });
    expect([record.status, record.headers.get('x-balance-eur')]).toEqual([200, '0.496']);
    await expect(buyer(...call(2))).rejects.toThrow();
    const client = x402Client.fromConfig({
      schemes: [{ network: 'eip155:8453', client: new ExactEvmScheme(ROLES.payer) }],
      spendControls: { maxAmountPerPayment: '$5' },
    });
    const spender = wrapFetchWithPayment(fetchOf(app), client);
    const more = await amountsMoved(stage, async () => expect((await spender(...call(2))).status).toBe(201));
    expect(more).toEqual({ paid: 2_200_000n, got: 2_200_000n });
    expect(await verify(app.state)).toMatchObject(RIGHT);
  });

  it('is bought over A2A by the stock client, and pays for a skill over A2A', async () => {
    const { app } = stage;
    const message = (data: Record<string, unknown>) => ({
      method: 'POST',
      headers: { 'content-type': 'application/json', 'A2A-Version': '1.0' },
      body: JSON.stringify({ message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ data }] } }),
    });
    const dataOf = async (answer: Response) => {
      expect(answer.status).toBe(200);
      const { message: reply } = (await answer.json()) as { message: { parts: { data?: Record<string, unknown> }[] } };
      return reply.parts.find(({ data }) => data !== undefined)!.data!;
    };
    const send = `${BASE}/a2a/v1/message:send`;
    const buying = message({ skill: 'account_prepay', amount_eur: 0.5, idempotency_key: randomUUID() });
    let bought: Record<string, unknown> = {};
    const amounts = await amountsMoved(stage, async () => {
      bought = await dataOf(await stockBuyer(fetchOf(app), ROLES.payer)(send, buying));
    });
    expect(amounts).toEqual({ paid: 550_000n, got: 550_000n });
    expect(bought).toMatchObject({ balance_eur: 0.5, key: expect.stringMatching(/^dsr_/) });
    // The same message without a payment gets the same key again.
    expect((await dataOf(await fetchOf(app)(send, buying)))['key']).toBe(bought['key']);
    const call = message({ skill: 'entity_get', dataset: 'tools', entity_id: 'record-1' });
    const answer = await fetchOf(app)(send, { ...call, headers: { ...call.headers, ...bearer(bought['key']) } });
    expect(answer.headers.get('x-balance-eur')).toBe('0.496');
    expect(await dataOf(answer)).toMatchObject({ slug: 'record-1' });
    expect(await verify(app.state)).toMatchObject(RIGHT);
  });

  it('is sold once for a payment, to its Idempotency-Key and body; every other repeat is 409', async () => {
    const { app, other } = stage;
    const before = await prepaidKeys(stage);
    const [body, once] = [{ amount_eur: 1, expires_days: 30 }, named()];
    const payment = await signed(app, body, 'usdt');
    expect((await post(app, body, payment)).summary).toBe('422 validation_failed');
    expect((await post(app, body, { ...payment, ...named('order-0001-of-2026') })).summary).toBe(
      '422 validation_failed',
    );
    expect((await post(app, { amount_eur: 0.1 }, { ...payment, ...once })).summary).toBe('422 validation_failed');
    const sold = await post(app, body, { ...payment, ...once });
    expect(sold.status).toBe(201);
    const { key, id } = sold.body;
    for (const headers of [{ ...payment, ...once }, once])
      expect((await post(other, body, headers)).body).toMatchObject({ id, key, balance_eur: 1 });
    expect((await post(other, body, { ...payment, ...named() })).summary).toBe('409 payment_already_used');
    const longer = { ...body, expires_days: 31 };
    expect((await post(other, longer, { ...payment, ...named() })).summary).toBe('409 payment_already_used');
    expect((await post(other, { amount_eur: 2 }, { ...payment, ...named() })).summary).toBe('409 payment_already_used');
    expect((await post(other, longer, { ...payment, ...once })).status).toBe(409);
    expect((await prepaidKeys(stage)) - before).toBe(1);
    const stored = JSON.stringify(await app.state.db.selectFrom('payments').selectAll().execute());
    const answers = JSON.stringify(await app.state.db.selectFrom('idempotency').selectAll().execute());
    expect(stored + answers).not.toContain(key);
  });

  it('a payment rebuilt from the calldata of the chain gets nothing', async () => {
    const { app, other } = stage;
    const body = { amount_eur: 0.5 };
    const payment = await signed(app, body);
    const sold = await post(app, body, { ...payment, ...named() });
    const { transaction } = decoded(sold.headers.get('payment-response')) as { transaction: Hex };
    const { input } = await stage.chain.reader.getTransaction({ hash: transaction });
    const abi = parseAbi([
      'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
      'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
    ]);
    const { args } = decodeFunctionData({ abi, data: input });
    const [from, to, value, validAfter, validBefore, nonce, ...rest] = args as unknown as [...Hex[]];
    const [v, r, s] = rest as unknown as [number, Hex, Hex];
    const signature = rest.length === 1 ? rest[0] : `${r}${s.slice(2)}${v.toString(16)}`;
    const original = decoded(payment['PAYMENT-SIGNATURE']) as { payload: Record<string, unknown> };
    const authorization = {
      from,
      to,
      value: String(value),
      validAfter: String(validAfter),
      validBefore: String(validBefore),
      nonce,
    };
    const rebuilt = { ...original, payload: { signature, authorization } };
    expect(JSON.stringify(rebuilt.payload).toLowerCase()).toBe(JSON.stringify(original.payload).toLowerCase());
    const header = { 'PAYMENT-SIGNATURE': encodePayload(rebuilt) };
    const before = await prepaidKeys(stage);
    expect((await post(other, body, { ...header, ...named() })).summary).toBe('409 payment_already_used');
    expect((await post(other, body, header)).summary).toBe('422 validation_failed');
    // Before the answer was delivered too: the first delivery is the buyer's.
    await app.state.db.updateTable('payments').set({ delivered_at: null }).execute();
    expect((await post(other, body, { ...header, ...named() })).summary).toBe('409 payment_already_used');
    expect(await prepaidKeys(stage)).toBe(before);
  });

  it('two requests at once, and in two processes, get the same key', async () => {
    const { app, other } = stage;
    const before = await prepaidKeys(stage);
    const [body, once] = [{ amount_eur: 0.5 }, named()];
    const payment = await signed(app, body);
    const amounts = await amountsMoved(stage, async () => {
      const answers = await Promise.all(
        [app, other, app, other].map((one) => post(one, body, { ...payment, ...once })),
      );
      const keys = new Set(answers.filter(({ status }) => status === 201).map((answer) => answer.body['key']));
      expect(keys.size).toBe(1);
      expect(answers.filter(({ status }) => ![201, 409, 503].includes(status))).toEqual([]);
    });
    expect([amounts, (await prepaidKeys(stage)) - before]).toEqual([{ paid: 550_000n, got: 550_000n }, 1]);
  });

  it('ends at its time, and the rest is the unclaimed balance of the operator', async () => {
    const { app, other } = stage;
    const body = { amount_eur: 0.5, expires_days: 1 };
    const { body: sold } = await post(app, body, { ...(await signed(app, body)), ...named() });
    await app.ask(RECORD, { headers: bearer(sold['key']) });
    const child = { method: 'POST', body: '{"name":"agent"}', headers: bearer(sold['key']) };
    const { body: made } = await app.json('/v1/keys/me/children', child);
    stage.later = 86_400_000 + 1000;
    for (const key of [sold['key'], made['key']])
      expect((await other.ask(RECORD, { headers: bearer(key) })).status).toBe(401);
    for (let times = 0; times < 2; times += 1) await expireKeys(app.state, Date.now() + stage.later);
    const rows = await app.state.db.selectFrom('entries').selectAll().where('kind', '=', 'expired').execute();
    expect(rows.map(({ account, amount }) => [account, amount])).toEqual([
      [`key:${sold['id']}`, -496_000],
      ['unclaimed', 496_000],
    ]);
    expect(await verify(app.state)).toMatchObject(RIGHT);
  });

  it('is offered in every 402 of a caller without a key, and ignores a credential', async () => {
    const { app } = stage;
    const { body } = await app.json(RECORD);
    expect(body['how_to_pay']).toMatchObject({
      prepaid: {
        url: `${BASE}${PATH}`,
        method: 'POST',
        body: { amount_eur: 0.8 },
        headers: { 'Idempotency-Key': expect.any(String) },
      },
    });
    // Nobody signs a payment for a call whose headers are refused.
    for (const headers of [{}, { 'Idempotency-Key': 'too-short-0123456' }, { 'Idempotency-Key': 'a'.repeat(64) }]) {
      const refused = await post(app, { amount_eur: 0.8 }, headers);
      expect([refused.summary, refused.headers.get('payment-required')]).toEqual(['422 validation_failed', null]);
    }
    const probe = await post(app, {}, named());
    expect([probe.summary, probe.body['price_eur']]).toEqual(['402 payment_required', 0.8]);
    expect(Number((probe.body['accepts'] as { amount: string }[])[0]?.amount)).toBeLessThan(1_000_000);
    const named402 = await post(app, { amount_eur: 7.5 }, named());
    expect([named402.body['price_eur'], (named402.body['accepts'] as { amount: string }[])[0]?.amount]).toEqual([
      7.5,
      '8250000',
    ]);
    const admin = { method: 'POST', body: '{"amount_eur":1}', admin: true, headers: named() };
    expect((await app.json(PATH, admin)).status).toBe(402);
  });
});

describeX402(
  'a prepaid key whose settlement is unclear',
  {},
  (stage) => {
    it('is 503, and later the same key for the same request', async () => {
      const { app, other } = stage;
      const before = await prepaidKeys(stage);
      const [body, once] = [{ amount_eur: 0.5 }, named()];
      const headers = { ...(await signed(app, body)), ...once };
      await stage.chain.node.setAutomine(false);
      const amounts = await amountsMoved(stage, async () => {
        expect((await post(app, body, headers)).summary).toBe('503 unavailable');
        expect((await post(other, body, headers)).status).toBe(503);
        expect(await prepaidKeys(stage)).toBe(before);
        await stage.chain.node.setAutomine(true);
        await stage.chain.node.mine({ blocks: 1 });
        const sold = await post(other, body, headers);
        expect([sold.status, sold.body['balance_eur']]).toEqual([201, 0.5]);
        expect((await post(app, body, once)).body['key']).toBe(sold.body['key']);
        expect((await app.ask(RECORD, { headers: bearer(sold.body['key']) })).status).toBe(200);
      });
      expect([amounts, (await prepaidKeys(stage)) - before]).toEqual([{ paid: 550_000n, got: 550_000n }, 1]);
      expect(await verify(app.state)).toMatchObject(RIGHT);
    });

    it('a settled purchase whose client never returned is a key with its credit', async () => {
      const { app } = stage;
      const [body, once] = [{ amount_eur: 0.5 }, named()];
      const headers = { ...(await signed(app, body)), ...once };
      await stage.chain.node.setAutomine(false);
      expect((await post(app, body, headers)).status).toBe(503);
      await stage.chain.node.setAutomine(true);
      await stage.chain.node.mine({ blocks: 1 });
      stage.later = 120_000;
      await app.sweepPayments();
      const sold = await post(app, body, once);
      expect([sold.status, sold.body['balance_eur']]).toEqual([201, 0.5]);
      expect(await verify(app.state)).toMatchObject(RIGHT);
    });
  },
  HASTY,
);

describeX402('an agent with a wallet and nothing else, over MCP', {}, (stage) => {
  it('buys a key and answers five questions, and every cent is on the ledger', async () => {
    const { app } = stage;
    type Content = Record<string, unknown>;
    const call = async (name: string, args: unknown, headers: Record<string, string> = {}, meta: Content = {}) => {
      const params = { name, arguments: args, _meta: meta };
      const accept = {
        host: 'register.example',
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
      const answer = await app.json('/mcp', { method: 'POST', headers: { ...accept, ...headers }, body });
      expect(answer.body['result'], JSON.stringify(answer.body)).toBeDefined();
      const { content, structuredContent, isError, _meta } = answer.body['result'] as {
        content: { text: string }[];
        structuredContent?: Content;
        isError?: boolean;
        _meta: Content;
      };
      const text = content[0]?.text ?? '';
      return {
        text,
        json: structuredContent ?? (text.startsWith('{') ? (JSON.parse(text) as Content) : {}),
        isError,
        meta: _meta,
      };
    };
    const refused = await call('entity_get', { dataset: 'tools', entity_id: 'record-1' });
    expect(refused.json).toMatchObject({
      error: 'payment_required',
      how_to_pay: { prepaid: { url: `${BASE}${PATH}` } },
    });
    const order = { amount_eur: 0.5, idempotency_key: randomUUID() };
    const required = await call('account_prepay', order);
    expect([required.isError, required.json['price_usd']]).toEqual([true, 0.55]);
    const payment = await pay(required.json as unknown as PaymentRequired, ROLES.payer);
    const sold = await call('account_prepay', order, {}, { 'x402/payment': payment });
    expect(sold.json, sold.text).toMatchObject({ balance_eur: 0.5, key: expect.stringMatching(/^dsr_/) });
    expect(sold.meta['x402/payment-response']).toMatchObject({ success: true });
    const again = await call('account_prepay', order);
    expect(again.json['key']).toBe(sold.json['key']);
    const questions = [
      ['entity_search', { dataset: 'tools', limit: 2 }, 0.008],
      ['entity_get', { dataset: 'tools', entity_id: 'record-1' }, 0.004],
      ['entity_batch', { dataset: 'tools', ids: ['record-1', 'record-2'] }, 0.008],
      ['dataset_stats', { dataset: 'tools', attribute: 'mass' }, 0.015],
      ['entity_compare', { dataset: 'tools', ids: ['record-1', 'record-2'] }, 0.012],
    ] as const;
    let left = 500;
    for (const [name, args, price] of questions) {
      const quote = await call(
        'quote',
        { operation: name, dataset: 'tools', arguments: args },
        bearer(sold.json['key']),
      );
      expect(quote.json, name).toMatchObject({ price_eur: price, possible: true });
      const answer = await call(name, args, bearer(sold.json['key']));
      left -= price * 1000;
      expect([answer.isError, answer.meta['charge_eur'], answer.meta['balance_eur']], answer.text).toEqual([
        undefined,
        price,
        left / 1000,
      ]);
    }
    expect(await verify(app.state)).toMatchObject(RIGHT);
  });
});
