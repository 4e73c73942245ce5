// Payments with an unknown outcome: no 402, no second charge, and the chain decides (payments.md 7.4).
import { randomUUID } from 'node:crypto';
import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import { expect, it } from 'vitest';
import { verify } from '../../../data/state/money/ledger.ts';
import { ADDRESSES } from '../../chain/chain.ts';
import { verifies } from '../../support/verifies.ts';
import {
  amountsMoved,
  callPaid,
  describeX402,
  HASTY,
  PRICE,
  ROLES,
  SLOW,
  signedPayment,
  type X402Stage,
} from '../../support/x402-stage.ts';

const ONE = { paid: PRICE, got: PRICE };
const NOTHING = { paid: 0n, got: 0n };
const UNCLEAR = '503 unavailable';

const AUTHORIZED = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
]);

/** The payer broadcasts their own authorization. */
async function broadcast({ chain }: X402Stage, payload: Record<string, unknown>): Promise<void> {
  const { authorization: a, signature } = payload as { authorization: Record<string, string>; signature: Hex };
  const args = [
    a['from'],
    a['to'],
    BigInt(a['value']!),
    BigInt(a['validAfter']!),
    BigInt(a['validBefore']!),
    a['nonce'],
    signature,
  ];
  const data = encodeFunctionData({ abi: AUTHORIZED, functionName: 'transferWithAuthorization', args: args as never });
  const hash = await chain.wallet(ROLES.stranger).sendTransaction({ to: ADDRESSES.usdc, data });
  await chain.reader.waitForTransactionReceipt({ hash });
}

