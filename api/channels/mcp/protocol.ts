// The transport: which era a request is of, and the SDK's part in answering it. Each request has a server of its own.
import {
  createMcpHandler,
  isLegacyRequest,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';

/** Answers one request of either era. `message` is its JSON, or undefined where it has none. */
export type Protocol<S> = (request: Request, message: unknown, session: S) => Promise<Response>;

/** Streams that stay open at once, for clients that ask to be told of changes; we have none to tell. */
const LISTENERS = 64;

/**
 * The protocol over servers made for a session each. Requests of the eras before 2026-07-28 are answered in one JSON body
 * too, so that headers can say what a call cost.
 */
export function protocol<S>(serverFor: (session: S) => Server): Protocol<S> {
  const sessions = new WeakMap<Request, S>();
  const modern = createMcpHandler(({ requestInfo }) => serverFor(sessions.get(requestInfo as Request) as S), {
    legacy: 'reject',
    maxSubscriptions: LISTENERS,
  });
  return async (request, message, session) => {
    const parsed = message === undefined ? {} : { parsedBody: message };
    if (await isLegacyRequest(request, message)) return legacy(serverFor(session), request, parsed);
    sessions.set(request, session);
    return modern.fetch(request, parsed);
  };
}

async function legacy(server: Server, request: Request, parsed: { parsedBody?: unknown }): Promise<Response> {
  if (request.method !== 'POST') return notAllowed();
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    return await transport.handleRequest(request, parsed);
  } finally {
    await server.close();
  }
}

/** There are no sessions to read from or to end (MCP 2025-11-25, "Session Management"). */
function notAllowed(): Response {
  const body = { jsonrpc: '2.0', error: { code: -32_000, message: 'Method not allowed.' }, id: null };
  return Response.json(body, { status: 405, headers: { Allow: 'POST' } });
}
