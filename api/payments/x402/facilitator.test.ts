// What a facilitator says, reduced to what counts: settled, refused before anything was sent, or unclear.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { type Facilitator, httpFacilitator, plainReason } from './facilitator.ts';

const HASH = `0x${'5A'.repeat(32)}`;
let answer: { status: number; body: string };
const server = createServer((request, response) => {
  request.resume();
  response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(answer.body);
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const facilitator: Facilitator = httpFacilitator(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, {
  verify: 5_000,
  settle: 5_000,
});
afterAll(() => void server.close());

const payload = { x402Version: 2, payload: {}, accepted: {} } as never;
const say = (body: object | string, status = 200) => {
  answer = { status, body: typeof body === 'string' ? body : JSON.stringify(body) };
};
const failed = (errorReason: string, transaction = '') => ({
  success: false,
  errorReason,
  transaction,
  network: 'eip155:8453',
});

test.each<[string, object | string, number, object]>([
  [
    'yes',
    { success: true, transaction: HASH, network: 'eip155:8453' },
    200,
    { outcome: 'settled', hash: HASH.toLowerCase() },
  ],
  [
    'yes without a transaction',
    { success: true, transaction: '', network: 'eip155:8453' },
    200,
    { outcome: 'unclear' },
  ],
  [
    'no funds',
    failed('invalid_exact_evm_insufficient_balance'),
    200,
    { outcome: 'refused', reason: 'invalid_exact_evm_insufficient_balance' },
  ],
  [
    'no funds, in Coinbase’s word',
    failed('insufficient_funds'),
    200,
    { outcome: 'refused', reason: 'insufficient_funds' },
  ],
  ['no, as 400', failed('invalid_permit2_signature'), 400, { outcome: 'refused', reason: 'invalid_permit2_signature' }],
  [
    'no, but with a transaction',
    failed('invalid_exact_evm_insufficient_balance', HASH),
    200,
    { outcome: 'unclear', hash: HASH.toLowerCase() },
  ],
  ['pending', failed('settlement_pending', HASH), 200, { outcome: 'unclear', hash: HASH.toLowerCase() }],
  [
    'failed, nobody knows how',
    failed('invalid_exact_evm_transaction_failed: nonce too low'),
    200,
    { outcome: 'unclear' },
  ],
  ['a used nonce', failed('invalid_exact_evm_nonce_already_used'), 200, { outcome: 'unclear' }],
  ['a used nonce of Permit2', failed('permit2_invalid_nonce'), 200, { outcome: 'unclear' }],
  ['an unknown reason', failed('unexpected_settle_error'), 200, { outcome: 'unclear' }],
  ['500', 'out of order', 500, { outcome: 'unclear' }],
  ['no JSON', '<html>', 200, { outcome: 'unclear' }],
])('settling: %s', async (_name, body, status, outcome) => {
  say(body, status);
  expect(await facilitator.settle(payload, {} as never)).toEqual(outcome);
});

test('verifying: good, not good for a reason, or no answer', async () => {
  say({ isValid: true });
  expect(await facilitator.verify(payload, {} as never)).toBeNull();
  say({ isValid: false, invalidReason: 'invalid_exact_evm_signature' });
  expect(await facilitator.verify(payload, {} as never)).toBe('invalid_exact_evm_signature');
  say({ isValid: false, invalidReason: 'invalid_exact_evm_signature' }, 402);
  expect(await facilitator.verify(payload, {} as never)).toBe('invalid_exact_evm_signature');
  say({ isValid: false });
  expect(await facilitator.verify(payload, {} as never)).toBe('invalid_payload');
  for (const [body, status] of [
    [{ isValid: false, invalidReason: 'unexpected_verify_error' }, 500],
    ['nonsense', 200],
    ['', 404],
  ] as const) {
    say(body, status);
    await expect(facilitator.verify(payload, {} as never)).rejects.toThrow();
  }
});

test('a reason is one word of the protocol, or another one', () => {
  expect(plainReason('permit2_invalid_amount', 'x_y')).toBe('permit2_invalid_amount');
  expect(plainReason('invalid_exact_evm_transaction_failed: {"from":"0xac0974…"}', 'x_y')).toBe(
    'invalid_exact_evm_transaction_failed',
  );
  for (const text of [undefined, '', 'Error: boom', '<script>', 'a'.repeat(200)])
    expect(plainReason(text, 'x_y')).toBe('x_y');
});