/** The payer revokes it. */
async function cancel({ chain }: X402Stage, payload: Record<string, unknown>): Promise<void> {
  const { authorization } = payload as { authorization: { nonce: Hex } };
  const signature = await ROLES.payer.signTypedData({
    domain: { name: 'USD Coin', version: '2', chainId: 8453, verifyingContract: ADDRESSES.usdc },
    types: {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'CancelAuthorization',
    message: { authorizer: ROLES.payer.address, nonce: authorization.nonce },
  });
  const [r, s, v] = [signature.slice(0, 66), `0x${signature.slice(66, 130)}`, Number(`0x${signature.slice(130)}`)];
  const args = [ROLES.payer.address, authorization.nonce, v, r, s];
  const data = encodeFunctionData({ abi: AUTHORIZED, functionName: 'cancelAuthorization', args: args as never });
  const hash = await chain.wallet(ROLES.stranger).sendTransaction({ to: ADDRESSES.usdc, data });
  await chain.reader.waitForTransactionReceipt({ hash });
}

/** Cuts the connection after the last waiting client. */
async function late(patience: number): Promise<null> {
  await new Promise((resolve) => setTimeout(resolve, patience + 200));
  return null;
}

describeX402(
  'an outcome that is not known',
  {},
  (stage) => {
    it.each([
      ['USDC', 'usdc', ROLES.payer],
      ['USDT', 'usdt', ROLES.payerUsdt],
    ] as const)('%s, sent but not mined in time: 503, 503, then the answer, once', async (_name, token, role) => {
      verifies('x402.unclear');
      const { app, other, chain } = stage;
      const payment = await signedPayment(app, SLOW, role, { token });
      const amounts = await amountsMoved(
        stage,
        async () => {
          await chain.node.setAutomine(false);
          try {
            for (const at of [app, other]) {
              const waiting = await callPaid(at, SLOW, payment);
              expect([waiting.summary, waiting.headers.get('retry-after'), waiting.body['is_retriable']]).toEqual([
                UNCLEAR,
                '5',
                true,
              ]);
              expect(waiting.headers.get('payment-required')).toBeNull();
              expect(waiting.body['alternative_action']).toMatch(/do not sign a new payment/);
            }
          } finally {
            await chain.node.setAutomine(true);
            await chain.node.mine({ blocks: 1 });
          }
          expect((await callPaid(other, SLOW, payment)).body).toMatchObject({ n: 1 });
          expect((await callPaid(app, SLOW, payment)).summary).toBe('409 payment_already_used');
        },
        role,
        token,
      );
      expect([amounts, stage.runs]).toEqual([ONE, 1]);
    });

    it('an unpaid repeat with its Idempotency-Key waits too, and then gets the answer', async () => {
      const { app, chain } = stage;
      const once = { 'Idempotency-Key': randomUUID() };
      const payment = await signedPayment(app, SLOW);
      const amounts = await amountsMoved(stage, async () => {
        await chain.node.setAutomine(false);
        expect((await callPaid(app, SLOW, payment, once)).summary).toBe(UNCLEAR);
        expect((await callPaid(app, SLOW, undefined, once)).summary).toBe(UNCLEAR);
        expect((await callPaid(app, SLOW, await signedPayment(app, SLOW), once)).summary).toBe(UNCLEAR);
        await chain.node.setAutomine(true);
        await chain.node.mine({ blocks: 1 });
        expect((await callPaid(app, SLOW, undefined, once)).body).toMatchObject({ n: 1 });
      });
      expect([amounts, stage.runs]).toEqual([ONE, 1]);
    });

    it.each<[string, () => Promise<object | null>]>([
      ['cuts the connection', async () => null],
      ['answers 500', () => Promise.reject(new Error('out of order'))],
      ['answers nonsense', async () => ({ nonsense: true })],
      ['says yes without a transaction', async () => ({ success: true, transaction: '', network: 'eip155:8453' })],
      [
        'gives a reason nobody knows',
        async () => ({
          success: false,
          errorReason: 'unexpected_settle_error',
          transaction: '',
          network: 'eip155:8453',
        }),
      ],
      [
        'says that a nonce is used',
        async () => ({
          success: false,
          errorReason: 'invalid_exact_evm_nonce_already_used',
          transaction: '',
          network: 'eip155:8453',
        }),
      ],
      ['does not answer in time', () => late(HASTY.settle)],
    ])('a facilitator that %s, with nothing sent: 503, and the repeat settles', async (_name, answer) => {
      verifies('x402.unclear');
      const { app, facilitator } = stage;
      const payment = await signedPayment(app, SLOW);
      const amounts = await amountsMoved(stage, async () => {
        facilitator.between = async (task, _request, work) => (task === 'settle' ? answer() : work());
        expect((await callPaid(app, SLOW, payment)).summary).toBe(UNCLEAR);
        facilitator.plain();
        expect((await callPaid(app, SLOW, payment)).body).toMatchObject({ n: 1 });
      });
      expect([amounts, stage.runs]).toEqual([ONE, 1]);
    });

    it.each([
      ['cuts the connection', null],
      [
        'says that it failed',
        {
          success: false,
          errorReason: 'invalid_exact_evm_transaction_failed',
          transaction: '',
          network: 'eip155:8453',
        },
      ],
      [
        'says that the nonce is used',
        {
          success: false,
          errorReason: 'invalid_exact_evm_nonce_already_used',
          transaction: '',
          network: 'eip155:8453',
        },
      ],
    ] as const)('a facilitator that settles and then %s: the chain says that it is paid', async (_name, answer) => {
      const { app, facilitator } = stage;
      const payment = await signedPayment(app, SLOW);
      facilitator.between = async (task, _request, work) => {
        const done = await work();
        return task === 'settle' ? answer : done;
      };
      const amounts = await amountsMoved(stage, async () => {
        const answered = await callPaid(app, SLOW, payment);
        expect([answered.summary, answered.headers.get('payment-response')]).toEqual(['200', expect.any(String)]);
      });
      expect([amounts, stage.runs]).toEqual([ONE, 1]);
    });

    it.each<[string, () => Promise<object | null>]>([
      ['is down', async () => null],
      ['does not answer in time', () => late(HASTY.verify)],
    ])(
      'a facilitator that %s when it should verify: 503, nothing ran, and the payment is as good as new',
      async (_name, answer) => {
        const { app, facilitator } = stage;
        const payment = await signedPayment(app, SLOW);
        facilitator.between = async (task, _request, work) => (task === 'verify' ? answer() : work());
        const failed = await callPaid(app, SLOW, payment);
        expect([failed.summary, failed.headers.get('retry-after'), stage.runs]).toEqual([UNCLEAR, '5', 0]);
        facilitator.plain();
        expect((await callPaid(app, SLOW, payment)).summary).toBe('200');
      },
    );

    it('the payer spends everything in between: the answer is withheld, and another payment buys it', async () => {
      verifies('x402.after-answer');
      const { app, chain } = stage;
      const once = { 'Idempotency-Key': randomUUID() };
      await chain.mint('usdc', ROLES.poor, PRICE);
      const payment = await signedPayment(app, SLOW, ROLES.poor);
      stage.during = () => chain.write(ROLES.poor, 'usdc', 'transfer', ROLES.stranger.address, PRICE);
      await chain.node.setBalance({ address: ROLES.poor.address, value: 10n ** 18n });
      const refused = await callPaid(app, SLOW, payment, once);
      expect([refused.summary, refused.body['n']]).toEqual([
        '402 payment_invalid invalid_exact_evm_insufficient_balance',
        undefined,
      ]);
      stage.during = async () => {};
      expect((await callPaid(app, SLOW, await signedPayment(app, SLOW), once)).body).toMatchObject({ n: 2 });
      // The first payment does not run again. Its refusal is final until the payer can pay.
      const repeated = await callPaid(app, SLOW, payment);
      expect([repeated.summary, repeated.body['is_retriable']]).toEqual([refused.summary, false]);
      const receipt = Buffer.from(repeated.headers.get('payment-response') ?? '', 'base64').toString();
      expect(JSON.parse(receipt)).toMatchObject({ success: false, transaction: '' });
      await chain.mint('usdc', ROLES.poor, PRICE);
      expect((await callPaid(app, SLOW, payment)).body).toMatchObject({ n: 1 });
      expect((await callPaid(app, SLOW, payment)).summary).toBe('409 payment_already_used');
      expect(stage.runs).toBe(2);
    });

    it('the payer revokes it in between: 402 immediately, by the chain', async () => {
      const { app } = stage;
      const payment = await signedPayment(app, SLOW);
      stage.during = () => cancel(stage, payment.payload);
      const amounts = await amountsMoved(stage, async () => {
        expect((await callPaid(app, SLOW, payment)).summary).toBe('402 payment_invalid payment_revoked');
      });
      expect([amounts, stage.runs]).toEqual([NOTHING, 1]);
    });

    it('the payer broadcasts it in between: it is paid, once', async () => {
      const { app } = stage;
      const payment = await signedPayment(app, SLOW);
      stage.during = () => broadcast(stage, payment.payload);
      const amounts = await amountsMoved(stage, async () => {
        expect((await callPaid(app, SLOW, payment)).summary).toBe('200');
      });
      expect([amounts, stage.runs]).toEqual([ONE, 1]);
    });

    it('the payer spends the nonce on another recipient in between: the answer is withheld', async () => {
      const { app } = stage;
      const nonce = `0x${randomUUID().replaceAll('-', '').repeat(2)}`;
      const payment = await signedPayment(app, SLOW, ROLES.payer, { nonce });
      const other = await signedPayment(app, SLOW, ROLES.payer, { nonce, to: ROLES.stranger.address });
      stage.during = () => broadcast(stage, other.payload);
      const amounts = await amountsMoved(stage, async () => {
        expect((await callPaid(app, SLOW, payment)).summary).toBe('402 payment_invalid payment_spent_elsewhere');
      });
      expect([amounts.got, stage.runs]).toEqual([0n, 1]);
    });

    it('without a repeat: the sweep finds paid calls, keeps their answers for the client, and drops expired ones', async () => {
      const { app, chain, facilitator } = stage;
      const paid = await signedPayment(app, SLOW);
      const never = await signedPayment(app, `${SLOW}?never=1`);
      await chain.node.setAutomine(false);
      expect((await callPaid(app, SLOW, paid)).summary).toBe(UNCLEAR);
      await chain.node.setAutomine(true);
      await chain.node.mine({ blocks: 1 });
      facilitator.between = async (task, _request, work) => (task === 'settle' ? null : work());
      expect((await callPaid(app, `${SLOW}?never=1`, never)).summary).toBe(UNCLEAR);
      const settles = facilitator.count.settle;
      const states = async () =>
        (
          await app.state.db
            .selectFrom('payments')
            .select('state')
            .where('created_at', '>', Date.now() - 20_000)
            .where('state', '<>', 'settled')
            .execute()
        ).length;
      stage.later = 60_000;
      await app.sweepPayments();
      const open = await states();
      expect(facilitator.count.settle, 'the sweep settles nothing').toBe(settles);
      expect(await verify(app.state)).toMatchObject({ sum: 0, unbalanced: [], wrong: [] });
      stage.later = 0;
      expect((await callPaid(app, SLOW, paid)).body).toMatchObject({ n: 1 });
      // The chain's clock passes the end of the other payment: it can never be settled.
      const snapshot = await chain.node.snapshot();
      await chain.node.increaseTime({ seconds: 3_000 });
      await chain.node.mine({ blocks: 1 });
      stage.later = 3_600_000 * 2;
      await app.sweepPayments();
      expect(await states()).toBeLessThan(open);
      await chain.node.revert({ id: snapshot });
    });

    it('while the node of the chain does not answer either, the outcome stays unknown', async () => {
      const { app, facilitator, node } = stage;
      const [paid, lost] = [await signedPayment(app, SLOW), await signedPayment(app, `${SLOW}?lost=1`)];
      const amounts = await amountsMoved(stage, async () => {
        facilitator.between = async (task, _request, work) => {
          const done = await work();
          return task === 'settle' ? null : done;
        };
        node.down = true;
        for (let i = 0; i < 2; i++) expect((await callPaid(app, SLOW, paid)).summary).toBe(UNCLEAR);
        facilitator.between = async (task, _request, work) => (task === 'settle' ? null : work());
        expect((await callPaid(app, `${SLOW}?lost=1`, lost)).summary).toBe(UNCLEAR);
        stage.later = 3_600_000;
        await app.sweepPayments();
        node.down = false;
        facilitator.plain();
        expect((await callPaid(app, SLOW, paid)).body).toMatchObject({ n: 1 });
        expect((await callPaid(app, `${SLOW}?lost=1`, lost)).body).toMatchObject({ n: 2 });
      });
      expect([amounts, stage.runs]).toEqual([{ paid: 2n * PRICE, got: 2n * PRICE }, 2]);
    });

    it('leaves correct books and no internal error', async () => {
      const { app, other } = stage;
      expect(await verify(app.state)).toMatchObject({ sum: 0, unbalanced: [], wrong: [] });
      expect([app.faults, other.faults, app.lent(), other.lent()]).toEqual([[], [], 0, 0]);
    });
  },
  HASTY,
);
