// Payments are read strictly: whatever is not exactly one is refused, and nothing makes the reader fail
// otherwise.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkTransfer, checkWindow, PaymentFault, readPayment } from './signed.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const soon = String(NOW / 1000 + 120);
const [FROM, TO, ASSET] = ['a', 'b', 'c'].map((digit) => `0x${digit.repeat(40)}`) as [string, string, string];
const accepted = {
  ...{ scheme: 'exact', network: 'eip155:8453', amount: '4400', asset: ASSET, payTo: TO, maxTimeoutSeconds: 120 },
  extra: { name: 'USD Coin', version: '2' },
};
const authorization = {
  from: FROM,
  to: TO,
  value: '4400',
  validAfter: '0',
  validBefore: soon,
  nonce: `0x${'0d'.repeat(32)}`,
};
const signature = `0x${'ab'.repeat(65)}`;
const good = { x402Version: 2, accepted, payload: { signature, authorization } };
const permit = {
  ...good,
  accepted: { ...accepted, extra: { assetTransferMethod: 'permit2' } },
  payload: {
    signature,
    permit2Authorization: {
      from: FROM,
      permitted: { token: ASSET, amount: '4400' },
      spender: TO,
      nonce: '17',
      deadline: soon,
      witness: { to: TO, validAfter: '0' },
    },
  },
};

const reason = (sent: unknown): string => {
  try {
    const payment = readPayment(sent, NOW);
    checkTransfer(payment);
    checkWindow(payment.transfer, NOW);
    return 'good';
  } catch (error) {
    if (error instanceof PaymentFault) return error.reason;
    throw error;
  }
};

test('a good payment is known by what the chain lets through once, however it is written', () => {
  const { id, proof, transfer, identifier } = readPayment(good, NOW);
  expect(id).toBe(`eip155:8453:eip3009:${ASSET}:${FROM}:${authorization.nonce}`);
  expect([transfer.amount, transfer.valid_before, identifier]).toEqual([4400n, Number(soon), null]);
  const loud = { ...authorization, from: `0x${'A'.repeat(40)}`, nonce: `0x${'0D'.repeat(32)}` };
  const same = readPayment({ ...good, payload: { signature: signature.replace(/b/g, 'B'), authorization: loud } }, NOW);
  expect([same.id, same.proof]).toEqual([id, proof]);
  expect(readPayment(permit, NOW).id).toBe(`eip155:8453:permit2:${FROM}:17`);
  expect([reason(good), reason(permit)]).toEqual(['good', 'good']);
});

const authorized = (change: object) => ({
  ...good,
  payload: { signature, authorization: { ...authorization, ...change } },
});

const permitted = (change: object) => ({
  ...permit,
  payload: { signature, permit2Authorization: { ...permit.payload.permit2Authorization, ...change } },
});
const inSeconds = (seconds: number) => String(NOW / 1000 + seconds);

test.each<[string, unknown, string]>([
  ['no signature', { ...good, payload: { authorization } }, 'invalid_payload'],
  ['a short signature', { ...good, payload: { signature: '0xabcd', authorization } }, 'invalid_payload'],
  [
    'a signature that is no hex',
    { ...good, payload: { signature: `0x${'zz'.repeat(65)}`, authorization } },
    'invalid_payload',
  ],
  [
    'a signature that is very long',
    { ...good, payload: { signature: `0x${'ab'.repeat(4_000)}`, authorization } },
    'invalid_payload',
  ],
  ['something besides', { ...good, payload: { signature, authorization, more: 1 } }, 'invalid_payload'],
  ['both kinds', { ...good, payload: { ...good.payload, ...permit.payload } }, 'invalid_payload'],
  ['a number for a value', authorized({ value: 4400 }), 'invalid_payload'],
  ['a value in hex', authorized({ value: '0x1130' }), 'invalid_payload'],
  ['a negative value', authorized({ value: '-1' }), 'invalid_payload'],
  ['a leading zero', authorized({ value: '04400' }), 'invalid_payload'],
  ['a fraction', authorized({ value: '4400.0' }), 'invalid_payload'],
  ['a short nonce', authorized({ nonce: '0x0d' }), 'invalid_payload'],
  ['an address by name', authorized({ to: 'register.eth' }), 'invalid_payload'],
  ['good for ever', authorized({ validBefore: '9'.repeat(78) }), 'invalid_payload'],
  ['expired', authorized({ validBefore: inSeconds(-10) }), 'invalid_exact_evm_payload_authorization_valid_before'],
  ['5 s left', authorized({ validBefore: inSeconds(5) }), 'invalid_exact_evm_payload_authorization_valid_before'],
  ['6 s left', authorized({ validBefore: inSeconds(6) }), 'good'],
  ['valid from now', authorized({ validAfter: inSeconds(0) }), 'good'],
  ['not yet valid', authorized({ validAfter: inSeconds(1) }), 'invalid_exact_evm_payload_authorization_valid_after'],
  ['Permit2, expired', permitted({ deadline: inSeconds(-10) }), 'permit2_deadline_expired'],
  ['Permit2, not yet valid', permitted({ witness: { to: TO, validAfter: inSeconds(9_999) } }), 'permit2_not_yet_valid'],
  ['another asset in Permit2', { ...permit, accepted: { ...permit.accepted, asset: FROM } }, 'permit2_token_mismatch'],
  ['Permit2 where EIP-3009 is accepted', { ...permit, accepted }, 'unsupported_payload_type'],
  ['EIP-3009 where Permit2 is accepted', { ...good, accepted: permit.accepted }, 'unsupported_payload_type'],
  ['another recipient', authorized({ to: FROM }), 'invalid_exact_evm_recipient_mismatch'],
  ['version 3', { ...good, x402Version: 3 }, 'invalid_x402_version'],
  ['no network', { ...good, accepted: { ...accepted, network: undefined } }, 'invalid_payload'],
])('%s is refused', (_name, sent, told) => {
  expect(reason(sent)).toBe(told);
});

test('nothing that can be sent makes it fail otherwise', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom('accepted', 'payload', 'extensions', 'resource'), (value, member) => {
      reason(value);
      reason({ ...good, [member]: value });
      reason({ ...good, payload: { signature, authorization: { ...authorization, nonce: value } } });
    }),
    { numRuns: 300 },
  );
});
