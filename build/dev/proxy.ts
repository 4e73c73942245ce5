// The address of `npm run dev`: forwards every request to the service, and adds a script to HTML pages that
// reloads them.

import { randomUUID } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as requestUpstream,
  type ServerResponse,
} from 'node:http';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';

export interface DevProxy {
  /** Forwards the next requests to this port of 127.0.0.1. */
  forwardTo(port: number): void;
  /** Reloads every open page. */
  reload(): void;
  /** Ends the event streams and stops listening. */
  close(): void;
}

/** Paths of the proxy itself; the service has none that begin like this. */
const SCRIPT = '/__dev/reload.js';
const EVENTS = '/__dev/events';

/**
 * The page's state is in the address of the script, so a change between the page and the event stream is
 * noticed. A file of the same origin: the policy of the pages allows it, and no header changes.
 */
const RELOAD = `const state = new URL(document.currentScript.src).searchParams.get('state');
new EventSource('${EVENTS}').onmessage = ({ data }) => {
  if (data !== state) location.reload();
};
`;

const LOOPBACK = '127.0.0.1';

/** Headers of one connection (RFC 9110 section 7.6.1). */
const HOP_BY_HOP = ['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding'];

/** Milliseconds between the comments that keep idle event streams open. */
const HEARTBEAT = 15_000;

/** Listens on `host:port`; rejects when the port is taken. */
export async function openProxy(host: string, port: number): Promise<DevProxy> {
  let target: number | null = null;
  let state = randomUUID();
  const streams = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    const [path] = (request.url ?? '/').split('?');
    if (path === SCRIPT) return void send(response, 200, 'text/javascript', RELOAD);
    if (path === EVENTS) return listen(response);
    if (target === null) return void send(response, 503, 'text/html', withScript(STARTING, state));
    forward(request, response, target, state);
  });
  function listen(response: ServerResponse): void {
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    response.write(`data: ${state}\n\n`);
    streams.add(response);
    response.on('close', () => streams.delete(response));
  }
  const heartbeat = setInterval(() => {
    for (const stream of streams) stream.write(':\n\n');
  }, HEARTBEAT);
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  return {
    forwardTo: (next) => {
      target = next;
    },
    reload() {
      state = randomUUID();
      for (const stream of streams) stream.write(`data: ${state}\n\n`);
    },
    close() {
      clearInterval(heartbeat);
      server.close();
      server.closeAllConnections();
    },
  };
}

const STARTING = `<!doctype html><html lang="en"><head><title>Not ready</title></head>
<body><p>The service is not ready. The terminal shows why; this page reloads when it is.</p></body></html>
`;

/** Sends one request on and its answer back. */
function forward(request: IncomingMessage, response: ServerResponse, port: number, state: string): void {
  const { method = 'GET', url, headers } = request;
  const sent = without(headers, [...HOP_BY_HOP, 'accept-encoding', ...conditionsOf(headers)]);
  const upstream = requestUpstream({ host: LOOPBACK, port, method, path: url, headers: sent });
  upstream.on('response', (answer) => {
    deliver(answer, response, method, state).catch(() => response.destroy());
  });
  upstream.on('error', () => {
    if (response.headersSent) response.destroy();
    else send(response, 503, 'text/html', withScript(STARTING, state));
  });
  response.on('close', () => upstream.destroy());
  request.pipe(upstream);
}

/** A page in the browser's cache may be one without the script. */
function conditionsOf({ accept = '' }: IncomingMessage['headers']): string[] {
  return accept.includes('text/html') ? ['if-none-match', 'if-modified-since'] : [];
}

async function deliver(answer: IncomingMessage, response: ServerResponse, method: string, state: string) {
  const { statusCode = 502 } = answer;
  const headers = without(answer.headers, HOP_BY_HOP);
  const page = method !== 'HEAD' && (answer.headers['content-type'] ?? '').startsWith('text/html');
  if (!page) {
    response.writeHead(statusCode, headers);
    // Sends the headers of an event stream before its first event.
    response.flushHeaders();
    return pipeline(answer, response);
  }
  const text = withScript((await buffer(answer)).toString(), state);
  send(response, statusCode, 'text/html', text, without(headers, ['etag', 'last-modified', 'accept-ranges']));
}

function without(headers: OutgoingHttpHeaders, names: readonly string[]): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));
}

/** The page with the script at the end of its head. */
function withScript(page: string, state: string): string {
  const script = `<script src="${SCRIPT}?state=${state}" defer></script>`;
  const end = page.indexOf('</head>');
  return end < 0 ? page + script : `${page.slice(0, end)}${script}${page.slice(end)}`;
}

function send(response: ServerResponse, status: number, type: string, text: string, headers = {}): void {
  response.writeHead(status, {
    ...headers,
    'content-type': `${type}; charset=utf-8`,
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
  });
  response.end(text);
}
