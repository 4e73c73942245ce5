// A call that names its operation and arguments, as MCP and A2A have it: the same call for the gate that REST would make.

import { ApiError } from '../errors.ts';
import type { Call, Gate } from '../execute.ts';
import type { Operation } from '../operation.ts';
import { readArguments } from '../operations/arguments.ts';
import type { Http, HttpRequest } from './request.ts';

/** What is called, with what, by whom. */
export interface Named {
  channel: NonNullable<Call['channel']>;
  operation: Operation;
  /** As it came. */
  given: unknown;
  /** The dataset of a tool that has one. */
  dataset: string | null;
  /** x402 payment and Idempotency-Key, where the channel has places of its own for them. */
  payment?: unknown;
  idempotency_key?: string | undefined;
}

const paidOnly = new WeakMap<Operation, Operation>();

/** The operation without previews: who does not pay is told the price. */
function withoutPreviews(operation: Operation): Operation {
  if (!operation.previews) return operation;
  let paid = paidOnly.get(operation);
  if (paid === undefined) {
    const { previews: _, ...rest } = operation;
    paid = rest;
    paidOnly.set(operation, paid);
  }
  return paid;
}

/** Arguments that are the channel's own: the form of the answer and the highest price. */
function ownArguments({ operation, given }: Named): { format?: unknown; max_price?: unknown; rest: unknown } {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return { rest: given };
  const { format, max_price_eur, ...rest } = given as Record<string, unknown>;
  if (operation.own_format)
    return { max_price: max_price_eur, rest: { ...rest, ...(format === undefined ? {} : { format }) } };
  return { format, max_price: max_price_eur, rest };
}

/** An amount as a header writes it: no exponent, six decimals at most. */
const decimal = (amount: number): string => String(Number(amount.toFixed(6)));

/** The form that is asked for: JSON, or Markdown by `format: "md"`. Operations that are texts have no other. */
function formatOf({ formats }: Operation, asked: unknown): Call['format'] {
  if (asked === undefined || asked === null || asked === 'json' || asked === '') return formats[0] ?? 'json';
  if (asked === 'md' || asked === 'markdown') return 'markdown';
  const issue = { loc: ['query', 'format'], msg: 'must be json or md', type: 'enum' };
  throw new ApiError('validation_failed', `format: ${issue.msg}`, { detail: [issue] });
}

/** The same question as an address of REST, in the same form: links to what follows lead there. */
function addressOf(address: string, markdown: boolean): URL {
  const url = new URL(address);
  if (markdown) url.pathname += '.md';
  return url;
}

/**
 * Reads a call by name. Its headers are a copy of the request's, since one request may hold several calls. Throws where the
 * arguments do not even say what the call is about.
 */
export function namedCall(gate: Gate, c: Http, request: HttpRequest, named: Named): Call {
  const { operation, channel } = named;
  const { format, max_price, rest } = ownArguments(named);
  const read = readArguments(operation, rest, named.dataset);
  let url: URL | undefined;
  const form = formatOf(operation, format);
  const limit = max_price ?? c.req.header('x-max-price-eur');
  return {
    credential: request.visitor.credential,
    address: request.visitor.address,
    headers: { ...request.headers },
    operation: withoutPreviews(operation),
    channel,
    raw: read.raw,
    dataset: read.dataset,
    entity: read.entity,
    format: form,
    head: false,
    // Few calls need an address, and a signal costs more to make than most of them.
    get url() {
      const address = gate.base_url + read.address;
      url ??= addressOf(address, form === 'markdown' && operation.formats.includes('json'));
      return url;
    },
    request_id: request.request_id,
    get signal() {
      return c.req.raw.signal;
    },
    gone: () => c.env?.outgoing?.destroyed ?? c.req.raw.signal.aborted,
    idempotency_key: named.idempotency_key ?? c.req.header('idempotency-key'),
    max_price:
      typeof limit === 'number' ? decimal(limit) : limit === undefined || limit === null ? undefined : String(limit),
    payment: named.payment,
    misread: read.misread,
  };
}
