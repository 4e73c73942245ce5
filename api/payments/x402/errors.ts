// The answers of x402 that are no answer: what is wrong with a payment, what is not known yet, what was delivered already.
import { ApiError } from '../../contract/errors.ts';
import { type PricedCall, paymentError, type Quote } from '../payments.ts';
import { NETWORK } from './terms.ts';

/** PAYMENT-RESPONSE: the receipt, as base64 of JSON (x402 specification, HTTP transport). */
export function receiptHeader(receipt: { success: boolean; errorReason?: string; transaction: string; payer: string }) {
  const { success, errorReason, transaction, payer } = receipt;
  const told = { success, ...(errorReason === undefined ? {} : { errorReason }), transaction, network: NETWORK, payer };
  return { 'PAYMENT-RESPONSE': Buffer.from(JSON.stringify(told)).toString('base64') };
}

/** Seconds after which to ask again: two blocks of Base, and some. */
const SOON = 5;

/** This payment will not do, for the protocol's reason; what was asked is told again. `payer` where settling was tried. */
export function paymentInvalid(
  charge: PricedCall,
  quote: Quote,
  reason: string,
  message: string,
  payer?: string,
): ApiError {
  const receipt =
    payer === undefined ? {} : receiptHeader({ success: false, errorReason: reason, transaction: '', payer });
  if (reason === 'permit2_allowance_required') {
    const text =
      'The payer has not allowed Permit2 to move this token: one approve(Permit2) on the chain, then pay again.';
    return paymentError('permit2_allowance_required', text, quote, { reason }, { reason, headers: receipt });
  }
  const text = `${charge.operation} was not paid: ${message} (${reason})`;
  return paymentError('payment_invalid', text, quote, { reason }, { reason, headers: receipt });
}

/** Somebody is at this payment right now. */
export function paymentInProgress(): ApiError {
  return new ApiError('payment_in_progress', 'A call with this payment is still running; repeat it as it is.', {
    retry_after_seconds: 2,
  });
}

/** It is not known whether the money moved. Anything but a 402, on which a client would sign a second payment. */
export function outcomeUnknown(): ApiError {
  const message =
    'It is not clear yet whether this payment went through. It is charged at most once, and its answer is kept.';
  return new ApiError('unavailable', message, {
    retry_after_seconds: SOON,
    alternative_action: 'Repeat the same request with the same payment or Idempotency-Key; do not sign a new payment.',
  });
}

/** The facilitator cannot be asked whether the payment is good; nothing was taken. */
export function facilitatorUnavailable(): ApiError {
  const message = 'The payment cannot be checked right now; nothing was taken.';
  return new ApiError('unavailable', message, { retry_after_seconds: SOON });
}

/** The payment's one answer has gone out. */
export function answerDelivered(): ApiError {
  const message =
    'This payment was settled and its answer was delivered. It comes again only to whoever has its Idempotency-Key or payment-identifier.';
  return new ApiError('payment_already_used', message);
}

/** The payment's answer holds a record that was removed since. */
export function answerRemoved(): ApiError {
  return new ApiError('payment_already_used', 'This payment was settled; its answer is no longer kept.');
}
