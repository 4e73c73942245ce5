// The table of errors: stable code, status, whether a retry may help (contract section 4).
import { DataError, type DataErrorCode } from '../../data/model/errors.ts';
import { SUBSCRIPTIONS, WELCOME_CREDIT } from '../../data/model/subscriptions.ts';
import { storeFailure } from '../../data/state/failures.ts';

export { UnknownParameter } from '../../data/model/errors.ts';

interface Row {
  status: number;
  retriable: boolean;
  /** Seconds after which a retry makes sense, unless the error sets its own value. */
  retry_after?: number;
}

export const ERRORS = {
  unknown_filter: { status: 400, retriable: false },
  invalid_filter: { status: 400, retriable: false },
  invalid_sql: { status: 400, retriable: false },
  invalid_parameter: { status: 400, retriable: false },
  invalid_cursor: { status: 400, retriable: false },
  too_many_ids: { status: 400, retriable: false },
  too_many_records: { status: 400, retriable: false },
  key_required: { status: 401, retriable: false },
  invalid_key: { status: 401, retriable: false },
  invalid_token: { status: 401, retriable: false },
  payment_required: { status: 402, retriable: false },
  insufficient_credits: { status: 402, retriable: false },
  quota_exceeded: { status: 402, retriable: false },
  payment_invalid: { status: 402, retriable: false },
  limit_exceeded: { status: 403, retriable: false },
  plan_required: { status: 403, retriable: false },
  admin_required: { status: 403, retriable: false },
  domain_mismatch: { status: 403, retriable: false },
  not_owner: { status: 403, retriable: false },
  unknown_dataset: { status: 404, retriable: false },
  unknown_entity: { status: 404, retriable: false },
  not_found: { status: 404, retriable: false },
  method_not_allowed: { status: 405, retriable: false },
  key_exists: { status: 409, retriable: false },
  idempotency_conflict: { status: 409, retriable: false },
  payment_already_used: { status: 409, retriable: false },
  payment_in_progress: { status: 409, retriable: true },
  already_decided: { status: 409, retriable: false },
  permit2_allowance_required: { status: 412, retriable: false },
  payload_too_large: { status: 413, retriable: false },
  unsupported_media_type: { status: 415, retriable: false },
  validation_failed: { status: 422, retriable: false },
  rate_limited: { status: 429, retriable: true },
  internal: { status: 500, retriable: true },
  // A missing release usually appears with the nightly build, within minutes.
  unavailable: { status: 503, retriable: true, retry_after: 60 },
  query_timeout: { status: 503, retriable: true, retry_after: 2 },
} as const satisfies Record<string, Row>;

export type ErrorCode = keyof typeof ERRORS;

// Every error code of data/ has a row above.
const _complete: Record<DataErrorCode, Row> = ERRORS;
void _complete;

/** Optional members of an error body. */
export interface ErrorExtras {
  detail?: unknown;
  retry_after_seconds?: number;
  /** What to do instead; the default advice of the code where absent. */
  alternative_action?: string;
  /** Specific help, placed before the default advice of the code: how to pay, for example. */
  way?: string;
  /** Further top-level members, such as price_eur and how_to_pay of a 402. */
  members?: Record<string, unknown>;
  headers?: Record<string, string>;
  /** The dataset of an address that is not found, whose guide is then the documentation. */
  dataset?: string | undefined;
}

/** An error that the API sends to the client unchanged. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly extras: ErrorExtras;
  constructor(code: ErrorCode, message: string, extras: ErrorExtras = {}) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
    this.extras = extras;
  }
}

/** Seconds after which a retry makes sense, for codes that have a default. */
export function retryOf(code: ErrorCode): Pick<ErrorExtras, 'retry_after_seconds'> {
  const { retry_after }: Row = ERRORS[code];
  return retry_after === undefined ? {} : { retry_after_seconds: retry_after };
}

/**
 * Converts any thrown value to an ApiError: data errors keep their code, a database that cannot be used now is
 * `unavailable`, everything else becomes `internal`
 * without its text.
 */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const dataError = storeFailure(error) ?? error;
  if (dataError instanceof DataError) {
    const { code, message, detail, retry_after_seconds } = dataError;
    return new ApiError(code, message, {
      detail,
      ...retryOf(code),
      ...(retry_after_seconds === undefined ? {} : { retry_after_seconds }),
    });
  }
  return new ApiError('internal', 'Something went wrong on our side; the request was not charged.');
}

/** Example body of a call that creates or replaces a key. */
export const KEY_BODY = { email: 'you@example.org' } as const;

/** The same as text. */
export const KEY_BODY_TEXT = `{"email": "${KEY_BODY.email}"}`;

/** The welcome credit of a new key: `0.50 EUR`. */
export const WELCOME = `${(WELCOME_CREDIT / 1_000_000).toFixed(2)} EUR`;

