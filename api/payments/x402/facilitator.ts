// The facilitator over HTTP: verifies payments and submits them to the chain (x402 specification, section 7).
import { HTTPFacilitatorClient } from '@x402/core/http';
import { type PaymentPayload, type PaymentRequirements, SettleError, VerifyError } from '@x402/core/types';

/**
 * `settled`: the transfer is on the chain. `refused`: not submitted. `unclear`: only the chain has the
 * result.
 */
export type Settlement =
  | { outcome: 'settled'; hash: string }
  | { outcome: 'refused'; reason: string }
  | { outcome: 'unclear'; hash?: string };

export interface Facilitator {
  /** Null for a valid payment, else the protocol's reason. Throws if the facilitator does not respond. */
  verify(payload: PaymentPayload, requirements: PaymentRequirements): Promise<string | null>;
  /** Never throws: anything but a clear result is `unclear`. */
  settle(payload: PaymentPayload, requirements: PaymentRequirements): Promise<Settlement>;
}

/** Timeouts in milliseconds. A settlement takes one or two blocks, and its confirmation the same again. */
export interface FacilitatorTimeouts {
  verify: number;
  settle: number;
}
const PATIENCE: FacilitatorTimeouts = { verify: 10_000, settle: 45_000 };

/**
 * Reasons that mean nothing was submitted. A failed transaction was submitted, a used nonce may be our own
 * transfer, and an unknown reason may be either.
 */
const BEFORE_SENDING =
  /^(insufficient_funds|invalid_exact_evm_(?!transaction_failed|nonce)\w+|(invalid_)?permit2_(?!invalid_nonce)\w+|invalid_payload\w*|unsupported_\w+)$/;

/**
 * The code of a reason, without the library's text behind it, which contains the facilitator's arguments and
 * URLs.
 */
export function plainReason(reason: string | undefined, otherwise: string): string {
  const [word = ''] = (reason ?? '').split(/[:\s]/, 1);
  return /^[a-z][a-z0-9_]{2,80}$/.test(word) ? word : otherwise;
}

/** The client of a facilitator. */
export function httpFacilitator(url: string, patience: FacilitatorTimeouts = PATIENCE): Facilitator {
  const verifier = new HTTPFacilitatorClient({ url, timeoutMs: patience.verify });
  const settler = new HTTPFacilitatorClient({ url, timeoutMs: patience.settle });
  return {
    async verify(payload, requirements) {
      try {
        const { isValid, invalidReason } = await verifier.verify(payload, requirements);
        return isValid ? null : plainReason(invalidReason, 'invalid_payload');
      } catch (error) {
        // Some facilitators send 4xx with the same body where others send 200.
        if (error instanceof VerifyError && error.statusCode < 500 && error.invalidReason !== undefined)
          return plainReason(error.invalidReason, 'invalid_payload');
        throw error;
      }
    },
    async settle(payload, requirements) {
      const response = await settler.settle(payload, requirements).catch((error: unknown) => error);
      if (response instanceof SettleError) return outcomeOf(false, response.transaction, response.errorReason);
      if (response instanceof Error || typeof response !== 'object' || response === null) return { outcome: 'unclear' };
      const { success, transaction, errorReason } = response as Awaited<ReturnType<typeof settler.settle>>;
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
