// The address of `npm run dev`: forwards every request to the service, and adds a script to HTML pages that
// reloads them.
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, request as requestUpstream, type ServerResponse } from 'node:http';
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

const STARTING = `<!doctype html><html lang="en"><head><title>Not ready</title></head>
<body><p>The service is not ready. The terminal shows why; this page reloads when it is.</p></body></html>
`;

const LOOPBACK = '127.0.0.1';

/** Listens on `host:port`; rejects when the port is taken. */
export async function openProxy(host: string, port: number): Promise<DevProxy> {
  let target: number | null = null;
  let state = randomUUID();
  const streams = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    const [path] = (request.url ?? '/').split('?');
    if (path === SCRIPT) send(response, 200, 'text/javascript', RELOAD);
    else if (path === EVENTS) {
      response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
      response.write(`data: ${state}\n\n`);
      streams.add(response);
      response.on('close', () => streams.delete(response));
    } else if (target === null) send(response, 503, 'text/html', withScript(STARTING, state));
    else forward(request, response, target, state);
  });
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
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Sends one request on and its answer back, a page with the script. */
function forward(request: IncomingMessage, response: ServerResponse, port: number, state: string): void {
  const { method = 'GET', url } = request;
  const headers = { ...request.headers };
  // The script is added to plain text; a page in the browser's cache may be one without it.
  const dropped = ['connection', 'accept-encoding'];
  if (headers.accept?.includes('text/html')) dropped.push('if-none-match', 'if-modified-since');
  for (const name of dropped) delete headers[name];
  const upstream = requestUpstream({ host: LOOPBACK, port, method, path: url, headers });
  upstream.on('response', async (answer) => {
    const { statusCode = 502, headers } = answer;
    // Of this connection only (RFC 9110 section 7.6.1).
    for (const name of ['connection', 'keep-alive', 'transfer-encoding']) delete headers[name];
    try {
      if (method === 'HEAD' || !headers['content-type']?.startsWith('text/html')) {
        response.writeHead(statusCode, headers);
        // Sends the headers of an event stream before its first event.
        response.flushHeaders();
        return await pipeline(answer, response);
      }
      for (const name of ['etag', 'last-modified', 'accept-ranges']) delete headers[name];
      send(response, statusCode, 'text/html', withScript((await buffer(answer)).toString(), state), headers);
    } catch {
      response.destroy();
    }
  });
  upstream.on('error', () => {
    if (response.headersSent) response.destroy();
    else send(response, 503, 'text/html', withScript(STARTING, state));
  });
  response.on('close', () => upstream.destroy());
  request.pipe(upstream);
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
