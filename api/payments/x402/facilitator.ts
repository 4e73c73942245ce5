// The facilitator over HTTP: who checks a payment and brings it onto the chain for us (x402 specification, section 7).
import { HTTPFacilitatorClient } from '@x402/core/http';
import { type PaymentPayload, type PaymentRequirements, SettleError, VerifyError } from '@x402/core/types';

/** `settled`: the transfer is on the chain. `refused`: it was not sent. `unclear`: only the chain knows. */
export type Settlement =
  | { outcome: 'settled'; hash: string }
  | { outcome: 'refused'; reason: string }
  | { outcome: 'unclear'; hash?: string };

export interface Facilitator {
  /** Null when the payment is good, else the protocol's reason. Throws when the facilitator does not answer. */
  verify(payload: PaymentPayload, requirements: PaymentRequirements): Promise<string | null>;
  /** Never throws: what is not a plain yes or no is unclear. */
  settle(payload: PaymentPayload, requirements: PaymentRequirements): Promise<Settlement>;
}

/** How long an answer is waited for, in milliseconds. A settlement takes a block or two, and its confirmation is waited for twice. */
export interface FacilitatorTimeouts {
  verify: number;
  settle: number;
}
const PATIENCE: FacilitatorTimeouts = { verify: 10_000, settle: 45_000 };

/**
 * Reasons that are given before anything is sent. A failed transaction was sent, a used nonce may be our own transfer, and what
 * is not known here may be either.
 */
const BEFORE_SENDING =
  /^(insufficient_funds|invalid_exact_evm_(?!transaction_failed|nonce)\w+|(invalid_)?permit2_(?!invalid_nonce)\w+|invalid_payload\w*|unsupported_\w+)$/;

/** A reason without what libraries write behind it: their texts name arguments and addresses of the facilitator. */
export function plainReason(reason: string | undefined, otherwise: string): string {
  const [word = ''] = (reason ?? '').split(/[:\s]/, 1);
  return /^[a-z][a-z0-9_]{2,80}$/.test(word) ? word : otherwise;
}

/** A facilitator that others run, at its address. */
export function httpFacilitator(url: string, patience: FacilitatorTimeouts = PATIENCE): Facilitator {
  const verifier = new HTTPFacilitatorClient({ url, timeoutMs: patience.verify });
  const settler = new HTTPFacilitatorClient({ url, timeoutMs: patience.settle });
  return {
    async verify(payload, requirements) {
      try {
        const { isValid, invalidReason } = await verifier.verify(payload, requirements);
        return isValid ? null : plainReason(invalidReason, 'invalid_payload');
      } catch (error) {
        // Some answer 4xx with the same body where others answer 200.
        if (error instanceof VerifyError && error.statusCode < 500 && error.invalidReason !== undefined)
          return plainReason(error.invalidReason, 'invalid_payload');
        throw error;
      }
    },
    async settle(payload, requirements) {
      const told = await settler.settle(payload, requirements).catch((error: unknown) => error);
      if (told instanceof SettleError) return outcomeOf(false, told.transaction, told.errorReason);
      if (told instanceof Error || typeof told !== 'object' || told === null) return { outcome: 'unclear' };
      const { success, transaction, errorReason } = told as Awaited<ReturnType<typeof settler.settle>>;
      return outcomeOf(success, transaction, errorReason);
    },
  };
}

function outcomeOf(success: boolean, transaction: string | undefined, reason: string | undefined): Settlement {
  const hash = /^0x[0-9a-fA-F]{64}$/.test(transaction ?? '') ? transaction!.toLowerCase() : null;
  if (hash !== null) return success ? { outcome: 'settled', hash } : { outcome: 'unclear', hash };
  const plain = plainReason(reason, '');
  return !success && BEFORE_SENDING.test(plain) ? { outcome: 'refused', reason: plain } : { outcome: 'unclear' };
}
