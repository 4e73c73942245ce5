// Errors as A2A has them: google.rpc.Status in JSON, with our own error body among the details (A2A 1.0 section 11.6).
import { A2AError, isRestError, toRestErrorBody } from '@a2a-js/sdk/errors';
import { type ApiError, ERRORS, errorBody, toApiError } from '../../contract/errors.ts';
import { challenge, type Headers } from '../../http/respond.ts';

/** What an error is told with. */
interface Place {
  base_url: string;
  request_id: string;
  /** The dataset, where it was found. */
  dataset?: string | undefined;
  headers: Headers;
}

/** The canonical names of google.rpc.Code by HTTP status. */
const NAMES: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  402: 'FAILED_PRECONDITION',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  405: 'UNIMPLEMENTED',
  409: 'ABORTED',
  412: 'FAILED_PRECONDITION',
  413: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

const TYPE = 'type.googleapis.com';
export const A2A_JSON = 'application/a2a+json';

/** Any thrown value as a response. Errors of the protocol keep their reason; ours have their code as reason, in a domain of ours. */
export function a2aError(thrown: unknown, place: Place): Response {
  if (thrown instanceof A2AError && isRestError(thrown)) {
    const headers = { ...place.headers, 'Content-Type': A2A_JSON, 'Cache-Control': 'no-store' };
    return new Response(JSON.stringify(toRestErrorBody(thrown, thrown.statusCode)), {
      status: thrown.statusCode,
      headers,
    });
  }
  const error = toApiError(thrown);
  const { status, body } = statusOf(error, place);
  const retry = error.extras.retry_after_seconds;
  const headers: Headers = {
    ...place.headers,
    ...error.extras.headers,
    'Content-Type': A2A_JSON,
    'Cache-Control': 'no-store',
    ...(retry === undefined ? {} : { 'Retry-After': String(retry) }),
    ...(status === 401 ? { 'WWW-Authenticate': challenge(place.base_url, '') } : {}),
  };
  return new Response(JSON.stringify(body), { status, headers });
}

/** What REST answers 422 is 400 here: an argument that is not valid. */
function statusOf(error: ApiError, place: Place): { status: number; body: unknown } {
  const { status: known } = ERRORS[error.code];
  const status = known === 422 ? 400 : known;
  const { base_url, request_id, dataset } = place;
  const info = {
    '@type': `${TYPE}/google.rpc.ErrorInfo`,
    reason: error.code.toUpperCase(),
    domain: new URL(base_url).hostname,
    metadata: { request_id },
  };
  const violations = error.code === 'validation_failed' ? [violationsOf(error)] : [];
  const value = errorBody(error, { base_url, request_id, dataset, by_name: true });
  const details = [info, ...violations, { '@type': `${TYPE}/google.protobuf.Struct`, value }];
  return {
    status,
    body: { error: { code: status, status: NAMES[status] ?? 'UNKNOWN', message: error.message, details } },
  };
}

function violationsOf({ extras }: ApiError) {
  const issues = (Array.isArray(extras.detail) ? extras.detail : []) as { loc: unknown[]; msg: string }[];
  return {
    '@type': `${TYPE}/google.rpc.BadRequest`,
    fieldViolations: issues.map(({ loc, msg }) => ({ field: loc.slice(1).join('.'), description: msg })),
  };
}
