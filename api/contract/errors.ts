// Every error the service answers: stable code, status, whether a retry may help (contract section 4). One table.
import { DataError, type DataErrorCode } from '../../data/model/errors.ts';
import { SUBSCRIPTIONS, WELCOME_CREDIT } from '../../data/model/subscriptions.ts';

export { UnknownParameter } from '../../data/model/errors.ts';

interface Row {
  status: number;
  retriable: boolean;
  /** Seconds after which another try is worth it, unless the refusal knows better. */
  retry_after?: number;
}

export const ERRORS = {
  unknown_filter: { status: 400, retriable: false },
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
  validation_failed: { status: 422, retriable: false },
  rate_limited: { status: 429, retriable: true },
  internal: { status: 500, retriable: true },
  // What is missing mostly comes with a night, which takes minutes.
  unavailable: { status: 503, retriable: true, retry_after: 60 },
  query_timeout: { status: 503, retriable: true, retry_after: 2 },
} as const satisfies Record<string, Row>;

export type ErrorCode = keyof typeof ERRORS;

// Every code of the data room has a row above.
const _complete: Record<DataErrorCode, Row> = ERRORS;
void _complete;

/** Members an error body may carry beside the fixed ones. */
export interface ErrorExtras {
  detail?: unknown;
  retry_after_seconds?: number;
  /** What to do instead; the code's own advice where nothing is said. */
  alternative_action?: string;
  /** What helps here, told before the code's own advice: how to pay, for one. */
  way?: string;
  /** Further top-level members, such as price_eur and how_to_pay of a 402. */
  members?: Record<string, unknown>;
  headers?: Record<string, string>;
}

/** A refusal that the API answers as it stands. */
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

/** After how many seconds an error of this code is worth another try, where the code alone says so. */
export function retryOf(code: ErrorCode): Pick<ErrorExtras, 'retry_after_seconds'> {
  const { retry_after }: Row = ERRORS[code];
  return retry_after === undefined ? {} : { retry_after_seconds: retry_after };
}

/** Any thrown value as an ApiError: data errors keep their code, everything else is `internal` without a word of its text. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof DataError) {
    return new ApiError(error.code, error.message, { detail: error.detail, ...retryOf(error.code) });
  }
  return new ApiError('internal', 'Something went wrong on our side; the request was not charged.');
}

/** A body that makes a key or replaces it, where one is shown. */
export const KEY_BODY = { email: 'you@example.org' } as const;

/** The same in texts. */
export const KEY_BODY_TEXT = `{"email": "${KEY_BODY.email}"}`;

/** What a new key begins with: `0.50 EUR`. */
export const WELCOME = `${(WELCOME_CREDIT / 1_000_000).toFixed(2)} EUR`;

/** What the caller might do instead, where there is something to say. `{base}` and `{ds}` are filled in. */
const ALTERNATIVES: Partial<Record<ErrorCode, string>> = {
  unknown_dataset: 'GET {base}/v1/datasets lists the datasets.',
  unknown_entity: 'GET {base}/v1/{ds}/entities?q=<name> finds records.',
  unknown_filter: 'GET {base}/v1/{ds}/schema lists the filters under "filters".',
  not_found: 'GET {base}/llms.txt names every path.',
  method_not_allowed: 'Use one of the methods in the Allow header.',
  quota_exceeded: 'GET {base}/v1/{ds}/examples is free; so is every page at {base}/datasets/{ds}/<slug>.md.',
  payment_required: 'GET {base}/v1/{ds}/examples shows full records free of charge.',
  invalid_cursor: 'Ask again without cursor, with the same parameters.',
  key_required: makesKey('{base}/v1/keys'),
  invalid_key: `POST {base}/v1/keys/recover with ${KEY_BODY_TEXT} replaces a lost key; POST {base}/v1/keys with the same makes a first one.`,
  invalid_token: 'Refresh the token or connect again, as {base}/auth.md has it; an API key will do in its place.',
  plan_required: `The plan pro has it, for ${SUBSCRIPTIONS.pro.eur_per_month} EUR a month: POST {base}/v1/keys/subscribe with {"plan": "pro"} and your key, or POST {base}/v1/keys with {"email": "${KEY_BODY.email}", "plan": "pro"} for a new one.`,
};

const FULL_RECORDS = 'dataset_examples shows full records free of charge.';

/** The same where a call is a tool or a skill, and not an address: a model cannot fetch addresses. */
const BY_NAME: typeof ALTERNATIVES = {
  unknown_dataset: 'datasets_list lists the datasets.',
  unknown_entity: 'entity_search with q=<name> finds records.',
  unknown_filter: 'dataset_schema lists the filters under "filters".',
  not_found: 'datasets_list lists what there is.',
  payment_required: FULL_RECORDS,
  quota_exceeded: FULL_RECORDS,
};

/** The same over MCP, which also has resources. */
const PUBLIC_PAGE = 'The resource service://{ds}/entity/{id} is the free public page of a record.';

/** Where the metadata of a protected resource is, before its path (RFC 9728 section 3.1). */
const METADATA = '/.well-known/oauth-protected-resource';

/** The members of a 402 whose way by OAuth leads to the metadata of the endpoint that was called. */
function signInAt(url: string, members: ErrorExtras['members'] = {}): ErrorExtras['members'] {
  const ways = members['how_to_pay'] as Record<string, unknown> | undefined;
  return ways?.['oauth'] ? { ...members, how_to_pay: { ...ways, oauth: { url } } } : members;
}

/** For what a key of its own kind opens: no call makes one. */
export const FOR_OPERATORS: ErrorExtras = { alternative_action: 'This is for operators of the service.' };

/** How a caller without a key comes by one. */
export function makesKey(url: string): string {
  return `POST ${url} with ${KEY_BODY_TEXT} makes a key with ${WELCOME} of credit; send it as "Authorization: Bearer <API_KEY>".`;
}

/** Where an error happened, for the members that depend on it. */
export interface ErrorPlace {
  base_url: string;
  request_id: string;
  /** Set when the dataset exists: its own guide is the documentation then. */
  dataset?: string | undefined;
  /** Whoever asks calls operations by their names, as tools or skills. */
  by_name?: boolean;
  /** Path of the MCP endpoint that was called: the protected resource that a client signs in to. */
  mcp?: string;
}

/** The error body of specification section 7, with `request_id`; the same object in every channel, but for what to do next. */
export function errorBody(error: ApiError, place: ErrorPlace): Record<string, unknown> {
  const { base_url, dataset, request_id, by_name = false, mcp } = place;
  const { detail, retry_after_seconds, members } = error.extras;
  const named = by_name ? BY_NAME[error.code] : undefined;
  const page = mcp !== undefined && named === FULL_RECORDS ? ` ${PUBLIC_PAGE}` : '';
  const general = ((named ?? ALTERNATIVES[error.code] ?? '') + page).replaceAll('{base}', base_url);
  const open = general.includes('{ds}') && dataset === undefined;
  const own = open ? '' : general.replaceAll('{ds}', dataset ?? '');
  const alternative = error.extras.alternative_action ?? [error.extras.way ?? '', own].filter(Boolean).join(' ');
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
