// An HTTP request as the channels read it: path, query, credentials taken out, suffix, address.
import type { Context as HonoContext } from 'hono';
import { ApiError } from '../errors.ts';
import { type Call, type Gate, type Visitor, visitorOf } from '../execute.ts';
import { commonHeaders, type Headers, requestId } from './respond.ts';

/** What @hono/node-server lends to a request; absent in tests without a socket. */
export interface NodeBindings {
  incoming?: { socket?: { remoteAddress?: string } };
}
export type Http = HonoContext<{ Bindings: NodeBindings }>;

/** Longest path and query that is read; beyond it a request is 413. A batch of 100 slugs fits several times. */
const LONGEST_URL = 32_768;

/** Query parameters by name: one text, or a list where the name repeats. No prototype, so that every name is just a name. */
export type Query = Call['raw'];

export interface HttpRequest {
  visitor: Visitor;
  request_id: string;
  accept: string | undefined;
  method: string;
  /** Path as sent, with `.md`. */
  path: string;
  query: Query;
  /** Address under the base URL, without credentials: what links, cursors and prices speak of. */
  url: URL;
  /** The `.md` suffix was there. */
  suffix: boolean;
  /** Headers that every answer to this request gets. */
  headers: Headers;
  /** The request was too long to be read. */
  refused?: ApiError;
}

/** `/v1/…` without its `.md`: what routes are matched against. Other paths stay whole. */
export function routedPath(path: string): string {
  return path.startsWith('/v1/') && path.endsWith('.md') ? path.slice(0, -'.md'.length) : path;
}

/** Reads a request. A credential in the query is taken out of it, and the answer must then not be stored or referred to. */
export function readRequest(gate: Gate, c: Http): HttpRequest {
  const { pathname, searchParams, search } = new URL(c.req.url);
  const request_id = requestId(c.req.header('x-request-id'));
  const headers = commonHeaders(request_id);
  const { method } = c.req;
  const readable = method === 'GET' || method === 'HEAD';
  const api_key = readable ? (searchParams.get('api_key') ?? undefined) : undefined;
  const secret = searchParams.has('api_key');
  if (secret) {
    searchParams.delete('api_key');
    headers['Cache-Control'] = 'no-store';
    headers['Referrer-Policy'] = 'no-referrer';
  }
  const facts = {
    authorization: c.req.header('authorization'),
    x_api_key: c.req.header('x-api-key'),
    api_key,
    socket: c.env?.incoming?.socket?.remoteAddress ?? '127.0.0.1',
    forwarded: c.req.header('x-forwarded-for'),
  };
  const tooLong = pathname.length + search.length > LONGEST_URL;
  const rest = secret ? `?${searchParams}`.replace(/^\?$/, '') : search;
  return {
    visitor: visitorOf(gate, facts, headers),
    request_id,
    accept: c.req.header('accept'),
    method,
    path: pathname,
    query: tooLong ? {} : queryOf(searchParams),
    url: new URL(tooLong ? gate.base_url : `${gate.base_url}${pathname}${rest}`),
    suffix: pathname.endsWith('.md'),
    headers,
    ...(tooLong
      ? { refused: new ApiError('payload_too_large', `The address has more than ${LONGEST_URL} characters.`) }
      : {}),
  };
}

function queryOf(parameters: URLSearchParams): Query {
  const query: Query = Object.create(null);
  for (const [name, value] of parameters) {
    const before = query[name];
    if (before === undefined) query[name] = value;
    else if (typeof before === 'string') query[name] = [before, value];
    else before.push(value);
  }
  return query;
}

/** Longest body of a request, in bytes. */
const LONGEST_BODY = 65_536;

/** The JSON body of a request; undefined where there is none. `payload_too_large`, or `validation_failed` for what is no JSON. */
export async function readBody(c: Http): Promise<unknown> {
  const text = (await readText(c)).trim();
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    const issue = { loc: ['body'], msg: 'must be JSON', type: 'json_invalid' };
    throw new ApiError('validation_failed', 'body: must be JSON', { detail: [issue] });
  }
}

/** The body of a request as text, read no further than it may be long. */
export async function readText(c: Http): Promise<string> {
  return (await readBytes(c, LONGEST_BODY)).toString();
}

/** The body of a request byte by byte, as a signature covers it; `payload_too_large` beyond so many. */
export async function readBytes(c: Http, longest: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of c.req.raw.body ?? []) {
    length += piece.length;
    if (length > longest) throw new ApiError('payload_too_large', `The body has more than ${longest} bytes.`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** Longest PAYMENT-SIGNATURE that is read, in characters: a payment with its extensions takes about 2,000 (payments.md 3). */
const LONGEST_PAYMENT = 8_192;

/** The payment in a PAYMENT-SIGNATURE header (base64 of JSON); null for what is none, so that the gate refuses it. */
export function paymentIn(header: string | undefined): unknown {
  if (header === undefined) return undefined;
  if (header.length > LONGEST_PAYMENT) return null;
  try {
    return JSON.parse(Buffer.from(header, 'base64').toString()) as unknown;
  } catch {
    return null;
  }
}
