// Requests that Node's HTTP parser or Hono's adapter rejects: sends our error body.
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { getRequestListener, type HttpBindings, RequestError } from '@hono/node-server';
import { ApiError, errorBody } from '../contract/errors.ts';
import { commonHeaders, errorResponse, requestId } from './respond.ts';

/** Time for a client to read the response before its connection is cut, in milliseconds. */
const LINGER = 500;

interface ParserError extends Error {
  code?: string;
  rawPacket?: Uint8Array;
}

const NOT_ASCII =
  'The URL contains characters outside ASCII. Percent-encode them as UTF-8: `?q=z%C3%BCrich` instead of `?q=zürich`.';

interface Refusal {
  status: string;
  error: ApiError;
}

/** For CONNECT, which Node gives no response object. */
const NO_PROXY: Refusal = {
  status: '400 Bad Request',
  error: new ApiError('invalid_parameter', 'CONNECT asks for a tunnel, and this is no proxy. Send the request itself.'),
};

/** Status and error for a parser error. */
function refusalOf({ code, rawPacket }: ParserError, longest: number): Refusal {
  if (code === 'HPE_HEADER_OVERFLOW') {
    const message = `URL and headers have more than ${longest} bytes. Send fewer or shorter ones.`;
    return { status: '431 Request Header Fields Too Large', error: new ApiError('payload_too_large', message) };
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    const message = 'The request was not complete in time. Send it again on a new connection.';
    return { status: '408 Request Timeout', error: new ApiError('invalid_parameter', message) };
  }
  const packet = Buffer.from(rawPacket ?? []);
  const end = packet.indexOf('\r\n');
  const line = packet.subarray(0, end < 0 ? packet.length : end);
  const foreign = /^[A-Z]+ /.test(line.toString('latin1')) && line.some((byte) => byte > 0x7f);
  const message = foreign ? NOT_ASCII : 'This is not a valid HTTP/1.1 request (RFC 9112).';
  return { status: '400 Bad Request', error: new ApiError('invalid_parameter', message) };
}

/**
 * Sends 400, 408 or 431 with our JSON error body when the parser rejects a request, and for CONNECT. `longest` is the
 * server's `maxHeaderSize` in bytes.
 */
export function answerClientErrors(server: Server, { base_url, longest }: { base_url: string; longest: number }): void {
  const responses = new WeakMap<Duplex, ServerResponse>();
  server.prependListener('request', ({ socket }: IncomingMessage, outgoing: ServerResponse) => {
    responses.set(socket, outgoing);
  });
  const refuse = (socket: Duplex, { status, error }: Refusal) => {
    // An earlier request of the connection has a response in progress: these bytes would become part of it.
    const last = responses.get(socket);
    const inProgress = last?.headersSent === true && !last.writableFinished;
    if (!socket.writable || inProgress) {
      socket.destroy();
      return;
    }
    const request_id = requestId(undefined);
    const body = JSON.stringify(errorBody(error, { base_url, request_id }));
    const headers = {
      ...commonHeaders(request_id),
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(body)),
      'Cache-Control': 'no-store',
      Connection: 'close',
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    socket.end(`HTTP/1.1 ${status}\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
    setTimeout(() => socket.destroy(), LINGER).unref();
  };
  server.on('clientError', (parserError: ParserError, socket: Duplex) => {
    if (parserError.code === 'ECONNRESET') socket.destroy();
    else refuse(socket, refusalOf(parserError, longest));
  });
  server.on('connect', (_, socket) => refuse(socket, NO_PROXY));
  // Node's own 417 has no body; the listener refuses these.
  server.on('checkExpectation', (incoming, outgoing) => server.emit('request', incoming, outgoing));
}

/** Handles a request with its objects of Node. */
type Fetch = (request: Request, bindings: HttpBindings) => Response | Promise<Response>;

/**
 * Listener that answers requests with `fetch`. HTTP/1.0 needs no Host header, as load balancers send it; HTTP/1.1
 * without one, a host or target that is no URL, and an unknown expectation are 400 with our JSON error body. The server
 * must have `requireHostHeader: false`, since Node's own 400 has no body.
 */
export function fetchListener(fetch: Fetch, base_url: string): RequestListener {
  const refusal = (message: string): Response => {
    const request_id = requestId(undefined);
    const about = { base_url, request_id, headers: commonHeaders(request_id), accept: undefined, resource: '' };
    return errorResponse(new ApiError('invalid_parameter', message), about);
  };
  return getRequestListener(
    (request, bindings) => {
      const { httpVersion, headers } = (bindings as HttpBindings).incoming;
      if (headers.host === undefined && httpVersion !== '1.0')
        return refusal('The request has no Host header, which HTTP/1.1 requires (RFC 9112 section 3.2).');
      if (headers.expect !== undefined && !/\b100-continue\b/i.test(headers.expect))
        return refusal('The header Expect has a value other than 100-continue. Send the request without it.');
      return fetch(request, bindings as HttpBindings);
    },
    {
      hostname: new URL(base_url).host,
      errorHandler: (error) => {
        if (!(error instanceof RequestError)) throw error;
        return refusal(`The address or the Host header is not valid: ${error.message}.`);
      },
    },
  );
}
