// Errors of Node's HTTP parser, over real sockets.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { answerClientErrors, fetchListener } from './client-error.ts';

const LONGEST = 4_096;
let answered = 0;

const server: Server = createServer({ maxHeaderSize: LONGEST }, async (request, response) => {
  answered += 1;
  if (request.url === '/slow') {
    response.write('begun ');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  response.end('fine');
});
answerClientErrors(server, { base_url: 'https://register.example', longest: LONGEST });
server.listen(0, '127.0.0.1');
await once(server, 'listening');
afterAll(() => server.close());

/** Everything received on a connection until the server closes it. */
async function sent(...pieces: (string | Buffer)[]): Promise<string> {
  return sentTo(server, ...pieces);
}

async function sentTo(to: Server, ...pieces: (string | Buffer)[]): Promise<string> {
  const socket = connect((to.address() as AddressInfo).port, '127.0.0.1');
  let text = '';
  socket.on('data', (data) => {
    text += data;
  });
  socket.on('error', () => {});
  for (const piece of pieces) socket.write(piece);
  await once(socket, 'close');
  return text;
}

function parsed(text: string) {
  const [head = '', body = ''] = text.split('\r\n\r\n');
  const [status = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(lines.map((line) => line.toLowerCase().split(': ') as [string, string]));
  return { status, headers, body: JSON.parse(body) as Record<string, unknown> };
}

test('UTF-8 in a URL is told to be percent-encoded', async () => {
  const { status, headers, body } = parsed(await sent('GET /v1/places/entities?q=zürich HTTP/1.1\r\nHost: x\r\n\r\n'));
  expect(status).toBe('HTTP/1.1 400 Bad Request');
  expect(headers).toMatchObject({
    connection: 'close',
    'content-type': 'application/json',
    'access-control-allow-origin': '*',
    'cache-control': 'no-store',
  });
  expect(body).toMatchObject({
    error: 'invalid_parameter',
    is_retriable: false,
    documentation_url: 'https://register.example/llms.txt',
    request_id: headers['x-request-id'],
  });
  expect(body['message']).toContain('Percent-encode');
  expect(Number(headers['content-length'])).toBe(Buffer.byteLength(JSON.stringify(body)));
});

test('headers without an end are 431', async () => {
  const { status, body } = parsed(await sent(`GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(20_000)}\r\n\r\n`));
  expect([status, body['error']]).toEqual(['HTTP/1.1 431 Request Header Fields Too Large', 'payload_too_large']);
  expect(body['message']).toContain(String(LONGEST));
});

test.each([
  ['garbage', 'nonsense\r\n\r\n'],
  ['TLS', Buffer.from('16030100a5010000a10303', 'hex')],
  ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
  ['bytes of no encoding in a header name', Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\xff\xfe: 1\r\n\r\n', 'latin1')],
])('%s: 400 with a body', async (_, request) => {
  const { status, body } = parsed(await sent(request));
  expect([status, body['error']]).toEqual(['HTTP/1.1 400 Bad Request', 'invalid_parameter']);
  expect(body['message']).toContain('not a valid HTTP/1.1 request');
});

test('an answer that is being sent is cut, and never mixed with the refusal', async () => {
  const text = await sent('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n', 'nonsense\r\n\r\n');
  expect(text).not.toContain('invalid_parameter');
  const good = await sent('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  expect(good).toContain('fine');
  expect(answered).toBeGreaterThanOrEqual(1);
});

test('requests that the adapter refuses are 400 with a body, and HTTP/1.0 needs no Host', async () => {
  const fetched: string[] = [];
  const listener = fetchListener((request) => {
    fetched.push(request.url);
    return new Response('fine');
  }, 'https://register.example');
  const adapted = createServer({ requireHostHeader: false }, listener).listen(0, '127.0.0.1');
  answerClientErrors(adapted, { base_url: 'https://register.example', longest: LONGEST });
  await once(adapted, 'listening');
  const old = await sentTo(adapted, 'GET /healthz HTTP/1.0\r\n\r\n');
  expect([old.startsWith('HTTP/1.1 200 '), fetched]).toEqual([true, ['http://register.example/healthz']]);
  for (const request of [
    'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n',
    'GET /healthz HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n',
    'GET /healthz HTTP/1.0\r\nHost: a/b\r\n\r\n',
    'GET http://[x/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    'POST healthz HTTP/1.0\r\n\r\n',
    'GET //[ HTTP/1.1\r\nHost: [\r\nConnection: close\r\n\r\n',
    'OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    'GET /\\docs HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: x\r\nX-Request-Id: \u0001\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: x\r\nExpect: a-coffee\r\nConnection: close\r\n\r\n',
    'POST /v1/keys HTTP/1.1\r\nHost: x\r\nExpect: é\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}',
    'CONNECT register.example:443 HTTP/1.1\r\nHost: register.example:443\r\n\r\n',
    'CONNECT / HTTP/1.1\r\nHost: x\r\n\r\n',
  ]) {
    const text = await sentTo(adapted, request);
    expect([request, text.slice(0, 12)]).toEqual([request, 'HTTP/1.1 400']);
    const body = /\{.*\}/s.exec(text)?.[0] ?? '{}';
    expect(JSON.parse(body), request).toMatchObject({
      error: 'invalid_parameter',
      documentation_url: expect.stringContaining('https://register.example/'),
    });
  }
  expect(fetched).toHaveLength(1);
  const body = 'Connection: close\r\nContent-Length: 2\r\n\r\n{}';
  const accepted = await sentTo(adapted, `POST /v1/keys HTTP/1.1\r\nHost: x\r\nExpect: 100-Continue\r\n${body}`);
  expect(accepted).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /);
  adapted.close();
});
