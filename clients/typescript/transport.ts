// One HTTP call: retries, conditional requests, Idempotency-Key, the most that it may cost, payment by x402.
import { type AnswerCache, fingerprint } from './cache.ts';
import { ConnectionError, errorOf, PaymentError, type RegisterError } from './errors.ts';

/** Terms of a payment by x402, from the header PAYMENT-REQUIRED of a 402. */
export interface PaymentTerms {
  x402Version: number;
  // biome-ignore lint/suspicious/noExplicitAny: the types of a wallet library are more exact
  accepts: any[];
  // biome-ignore lint/suspicious/noExplicitAny: as above
  [member: string]: any;
}

/** Signs payments: `x402Client` of `@x402/core/client` is one. */
export interface PaymentSigner {
  createPaymentPayload(terms: PaymentTerms): Promise<object>;
}

/** Settings of all calls of a `Register`. */
export interface RegisterOptions {
  /** Address of the service, without a path. */
  url: string;
  /** API key, or an OAuth access token. Without one a search answers previews of public values. */
  key?: string;
  /** The most that a call may cost, in EUR. A more expensive one is a `PaymentError` and costs nothing. */
  maxPrice?: number;
  /** Signs payments for calls without a key. */
  signer?: PaymentSigner;
  /** Keeps answers for conditional requests: `memoryCache()`. Absent: none. */
  cache?: AnswerCache;
  /** Retries of a call that failed for a passing reason; default 2. */
  retries?: number;
  /** The longest wait before a retry, in seconds; a longer Retry-After is thrown. Default 60. */
  longestWait?: number;
  /** Time limit of an attempt in seconds; default 60. */
  timeout?: number;
  /** Called after each call with what it cost. */
  onCall?: (receipt: Receipt) => void;
  /** Replaces the fetch of the platform. */
  fetch?: typeof globalThis.fetch;
}

/** Settings of one call. */
export interface CallOptions {
  maxPrice?: number;
  signal?: AbortSignal;
  /** 16 to 128 characters. The client makes one for a call that may cost or change something. */
  idempotencyKey?: string;
}

/** What a call cost, and where its answer comes from. */
export interface Receipt {
  operation: string;
  status: number;
  charge_eur: number;
  /** Credit of the key after the call; undefined for a free one. */
  balance_eur: number | undefined;
  /** For support. */
  request_id: string | undefined;
  /** Id of the release that answered. */
  release: string | undefined;
  /** The service answered 304, and the body is from the cache. */
  cached: boolean;
  attempts: number;
  /** Where the next page begins, of an answer in a format that is not JSON; undefined on the last page. */
  next_cursor: string | undefined;
  /** A statement has more rows than this answer. */
  truncated: boolean;
}

/** A request before its headers. */
export interface CallRequest {
  operation: string;
  method: string;
  url: string;
  body?: string;
  /** May cost or change something, so that it needs an Idempotency-Key. */
  once: boolean;
  priced: boolean;
  accept: string;
}

/** A successful response. */
export interface CallResponse {
  receipt: Receipt;
  body: Uint8Array;
}

/** Statuses of gateways in front of the service, besides those whose errors are retriable. */
const RETRIED = new Set([502, 504]);

/** Sends a call. Throws a `RegisterError`, a `ConnectionError`, or the reason of the signal. */
export async function send(
  options: RegisterOptions,
  request: CallRequest,
  call: CallOptions = {},
): Promise<CallResponse> {
  const { cache, retries = 2, longestWait = 60 } = options;
  const headers = headersOf(options, request, call);
  const key = `${request.accept} ${fingerprint(options.key ?? '')} ${request.url}`;
  const stored = cache && request.method === 'GET' ? await cache.get(key) : undefined;
  if (stored) headers['If-None-Match'] = stored.etag;
  for (let attempt = 1; ; attempt += 1) {
    let error: RegisterError | ConnectionError;
    let wait = (Math.random() + 0.5) * 0.5 * 2 ** (attempt - 1);
    try {
      const response = await attemptCall(options, request, headers, call.signal);
      const receipt = receiptOf(request.operation, response, attempt);
      if (response.status === 304 && stored)
        return { receipt: { ...receipt, cached: true }, body: new TextEncoder().encode(stored.body) };
      const body = await bytesOf(request, response, call.signal);
      if (response.ok) {
        if (request.method === 'GET') await storeAnswer(cache, key, response, body);
        return { receipt, body };
      }
      const failure = errorOf(response.status, new TextDecoder().decode(body));
      if (await payCall(options, request, call, response, failure, headers)) continue;
      error = failure;
      if (!failure.retriable && !RETRIED.has(failure.status)) throw failure;
      wait = secondsOf(response.headers.get('Retry-After')) ?? failure.body.retry_after_seconds ?? wait;
    } catch (thrown) {
      if (!(thrown instanceof ConnectionError)) throw thrown;
      error = thrown;
    }
    if (attempt > retries || wait > longestWait) throw error;
    await delay(wait * 1000, call.signal);
  }
}

