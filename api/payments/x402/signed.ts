// Parses a signed payment strictly: the schema of @x402/core leaves the signed part open (payments.md 7.8).
import { createHash } from 'node:crypto';
import { parsePaymentPayload } from '@x402/core/schemas';
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types';
import { z } from 'zod';
import { IDENTIFIER, NETWORK } from './terms.ts';

/** A signed transfer. Addresses and nonces in lower case. */
export interface Transfer {
  method: 'eip3009' | 'permit2';
  asset: string;
  from: string;
  to: string;
  /** In the token's smallest unit. */
  amount: bigint;
  /** 32 bytes in hex, or a decimal number for Permit2. */
  nonce: string;
  /** Seconds since 1970: the chain accepts it after `valid_after` and before `valid_before`. */
  valid_after: number;
  valid_before: number;
}

export interface SignedPayment {
  /** Network, method, asset, payer, nonce: the chain accepts this combination once. */
  id: string;
  /** Hash of the signed data and the signature. */
  proof: string;
  /** The client's own name for it (extension payment-identifier), or null. */
  identifier: string | null;
  transfer: Transfer;
  payload: PaymentPayload;
  accepted: PaymentRequirements;
}

/** A rejected payment, with the protocol's error code. */
export class PaymentFault extends Error {
  readonly reason: string;
  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Maximum validity of a signature in seconds: no outcome stays unclear for longer. */
const LONGEST = 3_600;

/** Minimum remaining validity in seconds: about three blocks of Base, as facilitators require. */
const SHORTEST = 6;

const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/);
const decimal = z.string().regex(/^(0|[1-9]\d{0,77})$/);
/** 65 bytes; signatures of contracts are longer. */
const signature = z.string().regex(/^0x([0-9a-fA-F]{2}){65,2048}$/);

const Eip3009 = z.strictObject({
  signature,
  authorization: z.strictObject({
    from: address,
    to: address,
    value: decimal,
    validAfter: decimal,
    validBefore: decimal,
    nonce: z.string().regex(/^0x[0-9a-fA-F]{64}$/),
  }),
});

const Permit2 = z.strictObject({
  signature,
  permit2Authorization: z.strictObject({
    from: address,
    permitted: z.strictObject({ token: address, amount: decimal }),
    spender: address,
    nonce: decimal,
    deadline: decimal,
    witness: z.strictObject({ to: address, validAfter: decimal }),
  }),
});

const Signed = z.union([Eip3009, Permit2]);

const Identified = z.object({ info: z.object({ id: z.string().regex(/^[A-Za-z0-9_-]{16,128}$/) }) });

/** Parses a payment; `now` in milliseconds. Throws PaymentFault. */
export function readPayment(sent: unknown, now: number): SignedPayment {
  const version = (sent as { x402Version?: unknown } | null)?.x402Version;
  if (version !== undefined && version !== 2)
    throw new PaymentFault('invalid_x402_version', 'This service supports x402 version 2.');
  const parsed = parsePaymentPayload(sent);
  if (!parsed.success || parsed.data.x402Version !== 2)
    throw new PaymentFault('invalid_payload', 'The payment is not an x402 v2 PaymentPayload.');
  const payload = parsed.data as PaymentPayload;
  const { accepted } = payload;
  if (accepted.network !== NETWORK)
    throw new PaymentFault('invalid_network', `The network must be ${NETWORK}, which is Base.`);
  const signed = Signed.safeParse(payload.payload);
  if (!signed.success)
    throw new PaymentFault('invalid_payload', 'The signed part of the payment does not match the scheme exact.');
  const transfer = transferOf(signed.data, accepted.asset.toLowerCase());
  if (transfer.valid_before > now / 1000 + LONGEST)
    throw new PaymentFault('invalid_payload', `A payment must expire within ${LONGEST} s.`);
  const { method, asset, from, nonce } = transfer;
  const scope = method === 'eip3009' ? `${method}:${asset}` : method;
  const named = Identified.safeParse(payload.extensions?.[IDENTIFIER]);
  return {
    id: `${NETWORK}:${scope}:${from}:${nonce}`,
    proof: createHash('sha256').update(JSON.stringify(signed.data).toLowerCase()).digest('hex'),
    identifier: named.success ? named.data.info.id : null,
    transfer,
    payload,
    accepted,
  };
}

function transferOf(signed: z.infer<typeof Signed>, asset: string): Transfer {
  if ('authorization' in signed) {
    const { from, to, value, validAfter, validBefore, nonce } = signed.authorization;
    return {
      method: 'eip3009',
      asset,
      from: from.toLowerCase(),
      to: to.toLowerCase(),
      amount: BigInt(value),
      nonce: nonce.toLowerCase(),
      valid_after: Number(validAfter),
      valid_before: Number(validBefore),
    };
  }
  const { from, permitted, nonce, deadline, witness } = signed.permit2Authorization;
  return {
    method: 'permit2',
    asset: permitted.token.toLowerCase(),
    from: from.toLowerCase(),
    to: witness.to.toLowerCase(),
    amount: BigInt(permitted.amount),
    nonce,
    valid_after: Number(witness.validAfter),
    valid_before: Number(deadline),
  };
}

/**
 * Checks that the signed transfer equals the accepted requirements, as the facilitator does too. Throws
 * PaymentFault.
 */
export function checkTransfer({ transfer, accepted }: SignedPayment): void {
  const permit = transfer.method === 'permit2';
  const { extra } = accepted as { extra?: Record<string, unknown> };
  const wanted = extra?.['assetTransferMethod'] === 'permit2';
  const fault = (reason: string, what: string): never => {
    throw new PaymentFault(reason, `The payment was signed for ${what} than the one it accepts.`);
  };
  if (permit !== wanted) fault('unsupported_payload_type', 'another kind of transfer');
  if (transfer.asset !== accepted.asset.toLowerCase()) fault('permit2_token_mismatch', 'another token');
  if (transfer.to !== accepted.payTo.toLowerCase())
    fault(permit ? 'invalid_permit2_recipient_mismatch' : 'invalid_exact_evm_recipient_mismatch', 'another recipient');
  if (transfer.amount !== BigInt(accepted.amount))
    fault(
      permit ? 'permit2_amount_mismatch' : 'invalid_exact_evm_payload_authorization_value_mismatch',
      'another amount',
    );
}

/** The protocol's error codes for a payment that is too early or too late. */
const WINDOW_REASONS = {
  eip3009: {
    early: 'invalid_exact_evm_payload_authorization_valid_after',
    late: 'invalid_exact_evm_payload_authorization_valid_before',
  },
  permit2: { early: 'permit2_not_yet_valid', late: 'permit2_deadline_expired' },
} as const;

/**
 * Checks that a payment can be settled now, before the call to the facilitator. `now` in milliseconds since
 * 1970. Throws PaymentFault. Without this check, a facilitator that ignores these times releases an answer
 * that cannot be settled.
 */
export function checkWindow({ method, valid_after, valid_before }: Transfer, now: number): void {
  const seconds = Math.floor(now / 1000);
  const reasons = WINDOW_REASONS[method];
  if (valid_after > seconds)
    throw new PaymentFault(
      reasons.early,
      `The payment is valid only in ${valid_after - seconds} s; sign one that is valid now.`,
    );
  if (valid_before < seconds + SHORTEST)
    throw new PaymentFault(reasons.late, `The payment must be valid for at least ${SHORTEST} s more; sign a new one.`);
}
