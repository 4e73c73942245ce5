// Invalid payments: each is refused with the protocol's reason, nothing is charged and nothing runs
// (payments.md 5).
import { expect, it } from 'vitest';
import { encodePayload, type Twist } from '../../chain/buyer.ts';
import { ADDRESSES, type Role } from '../../chain/chain.ts';
import { verifies } from '../../support/verifies.ts';
import { amountsMoved, callPaid, describeX402, ROLES, SLOW, signedPayment } from '../../support/x402-stage.ts';

const INVALID = '402 payment_invalid';
const soon = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;
const { payer, payerUsdt, payerUsdtUnapproved, poor, stranger } = ROLES;

/** The mistake, the payer, the signature, and the reason. Functions, since times are relative to the test. */
const CASES: [string, Role, () => Twist, string][] = [
  [
    'expired',
    payer,
    () => ({ validBefore: soon(-1) }),
    `${INVALID} invalid_exact_evm_payload_authorization_valid_before`,
  ],
  [
    '3 s left',
    payer,
    () => ({ validBefore: soon(3) }),
    `${INVALID} invalid_exact_evm_payload_authorization_valid_before`,
  ],
  [
    'not yet valid',
    payer,
    () => ({ validAfter: soon(60) }),
    `${INVALID} invalid_exact_evm_payload_authorization_valid_after`,
  ],
  ['good for a week', payer, () => ({ validBefore: soon(604_800) }), `${INVALID} invalid_payload`],
  ['no funds', poor, () => ({}), `${INVALID} invalid_exact_evm_insufficient_balance`],
  ['too little', payer, () => ({ value: '4399' }), `${INVALID} invalid_exact_evm_payload_authorization_value_mismatch`],
  ['too much', payer, () => ({ value: '4401' }), `${INVALID} invalid_exact_evm_payload_authorization_value_mismatch`],
  [
    'another amount accepted',
    payer,
    () => ({ value: '1', accepted: { amount: '1' } }),
    `${INVALID} invalid_payment_requirements`,
  ],
  ['another network accepted', payer, () => ({ accepted: { network: 'eip155:84532' } }), `${INVALID} invalid_network`],
  [
    'the network by its old name',
    payer,
    () => ({ accepted: { network: 'base' as never } }),
    `${INVALID} invalid_payload`,
  ],
  [
    'another recipient accepted',
    payer,
    () => ({ to: stranger.address, accepted: { payTo: stranger.address } }),
    `${INVALID} invalid_payment_requirements`,
  ],
  ['pays someone else', payer, () => ({ to: stranger.address }), `${INVALID} invalid_exact_evm_recipient_mismatch`],
  ['signed for another chain', payer, () => ({ chainId: 84532 }), `${INVALID} invalid_exact_evm_signature`],
  ['signed by another key', payer, () => ({ signer: stranger }), `${INVALID} invalid_exact_evm_signature`],
  ['USDT, no funds', poor, () => ({ token: 'usdt' }), `${INVALID} permit2_insufficient_balance`],
  [
    'USDT, Permit2 not approved',
    payerUsdtUnapproved,
    () => ({ token: 'usdt' }),
    '412 permit2_allowance_required permit2_allowance_required',
  ],
  ['USDT, too little', payerUsdt, () => ({ token: 'usdt', value: '4399' }), `${INVALID} permit2_amount_mismatch`],
  [
    'USDT, wrong spender',
    payerUsdt,
    () => ({ token: 'usdt', spender: stranger.address }),
    `${INVALID} invalid_permit2_spender`,
  ],
  [
    'USDT, wrong token',
    payerUsdt,
    () => ({ token: 'usdt', permitted: ADDRESSES.usdc }),
    `${INVALID} permit2_token_mismatch`,
  ],
  [
    'USDT, pays someone else',
    payerUsdt,
    () => ({ token: 'usdt', to: stranger.address }),
    `${INVALID} invalid_permit2_recipient_mismatch`,
  ],
  [
    'USDT, signed by another key',
    payerUsdt,
    () => ({ token: 'usdt', signer: stranger }),
    `${INVALID} invalid_permit2_signature`,
  ],
  ['USDT, expired', payerUsdt, () => ({ token: 'usdt', validBefore: soon(-1) }), `${INVALID} permit2_deadline_expired`],
];

