// Buyers: the stock client of x402, and hand-made payments for tests that need invalid ones.
import { randomBytes } from 'node:crypto';
import type { PaymentPayload, PaymentRequired, PaymentRequirements } from '@x402/core/types';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import type { Hex } from 'viem';
import { ADDRESSES, type Role } from './chain.ts';

type Fetch = typeof globalThis.fetch;

/** The stock client with a wallet. USDT is not enabled by default: the buyer must allow and choose it. */
export function stockBuyer(
  fetch: Fetch,
  role: Role,
  token: 'usdc' | 'usdt' = 'usdc',
): ReturnType<typeof wrapFetchWithPayment> {
  const wanted = ADDRESSES[token].toLowerCase();
  const choose = (_version: number, accepts: PaymentRequirements[]) =>
    accepts.find(({ asset }) => asset.toLowerCase() === wanted) ?? accepts[0]!;
  const client = x402Client.fromConfig({
    schemes: [{ network: 'eip155:8453', client: new ExactEvmScheme(role) }],
    ...(token === 'usdt' ? { paymentRequirementsSelector: choose, spendControls: { allowedAssets: true } } : {}),
  });
  return wrapFetchWithPayment(fetch, client);
}

/** The object in a header of x402. */
export const decoded = (header: string | null): Record<string, unknown> =>
  JSON.parse(Buffer.from(header ?? '', 'base64').toString()) as Record<string, unknown>;

/** A payment in the encoding of PAYMENT-SIGNATURE. */
export const encodePayload = (payment: unknown): string => Buffer.from(JSON.stringify(payment)).toString('base64');

/** Deviations of a hand-made payment from a valid one. */
export interface Twist {
  token?: 'usdc' | 'usdt';
  value?: string;
  to?: string;
  from?: string;
  validAfter?: number;
  validBefore?: number;
  chainId?: number;
  nonce?: string;
  spender?: string;
  permitted?: string;
  /** Signs instead of the payer. */
  signer?: Role;
  accepted?: Partial<PaymentRequirements>;
  extensions?: Record<string, unknown>;
}

/** Signs a payment for the terms of a 402. */
export async function pay(required: PaymentRequired, role: Role, twist: Twist = {}): Promise<PaymentPayload> {
  const token = twist.token ?? 'usdc';
  const asked = required.accepts.find(({ asset }) => asset.toLowerCase() === ADDRESSES[token].toLowerCase());
  if (!asked) throw new Error(`nobody asks for ${token}`);
  const payload = await (token === 'usdc' ? authorization : permit)(asked, role, twist);
  const extensions = twist.extensions ?? undefined;
  return {
    x402Version: 2,
    resource: required.resource,
    accepted: { ...asked, ...twist.accepted },
    payload,
    ...(extensions ? { extensions } : {}),
  };
}

const seconds = () => Math.floor(Date.now() / 1000);

async function authorization(asked: PaymentRequirements, role: Role, twist: Twist) {
  const message = {
    from: twist.from ?? role.address,
    to: twist.to ?? asked.payTo,
    value: twist.value ?? asked.amount,
    validAfter: String(twist.validAfter ?? 0),
    validBefore: String(twist.validBefore ?? seconds() + asked.maxTimeoutSeconds),
    nonce: twist.nonce ?? `0x${randomBytes(32).toString('hex')}`,
  };
  const signature = await (twist.signer ?? role).signTypedData({
    domain: { name: 'USD Coin', version: '2', chainId: twist.chainId ?? 8453, verifyingContract: ADDRESSES.usdc },
    types: {
      TransferWithAuthorization: [
        { name: 'from', type: 'address' },
        { name: 'to', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'validAfter', type: 'uint256' },
        { name: 'validBefore', type: 'uint256' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'TransferWithAuthorization',
    message: {
      ...{ from: message.from as Hex, to: message.to as Hex, nonce: message.nonce as Hex },
      ...{ value: BigInt(message.value), validAfter: BigInt(message.validAfter) },
      validBefore: BigInt(message.validBefore),
    },
  });
  return { signature, authorization: message };
}

async function permit(asked: PaymentRequirements, role: Role, twist: Twist) {
  const message = {
    from: twist.from ?? role.address,
    permitted: { token: twist.permitted ?? asked.asset, amount: twist.value ?? asked.amount },
    spender: twist.spender ?? ADDRESSES.proxy,
    nonce: twist.nonce ?? BigInt(`0x${randomBytes(32).toString('hex')}`).toString(),
    deadline: String(twist.validBefore ?? seconds() + asked.maxTimeoutSeconds),
    witness: { to: twist.to ?? asked.payTo, validAfter: String(twist.validAfter ?? 0) },
  };
  const signature = await (twist.signer ?? role).signTypedData({
    domain: { name: 'Permit2', chainId: twist.chainId ?? 8453, verifyingContract: ADDRESSES.permit2 },
    types: {
      PermitWitnessTransferFrom: [
        { name: 'permitted', type: 'TokenPermissions' },
        { name: 'spender', type: 'address' },
        { name: 'nonce', type: 'uint256' },
        { name: 'deadline', type: 'uint256' },
        { name: 'witness', type: 'Witness' },
      ],
      TokenPermissions: [
        { name: 'token', type: 'address' },
        { name: 'amount', type: 'uint256' },
      ],
      Witness: [
        { name: 'to', type: 'address' },
        { name: 'validAfter', type: 'uint256' },
      ],
    },
    primaryType: 'PermitWitnessTransferFrom',
    message: {
      permitted: { token: message.permitted.token as Hex, amount: BigInt(message.permitted.amount) },
      ...{ spender: message.spender as Hex, nonce: BigInt(message.nonce), deadline: BigInt(message.deadline) },
      witness: { to: message.witness.to as Hex, validAfter: BigInt(message.witness.validAfter) },
    },
  });
  return { signature, permit2Authorization: message };
}
