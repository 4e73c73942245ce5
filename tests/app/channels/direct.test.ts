// The fast path (api/http/fast-path.ts) compared with Hono: the same answers to the same requests, valid,
// invalid and odd.
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { connect } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { TrieRouter } from 'hono/router/trie-router';
import { expect, test } from 'vitest';
import { registerFastPath, withFastPath } from '../../../api/http/fast-path.ts';
import type { NodeBindings } from '../../../api/http/request.ts';
import type { Reply } from '../../../api/http/respond.ts';
import { ADMIN, appOfAll, testApp } from '../../support/app.ts';
import { everyCall } from '../../support/every-call.ts';
import { listenerOfAll, startListener } from '../../support/listening.ts';

/** Requests that the fast path left to Hono. */
let left = 0;

const app = await appOfAll({ nights: true });
const hono = getRequestListener(app.fetch);
const counting: RequestListener = (incoming, outgoing) => {
  left += 1;
  return hono(incoming, outgoing);
};
const short = await listenerOfAll(app, app.listener(counting));
const long = await listenerOfAll(app, hono);
const packs = ['harbours', 'tools'].map((dataset) => app.register.packs.get(dataset)!);
const slugs = Object.fromEntries(packs.map(({ id }) => [id, app.records[id]!.slice(0, 2).map((each) => each.slug)]));
const slug = slugs['tools']![0]!;
const account = { id: 'x', key: 'x', token: 'x' };
const paths: string[] = everyCall(packs, slugs, account)
  .filter(({ operation }) => operation.rest.method === 'GET' && operation.name !== 'dataset_export')
  .map(({ path }) => path);

/** Requests so far. */
let asked = 0;

