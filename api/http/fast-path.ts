// The short way in: calls of operations and of MCP tools read and answered on Node's own objects, by the same routes and handlers.
//
// Hono's context and the web's Request and Response around Node's take longer to make than most answers. Requests that would be the same with and
// without them go this way; everything else, and everything that is odd, goes through Hono.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Hono } from 'hono';
import { giveBack, putTogether } from './buffers.ts';
import { type Http, LONGEST_BODY, type NodeBindings, pathOf, routedPath } from './request.ts';
import { isPieces, type Reply, responseOf } from './respond.ts';
import { endStalled, STALLED } from './streams.ts';

type Handler = (c: Http) => Promise<Reply>;

/** The handlers that can be asked directly, by what Hono has mounted in their place. */
const direct = new WeakMap<object, Handler>();

/** A handler as Hono takes it; a server that goes the short way asks it without Hono. */
export function answeredBy(handler: Handler): (c: Http) => Promise<Response> {
  const mounted = async (c: Http) => responseOf(await handler(c));
  direct.set(mounted, handler);
  return mounted;
}

/**
 * The listener of a server: what can be is answered directly, the rest by `others`. Routes are the app's own. `fail` is what the app answers, and
 * reports, where a handler threw or its answer cannot be sent.
 */
export function directly(
  app: Hono<{ Bindings: NodeBindings }>,
  others: RequestListener,
  fail: (error: unknown, c: Http) => Reply,
  stalled = STALLED,
): RequestListener {
  return (incoming, outgoing) => {
    const http = plain(incoming, outgoing);
    const found = http === null ? null : route(app, http);
    if (http === null || found === null) {
      endStalled(outgoing, stalled);
      return others(incoming, outgoing);
    }
    http.params = found.params;
    const failed = (error: unknown) => {
      const reply = fail(error, http);
      // Half an answer must not look like a whole one.
      if (outgoing.headersSent) outgoing.destroy();
      else send(reply, outgoing, failed, stalled);
    };
    found
      .handler(http)
      .then((reply) => send(reply, outgoing, failed, stalled))
      .catch(failed)
      .catch(() => outgoing.destroy());
  };
}

interface Found {
  handler: Handler;
  params: Record<string, string>;
}

function route(app: Hono<{ Bindings: NodeBindings }>, { method, path }: DirectHttp): Found | null {
  const [[match]] = app.router.match(method, routedPath(path)) as unknown as [[[[object], Record<string, string>]?]];
  const handler = match && direct.get(match[0][0]);
  return match && handler ? { handler, params: match[1] } : null;
}

/** An address that means what is written in it: nothing to decode in its path, nothing to normalise. */
const PLAIN = /^\/(?:v1\/|mcp)[\w.~/-]*(?:\?[\w.~=&,+:%-]*)?$/;
const DOTS = /\/\.\.?(?:[/?]|$)/;
/** A host that needs no look by the URL parser. */
const HOST = /^[a-z0-9._-]+(?::(?:[1-5]\d{3,4}|6[0-4]\d{3}|[6-9]\d{3}))?$/;
/** The host asked for last that was fine: nearly all requests ask for the same. */
let known: string | null = null;

/** A request that can go the short way; null for any other. */
function plain(incoming: IncomingMessage, outgoing: ServerResponse): DirectHttp | null {
  const { method, url = '', headers, rawHeaders } = incoming;
  if (method !== 'GET' && !(method === 'POST' && url.startsWith('/mcp') && short(headers['content-length'])))
    return null;
  if (!PLAIN.test(url) || DOTS.test(url)) return null;
  const { host = '' } = headers;
  if (host !== known) {
    if (!HOST.test(host)) return null;
    known = host;
  }
  // A header that was sent twice is joined by others' rules.
  let names = 0;
  for (const _ in headers) names += 1;
  return names * 2 === rawHeaders.length ? new DirectHttp(method, incoming, outgoing) : null;
}

const short = (length: string | undefined) => length !== undefined && Number(length) <= LONGEST_BODY;

/** A request on Node's objects. */
class DirectHttp implements Http {
  readonly method: string;
  readonly url: string;
  readonly path: string;
  readonly env: { incoming: IncomingMessage; outgoing: ServerResponse };
  params: Record<string, string> = {};
  #raw: Request | undefined;

  constructor(method: string, incoming: IncomingMessage, outgoing: ServerResponse) {
    this.method = method;
    this.url = `http://${known}${incoming.url}`;
    this.path = pathOf(this.url);
    this.env = { incoming, outgoing };
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

  /** The request as the web has it, without its body: made when a library or a signal is needed. */
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

/** Answers that a connection's buffers may not take at once. */
const LONG = 65_536;

function send(
  { status, headers, body }: Reply,
  outgoing: ServerResponse,
  failed: (error: unknown) => void,
  stalled: number,
): void {
  if (outgoing.destroyed) {
    if (body instanceof ReadableStream) body.cancel().catch(() => {});
    return;
  }
  if (body instanceof ReadableStream) {
    endStalled(outgoing, stalled);
    outgoing.writeHead(status, headers);
    // A client that hangs up ends the body, which is no fault.
    pipeline(Readable.fromWeb(body as never), outgoing).catch((error: Error & { code?: string }) => {
      if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') failed(error);
    });
    return;
  }
  if (isPieces(body)) {
    const sent = putTogether(body);
    headers['Content-Length'] = String(sent.length);
    if (sent.length > LONG) endStalled(outgoing, stalled);
    outgoing.writeHead(status, headers).end(sent);
    outgoing.once('close', () => giveBack(sent));
    return;
  }
  if (body !== null) {
    const bytes = Buffer.byteLength(body);
    headers['Content-Length'] = String(bytes);
    if (bytes > LONG) endStalled(outgoing, stalled);
  }
  outgoing.writeHead(status, headers).end(body ?? undefined);
}
