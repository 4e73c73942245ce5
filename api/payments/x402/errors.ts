// x402 error responses: invalid payment, unknown outcome, answer already delivered.
import { ApiError } from '../../contract/errors.ts';
import type { Price } from '../../contract/pricing.ts';
import { paymentError, type Quote } from '../payments.ts';
import { NETWORK } from './terms.ts';

/** PAYMENT-RESPONSE: the receipt, as base64 of JSON (x402 specification, HTTP transport). */
export function receiptHeader(receipt: {
  success: boolean;
  errorReason?: string;
  transaction: string;
  payer: string;
  extensions?: Record<string, unknown>;
}) {
  const { success, errorReason, transaction, ...others } = receipt;
  const failed = errorReason === undefined ? {} : { errorReason };
  const body = { success, ...failed, transaction, network: NETWORK, ...others };
  return { 'PAYMENT-RESPONSE': Buffer.from(JSON.stringify(body)).toString('base64') };
}

/** Value of `retry_after_seconds`: more than two blocks of Base. */
const SOON = 5;

/** A rejected payment with the protocol's reason and the quote. `payer`: set if settlement was tried. */
export function paymentInvalid(price: Price, quote: Quote, reason: string, message: string, payer?: string): ApiError {
  const receipt =
    payer === undefined ? {} : receiptHeader({ success: false, errorReason: reason, transaction: '', payer });
  if (reason === 'permit2_allowance_required') {
    const text =
      'The payer has not approved Permit2 for this token: send approve(Permit2) on the chain, then pay again.';
    return paymentError('permit2_allowance_required', text, quote, { reason }, { reason, headers: receipt });
  }
  const text = `${price.operation} was not paid: ${message} (${reason})`;
  return paymentError('payment_invalid', text, quote, { reason }, { reason, headers: receipt });
}

/** Another request holds this payment. */
export function paymentInProgress(): ApiError {
  return new ApiError('payment_in_progress', 'A call with this payment is still running; repeat the same request.', {
    retry_after_seconds: 2,
  });
}

/** Unknown whether the money moved. Not a 402, since a client would then sign a second payment. */
export function outcomeUnknown(): ApiError {
  const message = 'The outcome of this payment is not known yet. It is charged at most once, and its answer is stored.';
  return new ApiError('unavailable', message, {
    retry_after_seconds: SOON,
    alternative_action: 'Repeat the same request with the same payment or Idempotency-Key; do not sign a new payment.',
  });
}

/** The facilitator does not respond; nothing was charged. */
export function facilitatorUnavailable(): ApiError {
  const message = 'The payment cannot be verified right now; nothing was charged.';
  return new ApiError('unavailable', message, { retry_after_seconds: SOON });
}

/** The answer of this payment was already delivered. */
export function answerDelivered(): ApiError {
  const message =
    'This payment was settled and its answer was delivered. Only its Idempotency-Key or payment-identifier gets the answer again.';
  return new ApiError('payment_already_used', message);
}

/** The stored answer was deleted, since it contained a record that was removed later. */
export function answerRemoved(): ApiError {
  return new ApiError('payment_already_used', 'This payment was settled; its answer is no longer stored.');
}
