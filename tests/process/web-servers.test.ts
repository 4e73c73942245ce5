// The rules for nginx and Caddy, on the real servers: the address of a record for people and for programs, types,
// redirects.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { hostingRules } from '../../api/discovery/hosting.ts';
import { OPERATIONS } from '../../api/operations/table.ts';
import { caddyConfig, type HostPlaces, nginxConfig } from '../../build/static/host-configs.ts';
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

/** Each server: a command that shows whether it is installed, its configuration, and the command that runs it. */
const SERVERS = {
  nginx: {
    installed: ['-v'],
    write(root: string, port: number, places: HostPlaces) {
      const server = nginxConfig(RULES, places).replace('listen 80;', `listen 127.0.0.1:${port};`);
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (name) => `${name}_temp_path ${root}/temp;`,
      );
      return `${process.getuid?.() === 0 ? 'user root;' : ''} daemon off; pid ${root}/pid; error_log stderr; events {}
http { access_log off; ${temporary.join(' ')} types { text/html html; image/png png; }
${server} }`;
    },
    run: (config: string) => ['-c', config, '-e', 'stderr'],
  },
  caddy: {
    installed: ['version'],
    write(_root: string, port: number, places: HostPlaces) {
      const site = caddyConfig(RULES, places).replace(':80 {', `http://127.0.0.1:${port} {`);
      return `{\n  admin off\n}\n${site}`;
    },
    run: (config: string) => ['run', '--config', config, '--adapter', 'caddyfile'],
  },
};
const RULES = hostingRules({ base_url: 'https://register.example', operations: OPERATIONS });

const root = scratchOfAll();
const stops: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const stop of stops) await stop();
});

/** Starts a server on a free port; null where it is not installed. */
async function startServer(name: keyof typeof SERVERS): Promise<string | null> {
  const { installed, write, run } = SERVERS[name];
  try {
    execFileSync(name, installed, { stdio: 'ignore' });
  } catch {
    return null;
  }
  const dist = join(root, name, 'dist');
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(dist, path)), { recursive: true });
    writeFileSync(join(dist, path), text);
  }
  writeFileSync(join(dist, 'record/tools/index.html.gz'), gzipSync(FILES['record/tools/index.html']));
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
  const port = await freePort();
  const config = join(root, name, 'config');
  writeFileSync(config, write(root, port, { root: dist, api }));
  const server = spawn(name, run(config), { env: { ...process.env, HOME: root, XDG_DATA_HOME: root } });
  let output = '';
  server.stderr.on('data', (text: Buffer) => (output += String(text)));
  const closed = once(server, 'close');
  stops.push(async () => {
    server.kill();
    await closed;
    upstream.close();
  });
  const origin = `http://127.0.0.1:${port}`;
  for (let tries = 0; tries < 100; tries++) {
    const up = await fetch(origin).then(
      ({ ok }) => ok,
      () => false,
    );
    if (up) return origin;
    await wait(50);
  }
  throw new Error(`${name} did not start: ${output}`);
}

test.for(Object.keys(SERVERS) as (keyof typeof SERVERS)[])(
  '%s sends a page to people and Markdown to programs at the address of a record, and calls to the API',
  async (name, context) => {
    const origin = await startServer(name);
    if (origin === null) return context.skip(`no ${name}`);
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
    for (const gone of ['/.build/manifest.tsv', '/nothing', '/datasets/tools/saw/other'])
      expect(await answers(gone, HTML), gone).toEqual(missing);
    expect(await answers('/datasets/tools/', HTML)).toEqual([200, 'text/html', 'table']);
    expect(await answers('/files/tools/croissant.jsonld')).toEqual([200, 'application/ld+json', '{}']);
    expect(await answers('/v1/tools/schema')).toEqual([200, 'application/json', '{}']);
    expect(await answers('/og/tools.png')).toEqual([200, 'image/png', 'image']);
    for (const path of [
      '/files/tools/edits.json',
      '/mcp',
      '/account/usage?days=7',
      // Pages that are no files.
      '/datasets/tools/none',
      '/datasets/tools/none?format=md',
      '/datasets/tools/none.md',
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
    const target = new URL(moved.headers.get('location') ?? '', origin).href;
    expect([moved.status, target]).toEqual([301, `${origin}/datasets/tools/?a=b`]);
  },
);
