// Reading HTTP APIs from a local server: credentials, pages, conditional requests, retries, redirects, formats.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { publicOnly, WEB_PORTS } from '../../data/model/guard.ts';
import { http } from '../../packs/define/sources.ts';
import { declaredAs, objectsOf, readAll, sourceContext } from '../../tests/support/source-context.ts';
import { Web, type WebOptions } from '../crawl/web.ts';
import { nextPage } from './http.ts';
import type { Mark, SourceContext } from './reader.ts';
import { READERS } from './readers.ts';

type Options = Parameters<typeof http>[1];
type Answer = (request: IncomingMessage, response: ServerResponse, url: URL) => void;

const NOW = new Date('2026-11-20T00:00:00Z');
const SECRET = 'geheim-4711';

/** A server on this machine. Its hosts are `localhost` and `127.0.0.1`, which are different origins. */
async function serve(answer: Answer) {
  const requests: { path: string; headers: IncomingMessage['headers'] }[] = [];
  const server = createServer((request, response) => {
    requests.push({ path: request.url!, headers: request.headers });
    answer(request, response, new URL(request.url!, 'http://localhost'));
  }).listen(0);
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  const paths = () => requests.map(({ path }) => path);
  return { port, base: `http://localhost:${port}`, other: `http://127.0.0.1:${port}`, requests, paths };
}

/** Reads with a key in API_KEY, no pauses, and access to this machine unless `web` differs. */
async function read(
  urls: string | string[],
  options: Options = {},
  given: Partial<SourceContext> = {},
  web: Partial<WebOptions> = {},
) {
  const waits: number[] = [];
  const made = () =>
    new Web({
      allowed: () => true,
      ports: null,
      sign: async () => ({ Signature: 'signed' }),
      base_url: 'https://register.example',
      now: () => NOW,
      wait: async (ms) => void waits.push(ms),
      random: () => 0.5,
      ...web,
    });
  const { context, broken, progress } = sourceContext('', {
    environment: (name) => {
      if (name === 'API_KEY') return `${SECRET}\n`;
      throw new Error(`${name} is not set`);
    },
    web: async () => made(),
    now: () => NOW,
    ...given,
  });
  const versions = await readAll(READERS.http(declaredAs('http', http(urls, options)), context));
  return { versions, version: versions[0]!, broken, progress, waits };
}

const json = (response: ServerResponse, value: unknown, headers: Record<string, string> = {}) =>
  void response.writeHead(200, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(value));

const KEYED: Options = { headers: { Authorization: `Bearer \${API_KEY}`, accept: 'application/json' } };

test('with a credential: headers are sent, robots.txt is not read, requests are not signed', async () => {
  const server = await serve((_request, response) => json(response, [{ id: 1 }]));
  const { version } = await read(`${server.base}/a`, KEYED);
  expect(objectsOf(version)).toEqual([{ id: 1 }]);
  expect(version).toMatchObject({ name: `${server.base}/a`, observed_at: NOW.toISOString() });
  expect(server.paths()).toEqual(['/a']);
  const { headers } = server.requests[0]!;
  expect(headers).toMatchObject({ authorization: `Bearer ${SECRET}`, accept: 'application/json' });
  expect(headers['signature']).toBeUndefined();
  expect(JSON.stringify(version)).not.toContain(SECRET);
});

test('without a credential: robots.txt is obeyed and requests are signed', async () => {
  const server = await serve((_request, response, { pathname }) => {
    if (pathname === '/robots.txt') response.end('User-agent: *\nDisallow: /no');
    else json(response, [{ id: 1 }]);
  });
  const { version } = await read(`${server.base}/a`, { headers: { 'X-Client': 'register' } });
  expect(version.rows).toHaveLength(1);
  expect(server.paths()).toEqual(['/robots.txt', '/a']);
  expect(server.requests[1]!.headers).toMatchObject({ signature: 'signed', 'x-client': 'register' });
  await expect(read(`${server.base}/no`)).rejects.toThrow('robots.txt of localhost');
});

test('a variable that is not set is named', async () => {
  await expect(read('http://localhost:1/', { headers: { 'X-Key': `\${NO_KEY}` } })).rejects.toThrow(
    'NO_KEY is not set',
  );
});

/** A paged list of `total` numbers, two on each page. */
const paged = (total: number) => (page: number) =>
  Array.from({ length: total }, (_, i) => ({ id: i + 1 })).slice(2 * page - 2, 2 * page);

