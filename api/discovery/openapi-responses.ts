// Responses in the OpenAPI document: errors by status with their codes, headers, and the payment options.

import { FORMATS } from '../../data/input/formats.ts';
import { ApiError, ERRORS, type ErrorCode, errorBody, retryOf } from '../contract/errors.ts';
import { acceptedParameters, isChange, type Operation } from '../contract/operation.ts';
import type { View } from './document.ts';
import { componentRef } from './openapi-names.ts';

type Json = Record<string, unknown>;

/** Example error of each status, with a message of the service. */
const SHOWN: [name: string, code: ErrorCode, title: string, message: string][] = [
  [
    'BadRequest',
    'unknown_filter',
    'A name or combination that is not allowed here',
    '"colour" is not a filter or parameter of this dataset.',
  ],
  [
    'Unauthorized',
    'invalid_key',
    'An API key is required, or the one sent is unknown or revoked',
    'This API key is unknown or has been revoked.',
  ],
  [
    'PaymentRequired',
    'payment_required',
    'Payment is required: the body has the price and the payment methods',
    'This call was not paid.',
  ],
  [
    'Forbidden',
    'plan_required',
    'The plan or role of the key does not allow this operation',
    'This is part of the subscription plans.',
  ],
  ['NotFound', 'unknown_entity', 'The dataset or record does not exist', 'This dataset has no such record.'],
  [
    'Conflict',
    'idempotency_conflict',
    'It contradicts an earlier request',
    'This Idempotency-Key was used for another request.',
  ],
  [
    'TooLarge',
    'payload_too_large',
    'The address or the body is too long',
    'The address has more than 32768 characters.',
  ],
  [
    'Compressed',
    'unsupported_media_type',
    'The body has a content coding',
    'Content-Encoding: a body in gzip is not read here. Send it without a content coding.',
  ],
  ['Invalid', 'validation_failed', 'A value of the wrong type or beyond its bounds', 'limit: must be at least 1'],
  [
    'RateLimited',
    'rate_limited',
    'Too many requests; retry after Retry-After seconds',
    'More than 60 paid calls in a minute; try again in 30 s.',
  ],
  [
    'Failed',
    'internal',
    'Server error; nothing was charged',
    'Something went wrong on our side; the request was not charged.',
  ],
  [
    'Unavailable',
    'unavailable',
    'Temporarily unavailable; retry after Retry-After seconds',
    'The dataset has no release to answer from yet.',
  ],
];

const codesOf = (status: number) =>
  Object.entries(ERRORS).flatMap(([code, row]) => (row.status === status ? [code] : []));

/** Components of all errors: one response per status, with its codes in the schema. */
export function errorResponses(view: View): Record<string, Json> {
  const entries = SHOWN.map(([name, code, title, message]) => {
    const { status } = ERRORS[code];
    const codes = codesOf(status);
    const schema = {
      ...componentRef('schemas', status === 402 ? 'PaymentError' : 'ApiError'),
      properties: { error: { enum: codes } },
    };
    const retry = status === 429 ? { retry_after_seconds: 30 } : retryOf(code);
    const place = { base_url: view.base_url, request_id: '3f0e4a52-6f1c-4f0e-9f5c-0a4f3b1c2d4e' };
    const example = errorBody(new ApiError(code, message, retry), place);
    const content = { schema, ...(status === 402 ? {} : { example }) };
    const headers = { 'X-Request-Id': componentRef('headers', 'RequestId'), ...headersOf(status) };
    const description = `${title}. Codes: ${codes.join(', ')}.`;
    return [
      name,
      { description, headers, content: { 'application/json': content, 'application/problem+json': { schema } } },
    ];
  });
  return Object.fromEntries(entries);
}

function headersOf(status: number): Json {
  if (status === 401) return { 'WWW-Authenticate': componentRef('headers', 'WwwAuthenticate') };
  if (status === 402) return { 'PAYMENT-REQUIRED': componentRef('headers', 'PaymentRequired') };
  return status === 429 || status === 503 ? { 'Retry-After': componentRef('headers', 'RetryAfter') } : {};
}

const NAMES = new Map(SHOWN.map(([name, code]) => [ERRORS[code].status as number, name]));

/** Codes of the possible errors of an operation, in the order of the table. `pays`: some of its calls have a price. */
export function errorCodes(operation: Operation, pays: boolean): ErrorCode[] {
  const { rest, docs, formats } = operation;
  const { access, price, previews } = operation.charge;
  const { names, filters } = acceptedParameters(operation);
  const dataset = rest.path.includes(':ds');
  const values = rest.path.replace(':ds', '').includes(':');
  const owners = docs.group === 'owners';
  const record = rest.path.includes(':entity_id') || owners || names.includes('ids');
  const conditions: [boolean, ErrorCode[]][] = [
    [true, ['unknown_filter']],
    [names.includes('fields') || filters, ['invalid_parameter']],
    [names.includes('cursor'), ['invalid_cursor']],
    [names.includes('ids'), ['too_many_ids']],
    [access === 'key' || access === 'plan' || access === 'admin', ['key_required']],
    [true, ['invalid_key']],
    [pays, ['payment_required', 'insufficient_credits', 'payment_invalid', 'limit_exceeded']],
    [previews !== undefined, ['quota_exceeded']],
    [access === 'plan', ['plan_required']],
    [access === 'admin', ['admin_required']],
    [owners && !dataset, ['domain_mismatch', 'not_owner']],
    [dataset, ['unknown_dataset']],
    [record, ['unknown_entity']],
    [values && !record, ['not_found']],
    [price !== undefined || isChange(operation), ['idempotency_conflict', 'payment_in_progress']],
    [rest.method !== 'GET', ['unsupported_media_type']],
    [rest.method !== 'GET' || values || formats.includes('json'), ['validation_failed']],
    [true, ['payload_too_large', 'rate_limited', 'internal', 'unavailable']],
    [filters, ['query_timeout']],
  ];
  const codes = new Set([...(docs.errors ?? []), ...conditions.flatMap(([applies, list]) => (applies ? list : []))]);
  return (Object.keys(ERRORS) as ErrorCode[]).filter((code) => codes.has(code));
}

