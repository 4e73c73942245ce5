// Requests of the service over a socket: odd addresses and headers, large answers beside others, clients that disconnect,
// and handlers that fail.
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { ADMIN, appOfAll } from '../../support/app.ts';
import { listenerOfAll } from '../../support/listening.ts';

const app = await appOfAll({ nights: true });
const { base } = await listenerOfAll(app);
const slug = app.records['tools']![0]!.slug;
const RECORD = `/v1/tools/entities/${slug}`;
const OPERATOR = { authorization: `Bearer ${ADMIN}` };

/** The status and the body of a server's answer to raw bytes. The server closes the connection. */
async function raw(path: string, ...headers: string[]): Promise<{ status: number; body: string }> {
  const socket = connect(Number(new URL(base).port), '127.0.0.1');
  socket.write([`GET ${path} HTTP/1.1`, ...headers, 'Connection: close', '', ''].join('\r\n'));
  let text = '';
  socket.on('data', (piece) => {
    text += String(piece);
  });
  await once(socket, 'close');
  return { status: Number(text.split(' ')[1]), body: text.slice(text.indexOf('\r\n\r\n') + 4) };
}

test.each([
  [
    'a credential sent twice',
    RECORD,
    ['Host: here', `Authorization: Bearer ${ADMIN}`, 'Authorization: Bearer wrong'],
    401,
  ],
  ['a key sent twice', RECORD, ['Host: here', `X-API-Key: ${ADMIN}`, 'X-API-Key: wrong'], 401],
  ['a key with space around it', RECORD, ['Host: here', `X-API-Key:   ${ADMIN}  `], 200],
  ['a host in capitals with a port', RECORD, ['Host: HERE:99', `X-API-Key: ${ADMIN}`], 200],
  ['an IPv6 host', '/v1/tools/status', ['Host: [::1]:8080'], 200],
  ['a host with a user', '/v1/tools/status', ['Host: user@here'], 400],
  ['a host with a space', '/v1/tools/status', ['Host: a b'], 400],
  ['a backslash', '/v1/tools\\status', ['Host: here'], 400],
  ['a complete address', 'http://elsewhere/v1/tools/status', ['Host: here'], 200],
  ['dots in the path', '/v1/tools/../harbours/status', ['Host: here'], 200],
  ['a percent sign in the path', '/v1/tools/entities/caf%C3%A9', ['Host: here', `X-API-Key: ${ADMIN}`], 404],
])('%s is answered', async (_, path, headers, status) => {
  const answer = await raw(path, ...headers);
  expect(answer.status, answer.body).toBe(status);
});

test('a client that has the current version gets 304, over the tag and over the time', async () => {
  const { headers } = await fetch(base + RECORD, { headers: OPERATOR });
  const get = async (more: Record<string, string>, query = '') => {
    const response = await fetch(base + RECORD + query, { headers: { ...OPERATOR, ...more } });
    await response.arrayBuffer();
    return response;
  };
  const tag = headers.get('etag')!;
  expect((await get({ 'if-none-match': tag })).status).toBe(304);
  expect((await get({ 'if-modified-since': headers.get('last-modified')! })).status).toBe(304);
  // Another representation has another tag: other attributes, or another format.
  expect((await get({ 'if-none-match': tag }, '?fields=name')).status).toBe(200);
  expect((await get({ 'if-none-match': tag, accept: 'text/markdown' })).status).toBe(200);
  expect((await get({})).headers.get('etag')).toBe(tag);
});

test('a large answer sent while others are written keeps its bytes', async () => {
  const paths = Array.from({ length: 40 }, (_, i) => `/v1/tools/entities?limit=${20 + (i % 30)}`);
  const get = async (path: string) => (await fetch(base + path, { headers: OPERATOR })).text();
  const alone: string[] = [];
  for (const path of paths) alone.push(await get(path));
  const together = await Promise.all(paths.map(get));
  expect(together.map((text, i) => text === alone[i])).toEqual(paths.map(() => true));
});

test('a client that disconnects during a long answer returns its leases', async () => {
  for (let i = 0; i < 10; i += 1) {
    const socket = connect(Number(new URL(base).port), '127.0.0.1');
    const headers = `Host: here\r\nAuthorization: Bearer ${ADMIN}\r\n`;
    socket.write(
      `GET /v1/tools/llms-full.txt HTTP/1.1\r\n${headers}\r\nGET /v1/tools/entities?limit=60 HTTP/1.1\r\n${headers}\r\n`,
    );
    await once(socket, 'data');
    socket.destroy();
  }
  await expect.poll(() => app.lent(), { timeout: 10_000 }).toBe(0);
  expect(app.faults).toEqual([]);
});

test('a body that ends early, or is longer than its limit, is answered and nothing is reported', async () => {
  const post = (body: string) =>
    fetch(`${base}/mcp`, { method: 'POST', body, headers: { ...OPERATOR, 'content-type': 'application/json' } });
  const long = await post(' '.repeat(70_000));
  expect([long.status, (await long.json()).error.code]).toEqual([413, -32_600]);
  const streamed = await fetch(`${base}/mcp`, {
    method: 'POST',
    body: new ReadableStream({
      start(controller) {
        for (let i = 0; i < 4; i += 1) controller.enqueue(Buffer.alloc(20_000, ' '));
        controller.close();
      },
    }),
    duplex: 'half',
    headers: { ...OPERATOR, 'content-type': 'application/json' },
  } as RequestInit);
  expect(streamed.status).toBe(413);
  await streamed.body?.cancel();
  const socket = connect(Number(new URL(base).port), '127.0.0.1');
  socket.write(
    `POST /mcp HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"jsonrpc"`,
    () => socket.destroy(),
  );
  await once(socket, 'close');
  await expect.poll(() => app.lent(), { timeout: 10_000 }).toBe(0);
  expect(app.faults).toEqual([]);
});
