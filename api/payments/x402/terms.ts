// Payment requirements of x402: tokens, amounts, and the extension payment-identifier.
import type { PaymentRequirements } from '@x402/core/types';
import { microUsd } from '../../../packs/define/money.ts';

/** Base, as x402 v2 names a network (CAIP-2); prose says "Base". */
export const NETWORK = 'eip155:8453';

/** Seconds from signing to settlement. */
export const TIMEOUT = 120;

/** Both have six decimals, so an amount is in micro-dollars. */
const TOKENS = {
  // EIP-3009; a client needs name and version, the token's EIP-712 domain, to sign.
  usdc: { asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', extra: { name: 'USD Coin', version: '2' } },
  // Has neither EIP-3009 nor EIP-2612 on Base, so it uses Permit2, which its holder must have approved once.
  usdt: { asset: '0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2', extra: { assetTransferMethod: 'permit2' } },
} as const;
export type Token = keyof typeof TOKENS;

/** The name of a token by its contract, such as `USDC`. */
export function tokenName(asset: string): string {
  const token = Object.entries(TOKENS).find(([, terms]) => terms.asset.toLowerCase() === asset.toLowerCase());
  return token?.[0].toUpperCase() ?? asset;
}

/** The recipient and the accepted tokens. */
export interface PaymentTerms {
  pay_to: string;
  /** In the order of the offer; the reference client takes the first. */
  tokens: readonly Token[];
}

/** Requirements for an amount of micro-euros: one per token, of ceil(micro-EUR × rate) micro-dollars. */
export function requirementsFor(terms: PaymentTerms, micros: number, rate: number): PaymentRequirements[] {
  const amount = String(microUsd(micros, rate));
  return terms.tokens.map((token) => ({
    scheme: 'exact',
    network: NETWORK,
    amount,
    asset: TOKENS[token].asset,
    payTo: terms.pay_to,
    maxTimeoutSeconds: TIMEOUT,
    extra: { ...TOKENS[token].extra },
  }));
}

/** Whether the accepted requirements equal the offered ones in every relevant field. */
export function sameRequirements(offered: PaymentRequirements, accepted: PaymentRequirements): boolean {
  const same = (name: 'scheme' | 'network' | 'amount' | 'maxTimeoutSeconds') => offered[name] === accepted[name];
  const sameAddress = (name: 'asset' | 'payTo') => offered[name].toLowerCase() === accepted[name].toLowerCase();
  return (
    same('scheme') &&
    same('network') &&
    same('amount') &&
    same('maxTimeoutSeconds') &&
    sameAddress('asset') &&
    sameAddress('payTo')
  );
}

export const IDENTIFIER = 'payment-identifier';

/**
 * Extensions of every offer: a client may name its payment, and gets the answer again under that name (x402
 * specification, extension payment-identifier).
 */
export const EXTENSIONS = {
  [IDENTIFIER]: {
    info: { required: false },
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { required: { type: 'boolean' }, id: { type: 'string', minLength: 16, maxLength: 128 } },
      required: ['required'],
    },
  },
};
