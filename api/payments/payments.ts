// Payment of a call: quote, reserve, then commit or release. Credits and x402 implement the same interface.
import type { KeyPurchase } from '../../data/model/accounts.ts';
import type { Bound } from '../../data/state/budgets.ts';
import type { StoredAnswer } from '../../data/state/statements.ts';
import { eur, usd } from '../../packs/define/money.ts';
import type { Caller } from '../access/caller.ts';
import { ApiError, type ErrorCode, KEY_BODY, makesKey } from '../contract/errors.ts';
import type { Price } from '../contract/pricing.ts';
import type { IdempotencyStore } from './idempotency.ts';

/** The x402 payment of a call. */
export interface X402Attachment {
  /** The PaymentPayload as sent; undefined: none, but an earlier one may be stored under `secret`. */
  payment: unknown;
  /** Hash of an Idempotency-Key that only this caller can know; null without one. */
  secret: string | null;
  /** The Idempotency-Key as sent; null without one. */
  name: string | null;
  /** The owner of the answer: the id of an API key, or `anonymous`. */
  owner: string;
  /** Hash of the request: equal for equal calls. */
  request: string;
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
  /** The Idempotency-Key of a sale of a key, which alone may continue its payment. */
  sale?: string;
}

/**
 * What a call holds while it runs: credit of a key, an x402 payment, records of the preview quota, or nothing. Exactly
 * one of `commit` and `release` ends it.
 *
 *     const reservation = await payments.reserve(caller, price, null);
 *     const headers = await reservation.commit(null, 1);
 */
export interface Reservation {
  /** Micro-euros that the commit charges. */
  micros: number;
  /** Records that the answer may show; absent: no limit. */
  previews?: number;
  /** The answer stored for the same payment: it is sent, and the call does not run. */
  stored?: StoredAnswer;
  /** What the operation needs to sell a key for the payment. */
  purchase?: KeyPurchase;
  /** The answer must be stored before the payment. */
  writes?: true;
  /**
   * Charges the call when its answer is ready, and stores an answer with a claim in the same transaction. `shown`:
   * records in the answer. Returns response headers, such as `X-Charge-EUR`. An error withholds the answer.
   */
  commit(answer: StoredAnswer | null, shown: number): Promise<Record<string, string>>;
  /** Returns everything that a failed call holds. */
  release(): Promise<void>;
}

/** The reservation of a call that costs its caller nothing. */
export function freeReservation(repeats: IdempotencyStore): Reservation {
  return {
    micros: 0,
    commit: async (answer) => {
      await repeats.keep(answer);
      return {};
    },
    release: async () => {},
  };
}

/** The URL of a payment method; with `method`, `body` and a page for people if it begins with a call. */
interface Way {
  url: string;
  page?: string;
  method?: 'POST';
  /** Headers that the call needs, with what to put into each. */
  headers?: Record<string, string>;
  /** An example. */
  body?: Record<string, unknown>;
}

/** The members that a 402 adds to the error body (contract section 4). */
export interface Quote {
  price_eur: number;
  price_usd: number;
  how_to_pay: Record<string, Way>;
  x402Version: 2;
  resource: Price['resource'];
  /** PaymentRequirements of x402; empty without x402. */
  accepts: unknown[];
  extensions?: Record<string, unknown>;
  /** Extensions for payment indexers, in the header PAYMENT-REQUIRED only: readers of a body need none of them. */
  indexed?: Record<string, unknown>;
}

export interface Payments {
  /** The price of a call and the payment methods of its caller. */
  quote(caller: Caller, price: Price): Quote;
  /** Throws a 402 if the caller cannot pay the price now; reserves nothing. Absent: every caller can pay. */
  afford?: (caller: Caller, price: Price) => Promise<void>;
  /** Reserves the price, or throws the 402 with the payment methods. */
  reserve(caller: Caller, price: Price, attached: X402Attachment | null): Promise<Reservation>;
  /** Whether a payment is stored under this secret; absent without x402. */
  waiting?: (secret: string) => Promise<boolean>;
}

