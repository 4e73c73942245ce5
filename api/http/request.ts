// Reads an HTTP request: path, query, credentials (removed), `.md` suffix, address.
import type { Context } from 'hono';
import { parseJson } from '../../packs/define/digits.ts';
import { ApiError } from '../contract/errors.ts';
import { transportHeaders } from '../discovery/hosting.ts';
import { type Call, type CallDeps, type Visitor, visitorOf } from '../gate/execute.ts';
import { commonHeaders, type Headers, requestId } from './respond.ts';

/** Node's request and response, passed by the server; absent in tests without a socket. */
export interface NodeBindings {
  incoming?: { socket?: { remoteAddress?: string | undefined } };
  outgoing?: { destroyed?: boolean; [REQUEST_ID]?: string };
}

/** Hono's context of a request. */
export type HttpContext = Context<{ Bindings: NodeBindings }>;

/** Key of the request id on the response, for the log. */
const REQUEST_ID: unique symbol = Symbol('request id');

/**
 * Longest accepted path and query, in characters; beyond it the response is 413. Several times a batch of 100
 * slugs.
 */
const LONGEST_URL = 32_768;

/**
 * Query parameters by name: one text, or a list if the name repeats. Without a prototype, so that any name is
 * safe.
 */
export type Query = Call['raw'];

/** `/v1/…` without `.md`, for routing. Other paths are unchanged. */
export function routedPath(path: string): string {
  return path.startsWith('/v1/') && path.endsWith('.md') ? path.slice(0, -'.md'.length) : path;
}

/** The path of an absolute URL, undecoded. The server has validated and normalised the URL. */
export function pathOf(address: string): string {
  const from = address.indexOf('/', address.indexOf('://') + 3);
  return from < 0 ? '/' : address.slice(from, endOf(address, from, true));
}

/** The query with its question mark; empty if there is none. */
function searchOf(address: string): string {
  const from = endOf(address, 0, true);
  const search = address.slice(from, endOf(address, from, false));
  return search === '?' ? '' : search;
}

const QUERY = 0x3f;
const FRAGMENT = 0x23;

/** Index of the fragment of a URL, or of its query if `query` is set; the length if there is none. */
function endOf(address: string, from: number, query: boolean): number {
  for (let i = from; i < address.length; i += 1) {
    const code = address.charCodeAt(i);
    if (code === FRAGMENT || (query && code === QUERY)) return i;
  }
  return address.length;
}

/** Request id of a response; undefined if the request failed before it got one. */
export const requestIdOf = (outgoing: NonNullable<NodeBindings['outgoing']>): string | undefined =>
  outgoing[REQUEST_ID];

/** A parsed request. A class, since only some handlers need the URL, which is parsed on demand. */
export class HttpRequest {
  readonly visitor: Visitor;
  readonly request_id: string;
  readonly accept: string | undefined;
  readonly method: string;
  /** Path as sent, with `.md`. */
  readonly path: string;
  /** Query with its question mark, without credentials; may be empty. */
  readonly search: string;
  readonly query: Query;
  /** Headers of every response to this request. */
  readonly headers: Headers;
  /** The `payload_too_large` error of a URL that is too long; handlers answer with it. */
  readonly urlError: ApiError | undefined;
  readonly #http: HttpContext;
  readonly #base: string;
  #url: URL | undefined;

  constructor(gate: CallDeps, c: HttpContext) {
    const { method } = c.req;
    const search = searchOf(c.req.url);
    const parameters = search === '' ? null : new URLSearchParams(search);
    this.#http = c;
    this.#base = gate.base_url;
    this.method = method;
    this.path = pathOf(c.req.url);
    this.request_id = requestId(c.req.header('x-request-id'));
    if (c.env?.outgoing) c.env.outgoing[REQUEST_ID] = this.request_id;
    this.headers = Object.assign(commonHeaders(this.request_id), transportHeaders(gate.base_url));
    this.accept = c.req.header('accept');
    const secret = parameters?.has('api_key') ?? false;
    const readable = method === 'GET' || method === 'HEAD';
    const facts = {
      authorization: c.req.header('authorization'),
      x_api_key: c.req.header('x-api-key'),
      api_key: secret && readable ? (parameters?.get('api_key') ?? undefined) : undefined,
      socket: c.env?.incoming?.socket?.remoteAddress ?? '127.0.0.1',
      forwarded: c.req.header('x-forwarded-for'),
      path: this.path,
    };
    if (secret) {
      parameters?.delete('api_key');
      this.headers['Cache-Control'] = 'no-store';
      this.headers['Referrer-Policy'] = 'no-referrer';
    }
    this.visitor = visitorOf(gate, facts, this.headers);
    const tooLong = this.path.length + search.length > LONGEST_URL;
    this.urlError = tooLong
      ? new ApiError('payload_too_large', `The address has more than ${LONGEST_URL} characters.`)
      : undefined;
    this.query = tooLong || parameters === null ? {} : queryOf(parameters);
    this.search = secret ? `?${parameters}`.replace(/^\?$/, '') : search;
  }

