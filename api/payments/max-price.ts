// X-Max-Price-EUR: what a caller is willing to pay for a call at most (contract section 3, "Charge").
import { eur } from '../../packs/money.ts';
import { type Caller, isCharged } from '../access/caller.ts';
import { ApiError } from '../contract/errors.ts';
import { type Charge, type Payments, paymentError, told } from './payments.ts';

/** Refuses a call that costs more than the caller allows (402, uncharged), or a limit that is no amount (422). */
export function checkMaxPrice(raw: string | undefined, caller: Caller, charge: Charge, quote: Payments['quote']): void {
  if (raw === undefined) return;
  if (!/^\d{1,9}(\.\d{1,6})?$/.test(raw)) {
    const msg = 'must be an amount in EUR with at most six decimals';
    const issue = { loc: ['header', 'X-Max-Price-EUR'], msg, type: 'decimal_parsing' };
    throw new ApiError('validation_failed', `X-Max-Price-EUR: ${msg}`, { detail: [issue] });
  }
  if (!isCharged(caller) || charge.micros <= Math.round(Number(raw) * 1_000_000)) return;
  const message = `${charge.operation} costs ${told(charge.micros)}, more than the ${raw} EUR that X-Max-Price-EUR allows (max_price_eur of tools and skills).`;
  // It is the limit that refuses: no way to pay gets round it.
  const { extras } = paymentError('payment_required', message, { ...quote(caller, charge), how_to_pay: {} });
  const alternative_action = `Raise the limit to ${eur(charge.micros)} or leave it out.`;
  throw new ApiError('payment_required', message, { ...extras, alternative_action });
}