/** Possible errors of an operation, by status. */
export function errorsOf(operation: Operation, pays: boolean): Record<string, Json> {
  const statuses = errorCodes(operation, pays).map((code) => ERRORS[code].status);
  return Object.fromEntries(
    statuses.map((status) => [String(status), componentRef('responses', NAMES.get(status) ?? 'Failed')]),
  );
}

const text = (description: string, more: Json = {}) => ({ description, schema: { type: 'string', ...more } });

/** Response headers, by component name. */
export const RESPONSE_HEADERS: Record<string, Json> = {
  RequestId: text('Id of the request, for questions about it'),
  Release: text('The release that answered; the same as snapshot in the status'),
  ETag: text('Version of the answer, for If-None-Match'),
  Link: text('rel="next": the next page'),
  NextCursor: text('Cursor of the next page, where the format has no place for it'),
  Charge: text('EUR that this answer cost'),
  Balance: text('EUR left on the key'),
  RateLimit: text('What is left of the limit, and until when'),
  RetryAfter: { description: 'Seconds to wait', schema: { type: 'integer', minimum: 0 } },
  WwwAuthenticate: text('Where to find how to authenticate (RFC 9728)'),
  PaymentRequired: text('How to pay with x402: base64 of JSON'),
};

/** Whether responses have a tag, and may be 304. */
export function hasEntityTag({ rest, charge: { access } }: Operation): boolean {
  return rest.method === 'GET' && (access === 'free' || rest.validators !== undefined);
}

/** Headers of a successful response. */
export function successHeaders(operation: Operation, sold: boolean): Json {
  const { rest, formats } = operation;
  return {
    'X-Request-Id': componentRef('headers', 'RequestId'),
    RateLimit: componentRef('headers', 'RateLimit'),
    ...(rest.path.includes(':ds') ? { 'X-Dataset-Version': componentRef('headers', 'Release') } : {}),
    ...(hasEntityTag(operation) ? { ETag: componentRef('headers', 'ETag') } : {}),
    ...(sold
      ? { 'X-Charge-EUR': componentRef('headers', 'Charge'), 'X-Balance-EUR': componentRef('headers', 'Balance') }
      : {}),
    ...(formats.some((format) => FORMATS[format].bulk)
      ? { Link: componentRef('headers', 'Link'), 'X-Next-Cursor': componentRef('headers', 'NextCursor') }
      : {}),
  };
}

/** The error bodies (specification section 7, contract section 4). */
export const ERROR_SCHEMAS: Record<string, Json> = {
  ApiError: {
    type: 'object',
    properties: {
      error: { type: 'string', enum: Object.keys(ERRORS), description: 'Branch on this' },
      message: { type: 'string', description: 'Describes the error, with the name of an invalid parameter' },
      is_retriable: { type: 'boolean', description: 'Whether the same request may succeed later' },
      retry_after_seconds: { type: 'integer', minimum: 0 },
      alternative_action: { type: 'string', description: 'What to do instead' },
      documentation_url: { type: 'string', format: 'uri' },
      detail: { description: 'With validation_failed: one entry for each error' },
      request_id: { type: 'string' },
    },
    required: ['error', 'message', 'is_retriable', 'documentation_url', 'request_id'],
  },
  PaymentError: {
    description: 'For x402, also the content of the PAYMENT-REQUIRED header',
    allOf: [componentRef('schemas', 'ApiError')],
    type: 'object',
    properties: {
      price_eur: { type: 'number', description: 'What the call costs' },
      price_usd: { type: 'number' },
      how_to_pay: {
        description: 'The available payment methods, each with its URL',
        type: 'object',
        additionalProperties: {
          type: 'object',
          properties: {
            url: { type: 'string', format: 'uri' },
            method: {
              enum: ['POST'],
              description: 'Method of the request, if the URL is an API call; otherwise open the URL',
            },
            body: { type: 'object', description: 'Example of the request body' },
          },
          required: ['url'],
        },
      },
      x402Version: { const: 2 },
      resource: { type: 'object' },
      accepts: {
        type: 'array',
        items: { type: 'object' },
        description: 'Accepted payments; empty without x402',
      },
    },
    required: ['price_eur', 'price_usd', 'how_to_pay', 'x402Version', 'resource', 'accepts'],
  },
};
