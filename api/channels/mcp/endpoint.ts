// `/mcp` and `/mcp/account`: streamable HTTP for both eras of the protocol, stateless (specification section
// 4, "Agent protocols").
import {
  createMcpHandler,
  isLegacyRequest,
  localhostAllowedHostnames,
  type Server,
  validateHostHeader,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { parseJson } from '../../../packs/define/digits.ts';
import { ApiError, ERRORS, errorBody, toApiError } from '../../contract/errors.ts';
import { admit } from '../../gate/execute.ts';
import { compressReply, takesGzip } from '../../http/coding.ts';
import { type HttpContext, type HttpRequest, isTooDeep, readRequest, readText } from '../../http/request.ts';
import { commonHeaders, EXPOSED, errorReply, type Reply, requestId, responseOf } from '../../http/respond.ts';
import type { App } from '../../http/server.ts';
import { acceptsJson } from '../../render/negotiate.ts';
import type { RestDeps } from '../rest/rest.ts';
import { listen } from './listen.ts';
import { answerPlain } from './plain.ts';
import { type Scope, type Scopes, scopeCache } from './scope.ts';
import { serverFor } from './server.ts';
import type { Session } from './session.ts';

export interface McpDeps extends RestDeps {
  /** Origins of web pages that may call MCP, besides our own and localhost (MCP_ORIGINS). */
  mcp_origins: readonly string[];
}

/**
 * Paths of the endpoint. The second always requires a credential, for clients that sign in only after a 401.
 */
const PATHS = ['/mcp', '/mcp/account'] as const;

/**
 * Mounts the endpoint. Mount it before the handler that answers OPTIONS on every path.
 *
 * @example
 * ```ts
 * mountMcp(app, { ...deps, mcp_origins: ['https://inspector.example'] });
 * await app.request('/mcp', { method: 'POST', body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' });
 * ```
 */
export function mountMcp(app: App, deps: McpDeps): void {
  const origins: Origins = { base: new URL(deps.gate.base_url), further: deps.mcp_origins };
  const scopeOf = scopeCache(deps.gate.operations);
  const speak = protocol();
  for (const path of PATHS) {
    app.options(path, (c) => preflight(c, origins));
    const handle = async (c: HttpContext): Promise<Reply> => {
      const request = readRequest(deps.gate, c);
      const reason = rejectionOf(c, origins);
      if (reason !== null) return jsonRpcError(request, 403, -32_000, reason);
      addCorsHeaders(request.headers, allowedOrigin(c, origins));
      try {
        return await answer(deps, c, request, path, scopeOf, speak);
      } catch (error) {
        return failureReply(deps, request, path, error);
      }
    };
    app.all(path, async (c) => responseOf(await handle(c)));
  }
}

async function answer(
  { gate, report }: McpDeps,
  c: HttpContext,
  request: HttpRequest,
  path: string,
  scopeOf: Scopes,
  speak: Protocol,
): Promise<Reply> {
  if (path !== PATHS[0] && request.visitor.credential === null) {
    await admit(gate, request.visitor, 'free');
    throw new ApiError('key_required', 'This address requires an API key or an access token; /mcp works without one.');
  }
  const message = c.req.method === 'POST' ? await bodyOf(c) : undefined;
  // The gate counts tool calls itself; every other message counts here, also in a batch.
  const others = messagesOf(message).filter((entry) => !CALLS.has(methodOf(entry))).length;
  if (others > 0) await admit(gate, request.visitor, 'free', false, others);
  const scope = scopeFor(scopeOf, request, message, path) ?? (await scopeNow(gate, scopeOf, request, path));
  const session: Session = { gate, c, request, scope, resource: path, report };
  const plain = await answerPlain(c, message, session);
  if (session.refused) throw session.refused;
  if (plain !== null) {
    const { headers } = request;
    headers['Cache-Control'] ??= 'no-store';
    headers['Content-Type'] = 'application/json';
    return compressReply({ status: 200, headers, body: plain }, c.req.header('accept-encoding'));
  }
  const response = await speak(c.req.raw, message, session);
  if (session.refused) throw session.refused;
  if (response.status >= 500) report(new Error(`MCP answered ${response.status}`), request.request_id);
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(request.headers)) headers.set(name, value);
  if (!headers.has('cache-control')) headers.set('Cache-Control', 'no-store');
  const accepts = c.req.header('accept-encoding');
  // JSON is read whole, since only its length decides about compression; events are streamed.
  const compress = takesGzip(accepts) && /^application\/json\b/.test(headers.get('content-type') ?? '');
  const body = compress ? await response.text() : response.body;
  return compressReply({ status: response.status, headers: Object.fromEntries(headers), body }, accepts);
}