interface Sent {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** An answer without the parts that differ between requests. */
async function answer(base: string, path: string, init: Sent) {
  asked += 1;
  // Each caller has its own address, so that none uses up another's previews.
  const sent = { ...init.headers, 'x-forwarded-for': `2001:db8:${asked.toString(16)}::1` };
  const response = await fetch(base + path, { ...init, headers: sent, redirect: 'manual' });
  const headers = Object.fromEntries(response.headers);
  for (const name of ['x-request-id', 'date', 'ratelimit', 'x-ratelimit-remaining']) delete headers[name];
  // Ids of requests compress to different lengths.
  if (headers['content-encoding'] !== undefined) delete headers['content-length'];
  const text = (await response.text()).replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>');
  return { status: response.status, headers, text };
}

async function both(path: string, init: Sent = {}) {
  const [one, other] = [await answer(short.base, path, init), await answer(long.base, path, init)];
  // Streams have no known length; each side may announce this or not.
  for (const { headers } of [one, other]) delete headers['transfer-encoding'];
  const about = `${init.method ?? 'GET'} ${path} ${JSON.stringify(init.headers ?? {})}`;
  expect({ ...one, text: one.text.slice(0, 300) }, about).toEqual({ ...other, text: other.text.slice(0, 300) });
  expect(one.text === other.text, `${about}: the texts differ`).toBe(true);
  return one;
}

const OPERATOR = { authorization: `Bearer ${ADMIN}` };

test('every request is answered alike, in every format', async () => {
  expect(paths.length).toBeGreaterThan(60);
  const before = left;
  for (const path of paths) {
    const [address, query] = path.split('?');
    for (const headers of [OPERATOR, {}, { ...OPERATOR, accept: 'text/markdown' }, { ...OPERATOR, accept: 'text/csv' }])
      await both(path, { headers: headers as Record<string, string> });
    await both(`${address}.md${query === undefined ? '' : `?${query}`}`, { headers: OPERATOR });
  }
  // Only addresses with odd characters skip the fast path.
  expect(left - before).toBeLessThan(paths.length / 2);
});

test('records, unchanged ones, errors and pages take the fast path', async () => {
  const before = left;
  const record = `/v1/tools/entities/${slug}`;
  const { headers } = await both(record, { headers: OPERATOR });
  const again = await both(record, { headers: { ...OPERATOR, 'if-none-match': headers['etag'] ?? '' } });
  expect([again.status, again.text]).toEqual([304, '']);
  expect((await both('/v1/tools/entities/nothing', { headers: OPERATOR })).status).toBe(404);
  expect((await both(record)).status).toBe(402);
  expect((await both(record, { headers: { authorization: 'Bearer wrong' } })).status).toBe(401);
  expect((await both(`${record}?fields=nothing`, { headers: OPERATOR })).status).toBeGreaterThanOrEqual(400);
  expect((await both(`${record}?api_key=${ADMIN}`)).headers['referrer-policy']).toBe('no-referrer');
  expect((await both(`/v1/tools/entities?limit=2&api_key=wrong`)).status).toBe(401);
  expect((await both(record, { headers: { ...OPERATOR, accept: 'text/html' } })).headers['content-type']).toMatch(
    /html/,
  );
  expect(left).toBe(before);
});

test('odd requests take Hono, and are answered alike', async () => {
  const odd = [
    '/v1/tools/entities/%2e%2e',
    '/v1/tools/entities/caf%C3%A9',
    '/v1//tools/status',
    '/v1/tools/./status',
    '/v1/tools/../harbours/status',
    '/v1/tools/entities?q=a%20b&q=c',
    `/v1/tools/entities?q=${'a'.repeat(33_000)}`,
    '/v1/nothing/status',
    '/v1/tools/nothing',
    '/v1',
    '/healthz',
  ];
  for (const path of odd)
    for (const headers of [OPERATOR, {}]) await both(path, { headers: headers as Sent['headers'] & {} });
  for (const method of ['HEAD', 'DELETE', 'OPTIONS', 'POST'])
    await both(`/v1/tools/entities/${slug}`, { method, headers: OPERATOR });
});

/**
 * The answer of a server to raw bytes. The server must close, since it drops the answer when the client does
 * first.
 */
async function raw(base: string, text: string): Promise<string> {
  const socket = connect(Number(new URL(base).port), '127.0.0.1');
  socket.write(text);
  let got = '';
  socket.on('data', (piece) => (got += String(piece)));
  await once(socket, 'close');
  return got
    .replaceAll(/^(x-request-id|date|keep-alive|transfer-encoding|ratelimit|x-ratelimit-remaining): .*\r\n/gim, '')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<id>');
}

test('headers sent twice, hosts of all kinds and backslashes are answered alike', async () => {
  const ask = (path: string, ...headers: string[]) =>
    [`GET ${path} HTTP/1.1`, ...headers, 'Connection: close', '', ''].join('\r\n');
  const [first, last] = ['/v1/tools/status', `/v1/tools/entities/${slug}`];
  const asked = [
    ask(last, 'Host: here', `Authorization: Bearer ${ADMIN}`, 'Authorization: Bearer wrong'),
    ask(last, 'Host: here', 'Authorization: Bearer wrong', `Authorization: Bearer ${ADMIN}`),
    ask(last, 'Host: here', `X-API-Key: ${ADMIN}`, 'X-API-Key: wrong'),
    ask(last, 'Host: here', `X-API-Key:   ${ADMIN}  `),
    ask(last, 'Host: HERE:99', `X-API-Key: ${ADMIN}`),
    ask(first, 'Host: here:80'),
    ask(first, 'Host: user@here'),
    ask(first, 'Host: [::1]:8080'),
    ask(first, 'Host: a b'),
    ask(first, 'Host:'),
    ask('/v1/tools\\status', 'Host: here'),
    ask('/v1/tools/status#part', 'Host: here'),
    ask('http://elsewhere/v1/tools/status', 'Host: here'),
    ask('/v1/tools/status?format=md', 'Host: here', 'Accept: application/json', 'Accept: text/markdown'),
  ];
  const sorted = (text: string) => {
    const [head = '', body = ''] = text.split('\r\n\r\n');
    const [status, ...lines] = head.split('\r\n');
    return { status, lines: lines.sort(), body };
  };
  for (const text of asked)
    expect(sorted(await raw(short.base, text)), text).toEqual(sorted(await raw(long.base, text)));
});

test('calls of MCP are answered alike: plain ones on the fast path, invalid and too long bodies too', async () => {
  const mcp = (body: string, more: Record<string, string> = {}, path = '/mcp') =>
    both(path, {
      method: 'POST',
      body,
      headers: {
        ...OPERATOR,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-11-25',
        ...more,
      },
    });
  const call = (name: string, given: object) =>
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } });
  const before = left;
  const get = await mcp(call('entity_get', { dataset: 'tools', entity_id: slug, format: 'json' }));
  expect(JSON.parse(get.text)).toMatchObject({ result: { structuredContent: { slug } } });
  const search = await mcp(
    call('entity_search', { dataset: 'tools', limit: 50, format: 'json' }),
    {},
    '/mcp?max_tokens=200000',
  );
  expect(search.text.length).toBeGreaterThan(16_384);
  await mcp(call('tools_search', { limit: 1 }), {}, '/mcp?datasets=tools');
  await mcp(call('nothing', {}));
  await mcp(call('entity_get', { dataset: 'tools', entity_id: 'nothing' }));
  await mcp(call('entity_get', {}));
  await mcp('{"jsonrpc":"2.0","id":1,"method":"tools/list"}');
  await mcp('{"jsonrpc":"2.0","id":1,"method":"ping"}');
  await mcp('{"jsonrpc":"2.0","method":"notifications/initialized"}');
  await mcp('{');
  await mcp('[]');
  await mcp('');
  await mcp(call('entity_get', { dataset: 'tools', entity_id: slug }), { origin: 'https://elsewhere.example' });
  await mcp(call('entity_get', { dataset: 'tools', entity_id: slug }), { authorization: 'Bearer wrong' });
  await mcp(call('entity_get', { dataset: 'tools', entity_id: slug }), { 'content-type': 'text/plain' });
  expect(left).toBe(before);
  await mcp(' '.repeat(70_000));
  expect(left).toBe(before + 1);
});