describeX402('a payment that will not do', {}, (stage) => {
  it.each(CASES)('%s', async (_name, role, twist, told) => {
    verifies('code.payment-invalid', 'code.permit2-allowance-required', 'error.402');
    const token = twist().token ?? 'usdc';
    const amounts = await amountsMoved(
      stage,
      async () => {
        const answer = await callPaid(stage.app, SLOW, await signedPayment(stage.app, SLOW, role, twist()));
        expect(answer.summary).toBe(told);
        expect(answer.body['accepts']).toHaveLength(2);
        expect(answer.headers.get('payment-required')).not.toBeNull();
        expect(answer.headers.get('cache-control')).toBe('no-store');
      },
      role,
      token,
    );
    expect([amounts, stage.runs]).toEqual([{ paid: 0n, got: 0n }, 0]);
    // Nothing of it is stored, and the same payer can pay correctly.
    expect(await stage.app.state.db.selectFrom('payments').select('id').execute()).toEqual([]);
  });

  it.each([
    ['expired 10 s ago', { validBefore: soon(-10) }, 'invalid_exact_evm_payload_authorization_valid_before'],
    ['not valid before 2,000 s', { validAfter: soon(2_000) }, 'invalid_exact_evm_payload_authorization_valid_after'],
  ] as const)('a facilitator that agrees to everything: %s', async (_name, twist, reason) => {
    const { app, facilitator } = stage;
    facilitator.between = async (task, { paymentPayload }) => {
      const payer = (paymentPayload.payload as { authorization: { from: string } }).authorization.from;
      const network = 'eip155:8453';
      return task === 'verify'
        ? { isValid: true, payer }
        : { success: true, payer, network, transaction: `0x${'ab'.repeat(32)}` };
    };
    const before = { ...facilitator.count };
    const { summary: told } = await callPaid(app, SLOW, await signedPayment(app, SLOW, payer, twist));
    expect([told, stage.runs]).toEqual([`${INVALID} ${reason}`, 0]);
    expect(facilitator.count).toEqual(before);
  });

  it('one record paid, three requested', async () => {
    const { app } = stage;
    const batch = '/v1/tools/entities/batch?ids=record-1,record-2,record-3';
    const payment = await signedPayment(app, '/v1/tools/entities/batch?ids=record-1');
    expect((await callPaid(app, batch, payment)).summary).toBe(`${INVALID} invalid_payment_requirements`);
  });

  it.each([
    ['no base64', '%%%'],
    ['base64 of no JSON', Buffer.from('not JSON').toString('base64')],
    ['null', encodePayload(null)],
    ['a list', encodePayload([])],
    ['an empty object', encodePayload({})],
    ['version 1', encodePayload({ x402Version: 1, scheme: 'exact', network: 'base', payload: {} })],
    ['12 kB', encodePayload({ x402Version: 2, junk: 'x'.repeat(12_000) })],
  ])('garbage: %s', async (_name, header) => {
    const { summary: told, body } = await callPaid(stage.app, SLOW, header);
    expect(told).toMatch(/^402 payment_invalid invalid_(payload|x402_version)$/);
    expect([body['accepts'], stage.runs]).toEqual([expect.any(Array), 0]);
  });

  it('errors of the request precede the payment, and charge nothing', async () => {
    verifies('format.key-required');
    const { app, facilitator } = stage;
    const stats = '/v1/tools/stats?attribute=price.list';
    const payment = await signedPayment(app, stats);
    const before = { ...facilitator.count };
    expect((await callPaid(app, '/v1/tools/stats', payment)).summary).toBe('422 validation_failed');
    expect((await callPaid(app, `${stats}&nonsense=1`, payment)).summary).toBe('400 unknown_filter');
    expect((await callPaid(app, '/v1/nowhere/stats', payment)).summary).toBe('404 unknown_dataset');
    expect((await callPaid(app, '/v1/tools/entities/nobody', payment)).summary).toBe('404 unknown_entity');
    expect((await callPaid(app, '/v1/tools/entities?format=csv', payment)).summary).toBe('401 key_required');
    expect((await callPaid(app, '/v1/tools/export', payment)).summary).toBe('403 plan_required');
    expect((await callPaid(app, stats, payment, { 'Idempotency-Key': 'short' })).summary).toBe('422 validation_failed');
    expect((await callPaid(app, stats, payment, { 'X-Max-Price-EUR': '0.001' })).summary).toBe('403 limit_exceeded');
    expect((await callPaid(app, stats, payment, { Authorization: 'Bearer dsr_wrong' })).summary).toBe(
      '401 invalid_key',
    );
    expect(facilitator.count).toEqual(before);
    expect((await callPaid(app, stats, payment)).summary).toBe('200');
  });

  it('a payment does not change free operations', async () => {
    const { app } = stage;
    const payment = await signedPayment(app, SLOW);
    for (const path of ['/v1/tools/examples', '/v1/tools/changelog?limit=3', '/v1/tools/facets?by=maker']) {
      const plain = await app.json(path);
      const paying = await callPaid(app, path, payment);
      expect([paying.body, paying.headers.get('etag')]).toEqual([plain.body, plain.headers.get('etag')]);
      expect(paying.headers.get('payment-response')).toBeNull();
    }
  });

  it('does not reveal the text after the facilitator’s reason', async () => {
    const { app, facilitator } = stage;
    facilitator.between = async (task, _request, work) =>
      task === 'verify'
        ? {
            isValid: false,
            invalidReason: 'invalid_exact_evm_signature: Request body {"secret":1}',
            invalidMessage: 'from 0xf39f',
          }
        : work();
    const { summary: told, body, headers } = await callPaid(app, SLOW, await signedPayment(app, SLOW));
    expect(told).toBe(`${INVALID} invalid_exact_evm_signature`);
    facilitator.plain();
    facilitator.between = async (task, request, work) => {
      if (task === 'verify') return work();
      return {
        success: false,
        errorReason: 'invalid_exact_evm_signature',
        errorMessage: 'key 0xac09',
        transaction: '',
        network: request.paymentRequirements.network,
      };
    };
    const failed = await callPaid(app, SLOW, await signedPayment(app, SLOW));
    expect(failed.summary).toBe(`${INVALID} invalid_exact_evm_signature`);
    const receipt = Buffer.from(failed.headers.get('payment-response') ?? '', 'base64').toString();
    expect(JSON.parse(receipt)).toEqual({
      ...{ success: false, errorReason: 'invalid_exact_evm_signature', transaction: '', network: 'eip155:8453' },
      payer: payer.address.toLowerCase(),
    });
    expect(JSON.stringify([body, [...headers], failed.body])).not.toMatch(/secret|0xf39f|0xac09/);
  });
});
