// Fast path: handles calls of operations and MCP tools on Node's req/res, with the routes and handlers of the
// app.
//
// Creating Hono's context and the web's Request and Response takes longer than most answers. Only requests
// that give the same response with and without Hono take this path; all others go through Hono.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Hono } from 'hono';
import type { Awaitable } from '../../data/model/awaitable.ts';
import { type Http, LONGEST_BODY, type NodeBindings, routedPath } from './request.ts';
import { isPieces, type Reply, responseOf } from './respond.ts';
import { endStalled, STALLED } from './streams.ts';

type Handler = (c: Http) => Awaitable<Reply>;

/** Handlers that work without Hono, by the Hono handler mounted for them. */
const direct = new WeakMap<object, Handler>();

/** Wraps a handler for Hono, and registers it for the fast path. */
export function registerFastPath(handler: Handler): (c: Http) => Promise<Response> {
  const honoHandler = async (c: Http) => responseOf(await handler(c));
  direct.set(honoHandler, handler);
  return honoHandler;
}

/**
 * Listener of a server: fast path where possible, else `others`. The routes are the app's own. `fail` builds
 * and reports the error response when a handler throws or its reply cannot be sent. `stalled`: milliseconds
 * that a client may leave a response unread before its connection is closed.
 */
export function withFastPath(
  app: Hono<{ Bindings: NodeBindings }>,
  others: RequestListener,
  fail: (error: unknown, c: Http) => Reply,
  stalled = STALLED,
): RequestListener {
  const hono = withoutFastPath(others, stalled);
  return (incoming, outgoing) => {
    const http = directRequest(incoming, outgoing);
    const match = http === null ? null : route(app, http);
    if (http === null || match === null) return hono(incoming, outgoing);
    http.params = match.params;
    const sending: Sending = { outgoing, http, fail, stalled };
    try {
      const reply = match.handler(http);
      if (reply instanceof Promise)
        reply
          .then((ready) => send(ready, sending))
          .catch((error) => sendFailure(error, sending))
          .catch(() => outgoing.destroy());
      else send(reply, sending);
    } catch (error) {
      sendFailure(error, sending);
    }
  };
}

/** What a reply is sent with. */
interface Sending {
  outgoing: ServerResponse;
  http: Http;
  fail: (error: unknown, c: Http) => Reply;
  stalled: number;
}

/** Sends the error response of a call whose handler threw, or whose reply could not be sent. */
function sendFailure(error: unknown, sending: Sending): void {
  const { outgoing, http, fail } = sending;
  const reply = fail(error, http);
  // A truncated response must not look complete.
  if (outgoing.headersSent) outgoing.destroy();
  else send(reply, sending);
}

/** Listener of a server without a fast path: `others` handles every request. */
export function withoutFastPath(others: RequestListener, stalled = STALLED): RequestListener {
  return (incoming, outgoing) => {
    endStalled(outgoing, stalled);
    return others(incoming, outgoing);
  };
}

interface RouteMatch {
  handler: Handler;
  params: Record<string, string>;
}

function route(app: Hono<{ Bindings: NodeBindings }>, { method, path }: DirectHttp): RouteMatch | null {
  const [[match]] = app.router.match(method, routedPath(path)) as unknown as [[[[object], Record<string, string>]?]];
  const handler = match && direct.get(match[0][0]);
  return match && handler ? { handler, params: match[1] } : null;
}

/** A URL without percent-encoded characters in its path and with nothing to normalise. */
const PLAIN = /^\/(?:v1\/|mcp)[\w.~/-]*(?:\?[\w.~=&,+:%-]*)?$/;
const DOTS = /\/\.\.?(?:[/?]|$)/;
/** A Host header that needs no URL parser. */
const HOST = /^[a-z0-9._-]+(?::(?:[1-5]\d{3,4}|6[0-4]\d{3}|[6-9]\d{3}))?$/;

/** A request for the fast path; null for any other. */
function directRequest(incoming: IncomingMessage, outgoing: ServerResponse): DirectHttp | null {
  const { method, url = '', headers, rawHeaders } = incoming;
  if (method !== 'GET' && !(method === 'POST' && url.startsWith('/mcp') && short(headers['content-length'])))
    return null;
  if (!PLAIN.test(url) || DOTS.test(url)) return null;
  if (!HOST.test(headers.host ?? '')) return null;
  // Repeated headers are left to Hono, which joins their values.
  let names = 0;
  for (const _ in headers) names += 1;
  return names * 2 === rawHeaders.length ? new DirectHttp(method, incoming, outgoing) : null;
}

const short = (length: string | undefined) => length !== undefined && Number(length) <= LONGEST_BODY;

/** A request on Node's objects. */
class DirectHttp implements Http {
  readonly method: string;
  readonly path: string;
  readonly search: string;
  readonly env: { incoming: IncomingMessage; outgoing: ServerResponse };
  params: Record<string, string> = {};
  #raw: Request | undefined;

  constructor(method: string, incoming: IncomingMessage, outgoing: ServerResponse) {
    const target = incoming.url!;
    const query = target.indexOf('?');
    this.method = method;
    this.path = query < 0 ? target : target.slice(0, query);
    this.search = query < 0 || query === target.length - 1 ? '' : target.slice(query);
    this.env = { incoming, outgoing };
  }

  get url(): string {
    const { headers, url } = this.env.incoming;
    return `http://${headers.host}${url}`;
  }

  get req(): this {
    return this;
  }

  header(name: string): string | undefined {
    const value = this.env.incoming.headers[name];
    return typeof value === 'string' ? value : undefined;
  }

  param(): Record<string, string> {
    return this.params;
  }

  /** The request as a web Request, without its body: created when a library or a signal needs it. */
  get raw(): Request {
    if (this.#raw === undefined) {
      const { incoming, outgoing } = this.env;
      const gone = new AbortController();
      const close = () => outgoing.writableFinished || gone.abort(new Error('The client hung up.'));
      if (outgoing.destroyed) close();
      else outgoing.once('close', close);
      const headers = new Headers();
      for (let i = 0; i + 1 < incoming.rawHeaders.length; i += 2)
        headers.append(incoming.rawHeaders[i]!, incoming.rawHeaders[i + 1]!);
      this.#raw = new Request(this.url, { method: this.method, headers, signal: gone.signal });
    }
    return this.#raw;
  }
}

function send({ status, headers, body }: Reply, sending: Sending): void {
  const { outgoing } = sending;
  if (outgoing.destroyed) {
    if (body instanceof ReadableStream) body.cancel().catch(() => {});
    return;
  }
  if (body instanceof ReadableStream) {
    endStalled(outgoing, sending.stalled);
    outgoing.writeHead(status, headers);
    // A client that disconnects ends the body; this is not an error.
    pipeline(Readable.fromWeb(body as never), outgoing).catch((error: Error & { code?: string }) => {
      if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') sendFailure(error, sending);
    });
    return;
  }
  const content = isPieces(body) ? Buffer.concat(body) : body;
  if (content !== null) headers['Content-Length'] = String(Buffer.byteLength(content));
  outgoing.writeHead(status, headers).end(content ?? undefined);
  // The rest of a long body, which the connection's buffers do not hold.
  if (outgoing.writableLength > 0) endStalled(outgoing, sending.stalled);
}
