// Errors of calls as classes, with the server's advice.
import { ERROR_STATUS } from './operations.ts';

/** A stable code: branch on it, never on the message. A later version of the service may have further ones. */
export type ErrorCode = keyof typeof ERROR_STATUS | (string & {});

/** The body of an error. */
export interface ErrorBody {
  error: ErrorCode;
  message: string;
  is_retriable: boolean;
  retry_after_seconds?: number;
  /** Another call that would succeed. */
  alternative_action?: string;
  documentation_url?: string;
  detail?: unknown;
  request_id?: string;
  /** Of a 402: the price of the call and the ways to pay it. */
  price_eur?: number;
  price_usd?: number;
  how_to_pay?: Record<string, unknown>;
  [member: string]: unknown;
}

/**
 * An error of the service. The message has its advice too.
 *
 * @example
 * ```ts
 * try {
 *   await airports.get('nowhere');
 * } catch (error) {
 *   if (error instanceof NotFoundError) console.log(error.nearest);
 * }
 * ```
 */
export class RegisterError extends Error {
  override readonly name: string = 'RegisterError';
  /** Status of the response. */
  readonly status: number;
  readonly body: ErrorBody;

  constructor(status: number, body: ErrorBody) {
    const { message, alternative_action = '' } = body;
    super(alternative_action === '' ? message : `${message} ${alternative_action}`);
    this.status = status;
    this.body = body;
  }

  get code(): ErrorCode {
    return this.body.error;
  }
  /** What to do instead; empty if the service has no advice. */
  get advice(): string {
    return this.body.alternative_action ?? '';
  }
  get retriable(): boolean {
    return this.body.is_retriable;
  }
  get request_id(): string | undefined {
    return this.body.request_id;
  }
}

/** A parameter, filter, statement or body that the service does not accept: 400, 405, 413, 415 and 422. */
export class InvalidRequestError extends RegisterError {
  override readonly name = 'InvalidRequestError';
}

/** No credential, or one that is not valid: 401. */
export class CredentialError extends RegisterError {
  override readonly name = 'CredentialError';
}

/** The call has a price that was not paid, or the credit is used up: 402 and 412. */
export class PaymentError extends RegisterError {
  override readonly name = 'PaymentError';
  /** Price of the call in EUR, if the service stated one. */
  get price_eur(): number | undefined {
    return this.body.price_eur;
  }
}

/** The call exceeds `maxPrice` or a bound of the key, which no payment lifts: 403 `limit_exceeded`. */
export class LimitError extends RegisterError {
  override readonly name = 'LimitError';
  /** The bound: `max_price`, `cap`, `per_day`, `per_month`, `operations` or `datasets`. */
  get bound(): string | undefined {
    return (this.body.detail as { bound?: string } | undefined)?.bound;
  }
}

/** The plan of the key does not include the call: 403. */
export class PlanError extends RegisterError {
  override readonly name = 'PlanError';
}

/** No such dataset, record or path: 404. */
export class NotFoundError extends RegisterError {
  override readonly name = 'NotFoundError';
  /** Records with a similar key or name, if the service knows any. */
  get nearest(): { id: string; slug: string; name: string }[] {
    const { nearest } = (this.body.detail ?? {}) as { nearest?: { id: string; slug: string; name: string }[] };
    return nearest ?? [];
  }
}

/** The call contradicts an earlier one: 409. */
export class ConflictError extends RegisterError {
  override readonly name = 'ConflictError';
}

/** Too many calls: 429. Thrown when the retries are used up. */
export class RateLimitError extends RegisterError {
  override readonly name = 'RateLimitError';
  /** Seconds until a retry makes sense. */
  get retry_after_seconds(): number | undefined {
    return this.body.retry_after_seconds;
  }
}

/** The service cannot answer now: 500 and above. */
export class UnavailableError extends RegisterError {
  override readonly name = 'UnavailableError';
}

/** No answer of the service: no connection, none within the time limit, or another text than JSON. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}

const CLASSES: Readonly<Record<number, typeof RegisterError>> = {
  401: CredentialError,
  402: PaymentError,
  403: PlanError,
  404: NotFoundError,
  409: ConflictError,
  412: PaymentError,
  429: RateLimitError,
};

/** The error of a response that is not a success. `text`: its body, which another server may have written. */
export function errorOf(status: number, text: string): RegisterError {
  const ErrorClass = CLASSES[status] ?? (status >= 500 ? UnavailableError : InvalidRequestError);
  const body = bodyOf(status, text);
  return new (body.error === 'limit_exceeded' ? LimitError : ErrorClass)(status, body);
}

function bodyOf(status: number, text: string): ErrorBody {
  try {
    const body = JSON.parse(text) as ErrorBody;
    if (typeof body?.error === 'string' && typeof body.message === 'string') return body;
  } catch {
    // A proxy in front of the service answers with a page.
  }
  const code = status >= 500 ? 'unavailable' : (codeOfStatus(status) ?? 'invalid_parameter');
  const start = text.slice(0, 200).trim();
  return {
    error: code,
    message: `The server answered ${status}${start === '' ? '.' : `: ${start}`}`,
    is_retriable: status >= 500 || status === 429,
  };
}

const codeOfStatus = (status: number) => Object.entries(ERROR_STATUS).find(([, value]) => value === status)?.[0];