function headersOf(options: RegisterOptions, request: CallRequest, call: CallOptions): Record<string, string> {
  const { key } = options;
  const maxPrice = call.maxPrice ?? options.maxPrice;
  // Repeats of a paid call are stored by key: without one only changes have them.
  const once = request.once || (request.priced && key !== undefined);
  const idempotencyKey = call.idempotencyKey ?? (once ? crypto.randomUUID() : undefined);
  return {
    Accept: request.accept,
    ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
    ...(request.body === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...(request.priced && maxPrice !== undefined ? { 'X-Max-Price-EUR': String(maxPrice) } : {}),
    ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
  };
}

async function attemptCall(
  { fetch = globalThis.fetch, timeout = 60 }: RegisterOptions,
  { method, url, body }: CallRequest,
  headers: Record<string, string>,
  signal?: AbortSignal,
): Promise<Response> {
  const limit = AbortSignal.timeout(timeout * 1000);
  try {
    return await fetch(url, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
      // The key must not follow to another server.
      redirect: 'manual',
    });
  } catch (cause) {
    signal?.throwIfAborted();
    const reason = limit.aborted ? `no response within ${timeout} s` : 'no connection';
    throw new ConnectionError(`${method} ${new URL(url).origin}: ${reason}`, { cause });
  }
}

/**
 * Pays the terms of a 402 once, by adding a signed payment to the headers. False: there is no signer, the call was
 * paid already, or it costs more than it may.
 */
async function payCall(
  { signer, key, maxPrice }: RegisterOptions,
  { operation }: CallRequest,
  call: CallOptions,
  response: Response,
  failure: RegisterError,
  headers: Record<string, string>,
): Promise<boolean> {
  const encoded = response.headers.get('PAYMENT-REQUIRED');
  if (!(failure instanceof PaymentError) || !signer || key !== undefined || encoded === null) return false;
  if ('PAYMENT-SIGNATURE' in headers) return false;
  const most = call.maxPrice ?? maxPrice;
  if (most !== undefined && failure.price_eur !== undefined && failure.price_eur > most) return false;
  const terms = termsOf(encoded);
  if (!Array.isArray(terms?.accepts) || terms.accepts.length === 0) return false;
  call.signal?.throwIfAborted();
  try {
    headers['PAYMENT-SIGNATURE'] = toBase64(JSON.stringify(await signer.createPaymentPayload(terms)));
  } catch (cause) {
    throw new Error(`the signer did not pay ${operation}`, { cause });
  }
  return true;
}

function receiptOf(operation: string, { status, headers }: Response, attempts: number): Receipt {
  const number = (name: string) => (headers.has(name) ? Number(headers.get(name)) : undefined);
  return {
    operation,
    status,
    // A repeat was charged the first time.
    charge_eur: headers.has('Idempotency-Replayed') && attempts === 1 ? 0 : (number('X-Charge-EUR') ?? 0),
    balance_eur: number('X-Balance-EUR'),
    request_id: headers.get('X-Request-Id') ?? undefined,
    release: headers.get('X-Dataset-Version') ?? undefined,
    cached: false,
    attempts,
    next_cursor: headers.get('X-Next-Cursor') ?? undefined,
    truncated: headers.get('X-Truncated') === 'true',
  };
}

/** The whole body. Throws a `ConnectionError` if the connection ends before. */
async function bytesOf({ method, url }: CallRequest, response: Response, signal?: AbortSignal): Promise<Uint8Array> {
  try {
    return new Uint8Array(await response.arrayBuffer());
  } catch (cause) {
    signal?.throwIfAborted();
    throw new ConnectionError(`${method} ${new URL(url).origin}: the answer ended early`, { cause });
  }
}

async function storeAnswer(
  cache: AnswerCache | undefined,
  key: string,
  { headers }: Response,
  bytes: Uint8Array,
): Promise<void> {
  const etag = headers.get('ETag');
  const content_type = headers.get('Content-Type') ?? '';
  if (etag === null || /arrow|octet-stream/.test(content_type)) return;
  await cache?.set(key, { etag, body: new TextDecoder().decode(bytes), content_type });
}

/** Seconds of a Retry-After, which is a number or a date; undefined without one. */
export function secondsOf(header: string | null, now = Date.now()): number | undefined {
  if (header === null) return undefined;
  const seconds = /^\d+$/.test(header.trim()) ? Number(header) : (Date.parse(header) - now) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

function delay(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}

/** The terms of a PAYMENT-REQUIRED header; undefined if another server wrote it. */
function termsOf(encoded: string): PaymentTerms | undefined {
  try {
    const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes)) as PaymentTerms;
  } catch {
    return undefined;
  }
}
const toBase64 = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)));