/** Longest address in PAYMENT-REQUIRED, in characters: clients and proxies read headers of 8 kB. The body has all of it. */
const LONGEST_RESOURCE = 2048;

/** Longest value of PAYMENT-REQUIRED with extensions for indexers, which may contain the body of a request. */
const LONGEST_REQUIRED = 7168;

/** The advice when nothing can be bought. */
export const NO_CHECKOUT = 'This service has no checkout; contact its operator for credit.';
const NOT_OFFERED = 'Pay-per-call with x402 is not offered by this service.';

/**
 * A 402 with its quote, also in the header PAYMENT-REQUIRED of x402 v2: standard base64 of JSON (payments.md
 * 3). `more` is for x402: its error code and further headers.
 *
 * @example
 * ```ts
 * throw paymentError('payment_required', 'This costs 0.002 EUR.', await quoteOf(call));
 * ```
 */
export function paymentError(
  code: ErrorCode,
  message: string,
  quote: Quote,
  detail?: unknown,
  more: { reason?: string; headers?: Record<string, string> } = {},
): ApiError {
  const { indexed, ...members } = quote;
  const { x402Version, resource, accepts, extensions } = members;
  const error = accepts.length === 0 ? NOT_OFFERED : (more.reason ?? message);
  const url = resource.url.length > LONGEST_RESOURCE ? resource.url.split('?')[0] : resource.url;
  const encode = (further: object) => {
    const required = { x402Version, error, resource: { ...resource, url }, accepts };
    const added = extensions ? { extensions: { ...extensions, ...further } } : {};
    return Buffer.from(JSON.stringify({ ...required, ...added })).toString('base64');
  };
  const described = encode(indexed ?? {});
  const header = described.length > LONGEST_REQUIRED ? encode({}) : described;
  return new ApiError(code, message, {
    ...(detail === undefined ? {} : { detail }),
    way: WAYS_ON.includes(code) ? wayOn(quote.how_to_pay) : '',
    members,
    headers: { ...more.headers, 'PAYMENT-REQUIRED': header },
  });
}

/** Errors whose next step is to pay; an invalid payment has its own message. */
const WAYS_ON: readonly ErrorCode[] = ['payment_required', 'quota_exceeded', 'insufficient_credits'];

/** The next step in one sentence: the first available payment method. */
function wayOn({ api_key, topup, oauth, x402 }: Quote['how_to_pay']): string {
  if (api_key) return makesKey(api_key.url);
  if (topup) return `POST ${topup.url} with ${JSON.stringify(topup.body)} and your key returns a link to a checkout.`;
  if (oauth) return 'The user who connected this client can top up the key, or connect it again with a higher limit.';
  return x402 ? `Pay for this call as ${x402.url} describes.` : NO_CHECKOUT;
}

/** A euro amount in a message: `0.004 EUR`. */
export function formatEurAmount(micros: number): string {
  return `${eur(micros)} EUR`;
}

/**
 * Payment methods of a caller: without a key, create one or use OAuth; with a key, top it up if there is a
 * checkout.
 */
function waysToPay(caller: Caller, base_url: string, checkout: boolean): Quote['how_to_pay'] {
  const oauth = { url: `${base_url}/.well-known/oauth-protected-resource` };
  if (caller.kind !== 'key') return { api_key: post(`${base_url}/v1/keys`, KEY_BODY, `${base_url}/keys`), oauth };
  // A token cannot top up; its user can, or can raise its cap.
  if (caller.grant) return { oauth };
  if (caller.child) return {};
  return checkout ? { topup: post(`${base_url}/v1/keys/topup`, { amount_eur: 20 }, `${base_url}/account`) } : {};
}

const post = (url: string, body: Record<string, unknown>, page: string): Way => ({ url, method: 'POST', body, page });

