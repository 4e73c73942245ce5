// What each error code means and what a client should do: the guide "Errors" and the API reference.
import { ERRORS, type ErrorCode } from './errors.ts';

/** Explanation of a code, as Markdown. */
interface ErrorHelp {
  meaning: string;
  action: string;
}

/** Explanations by code. */
export const ERROR_HELP: Readonly<Record<ErrorCode, ErrorHelp>> = {
  unknown_filter: {
    meaning: 'A query parameter is neither a parameter of the operation nor a filter of this dataset.',
    action: 'Use the name that the message suggests, or one of `filters` in `GET /v1/{ds}/schema`.',
  },
  invalid_filter: {
    meaning:
      'The expression in `filter` cannot be read, names an unknown attribute, or compares values of different types; `detail` has `position` (a character, from 1, or a JSON pointer), `found`, `expected` and often `nearest`.',
    action: 'Correct the expression at that position ([expressions](searching.md#expressions)).',
  },
  invalid_sql: {
    meaning:
      'The statement cannot be read or run: `detail` has `line`, `column` and often the `nearest` name. Messages contain no values of the data.',
    action: 'Correct the statement at that position ([SQL](sql.md)).',
  },
  invalid_parameter: {
    meaning:
      'A parameter names something this dataset or request does not allow, such as an unknown attribute in `fields`, `sort=distance` without `near`, or a malformed `near` or `bbox`.',
    action: 'Correct the parameter that the message names.',
  },
  invalid_cursor: {
    meaning:
      'The cursor was changed, truncated or made for another query (dataset, filters, sort), or has an older format.',
    action: 'Start again without `cursor`, with the same parameters.',
  },
  too_many_ids: {
    meaning: 'More ids than one call accepts: 100 in a batch, 5 in a comparison.',
    action: 'Split the list into several calls.',
  },
  too_many_records: {
    meaning:
      'The filters match more records than a time series accepts, or a record has more facts than one answer can contain, or a paid answer is longer than `max_tokens`; the message names the limit.',
    action: 'Add filters, select one `attribute`, or request fewer `fields`.',
  },
  key_required: {
    meaning: 'This operation or format needs an API key, even where JSON has free previews.',
    action: 'Send a key as `Authorization: Bearer <key>`; [create one](authentication.md#api-keys).',
  },
  invalid_key: {
    meaning: 'The key is unknown, misspelt or revoked.',
    action: 'Check that the key is complete. A lost key is [replaced by mail](authentication.md#replace-a-lost-key).',
  },
  invalid_token: {
    meaning: 'The access token is expired, revoked or not for this service.',
    action: 'Refresh the token, or connect again ([OAuth](authentication.md#oauth)).',
  },
  payment_required: {
    meaning:
      'The call has a price and no payment came with it. `price_eur` has the price, `how_to_pay` the ways to pay.',
    action: 'Send an API key, or pay [by x402](paying.md#pay-by-x402).',
  },
  insufficient_credits: {
    meaning: 'The balance of the key does not cover the price. Nothing was charged.',
    action: '[Top up](paying.md#top-up) the key.',
  },
  quota_exceeded: {
    meaning: 'The free previews of this dataset are used up for today.',
    action:
      'Send a key, wait until 00:00 UTC, or read the [free files](analysts.md), which have the same values without a limit.',
  },
  payment_invalid: {
    meaning: 'The x402 payment that came with the request was not accepted; `detail.reason` has the reason code.',
    action: 'Look the reason up in [x402](paying.md#reasons), and sign one of the offered payments again.',
  },
  limit_exceeded: {
    meaning:
      'The call exceeds a bound that no payment lifts: `X-Max-Price-EUR`, the limit of a day or month of the key, the cap of a connected application, or the cap, day, datasets or operations of a child key. `detail` has `bound`, `limit_eur` and `resets_at`. Nothing was charged.',
    action: 'Wait until `resets_at`, or let the owner [change the limit](paying.md#budgets).',
  },
  plan_required: {
    meaning: 'The operation is part of the subscription plans.',
    action: '[Subscribe](paying.md#plans) to `pro` or `scale`. Public values are [free as files](analysts.md).',
  },
  admin_required: {
    meaning: "The operation is for operators of the service and needs an operator's key.",
    action: 'Use another operation; keys of customers cannot be given this right.',
  },
  domain_mismatch: {
    meaning: "The e-mail address is not of the record's own domain.",
    action: "Use an address at the record's domain or a parent domain of it ([owners](owners.md)).",
  },
  not_owner: {
    meaning: 'The claim is not verified, or its 30 minutes have passed.',
    action: 'Open the mailed link, or request a new one with `POST /v1/claim`.',
  },
  unknown_dataset: {
    meaning: 'There is no dataset of this name.',
    action: '`GET /v1/datasets` lists the datasets.',
  },
  unknown_entity: {
    meaning: 'The dataset has no record with this id, slug or key, or its owner had it removed.',
    action: 'Use one of `detail.nearest`, or search for the name: `GET /v1/{ds}/entities?q=<name>&sort=relevance`.',
  },
  not_found: {
    meaning: 'Nothing exists at this path.',
    action: 'Check the path against the API reference.',
  },
  method_not_allowed: {
    meaning: 'The path exists, the method does not.',
    action: 'Use one of the methods in the `Allow` header.',
  },
  key_exists: {
    meaning: 'This e-mail address already has a key. `+tag` and letter case do not make another address.',
    action: 'Use the key you have; a lost one is [replaced by mail](authentication.md#replace-a-lost-key).',
  },
  idempotency_conflict: {
    meaning: 'The `Idempotency-Key` was already used with another request.',
    action: 'Send a new value for a new request.',
  },
  payment_already_used: {
    meaning: 'This payment already paid for an answer.',
    action: 'Sign a new payment, or repeat the first request with its `Idempotency-Key`.',
  },
  payment_in_progress: {
    meaning: 'A request with the same `Idempotency-Key` or payment is still running, or its process ended.',
    action: 'Repeat the same request after `Retry-After` (at most 15 s). Sign nothing new.',
  },
  already_decided: {
    meaning: 'The review item was already approved or rejected (operators only).',
    action: 'Load the list of items again.',
  },
  permit2_allowance_required: {
    meaning: 'The token needs an allowance for Permit2 before it can pay.',
    action: 'Send one `approve(Permit2)` for the token, or pay in USDC ([x402](paying.md#pay-by-x402)).',
  },
  payload_too_large: {
    meaning: 'The address or the request body is longer than the service accepts.',
    action: 'Shorten it: fewer `ids` or filter values in one call.',
  },
  unsupported_media_type: {
    meaning: 'The request body is compressed, which the service does not read.',
    action: 'Send the body without `Content-Encoding`.',
  },
  validation_failed: {
    meaning: 'A parameter or the body has a wrong type, is out of bounds or is missing; `detail` lists each.',
    action: 'Correct each parameter in `detail`.',
  },
  rate_limited: {
    meaning: 'Too many calls in this minute or day; see [rate limits](api.md#rate-limits).',
    action: 'Wait `Retry-After` seconds. Send fewer, larger calls: batches instead of single records.',
  },
  internal: {
    meaning: 'An error in the service; nothing was charged.',
    action: 'Repeat the call. If it fails again, report its `request_id`.',
  },
  unavailable: {
    meaning: 'The service or a part of it is busy or not ready.',
    action: 'Repeat the call after `Retry-After` seconds.',
  },
  query_timeout: {
    meaning: 'The query exceeded its time limit. Nothing was charged.',
    action: 'Add filters, or repeat it after `Retry-After` seconds.',
  },
};