/** The last known scope of an address, if the called tool is in it: changes to other tools do not matter. */
function scopeFor(scopeOf: Scopes, { query }: HttpRequest, message: unknown, path: string): Scope | undefined {
  if (methodOf(message) !== 'tools/call') return undefined;
  const name = (message as { params?: { name?: unknown } | null }).params?.name;
  const recent = typeof name === 'string' ? scopeOf.recent(query, path !== PATHS[0]) : undefined;
  return recent?.tools.has(name as string) ? recent : undefined;
}

async function scopeNow(gate: McpDeps['gate'], scopeOf: Scopes, { query }: HttpRequest, path: string): Promise<Scope> {
  const leases = await gate.lease(null);
  try {
    return await scopeOf.of(query, leases.releases, path !== PATHS[0]);
  } finally {
    leases.done();
  }
}

/** Methods whose calls pass the gate. */
const CALLS: ReadonlySet<string> = new Set(['tools/call', 'resources/read']);

/** The messages of a request: those of a batch (JSON-RPC 2.0, section 6), or one. */
const messagesOf = (body: unknown): readonly unknown[] => (Array.isArray(body) && body.length > 0 ? body : [body]);

function methodOf(message: unknown): string {
  const method = typeof message === 'object' && message !== null && 'method' in message ? message.method : undefined;
  return typeof method === 'string' ? method : '';
}

/** A body that is not JSON, or nested too deeply. */
class ParseError extends Error {}

/** The JSON of a request; undefined for other content types, which the SDK rejects. */
async function bodyOf(c: HttpContext): Promise<unknown> {
  if (!/^application\/json\b/i.test(c.req.header('content-type') ?? '')) return undefined;
  const text = await readText(c);
  let body: unknown;
  try {
    body = parseJson(text);
  } catch {
    throw new ParseError('Parse error: the body is not JSON');
  }
  if (isTooDeep(body)) throw new ParseError('Parse error: the body has too many levels of lists and objects');
  return body;
}

/** Errors before the protocol: JSON-RPC errors for malformed requests, our error body for the rest. */
function failureReply(deps: McpDeps, request: HttpRequest, path: string, thrown: unknown): Reply {
  if (thrown instanceof ParseError) return jsonRpcError(request, 400, -32_700, thrown.message);
  const error = toApiError(thrown);
  if (error.code === 'internal') deps.report(thrown, request.request_id);
  const { request_id, headers } = request;
  const place = { base_url: deps.gate.base_url, request_id };
  if (/^(?:payload_too_large|unsupported_media_type|invalid_parameter)$/.test(error.code))
    return jsonRpcError(request, ERRORS[error.code].status, -32_600, error.message, errorBody(error, place));
  return errorReply(error, { ...place, accept: request.accept, headers, resource: path });
}

function jsonRpcError({ headers }: HttpRequest, status: number, code: number, message: string, data?: unknown): Reply {
  const error = { code, message, ...(data === undefined ? {} : { data }) };
  const body = JSON.stringify({ jsonrpc: '2.0', error, id: null });
  const replyHeaders = { ...headers, 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };
  return { status, headers: replyHeaders, body };
}

/** Handles one request of either era. `message` is its JSON, or undefined if it has none. */
type Protocol = (request: Request, message: unknown, session: Session) => Promise<Response>;

/**
 * The protocol, with a server per session. Requests of the eras before 2026-07-28 get one JSON body too, so
 * that headers can contain the price of a call.
 */
