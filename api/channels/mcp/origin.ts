// Which Host and which web page may ask: a page elsewhere must not reach a server on this machine (MCP, streamable HTTP, "Security").
import { localhostAllowedHostnames, validateHostHeader } from '@modelcontextprotocol/server';
import type { Http } from '../../http/request.ts';
import { commonHeaders, EXPOSED, requestId } from '../../http/respond.ts';

export interface Origins {
  /** The base address. */
  own: URL;
  /** Further origins, as `https://app.example`. */
  further: readonly string[];
  /** The host that was asked for last and is ours: nearly all requests ask for the same. */
  known?: string | undefined;
}

/** Headers that clients in a browser send, of both eras. */
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

/** Why a request is refused: it asks another host, or another host's page asks. Null where it may go on. */
export function foreign(c: Http, origins: Origins): string | null {
  const host = c.req.header('host');
  if (host === undefined || host !== origins.known) {
    const told = validateHostHeader(host, [origins.own.hostname, ...LOCAL]);
    if (!told.ok) return told.message.slice(0, 120);
    origins.known = host;
  }
  const origin = c.req.header('origin');
  if (origin === undefined || allowedOrigin(c, origins) !== null) return null;
  return `Invalid Origin: ${origin.slice(0, 80)}`;
}

/** The origin of the page that asks, where it may; null for another one and for none. */
export function allowedOrigin(c: Http, { own, further }: Origins): string | null {
  const origin = c.req.header('origin');
  const at = origin === undefined ? null : URL.parse(origin);
  if (origin === undefined || at === null || at.origin !== origin) return null;
  return origin === own.origin || LOCAL.includes(at.hostname) || further.includes(origin) ? origin : null;
}

/** CORS of an answer: the page that asked may read it, no other. */
export function corsHeaders(origin: string | null): Record<string, string> {
  return origin === null
    ? { Vary: 'Origin' }
    : { 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': EXPOSED, Vary: 'Origin' };
}

/** The answer to a browser that asks before it calls. */
export function preflight(c: Http, origins: Origins): Response {
  const refused = foreign(c, origins);
  const headers = commonHeaders(requestId(c.req.header('x-request-id')));
  if (refused !== null)
    return new Response(null, { status: 403, headers: { 'X-Request-Id': headers['X-Request-Id'] ?? '' } });
  return new Response(null, {
    status: 204,
    headers: {
      ...headers,
      ...corsHeaders(allowedOrigin(c, origins)),
      'Access-Control-Allow-Methods': 'POST, OPTIONS',
      'Access-Control-Allow-Headers': ALLOWED,
      'Access-Control-Max-Age': '86400',
    },
  });
}
