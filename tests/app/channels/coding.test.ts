// Compression of long answers, as any client receives them.
import { get, type IncomingHttpHeaders, request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { ADMIN, appOfAll } from '../../support/app.ts';
import { listenerOfAll } from '../../support/listening.ts';

const app = await appOfAll({ nights: true });
const server = await listenerOfAll(app, app.listener());
const slug = app.records['tools']![0]!.slug;

const OPERATOR = { authorization: `Bearer ${ADMIN}` };
interface Wire {
  status: number;
  headers: IncomingHttpHeaders;
  /** Bytes as sent. */
  bytes: Buffer;
  /** Decoded bytes. */
  text: string;
}

/** Sends a request without a client that decodes. */
function wire(path: string, headers: Record<string, string> = {}, method = 'GET', body?: string): Promise<Wire> {
  const { promise, resolve, reject } = Promise.withResolvers<Wire>();
  const asked = request(server.base + path, { method, headers: { ...OPERATOR, ...headers } }, async (answer) => {
    const bytes = Buffer.concat(await answer.toArray());
    const coded = answer.headers['content-encoding'] === 'gzip' && bytes.length > 0;
    const text = (coded ? gunzipSync(bytes) : bytes).toString();
    resolve({ status: answer.statusCode ?? 0, headers: answer.headers, bytes, text });
  });
  asked.on('error', reject);
  asked.end(body);
  return promise;
}

const LONG = [
  '/v1/tools/entities?limit=50',
  '/v1/tools/entities?limit=50&format=csv',
  '/v1/tools/entities?limit=50&format=ndjson',
  '/v1/tools/schema',
  '/openapi.json',
  '/v1/tools/llms-full.txt',
];

test.each(LONG)('%s is the same in gzip, and shorter', async (path) => {
  const plain = await wire(path);
  expect(plain.headers['content-encoding']).toBeUndefined();
  const sent = await wire(path, { 'accept-encoding': 'gzip, deflate, br' });
  expect(sent.headers['content-encoding']).toBe('gzip');
  for (const { headers } of [sent, await wire(path, { 'accept-encoding': 'br' })]) {
    expect(headers['vary']).toContain('Accept-Encoding');
    expect(headers['content-type']).toBe(plain.headers['content-type']);
    expect(headers['etag']).toBe(plain.headers['etag']);
  }
  expect(sent.text === plain.text, 'the texts differ').toBe(true);
  expect(sent.bytes.length).toBeLessThan(plain.bytes.length / 2);
  if (sent.headers['content-length']) expect(Number(sent.headers['content-length'])).toBe(sent.bytes.length);
});

test.each(['/openapi.json', '/v1/tools/schema', '/llms.txt', '/', '/v1/tools/entities?limit=50'])(
  '%s tells caches in every answer that it comes in codings',
  async (path) => {
    const plain = await wire(path, { accept: 'application/json' });
    const asked = { accept: 'application/json', 'if-none-match': plain.headers['etag'] ?? '' };
    const same = await wire(path, { ...asked, 'accept-encoding': 'gzip' });
    const coded = await wire(path, { accept: 'application/json', 'accept-encoding': 'gzip' });
    expect([plain.status, same.status, coded.status]).toEqual([200, plain.headers['etag'] ? 304 : 200, 200]);
    expect(plain.headers['vary']).toContain('Accept-Encoding');
    for (const { headers } of [same, coded]) expect(headers['vary']).toBe(plain.headers['vary']);
  },
);

test('long answers of the agent', async () => {
  const message = { parts: [{ data: { skill: 'entity_search', dataset: 'tools', limit: 50 } }] };
  const headers = { 'accept-encoding': 'gzip', 'content-type': 'application/json' };
  const sent = await wire('/a2a/v1/message:send', headers, 'POST', JSON.stringify({ message }));
  expect([sent.status, sent.headers['content-encoding']]).toEqual([200, 'gzip']);
  expect(sent.text).toContain('"ROLE_AGENT"');
});

test('what is short, unchanged, refused or not text is sent as it is', async () => {
  const accepts = { 'accept-encoding': 'gzip, br' };
  const coded = async (path: string, headers = {}, method = 'GET') => {
    const sent = await wire(path, { ...accepts, ...headers }, method);
    return [sent.status, sent.headers['content-encoding'], sent.bytes.length > 0];
  };
  expect(await coded(`/v1/tools/entities/${slug}?fields=name`)).toEqual([200, undefined, true]);
  expect(await coded('/v1/tools/entities/nothing')).toEqual([404, undefined, true]);
  expect(await coded('/v1/tools/entities?limit=50&format=arrow')).toEqual([200, undefined, true]);
  // HEAD runs no search, so there is no body to compress.
  expect(await coded('/v1/tools/entities?limit=50', {}, 'HEAD')).toEqual([200, undefined, false]);
  const { headers } = await wire('/openapi.json', accepts);
  expect(await coded('/openapi.json', { 'if-none-match': headers['etag'] })).toEqual([304, undefined, false]);
});

test('the length of a no-store page does not reveal its content', async () => {
  const accepts = { 'accept-encoding': 'gzip' };
  const paid = await wire(`/v1/tools/entities/${slug}`, { ...accepts, accept: 'text/html' });
  expect(paid.headers['cache-control']).toBe('private, no-store');
  expect(paid.headers['content-encoding']).toBeUndefined();
  expect(paid.bytes.length).toBeGreaterThan(8_192);
  const open = await wire(`/datasets/tools/${slug}`, { ...accepts, accept: 'text/html' });
  expect(open.headers['content-encoding']).toBe('gzip');
  expect(open.text).toContain('</html>');
});

test('MCP: lists and long answers of tools', async () => {
  const headers = {
    'accept-encoding': 'gzip',
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2025-11-25',
  };
  const mcp = (method: string, params: object) =>
    wire('/mcp?max_tokens=200000', headers, 'POST', JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
  const list = await mcp('tools/list', {});
  expect([list.status, list.headers['content-encoding']]).toEqual([200, 'gzip']);
  expect(JSON.parse(list.text).result.tools.length).toBeGreaterThan(5);
  const search = await mcp('tools/call', {
    name: 'entity_search',
    arguments: { dataset: 'tools', limit: 50, format: 'json' },
  });
  expect([search.status, search.headers['content-encoding']]).toEqual([200, 'gzip']);
  expect(JSON.parse(search.text).result.structuredContent.items.length).toBeGreaterThan(20);
  const ping = await mcp('ping', {});
  expect([ping.status, ping.headers['content-encoding']]).toEqual([200, undefined]);
});

test('many at once keep their bytes, and clients that hang up leave nothing lent', async () => {
  const paths = Array.from({ length: 60 }, (_, i) => `/v1/tools/entities?limit=${20 + (i % 30)}`);
  const alone = await Promise.all(paths.map((path) => wire(path)));
  const together = await Promise.all(
    paths.map((path, i) => wire(path, { 'accept-encoding': ['gzip', 'identity'][i % 2]! })),
  );
  expect(together.map(({ text }, i) => text === alone[i]!.text)).toEqual(paths.map(() => true));
  for (const path of ['/v1/tools/llms-full.txt', ...paths.slice(0, 10)]) {
    const asked = get(server.base + path, { headers: { ...OPERATOR, 'accept-encoding': 'gzip' } });
    asked.on('error', () => {});
    asked.once('response', () => asked.destroy());
    await new Promise((resolve) => asked.once('close', resolve));
  }
  await expect.poll(() => app.lent(), { timeout: 10_000 }).toBe(0);
  expect(app.faults).toEqual([]);
});