function protocol(): Protocol {
  const sessions = new WeakMap<Request, Session>();
  const modern = createMcpHandler(({ requestInfo }) => serverFor(sessions.get(requestInfo as Request)!, true), {
    legacy: 'reject',
  });
  return async (request, message, session) => {
    const parsed = message === undefined ? {} : { parsedBody: message };
    if (await isLegacyRequest(request, message)) return legacy(serverFor(session, false), request, parsed);
    if (methodOf(message) === 'subscriptions/listen')
      return listen(request, message as object, session, () => serverFor(session, true));
    sessions.set(request, session);
    return modern.fetch(request, parsed);
  };
}

async function legacy(server: Server, request: Request, parsed: { parsedBody?: unknown }): Promise<Response> {
  if (request.method !== 'POST') return notAllowed();
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  const headers = new Headers(request.headers);
  // The SDK requires both types by name, but every answer is JSON. It reads the parsed body only.
  if (acceptsJson(headers.get('accept') ?? undefined)) headers.set('Accept', 'application/json, text/event-stream');
  const accepting = new Request(request.url, { method: request.method, headers, signal: request.signal });
  try {
    return await transport.handleRequest(accepting, parsed);
  } finally {
    await server.close();
  }
}

/** 405: there are no sessions to read from or to end (MCP 2025-11-25, "Session Management"). */
function notAllowed(): Response {
  const body = { jsonrpc: '2.0', error: { code: -32_000, message: 'Method not allowed.' }, id: null };
  return Response.json(body, { status: 405, headers: { Allow: 'POST' } });
}

interface Origins {
  /** The base address. */
  base: URL;
  /** Further origins, as `https://app.example`. */
  further: readonly string[];
}

/** Request headers of browser clients, of both eras. */
const ALLOWED = [
  'Accept',
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'Last-Event-ID',
  'MCP-Protocol-Version',
  'Mcp-Method',
  'Mcp-Name',
  'Mcp-Session-Id',
  'X-API-Key',
  'X-Max-Price-EUR',
  'X-Request-Id',
].join(', ');

const LOCAL: readonly string[] = localhostAllowedHostnames();

/**
 * Why a request is rejected (DNS rebinding): wrong Host, or an origin that is not allowed. Null if it is
 * fine.
 */
function rejectionOf(c: HttpContext, origins: Origins): string | null {
  const validation = validateHostHeader(c.req.header('host'), [origins.base.hostname, ...LOCAL]);
  if (!validation.ok) return validation.message.slice(0, 120);
  const origin = c.req.header('origin');
  if (origin === undefined || allowedOrigin(c, origins) !== null) return null;
  return `Invalid Origin: ${origin.slice(0, 80)}`;
}

/** The request's Origin if it is allowed; null for any other, and for none. */
function allowedOrigin(c: HttpContext, { base, further }: Origins): string | null {
  const origin = c.req.header('origin');
  const at = origin === undefined ? null : URL.parse(origin);
  if (origin === undefined || at === null || at.origin !== origin) return null;
  return origin === base.origin || LOCAL.includes(at.hostname) || further.includes(origin) ? origin : null;
}

/** Adds the CORS headers: only the origin of the request may read the response. */
function addCorsHeaders(headers: Record<string, string>, origin: string | null): void {
  headers['Vary'] = 'Origin';
  if (origin === null) return;
  headers['Access-Control-Allow-Origin'] = origin;
  headers['Access-Control-Expose-Headers'] = EXPOSED;
}

/** CORS preflight response. */
function preflight(c: HttpContext, origins: Origins): Response {
  const reason = rejectionOf(c, origins);
  const headers = commonHeaders(requestId(c.req.header('x-request-id')));
  if (reason !== null)
    return new Response(null, { status: 403, headers: { 'X-Request-Id': headers['X-Request-Id'] ?? '' } });
  addCorsHeaders(headers, allowedOrigin(c, origins));
  return new Response(null, {
    status: 204,
    headers: {
      ...headers,
      'Access-Control-Allow-Methods': 'POST, OPTIONS',
      'Access-Control-Allow-Headers': ALLOWED,
      'Access-Control-Max-Age': '86400',
    },
  });
}
