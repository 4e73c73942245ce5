// Common parts of HTTP responses: request id, CORS, and errors in the client's preferred format.
import { type ApiError, ERRORS, type ErrorPlace, errorBody } from '../contract/errors.ts';
import { prefersProblem } from '../render/negotiate.ts';

/** Response headers that a browser agent may read (contract section 2). */
export const EXPOSED = [
  'Accept-Ranges',
  'Content-Disposition',
  'Content-Length',
  'Content-Range',
  'ETag',
  'Last-Modified',
  'Link',
  'Repr-Digest',
  'Retry-After',
  'X-Request-Id',
  'X-Dataset-Version',
  'X-Next-Cursor',
  'X-Truncated',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit',
  'RateLimit-Policy',
  'Idempotency-Replayed',
  'X-Charge-EUR',
  'X-Balance-EUR',
  'WWW-Authenticate',
  'PAYMENT-REQUIRED',
  'PAYMENT-RESPONSE',
].join(', ');

/** Request headers that a browser agent may send. */
const ALLOWED = [
  'A2A-Extensions',
  'A2A-Version',
  'Accept',
  // A response header by its name, but the standard x402 client sends it with requests.
  'Access-Control-Expose-Headers',
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'If-Modified-Since',
  'If-None-Match',
  'If-Range',
  'If-Unmodified-Since',
  'PAYMENT-SIGNATURE',
  'Range',
  'X-API-Key',
  'X-Max-Price-EUR',
  'X-Request-Id',
].join(', ');

export type Headers = Record<string, string>;

/** A response to send; `responseOf` converts it for Hono. */
export interface Reply {
  status: number;
  headers: Headers;
  /** Pieces are sent in order, without concatenation. */
  body: string | Uint8Array<ArrayBuffer> | readonly Uint8Array[] | ReadableStream<Uint8Array> | null;
}

export const isPieces = (body: unknown): body is readonly Uint8Array[] => Array.isArray(body);

/**
 * Converts a reply to a web Response.
 *
 * @example
 * ```ts
 * responseOf({ status: 200, headers: commonHeaders(requestId(undefined)), body: '{}' });
 * ```
 */
export const responseOf = ({ status, headers, body }: Reply): Response =>
  new Response(isPieces(body) ? Buffer.concat(body) : body, { status, headers });

/** Request id: the client's own if it is short and plain, else a new one. */
export function requestId(header: string | undefined): string {
  return header !== undefined && /^[\w.-]{1,64}$/.test(header) ? header : crypto.randomUUID();
}

/** Headers of every response. */
export function commonHeaders(request_id: string): Headers {
  return {
    'X-Request-Id': request_id,
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers': EXPOSED,
    'X-Content-Type-Options': 'nosniff',
  };
}

/** Response to a CORS preflight: any origin may send any header that we read. */
export function preflight(request_id: string): Response {
  const headers = {
    ...commonHeaders(request_id),
    'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
    'Access-Control-Allow-Headers': ALLOWED,
    'Access-Control-Max-Age': '86400',
  };
  return new Response(null, { status: 204, headers });
}

export interface ErrorShape extends ErrorPlace {
  accept: string | undefined;
  /** Headers known so far: limits, request id, CORS. */
  headers: Headers;
  /** Resource whose protected-resource metadata a 401 points to: `/v1`, `/mcp`, … */
  resource: string;
}

/**
 * The challenge of RFC 9728, which points clients to the authorization server of a resource: `/v1`, `/mcp`, …
 */
export function challenge(base_url: string, resource: string): string {
  return `Bearer resource_metadata="${base_url}/.well-known/oauth-protected-resource${resource}", scope="read"`;
}

/** An error as a response (`errorReply`). */
export const errorResponse = (error: ApiError, shape: ErrorShape): Response => responseOf(errorReply(error, shape));

/**
 * Builds an error reply: JSON, or problem details (RFC 9457) if the client prefers them (contract section 4).
 */
export function errorReply(error: ApiError, shape: ErrorShape): Reply {
  const { status } = ERRORS[error.code];
  const problem = prefersProblem(shape.accept);
  const body = errorBody(error, shape);
  const type = `${shape.base_url}/llms.txt#${error.code}`;
  const title = error.code.replaceAll('_', ' ');
  const retry = error.extras.retry_after_seconds;
  const headers: Headers = {
    ...shape.headers,
    ...error.extras.headers,
    'Content-Type': problem ? 'application/problem+json' : 'application/json',
    'Cache-Control': 'no-store',
    Vary: 'Accept',
  };
  if (retry !== undefined) headers['Retry-After'] = String(retry);
  if (status === 401) headers['WWW-Authenticate'] = challenge(shape.base_url, shape.resource);
  return { status, headers, body: JSON.stringify(problem ? { type, title, status, ...body } : body) };
}