test('pages by a number end at an empty list', async () => {
  const list = paged(5);
  const server = await serve((_request, response, { searchParams }) =>
    json(response, { data: list(Number(searchParams.get('page'))) }),
  );
  const pages = { by: 'query', parameter: 'page' } as const;
  const { version, progress } = await read(`${server.base}/a?x=1`, { ...KEYED, pages, items: 'data' });
  expect(version.rows).toEqual([1, 2, 3, 4, 5].map((id) => ({ line: id, cells: [id] })));
  expect(server.paths()).toEqual([1, 2, 3, 4].map((page) => `/a?x=1&page=${page}`));
  expect(progress.at(-1)).toEqual([4, null, 'answers']);
});

test('pages by an offset; a page that does not exist is the end', async () => {
  const server = await serve((_request, response, { searchParams }) => {
    const page = Number(searchParams.get('offset')) / 2 + 1;
    if (page > 2) response.writeHead(404).end();
    else json(response, paged(4)(page));
  });
  const pages = { by: 'query', parameter: 'offset', from: 0, step: 2 } as const;
  expect((await read(`${server.base}/a`, { ...KEYED, pages })).version.rows).toHaveLength(4);
});

test('pages by a cursor in the answer: a value, or an address', async () => {
  const server = await serve((_request, response, { pathname, searchParams }) => {
    const page = Number(searchParams.get('after') ?? 1);
    const value = pathname === '/address' ? `${server.base}/address?after=${page + 1}` : `${page + 1}`;
    json(response, { rows: paged(5)(page), meta: { next: page < 3 ? value : null } });
  });
  const pages = { by: 'cursor', parameter: 'after', at: 'meta.next' } as const;
  for (const path of ['value', 'address']) {
    const { version } = await read(`${server.base}/${path}`, { ...KEYED, pages, items: 'rows' });
    expect(version.rows.map(({ cells }) => cells[0])).toEqual([1, 2, 3, 4, 5]);
  }
  expect(server.paths()).toEqual(
    ['value', 'address'].flatMap((path) => [`/${path}`, `/${path}?after=2`, `/${path}?after=3`]),
  );
});

test('pages by the header Link, in JSON lines with new columns and broken lines', async () => {
  const bodies = ['{"id":1}\nno\n', '{"late":true,"id":2}\n', '{"id":3}'];
  const server = await serve((_request, response, { searchParams }) => {
    const page = Number(searchParams.get('p') ?? 0);
    const link = page < 2 ? { Link: `</a?p=0>; rel="first", </a?p=${page + 1}>; title="x, <y>"; rel="last next"` } : {};
    response.writeHead(200, link).end(bodies[page]);
  });
  const { version, broken } = await read(`${server.base}/a`, { ...KEYED, format: 'ndjson', pages: { by: 'link' } });
  expect(version.columns).toEqual(['id', 'late']);
  expect(version.rows).toEqual([
    { line: 1, cells: [1] },
    { line: 3, cells: [2, true] },
    { line: 4, cells: [3, undefined] },
  ]);
  expect(broken).toEqual([{ line: 2, text: 'no', expected: 'a JSON object of at most 100 levels' }]);
});