/** Default advice by code. `{base}` and `{ds}` are filled in. */
const ALTERNATIVES: Partial<Record<ErrorCode, string>> = {
  unknown_dataset: 'GET {base}/v1/datasets lists the datasets.',
  unknown_entity: 'GET {base}/v1/{ds}/entities?q=<name>&sort=relevance finds records.',
  unknown_filter: 'GET {base}/v1/{ds}/schema lists the filters under "filters".',
  not_found: 'GET {base}/llms.txt names every path.',
  method_not_allowed: 'Use one of the methods in the Allow header.',
  quota_exceeded: 'GET {base}/v1/{ds}/examples is free; so is every page at {base}/datasets/{ds}/<slug>.md.',
  payment_required: 'GET {base}/v1/{ds}/examples shows full records free of charge.',
  invalid_cursor: 'Repeat the request without cursor, with the same parameters.',
  key_required: makesKey('{base}/v1/keys'),
  invalid_key: `POST {base}/v1/keys/recover with ${KEY_BODY_TEXT} replaces a lost key; POST {base}/v1/keys with the same body creates a first one.`,
  invalid_token: 'Refresh the token or connect again, see {base}/auth.md, or send an API key instead.',
  plan_required: `The plan pro has it, for ${SUBSCRIPTIONS.pro.eur_per_month} EUR a month: POST {base}/v1/keys/subscribe with {"plan": "pro"} and your key, or POST {base}/v1/keys with {"email": "${KEY_BODY.email}", "plan": "pro"} for a new one.`,
};

const FULL_RECORDS = 'dataset_examples shows full records free of charge.';

/** The same for calls as a tool or skill: a model cannot fetch URLs. */
const BY_NAME: typeof ALTERNATIVES = {
  unknown_dataset: 'datasets_list lists the datasets.',
  unknown_entity: 'entity_search with q=<name> and sort=relevance finds records.',
  unknown_filter: 'dataset_schema lists the filters under "filters".',
  not_found: 'datasets_list lists the datasets.',
  payment_required: FULL_RECORDS,
  quota_exceeded: FULL_RECORDS,
};

/** Further advice over MCP, which also has resources. */
const PUBLIC_PAGE = 'The resource service://{ds}/entity/{id} is the free public page of a record.';

/** Path of the metadata of a protected resource, before the path of the resource (RFC 9728 section 3.1). */
const METADATA = '/.well-known/oauth-protected-resource';

/**
 * The members of a 402, with the OAuth entry of how_to_pay pointing to the metadata of the called endpoint.
 */
function signInAt(url: string, members: ErrorExtras['members'] = {}): ErrorExtras['members'] {
  const ways = members['how_to_pay'] as Record<string, unknown> | undefined;
  return ways?.['oauth'] ? { ...members, how_to_pay: { ...ways, oauth: { url } } } : members;
}

/** Advice for operations that need an operator's key, which no call creates. */
export const FOR_OPERATORS: ErrorExtras = { alternative_action: 'This is for operators of the service.' };

/** How a caller without a key gets one. */
export function makesKey(url: string): string {
  return `POST ${url} with ${KEY_BODY_TEXT} creates a key with ${WELCOME} of credit; send it as "Authorization: Bearer <API_KEY>".`;
}

/** Where an error happened, for the members that depend on it. */
export interface ErrorPlace {
  base_url: string;
  request_id: string;
  /** Set when the dataset exists: its guide is then the documentation link. */
  dataset?: string | undefined;
  /** The caller uses operations by name, as tools or skills. */
  by_name?: boolean;
  /** Path of the called MCP endpoint: the protected resource that a client signs in to. */
  mcp?: string;
}

/**
 * The error body of specification section 7, with `request_id`: the same object in every channel, except for
 * the advice.
 */
export function errorBody(error: ApiError, place: ErrorPlace): Record<string, unknown> {
  const { base_url, request_id, by_name = false, mcp, dataset = error.extras.dataset } = place;
  const { detail, retry_after_seconds, members } = error.extras;
  const toolAdvice = by_name ? BY_NAME[error.code] : undefined;
  const page = mcp !== undefined && toolAdvice === FULL_RECORDS ? ` ${PUBLIC_PAGE}` : '';
  const general = ((toolAdvice ?? ALTERNATIVES[error.code] ?? '') + page).replaceAll('{base}', base_url);
  const open = general.includes('{ds}') && dataset === undefined;
  const generalAction = open ? '' : general.replaceAll('{ds}', dataset ?? '');
  const alternative =
    error.extras.alternative_action ?? [error.extras.way ?? '', generalAction].filter(Boolean).join(' ');
  return {
    error: error.code,
    message: error.message,
    is_retriable: ERRORS[error.code].retriable,
    ...(retry_after_seconds === undefined ? {} : { retry_after_seconds }),
    ...(alternative === '' ? {} : { alternative_action: alternative }),
    documentation_url: dataset === undefined ? `${base_url}/llms.txt` : `${base_url}/v1/${dataset}/llms.txt`,
    ...(detail === undefined ? {} : { detail }),
    ...(mcp === undefined ? members : signInAt(`${base_url}${METADATA}${mcp}`, members)),
    request_id,
  };
}