test('a large answer sent while others are written keeps its bytes', async () => {
  const asked = Array.from({ length: 40 }, (_, i) => `/v1/tools/entities?limit=${20 + (i % 30)}`);
  const alone: string[] = [];
  for (const path of asked) alone.push(await (await fetch(short.base + path, { headers: OPERATOR })).text());
  const together = await Promise.all(
    asked.map(async (path) => (await fetch(short.base + path, { headers: OPERATOR })).text()),
  );
  expect(together.map((text, i) => text === alone[i])).toEqual(asked.map(() => true));
});

test('a client that disconnects during a long answer returns its leases', async () => {
  for (let i = 0; i < 10; i += 1) {
    const socket = connect(Number(new URL(short.base).port), '127.0.0.1');
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

test('a handler that throws, and an answer that cannot be sent, are answered 500', async () => {
  const broken = new Hono<{ Bindings: NodeBindings }>({ router: new TrieRouter() });
  const answers: Record<string, () => Promise<Reply>> = {
    '/v1/throws': () => Promise.reject(new Error('broken')),
    '/v1/unsendable': async () => ({ status: 200, headers: { 'X-Line': 'one\ntwo' }, body: 'text' }),
    '/v1/breaks-off': async () => ({
      status: 200,
      headers: {},
      body: new ReadableStream({
        pull(controller) {
          controller.enqueue(Buffer.from('beginning'));
          controller.error(new Error('broken off'));
        },
      }),
    }),
  };
  for (const [path, handler] of Object.entries(answers)) broken.on('GET', path, registerFastPath(handler));
  const told: string[] = [];
  const listener = withFastPath(
    broken,
    () => expect.fail('this is not the long way'),
    (error) => {
      told.push((error as Error).message);
      return { status: 500, headers: {}, body: '{"error":"internal"}' };
    },
  );
  const { base, stop } = await startListener(app, listener);
  try {
    for (const path of ['/v1/throws', '/v1/unsendable']) {
      const response = await fetch(base + path);
      expect([path, response.status, await response.text()]).toEqual([path, 500, '{"error":"internal"}']);
    }
    await expect(fetch(`${base}/v1/breaks-off`).then((response) => response.text())).rejects.toThrow();
    expect(told).toEqual(['broken', expect.stringContaining('Invalid character in header'), 'broken off']);
  } finally {
    await stop();
  }
});

test('FAST_PATH=0 leaves every request to Hono', async () => {
  const off = await testApp({ records: 5, fast_path: false });
  const hono = getRequestListener(off.fetch);
  let requests = 0;
  const counting: RequestListener = (incoming, outgoing) => {
    requests += 1;
    return hono(incoming, outgoing);
  };
  const { base, stop } = await startListener(off, off.listener(counting));
  try {
    expect((await fetch(`${base}/v1/tools/status`)).status).toBe(200);
    expect(requests).toBe(1);
  } finally {
    await stop();
    await off.close();
  }
});
