// Builds the gate's call from an operation and named arguments (MCP, A2A, pages): the same call as over REST.

import { derive } from '../../packs/define/derive.ts';
import { ApiError } from '../contract/errors.ts';
import { readArguments } from '../contract/named-arguments.ts';
import { isChange, type Operation } from '../contract/operation.ts';
import type { Call, CallDeps } from '../gate/execute.ts';
import type { HttpContext, HttpRequest } from '../http/request.ts';

/** Operation, arguments and channel of a call by name. */
export interface CallInput {
  channel: NonNullable<Call['channel']>;
  operation: Operation;
  /** Arguments as received. */
  args: unknown;
  /** Dataset of a tool that has one. */
  dataset: string | null;
  /** x402 payment and Idempotency-Key, if the channel has its own members for them. */
  payment?: unknown;
  idempotency_key?: string | undefined;
}

/** The operation without previews: without payment, agents get the price instead of a preview. */
function withoutPreviews(operation: Operation): Operation {
  if (!operation.charge.previews) return operation;
  return derive(operation, 'without previews', () => {
    const { previews: _, ...charge } = operation.charge;
    return { ...operation, charge };
  });
}

/** Splits off the channel's own arguments: format and highest price. */
function ownArguments({ operation, args }: CallInput): {
  format?: unknown;
  max_price?: unknown;
  idempotency_key?: unknown;
  rest: unknown;
} {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return { rest: args };
  const { format, max_price_eur, ...rest } = args as Record<string, unknown>;
  if (isChange(operation)) {
    const { idempotency_key, ...others } = rest;
    return { format, max_price: max_price_eur, idempotency_key, rest: others };
  }
  if (operation.own_format)
    return { max_price: max_price_eur, rest: { ...rest, ...(format === undefined ? {} : { format }) } };
  return { format, max_price: max_price_eur, rest };
}

/** An amount in header form: no exponent, at most six decimals. */
const decimal = (amount: number): string => String(Number(amount.toFixed(6)));

/** The requested format: `json` or `md`; without one that of the channel. Text operations have a single format. */
function formatOf({ formats, tool, rest }: Operation, format: unknown, channel: Call['channel']): Call['format'] {
  if (format === undefined || format === null || format === '')
    return channel === 'mcp' && tool?.markdown ? 'markdown' : (formats[0] ?? 'json');
  if (format === 'json') return formats[0] ?? 'json';
  if (format === 'md' || format === 'markdown') return 'markdown';
  // Pages show the values as the HTML of the operation has them.
  if (format === 'html' && channel === 'rest' && rest.html) return 'html';
  const issue = { loc: ['query', 'format'], msg: 'must be json or md', type: 'enum' };
  throw new ApiError('validation_failed', `format: ${issue.msg}`, { detail: [issue] });
}

/** REST address of the same query in the same format; the base of links to further pages. */
function addressOf(address: string, markdown: boolean): URL {
  const url = new URL(address);
  if (markdown) url.pathname += '.md';
  return url;
}

/**
 * Reads a call by name. Its headers are a copy of the request's, since one request may contain several calls,
 * unless it is `alone`. Throws if the arguments lack a path parameter.
 *
 * @example
 * ```ts
 * const call = namedCall(gate, c, request, { channel: 'mcp', operation, args: { q: 'zurich' }, dataset: 'airports' });
 * const outcome = await execute(gate, call, present);
 * ```
 */
export function namedCall(gate: CallDeps, c: HttpContext, request: HttpRequest, input: CallInput, alone = false): Call {
  return new ReadNamed(gate, c, request, input, alone);
}

/** A class, like `RestCall`: closures created for each call would outlive it. */
class ReadNamed implements Call {
  readonly credential: Call['credential'];
  readonly address: string;
  readonly headers: Call['headers'];
  readonly operation: Operation;
  readonly channel: CallInput['channel'];
  readonly raw: Call['raw'];
  readonly query: string | undefined;
  readonly dataset: string | null;
  readonly entity: string | null;
  readonly format: Call['format'];
  readonly head = false;
  readonly request_id: string;
  idempotency_key: string | undefined;
  readonly max_price: string | undefined;
  readonly payment: unknown;
  readonly misread: Call['misread'];
  shorter?: NonNullable<Call['shorter']>;
  readonly #http: HttpContext;
  readonly #base: string;
  readonly #read: ReturnType<typeof readArguments>;
  #url: URL | undefined;

  constructor(gate: CallDeps, c: HttpContext, request: HttpRequest, input: CallInput, alone: boolean) {
    const { operation } = input;
    const { format, max_price, idempotency_key, rest } = ownArguments(input);
    const read = readArguments(operation, rest, input.dataset);
    this.#http = c;
    this.#base = gate.base_url;
    this.#read = read;
    this.credential = request.visitor.credential;
    this.address = request.visitor.address;
    this.headers = alone ? request.headers : { ...request.headers };
    this.operation = withoutPreviews(operation);
    this.channel = input.channel;
    this.raw = read.raw;
    this.query = operation.repeats ? JSON.stringify(read.raw) : undefined;
    this.dataset = read.dataset;
    this.entity = read.entity;
    this.format = formatOf(operation, format, input.channel);
    this.request_id = request.request_id;
    const named = typeof idempotency_key === 'string' ? idempotency_key : undefined;
    this.idempotency_key = named ?? input.idempotency_key ?? c.req.header('idempotency-key');
    this.max_price = priceOf(max_price ?? c.req.header('x-max-price-eur'));
    this.payment = input.payment;
    this.misread = read.misread;
  }

  /** Computed on demand: few calls need it. */
  get url(): URL {
    const markdown = this.format === 'markdown' && this.operation.formats.includes('json');
    this.#url ??= addressOf(this.#base + this.#read.address, markdown);
    return this.#url;
  }

  get signal(): AbortSignal {
    return this.#http.req.raw.signal;
  }

  gone(): boolean {
    return this.#http.env?.outgoing?.destroyed ?? this.signal.aborted;
  }
}

/** The highest price in header form. */
function priceOf(limit: unknown): string | undefined {
  if (typeof limit === 'number') return decimal(limit);
  return limit === undefined || limit === null ? undefined : String(limit);
}