  /** URL under the base URL, without credentials: the base of links, cursors and quotes. */
  get url(): URL {
    this.#url ??= new URL(this.urlError ? this.#base : `${this.#base}${this.path}${this.search}`);
    return this.#url;
  }

  /** A header; `name` in lower case. */
  header(name: string): string | undefined {
    return this.#http.req.header(name);
  }

  /** Whether the path ends in `.md`. */
  get hasMdSuffix(): boolean {
    return this.path.endsWith('.md');
  }
}

/** Reads a request. Removes a credential from the query; the response is then no-store and no-referrer. */
export function readRequest(gate: CallDeps, c: HttpContext): HttpRequest {
  return new HttpRequest(gate, c);
}

function queryOf(parameters: URLSearchParams): Query {
  const query: Query = Object.create(null);
  for (const [name, value] of parameters) {
    const previous = query[name];
    if (previous === undefined) query[name] = value;
    else if (typeof previous === 'string') query[name] = [previous, value];
    else previous.push(value);
  }
  return query;
}

/** Longest body of a request, in bytes. */
const LONGEST_BODY = 65_536;

/** Most levels of lists and objects in a JSON body. Serializing a value needs stack for each of its levels. */
const LEVELS = 64;

/** Whether a parsed body has more than LEVELS levels. */
export function isTooDeep(value: unknown, levels = LEVELS): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isTooDeep(member, levels - 1));
}

/**
 * Parses the JSON body of a request; undefined if it is empty. Throws `payload_too_large`, or
 * `validation_failed` for invalid JSON.
 */
export async function readBody(c: HttpContext, form = false): Promise<unknown> {
  const text = (await readText(c)).trim();
  if (text === '') return undefined;
  if (form && /^application\/x-www-form-urlencoded\b/i.test(c.req.header('content-type') ?? ''))
    return Object.fromEntries([...new URLSearchParams(text)].filter(([, value]) => value !== ''));
  const invalid = (msg: string) =>
    new ApiError('validation_failed', `body: ${msg}`, { detail: [{ loc: ['body'], msg, type: 'json_invalid' }] });
  let body: unknown;
  try {
    body = parseJson(text);
  } catch {
    throw invalid('must be JSON');
  }
  if (isTooDeep(body)) throw invalid(`must have at most ${LEVELS} levels of lists and objects`);
  return body;
}

/** The fields of a form, which programs may send as a JSON object. Throws as `readBody`. */
export async function readForm(c: HttpContext): Promise<URLSearchParams> {
  if (!/^application\/json\b/i.test(c.req.header('content-type') ?? '')) return new URLSearchParams(await readText(c));
  const fields = Object.entries(Object(await readBody(c)) as object);
  return new URLSearchParams(fields.map(([name, value]) => [name, String(value ?? '')]));
}

/** The body as text. Throws `payload_too_large` beyond LONGEST_BODY, `unsupported_media_type` for a compressed body. */
export async function readText(c: HttpContext): Promise<string> {
  const coding = c.req.header('content-encoding') ?? 'identity';
  if (!/^(?:identity)?$/i.test(coding.trim()))
    throw new ApiError(
      'unsupported_media_type',
      `Content-Encoding: a body in ${coding.slice(0, 40)} is not read here. Send it without a content coding.`,
      { headers: { 'Accept-Encoding': 'identity' } },
    );
  return (await readBytes(c, LONGEST_BODY)).toString();
}

const tooLong = (longest: number) => new ApiError('payload_too_large', `The body has more than ${longest} bytes.`);

/** The body's bytes, as a signature covers them. Throws `payload_too_large` beyond `longest` bytes. */
export async function readBytes(c: HttpContext, longest: number): Promise<Buffer> {
  const announced = Number(c.req.header('content-length') ?? Number.NaN);
  if (announced > longest) throw tooLong(longest);
  if (announced >= 0) return Buffer.from(await c.req.arrayBuffer());
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of c.req.raw.body ?? []) {
    length += piece.length;
    if (length > longest) throw tooLong(longest);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/**
 * Longest accepted PAYMENT-SIGNATURE, in characters: a payment with its extensions has about 2,000
 * (payments.md 3).
 */
const LONGEST_PAYMENT = 8_192;

/**
 * Decodes a PAYMENT-SIGNATURE header (base64 of JSON). undefined: no header. null: invalid or too long, so
 * that the gate rejects it.
 */
export function decodePayment(header: string | undefined): unknown {
  if (header === undefined) return undefined;
  if (header.length > LONGEST_PAYMENT) return null;
  try {
    return JSON.parse(Buffer.from(header, 'base64').toString()) as unknown;
  } catch {
    return null;
  }
}