/** Statuses as headings, with a sentence for all their codes. */
const STATUSES: readonly (readonly [number, string])[] = [
  [400, 'Name or combination not allowed'],
  [401, 'Credential missing or invalid'],
  [402, 'Payment required'],
  [403, 'Not allowed for this key'],
  [404, 'Not found'],
  [405, 'Method not allowed'],
  [409, 'Conflict with an earlier request'],
  [412, 'Token allowance missing'],
  [413, 'Request too large'],
  [415, 'Body not readable'],
  [422, 'Value invalid'],
  [429, 'Too many requests'],
  [500, 'Server error'],
  [503, 'Temporarily unavailable'],
];

/** The tables of docs/errors.md, one for each status, with an anchor for each code. */
export function errorTables(): string {
  return STATUSES.map(([status, title]) => {
    const rows = Object.entries(ERRORS).flatMap(([code, row]) => {
      if (row.status !== status) return [];
      const { meaning, action } = ERROR_HELP[code as ErrorCode];
      return [`| \`${code}\` | ${status} | ${row.retriable ? 'yes' : 'no'} | ${meaning} | ${action} |`];
    });
    return `### ${status} ${title}\n\n| code | status | retry helps | meaning | what to do |\n|---|---|---|---|---|\n${rows.join('\n')}\n`;
  }).join('\n');
}