/** The proposed purchase: in USD less than the most that stock clients of x402 pay at once, 1 USD. */
export const PREPAID_BODY = { amount_eur: 0.8 } as const;
const PREPAID_HEADERS = { 'Idempotency-Key': '<32 to 128 random characters; they get a lost key again>' };

/** The x402 part of a quote. */
export type X402Offer = (price: Price) => Pick<Quote, 'accepts' | 'extensions' | 'indexed'>;

/** Creates the function that quotes a call, for every 402. */
export function quoter(settings: {
  base_url: string;
  eur_usd: number;
  /** Whether there is a checkout. */
  checkout: boolean;
  x402?: X402Offer | undefined;
}): Payments['quote'] {
  const { base_url, eur_usd, checkout, x402 } = settings;
  return (caller, price) => ({
    price_eur: eur(price.micros),
    price_usd: usd(price.micros, eur_usd),
    how_to_pay: {
      ...waysToPay(caller, base_url, checkout),
      ...(x402 ? { x402: { url: `${base_url}/.well-known/x402.json` } } : {}),
      ...(x402 && caller.kind === 'anonymous'
        ? {
            prepaid: {
              ...post(`${base_url}/v1/keys/prepaid`, PREPAID_BODY, `${base_url}/docs`),
              headers: PREPAID_HEADERS,
            },
          }
        : {}),
    },
    x402Version: 2,
    resource: price.resource,
    accepts: [],
    ...x402?.(price),
  });
}

/** What helps after each bound. */
const NEXT_STEPS: Record<Bound['of'], string> = {
  child: 'the owner of its parent can change the child key.',
  client: 'its user can set a higher limit by connecting the client again.',
  key: 'its owner can raise the limit (PUT /v1/keys/me/limits).',
};
const OWNERS: Record<Bound['of'], string> = { child: 'this child key', client: 'this client', key: 'the key' };
const PERIODS: Record<Bound['name'], [words: string, wait: string]> = {
  cap: ['the cap', 'Use another key, or'],
  per_day: ["today's limit", 'Wait until 00:00 UTC, or'],
  per_month: ["this month's limit", 'Wait for the next month (UTC), or'],
};

/** The 403 of a call beyond a bound. It has no payment terms, because no payment helps. */
export function boundError(price: Price, { name, of, limit, left, resets_at }: Bound): ApiError {
  const [words, wait] = PERIODS[name];
  const message = `${price.operation} costs ${formatEurAmount(price.micros)} and ${formatEurAmount(left)} is left of ${words} of ${OWNERS[of]}.`;
  const reset = resets_at === null ? {} : { resets_at: new Date(resets_at).toISOString() };
  const detail = { bound: name, limit_eur: eur(limit), ...reset };
  return new ApiError('limit_exceeded', message, { detail, alternative_action: `${wait} ${NEXT_STEPS[of]}` });
}

/** Rejects a price above the caller's X-Max-Price-EUR (403), and an invalid value of it (422). */
export function requireMaxPrice(raw: string, price: Price): void {
  if (!/^\d{1,9}(\.\d{1,6})?$/.test(raw)) {
    const msg = 'must be an amount in EUR with at most six decimals';
    const issue = { loc: ['header', 'X-Max-Price-EUR'], msg, type: 'decimal_parsing' };
    throw new ApiError('validation_failed', `X-Max-Price-EUR: ${msg}`, { detail: [issue] });
  }
  const limit = Math.round(Number(raw) * 1_000_000);
  if (price.micros <= limit) return;
  const message = `${price.operation} costs ${formatEurAmount(price.micros)}, more than the ${raw} EUR that X-Max-Price-EUR allows (max_price_eur of tools and skills).`;
  const alternative_action = `Raise the limit to ${eur(price.micros)} or leave it out.`;
  throw new ApiError('limit_exceeded', message, {
    detail: { bound: 'max_price', limit_eur: eur(limit) },
    alternative_action,
  });
}
