// How a call is paid: quote, reserve, commit or release. One port, so that x402 takes its place beside credits unnoticed.
import { eur, usd } from '../../packs/define/money.ts';
import { type Caller, paysForCalls } from '../access/caller.ts';
import { ApiError, type ErrorCode, KEY_BODY, makesKey } from '../contract/errors.ts';
import type { CallPrice } from '../contract/pricing.ts';
import type { AnswerHead, SerializedAnswer } from './idempotency.ts';

/** What a call costs and what for. */
export interface PricedCall {
  operation: string;
  dataset: string;
  /** Micro-euros. */
  micros: number;
  /** What the pack asks for one, by which of its prices, and how many of them this call is. */
  price: Pick<CallPrice, 'of' | 'micros' | 'times'>;
  /** The thing to pay for, as x402 names it; its URL bears no credential. */
  resource: { url: string; description: string; mimeType: string };
  request_id: string;
}

/** What a client of x402 brings along with a call. */
export interface X402Attachment {
  /** The PaymentPayload as it came; undefined: none, but an earlier one may be kept under `secret`. */
  payment: unknown;
  /** Stands for an Idempotency-Key that only this caller has; null without one. */
  secret: string | null;
  /** The Idempotency-Key as sent; null without one. */
  name: string | null;
  /** Whose answer it is: the id of an API key, or `anonymous`. */
  owner: string;
  /** What makes two calls the same. */
  request: string;
  /** Tells whether the client is still there. */
  signal: AbortSignal;
}

/** An answer that was written down earlier. */
export interface EarlierAnswer {
  head: AnswerHead;
  text: string;
  written: SerializedAnswer;
}

/** Money put aside for a call that is running. Exactly one of the two ends it. */
export interface Reservation {
  /** The answer is there already; the call must not run again. */
  stored?: EarlierAnswer;
  /** `commit` needs the answer written down. */
  writes?: true;
  /**
   * Takes the money, and keeps the answer it pays for where an Idempotency-Key asks for that; answers headers such as
   * `X-Charge-EUR`. A thrown error withholds the answer.
   */
  commit(kept?: SerializedAnswer): Promise<Record<string, string>>;
  release(): Promise<void>;
}

/** Where a way to pay begins; where it begins with a call, what to send. */
interface Way {
  url: string;
  method?: 'POST';
  /** An example. */
  body?: Record<string, unknown>;
}

/** The members that a 402 carries beside the error body (contract section 4). */
export interface Quote {
  price_eur: number;
  price_usd: number;
  how_to_pay: Record<string, Way>;
  x402Version: 2;
  resource: PricedCall['resource'];
  /** PaymentRequirements of x402; empty where it is not offered. */
  accepts: unknown[];
  extensions?: Record<string, unknown>;
}

export interface Payments {
  /** What this call costs this caller and the ways to pay that are open to them. */
  quote(caller: Caller, charge: PricedCall): Quote;
  /** Throws the 402 of a caller who cannot pay the price now; nothing is put aside. Absent: everybody can. */
  afford?: (caller: Caller, charge: PricedCall) => Promise<void>;
  /** Puts the price aside, or throws the 402 that says how to pay. */
  reserve(caller: Caller, charge: PricedCall, attached: X402Attachment | null): Promise<Reservation>;
  /** Whether a payment is kept under this secret; absent where x402 is not offered. */
  waiting?: (secret: string) => Promise<boolean>;
}

/** What is left where nothing can be bought. */
export const NO_CHECKOUT = 'This service has no checkout; ask its operator for credit.';
const NOT_OFFERED = 'Pay-per-call with x402 is not offered by this service.';

/**
 * A 402 with its quote, and the quote as x402 v2 carries it in PAYMENT-REQUIRED: standard base64 of JSON (payments.md 3).
 * `more` is for x402: its own word for what was wrong with a payment, and further headers.
 */
export function paymentError(
  code: ErrorCode,
  message: string,
  quote: Quote,
  detail?: unknown,
  more: { reason?: string; headers?: Record<string, string> } = {},
): ApiError {
  const { x402Version, resource, accepts, extensions } = quote;
  const error = accepts.length === 0 ? NOT_OFFERED : (more.reason ?? message);
  const required = { x402Version, error, resource, accepts, ...(extensions ? { extensions } : {}) };
  return new ApiError(code, message, {
    ...(detail === undefined ? {} : { detail }),
    way: WAYS_ON.includes(code) ? wayOn(quote.how_to_pay) : '',
    members: { ...quote },
    headers: { ...more.headers, 'PAYMENT-REQUIRED': Buffer.from(JSON.stringify(required)).toString('base64') },
  });
}