test.each<[string, Answer, Options, string]>([
  [
    'a repeated cursor',
    (_request, response, { searchParams }) =>
      json(response, { items: [{ id: searchParams.get('c') ?? 0 }], next: searchParams.get('c') === 'a' ? 'b' : 'a' }),
    { pages: { by: 'cursor', parameter: 'c', at: 'next' }, items: 'items' },
    'leads to BASE/a?c=a, which was read before',
  ],
  [
    'a parameter that the API ignores',
    (_request, response) => json(response, [{ id: 1 }]),
    { pages: { by: 'query', parameter: 'page' } },
    'BASE/a?page=2 has the same answer as the page before',
  ],
  [
    'too many pages',
    (_request, response, { searchParams }) => json(response, [{ id: searchParams.get('page') }]),
    { pages: { by: 'query', parameter: 'page' }, max_pages: 3 },
    'BASE/a has more than 3 pages (max_pages)',
  ],
  [
    'a page on another host',
    (_request, response) => void response.writeHead(200, { Link: '<https://b.example/x>; rel=next' }).end('[{"id":1}]'),
    { pages: { by: 'link' } },
    'BASE/a leads to another host: https://b.example',
  ],
  [
    'a cursor in CSV',
    () => {},
    { pages: { by: 'cursor', parameter: 'c', at: 'n' }, format: 'csv' },
    'need format json',
  ],
  ['an error', (_request, response) => void response.writeHead(401).end(SECRET), {}, 'BASE/a answered 401'],
  ['no such page', (_request, response) => void response.writeHead(404).end(), {}, 'BASE/a answered 404'],
  ['no JSON', (_request, response) => void response.end('<html>'), {}, 'BASE/a is not JSON'],
  ['no list', (_request, response) => json(response, { data: [] }), {}, 'BASE/a is no list; set items to'],
  [
    'too many bytes',
    (_request, response) => void response.end('x'.repeat(100)),
    { max_bytes: 50 },
    'more than 50 bytes',
  ],
  [
    'too many bytes after decompression',
    (_request, response) => void response.end(gzipSync('x'.repeat(9_000))),
    { max_bytes: 50 },
    'cannot be decompressed to at most 50 bytes',
  ],
])('%s is an error', async (_name, answer, options, message) => {
  const server = await serve(answer);
  const failure = await read(`${server.base}/a`, { ...KEYED, ...options }).catch((error: Error) => error.message);
  expect(failure).toContain(message.replace('BASE', server.base));
  expect(failure).not.toContain(SECRET);
});

test('an unchanged answer is no version: by validators, or by its bytes', async () => {
  let id = 1;
  const modified = 'Sat, 01 Nov 2025 00:00:00 GMT';
  const server = await serve((request, response, { pathname }) => {
    const etag = `"${id}"`;
    if (pathname === '/plain') json(response, [{ id }]);
    else if (request.headers['if-none-match'] === etag) response.writeHead(304).end();
    else json(response, [{ id }], { ETag: etag, 'Last-Modified': modified });
  });
  for (const path of ['etag', 'plain']) {
    const url = `${server.base}/${path}`;
    const { version: first } = await read(url, KEYED);
    expect(first.observed_at).toBe(path === 'etag' ? '2025-11-01T00:00:00.000Z' : NOW.toISOString());
    const known = [JSON.parse(JSON.stringify(first.mark)) as Mark];
    expect((await read(url, KEYED, { marks: known })).versions).toEqual([]);
    id++;
    expect(objectsOf((await read(url, KEYED, { marks: known })).version)).toEqual([{ id }]);
  }
});

test('several addresses are one version; a change of one reads all again', async () => {
  let changed = false;
  const server = await serve((request, response, { pathname }) => {
    const etag = pathname === '/b' && changed ? '"new"' : '"old"';
    if (request.headers['if-none-match'] === etag) response.writeHead(304).end();
    else
      response
        .writeHead(200, { ETag: etag })
        .end(pathname === '/b' ? `n;id\n1;b\n${changed ? 3 : 2};c` : 'id;n\na;0\n');
  });
  const urls = [`${server.base}/a`, `${server.base}/b`];
  const options: Options = { ...KEYED, format: 'csv', delimiter: ';' };
  const { version } = await read(urls, options);
  expect(version.columns).toEqual(['id', 'n']);
  expect(version.rows).toEqual([
    { line: 2, cells: ['a', '0'] },
    { line: 4, cells: ['b', '1'] },
    { line: 5, cells: ['c', '2'] },
  ]);
  const known = [version.mark];
  expect((await read(urls, options, { marks: known })).versions).toEqual([]);
  changed = true;
  const { version: second } = await read(urls, options, { marks: known });
  expect(second.rows).toEqual(version.rows.with(2, { line: 5, cells: ['c', '3'] }));
});

test('a compressed CSV in another encoding', async () => {
  const server = await serve(
    (_request, response) => void response.end(gzipSync(Buffer.from('id,n\na,Z\xfcrich', 'latin1'))),
  );
  const { version } = await read(`${server.base}/a.csv.gz`, { ...KEYED, format: 'csv', encoding: 'windows-1252' });
  expect(objectsOf(version)).toEqual([{ id: 'a', n: 'Zürich' }]);
});

