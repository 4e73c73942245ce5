// The rules for nginx, on a real nginx: the address of a record for people and for programs, types, redirects.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { hostingRules } from '../../api/discovery/hosting.ts';
import { OPERATIONS } from '../../api/operations/table.ts';
import { nginxConfig } from '../../build/static/host-configs.ts';
import { freePort } from '../support/free-port.ts';
import { scratchOfAll } from '../support/night-pack.ts';

const FILES = {
  'index.html': 'home',
  '404.html': 'not found',
  'datasets/tools/index.html': 'table',
  'datasets/tools/saw.md': '# Saw',
  'datasets/tools/drill.md': '# Drill',
  'datasets/tools/drill/index.html': 'whole page of the drill',
  'record/tools/index.html': 'page of any record',
  'files/tools/croissant.jsonld': '{}',
  'og/tools.png': 'image',
  'v1/tools/schema': '{}',
  '.build/manifest.tsv': 'secret',
};
const HTML = 'text/html,application/xhtml+xml,*/*;q=0.8';

const root = scratchOfAll();
let stop = async () => {};
afterAll(async () => {
  await stop();
});

/** Starts nginx on a free port; null where there is none. */
async function startNginx(): Promise<string | null> {
  try {
    execFileSync('nginx', ['-v'], { stdio: 'ignore' });
  } catch {
    return null;
  }
  const dist = join(root, 'dist');
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(dist, path)), { recursive: true });
    writeFileSync(join(dist, path), text);
  }
  writeFileSync(join(dist, 'record/tools/index.html.gz'), gzipSync(FILES['record/tools/index.html']));
  const port = await freePort();
  // Stands for the API: it names the requests that it gets.
  const upstream = createServer((request, response) => {
    response.setHeader('Access-Control-Allow-Origin', '*');
    response.setHeader('Content-Type', 'application/json');
    // As long as the header of prices with the offers that are signed.
    if (request.url === '/v1/tools/entities?q=saw') response.setHeader('PAYMENT-REQUIRED', 'p'.repeat(12_000));
    response.end(`${request.method} ${request.url} ${request.headers['x-forwarded-for']}`);
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const api = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const rules = hostingRules({ base_url: 'https://register.example', operations: OPERATIONS });
  const server = nginxConfig(rules, { root: dist, api }).replace('listen 80;', `listen 127.0.0.1:${port};`);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${root}/temp;`,
  );
  writeFileSync(
    join(root, 'nginx.conf'),
    `${process.getuid?.() === 0 ? 'user root;' : ''} daemon off; pid ${root}/pid; error_log ${root}/error.log; events {}
http { access_log off; ${temporary.join(' ')} types { text/html html; image/png png; }
${server} }`,
  );
  const nginx = spawn('nginx', ['-c', join(root, 'nginx.conf'), '-e', join(root, 'error.log')], { stdio: 'ignore' });
  stop = async () => {
    nginx.kill();
    await new Promise((closed) => nginx.once('close', closed));
    upstream.close();
  };
  const origin = `http://127.0.0.1:${port}`;
  for (let tries = 0; tries < 100; tries++) {
    const up = await fetch(origin).then(
      ({ ok }) => ok,
      () => false,
    );
    if (up) return origin;
    await wait(50);
  }
  throw new Error(`nginx did not start: ${readFileSync(join(root, 'error.log'), 'utf8')}`);
}

test('nginx sends a page to people and Markdown to programs at the address of a record, and calls to the API', async (context) => {
  const origin = await startNginx();
  if (origin === null) context.skip('no nginx');
  const ask = async (path: string, accept = '*/*') => {
    const response = await fetch(origin + path, { headers: { Accept: accept }, redirect: 'manual' });
    const type = response.headers.get('content-type')?.split(';')[0];
    return { all: [response.status, type, await response.text()], response };
  };
  const answers = async (path: string, accept?: string) => (await ask(path, accept)).all;
  const page = [200, 'text/html', FILES['record/tools/index.html']];
  const file = [200, 'text/markdown', FILES['datasets/tools/saw.md']];
  const missing = [404, 'text/html', FILES['404.html']];
  expect(await answers('/datasets/tools/saw', HTML)).toEqual(page);
  expect(await answers('/datasets/tools/saw/', HTML)).toEqual(page);
  expect(await answers('/datasets/tools/saw')).toEqual(file);
  expect(await answers('/datasets/tools/saw', 'text/markdown, text/html;q=0.5')).toEqual(file);
  expect(await answers('/datasets/tools/saw?format=md', HTML)).toEqual(file);
  expect(await answers('/datasets/tools/saw.md', HTML)).toEqual(file);
  expect(await answers('/datasets/tools/drill', HTML)).toEqual([200, 'text/html', 'whole page of the drill']);
  for (const gone of ['/datasets/tools/none', '/datasets/none/saw', '/.build/manifest.tsv', '/nothing'])
    expect(await answers(gone, HTML), gone).toEqual(missing);
  expect(await answers('/datasets/tools/', HTML)).toEqual([200, 'text/html', 'table']);
  expect(await answers('/files/tools/croissant.jsonld')).toEqual([200, 'application/ld+json', '{}']);
  expect(await answers('/v1/tools/schema')).toEqual([200, 'application/json', '{}']);
  expect(await answers('/og/tools/saw.png')).toEqual([200, 'image/png', 'image']);
  for (const path of [
    '/files/tools/edits.json',
    '/mcp',
    '/account/usage?days=7',
    '/v1/tools/entities?q=saw',
    '/v1/tools/entities/Nordwerk%2FFS-210',
    '/v1/tools/entities/FS-210.md',
    '/readyz',
  ])
    expect(await answers(path), path).toEqual([200, 'application/json', `GET ${path} 127.0.0.1`]);
  const priced = (await ask('/v1/tools/entities?q=saw')).response;
  expect(priced.headers.get('payment-required')).toHaveLength(12_000);
  const called = (await ask('/v1/tools/facets')).response;
  expect(called.headers.get('access-control-allow-origin')).toBe('*');
  expect(called.headers.get('cache-control')).toBeNull();
  const { response } = await ask('/datasets/tools/saw', HTML);
  expect(response.headers.get('vary')).toMatch(/Accept(,|$)/);
  expect(response.headers.get('content-encoding')).toBe('gzip');
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
  const moved = (await ask('/explore/tools?a=b')).response;
  expect([moved.status, moved.headers.get('location')]).toEqual([301, `${origin}/datasets/tools/?a=b`]);
});