/** Refusals after which a way to pay is the way on; what is wrong with a payment is told in other words. */
const WAYS_ON: readonly ErrorCode[] = ['payment_required', 'quota_exceeded', 'insufficient_credits'];

/** What to do next, in one sentence: the first of the ways that are open. */
function wayOn({ api_key, topup, oauth, x402 }: Quote['how_to_pay']): string {
  if (api_key) return makesKey(api_key.url);
  if (topup) return `POST ${topup.url} with ${JSON.stringify(topup.body)} and your key answers a link to a checkout.`;
  if (oauth) return 'The person who connected this client can top up their key, or connect it again and allow more.';
  return x402 ? `Pay for this call as ${x402.url} has it.` : NO_CHECKOUT;
}

/** A euro amount in a message: `0.004 EUR`. */
export function formatEurAmount(micros: number): string {
  return `${eur(micros)} EUR`;
}

/** The ways open to a caller: who has no key makes one or is let in with one, who has one tops it up where there is a checkout. */
function waysToPay(caller: Caller, base_url: string, checkout: boolean): Quote['how_to_pay'] {
  const oauth = { url: `${base_url}/.well-known/oauth-protected-resource` };
  if (caller.kind !== 'key') return { api_key: post(`${base_url}/v1/keys`, KEY_BODY), oauth };
  // A token cannot top up; its user can, or may allow it more.
  if (caller.grant) return { oauth };
  return checkout ? { topup: post(`${base_url}/v1/keys/topup`, { amount_eur: 20 }) } : {};
}

const post = (url: string, body: Record<string, unknown>): Way => ({ url, method: 'POST', body });

/** What x402 asks for a charge, where it is offered. */
export type X402Offer = (charge: PricedCall) => Pick<Quote, 'accepts' | 'extensions'>;

/** The quote of every 402; anybody pays by x402 where it is offered. */
export function quoter(settings: {
  base_url: string;
  eur_usd: number;
  /** Whether anything can be bought here: a top-up leads nowhere without. */
  checkout: boolean;
  x402?: X402Offer | undefined;
}): Payments['quote'] {
  const { base_url, eur_usd, checkout, x402 } = settings;
  return (caller, charge) => ({
    price_eur: eur(charge.micros),
    price_usd: usd(charge.micros, eur_usd),
    how_to_pay: {
      ...waysToPay(caller, base_url, checkout),
      ...(x402 ? { x402: { url: `${base_url}/.well-known/x402.json` } } : {}),
    },
    x402Version: 2,
    resource: charge.resource,
    accepts: [],
    ...x402?.(charge),
  });
}

/** Refuses a call that costs more than the caller allows (402, uncharged), or a limit that is no amount (422). */
export function checkMaxPrice(
  raw: string | undefined,
  caller: Caller,
  charge: PricedCall,
  quote: Payments['quote'],
): void {
  if (raw === undefined) return;
  if (!/^\d{1,9}(\.\d{1,6})?$/.test(raw)) {
    const msg = 'must be an amount in EUR with at most six decimals';
    const issue = { loc: ['header', 'X-Max-Price-EUR'], msg, type: 'decimal_parsing' };
    throw new ApiError('validation_failed', `X-Max-Price-EUR: ${msg}`, { detail: [issue] });
  }
  if (!paysForCalls(caller) || charge.micros <= Math.round(Number(raw) * 1_000_000)) return;
  const message = `${charge.operation} costs ${formatEurAmount(charge.micros)}, more than the ${raw} EUR that X-Max-Price-EUR allows (max_price_eur of tools and skills).`;
  // It is the limit that refuses: no way to pay gets round it.
  const { extras } = paymentError('payment_required', message, { ...quote(caller, charge), how_to_pay: {} });
  const alternative_action = `Raise the limit to ${eur(charge.micros)} or leave it out.`;
  throw new ApiError('payment_required', message, { ...extras, alternative_action });
}