test('429 and 503 are retried after Retry-After, broken connections after a pause, both at most a few times', async () => {
  let tries = 0;
  const server = await serve((request, response, { pathname }) => {
    tries++;
    if (pathname === '/ok' && tries === 1) response.writeHead(429, { 'Retry-After': '7' }).end();
    else if (pathname === '/ok' && tries === 2) request.socket.destroy();
    else if (pathname === '/ok') json(response, [{ id: 1 }]);
    else response.writeHead(503).end();
  });
  const { version, waits } = await read(`${server.base}/ok`, { ...KEYED, per_second: 1000 });
  expect(version.rows).toHaveLength(1);
  expect(waits.filter((ms) => ms > 100)).toEqual([7000, 2000]);
  tries = 0;
  await expect(read(`${server.base}/never`, KEYED)).rejects.toThrow('answered 503');
  expect(tries).toBeGreaterThan(2);
  expect(tries).toBeLessThanOrEqual(5);
});

test('per_second is the pause between two requests', async () => {
  const server = await serve((_request, response, { searchParams }) =>
    json(response, paged(4)(Number(searchParams.get('page')))),
  );
  const pages = { by: 'query', parameter: 'page' } as const;
  const { waits } = await read(`${server.base}/a`, { ...KEYED, pages, per_second: 4 });
  expect(waits).toEqual([250, 250]);
});

test('a redirect to another host does not receive the headers, one to the same host does', async () => {
  const server = await serve((_request, response, { pathname }) => {
    if (pathname === '/same') response.writeHead(302, { Location: '/end' }).end();
    else if (pathname === '/other') response.writeHead(302, { Location: `${server.other}/back` }).end();
    else if (pathname === '/back') response.writeHead(302, { Location: `${server.base}/end` }).end();
    else if (pathname.startsWith('/loop')) response.writeHead(302, { Location: `${pathname}x` }).end();
    else json(response, [{ id: 1 }]);
  });
  const keys = () => server.requests.splice(0).map(({ path, headers }) => [path, headers.authorization !== undefined]);
  await read(`${server.base}/same`, KEYED);
  expect(keys()).toEqual([
    ['/same', true],
    ['/end', true],
  ]);
  await read(`${server.base}/other`, KEYED);
  expect(keys()).toEqual([
    ['/other', true],
    ['/back', false],
    ['/end', false],
  ]);
  await expect(read(`${server.base}/loop`, KEYED)).rejects.toThrow('redirects more than 5 times');
});

test('private addresses: only open hosts, by name and port, and none for crawled pages', async () => {
  const server = await serve((_request, response) => json(response, [{ id: 1 }]));
  const guarded = (...hosts: string[]) => ({ allowed: publicOnly, ports: WEB_PORTS, open_hosts: new Set(hosts) });
  const url = `${server.base}/a`;
  await expect(read(url, KEYED, {}, guarded())).rejects.toThrow(`port ${server.port} is not allowed`);
  await expect(read(url, KEYED, {}, guarded(`127.0.0.1:${server.port}`))).rejects.toThrow('is not allowed');
  await expect(read(url, KEYED, {}, { ...guarded('localhost:1'), ports: null })).rejects.toThrow(
    'not a public address',
  );
  const open = guarded(`localhost:${server.port}`, `127.0.0.1:${server.port}`);
  expect((await read(url, KEYED, {}, open)).version.rows).toHaveLength(1);
  expect((await read(`${server.other}/a`, KEYED, {}, open)).version.rows).toHaveLength(1);
  const web = new Web({
    ...open,
    ports: null,
    sign: null,
    base_url: 'https://register.example',
    now: () => NOW,
    wait: async () => {},
    random: () => 0.5,
  });
  onTestFinished(() => web.close());
  await expect(web.get(new URL(url), {}, 100)).rejects.toThrow('not a public address');
  expect((await web.get(new URL(url), {}, 100, { open: true })).status).toBe(200);
});

test.each([
  ['<https://a.example/2>; rel="next"', 'https://a.example/2'],
  ['</2>; rel=next', 'https://a.example/2'],
  ['<?p=2>;rel="prev",<?p=3>;rel="NEXT"', 'https://a.example/x?p=3'],
  ['<2>; title="rel=next", <3>; rel="next"', 'https://a.example/3'],
  ['<2>; rel="nextish"', null],
  [undefined, null],
])('Link: %s', (link, next) => {
  const answer = { url: new URL('https://a.example/x'), link, document: undefined };
  expect(nextPage({ by: 'link' }, 1, answer)?.href ?? null).toBe(next);
});
