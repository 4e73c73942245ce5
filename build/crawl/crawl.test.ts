// The crawler against a local site.
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { checkUrl, guardedFetch, publicOnly, Refused, WEB_PORTS } from '../../data/model/guard.ts';
import { readPages } from '../../packs/define/index.ts';
import type { Crawl } from '../../packs/define/model.ts';
import { type CrawlSite, type SiteAnswers, site } from '../../tests/support/crawl-site.ts';
import { scratch } from '../../tests/support/night-pack.ts';
import { verifies } from '../../tests/support/verifies.ts';
import { signer } from './sign.ts';
import { crawlFolder, crawlSource, evidencePath } from './source.ts';
import { Web } from './web.ts';

verifies('collect.signed', 'collect.polite');

const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const jwk = { ...privateKey.export({ format: 'jwk' }), kid: 'the-key' };
let clock = Date.parse('2026-11-20T00:00:00Z');
const now = () => new Date(clock);
const waits: number[] = [];
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  waits.length = 0;
});

function web(allowed = (_address: string) => true): Web {
  const wait = async (ms: number) => {
    waits.push(ms);
    clock += ms;
  };
  const made = new Web({
    allowed,
    ports: null,
    sign: signer(jwk, 'https://register.example'),
    base_url: 'https://register.example',
    now,
    wait,
    random: () => 0.5,
  });
  closing.push(() => made.close());
  return made;
}

async function serve(answers: SiteAnswers): Promise<CrawlSite> {
  const made = await site(answers, publicKey.export({ format: 'jwk' }), now);
  closing.push(made.close);
  return made;
}

/** One crawl of a source of the pack `stones`. */
function look(
  data: string,
  urls: string[],
  more: Partial<Crawl> & {
    follow?: (url: string, body: Buffer) => string[];
    allowed?: (address: string) => boolean;
  } = {},
) {
  const { follow = () => [], allowed, ...crawl } = more;
  const settings = { urls, delay_seconds: 1, max_bytes: 10_000, max_pages: 50, ...crawl };
  return crawlSource(web(allowed), {
    dataDir: data,
    dataset: 'stones',
    source: 'site',
    crawl: settings,
    follow,
    progress: () => {},
  });
}

/** The pages of a reading: path and text. */
async function pagesOf(data: string, version: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { url, body } of readPages(join(crawlFolder(data, 'stones', 'site'), version)))
    found.push(`${new URL(url).pathname} ${body}`);
  return found;
}

describe('a crawl', () => {
  test('signs every request, follows links and redirects, and keeps what it saw by its hash', async () => {
    const { base, requests: asked } = await serve({
      '/robots.txt': (_q, r) => void r.end('User-agent: *\nDisallow: /private'),
      '/a': (_q, r) => void r.end('same'),
      '/b': (_q, r) => void r.writeHead(302, { Location: '/c' }).end(),
      '/c': (_q, r) => void r.end('same'),
      '/d': (_q, r) => void r.end('other'),
    });
    const data = scratch();
    const follow = (url: string) => (url.endsWith('/a') ? ['/d', '/a', `${base}/b`] : []);
    const { version, observed_at } = await look(data, [`${base}/a`, `${base}/b`, `${base}/gone`], { follow });
    expect(version).toMatch(/^20261120T\d{6}Z-[0-9a-f]{12}$/);
    expect(Date.parse(observed_at)).toBeLessThanOrEqual(clock);
    expect(await pagesOf(data, version)).toEqual(['/a same', '/c same', '/d other']);
    expect(asked.map(({ path }) => path)).toEqual(['/robots.txt', '/a', '/b', '/c', '/gone', '/d']);
    expect(new Set(asked.map(({ signed }) => signed))).toEqual(new Set(['signed']));
    expect(asked[1]?.headers['user-agent']).toBe('DatasetRegister/1.0 (+https://register.example)');
    const kept = readdirSync(join(data, 'evidence'), { recursive: true }).filter((name) => String(name).length > 60);
    expect(kept).toHaveLength(2);
  });

  test('requests only what changed, and reads the rest from its evidence', async () => {
    const { base, requests: asked } = await serve({
      '/tagged': (q, r) =>
        void (q.headers['if-none-match'] === '"1"'
          ? r.writeHead(304).end()
          : r.writeHead(200, { ETag: '"1"' }).end('one')),
      '/dated': (q, r) =>
        void (q.headers['if-modified-since']
          ? r.writeHead(304).end()
          : r.writeHead(200, { 'Last-Modified': 'Fri, 20 Nov 2026 00:00:00 GMT' }).end('two')),
    });
    const data = scratch();
    const urls = [`${base}/tagged`, `${base}/dated`];
    const first = await look(data, urls);
    const second = await look(data, urls);
    expect(second.version).not.toBe(first.version);
    expect(second.version.slice(-12)).toBe(first.version.slice(-12));
    expect(await pagesOf(data, second.version)).toEqual(['/tagged one', '/dated two']);
    // Missing evidence is fetched again, not guessed.
    rmSync(join(data, 'evidence'), { recursive: true });
    const third = await look(data, urls);
    expect(await pagesOf(data, third.version)).toEqual(['/tagged one', '/dated two']);
    expect(asked.at(-1)?.headers['if-modified-since']).toBeUndefined();
  });

  test('obeys robots.txt: disallowed paths, the crawl delay, and no request when it is unavailable', async () => {
    let robots = 'User-agent: datasetregister\nDisallow: /private\nCrawl-delay: 7';
    let status = 200;
    const { base, requests: asked } = await serve({
      '/robots.txt': (_q, r) => void r.writeHead(status).end(robots),
      '/a': (_q, r) => void r.end('a'),
      '/b': (_q, r) => void r.end('b'),
      '/private/x': (_q, r) => void r.end('x'),
    });
    const data = scratch();
    await look(data, [`${base}/a`, `${base}/b`]);
    const [, one, two] = asked;
    expect(two!.at - one!.at).toBeGreaterThanOrEqual(7000);
    await expect(look(data, [`${base}/private/x`])).rejects.toThrow('robots.txt');
    expect(asked.filter(({ path }) => path === '/private/x')).toEqual([]);
    status = 503;
    await expect(look(data, [`${base}/a`])).rejects.toThrow('robots.txt');
    status = 404;
    robots = '';
    await look(data, [`${base}/a`]);
  });

  test('retries with growing pauses, honours Retry-After, and gives up after the last try', async () => {
    const { base } = await serve({
      '/busy': (_q, r, count) => void (count < 3 ? r.writeHead(503).end() : r.end('at last')),
      '/limited': (_q, r, count) => void (count === 1 ? r.writeHead(429, { 'Retry-After': '90' }).end() : r.end('ok')),
      '/down': (_q, r) => void r.writeHead(500).end(),
      '/no': (_q, r) => void r.writeHead(403).end(),
    });
    const data = scratch();
    await look(data, [`${base}/busy`], { delay_seconds: 0 });
    expect(waits.filter((ms) => ms > 0)).toEqual([1000, 2000]);
    waits.length = 0;
    await look(data, [`${base}/limited`], { delay_seconds: 0 });
    expect(Math.max(...waits)).toBe(90_000);
    await expect(look(data, [`${base}/down`])).rejects.toThrow('answered 500');
    await expect(look(data, [`${base}/no`])).rejects.toThrow('answered 403');
  });

  test('retries a broken connection, and refuses a too large page whatever its Content-Length', async () => {
    const { base } = await serve({
      '/torn': (_q, r, count) => {
        if (count > 2) return void r.end('whole');
        r.writeHead(200, { 'Content-Length': '100' }).write('half');
        r.socket?.destroy();
      },
      '/lies': (_q, r) => void r.writeHead(200, { 'Content-Length': '10' }).end('0123456789and more than was said'),
      '/large': (_q, r) => {
        r.on('error', () => {});
        for (let i = 0; i < 1000; i++) r.write('x'.repeat(1000));
        r.end();
      },
    });
    const data = scratch();
    const { version } = await look(data, [`${base}/torn`]);
    expect(await pagesOf(data, version)).toEqual(['/torn whole']);
    await expect(look(data, [`${base}/large`])).rejects.toThrow('more than 10000 bytes');
    const [page = ''] = await look(data, [`${base}/lies`]).then(
      ({ version: lied }) => pagesOf(data, lied),
      () => ['/lies refused'],
    );
    expect(['/lies 0123456789', '/lies refused']).toContain(page);
    expect(existsSync(evidencePath(data, '0'.repeat(64)))).toBe(false);
  });

  test('ends circles, chains of redirects, and pages without end', async () => {
    const chain: SiteAnswers = Object.fromEntries(
      Array.from({ length: 9 }, (_, i) => [
        `/r${i}`,
        (_q: unknown, r: { writeHead: (status: number, headers: Record<string, string>) => { end(): void } }) =>
          r.writeHead(301, { Location: `/r${i + 1}` }).end(),
      ]),
    ) as SiteAnswers;
    const { base } = await serve({
      ...chain,
      '/round': (_q, r) => void r.writeHead(302, { Location: '/round' }).end(),
      '/nowhere': (_q, r) => void r.writeHead(302, { Location: 'http://[' }).end(),
      ...Object.fromEntries(
        Array.from({ length: 9 }, (_, i) => [
          `/p${i}`,
          (_q: unknown, r: { end(text: string): void }) => r.end(`p${i}`),
        ]),
      ),
    } as SiteAnswers);
    const data = scratch();
    await expect(look(data, [`${base}/r0`])).rejects.toThrow('redirects more than 5 times');
    await expect(look(data, [`${base}/round`])).rejects.toThrow('in a loop');
    await expect(look(data, [`${base}/nowhere`])).rejects.toThrow('redirects to an invalid address');
    const follow = (url: string) => [`/p${Number(url.slice(-1)) + 1}`];
    await expect(look(data, [`${base}/p0`], { follow, max_pages: 4 })).rejects.toThrow('more than 4 pages');
  });
});

describe('the guard', () => {
  test.each([
    '127.0.0.1',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '255.255.255.255',
    '224.0.0.1',
    '::1',
    '::',
    'fe80::1',
    'fc00::1',
    'fd12::1',
    'ff02::1',
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    'not an address',
  ])('%s is not public', (address) => {
    expect(publicOnly(address)).toBe(false);
  });

  test.each(['93.184.216.34', '8.8.8.8', '2606:2800:220:1::1'])('%s is public', (address) => {
    expect(publicOnly(address)).toBe(true);
  });

  test.each([
    'http://127.0.0.1/',
    'http://[::1]/',
    'http://0x7f000001/',
    'http://2130706433/',
    'http://0177.0.0.1/',
    'http://[::ffff:7f00:1]/',
    'file:///etc/passwd',
    'ftp://example.org/',
    'http://user:secret@example.org/',
    'http://1.1.1.1:25/',
    'http://a.example:6379/',
    'https://a.example:22/',
  ])('%s is refused', (address) => {
    expect(() => checkUrl(new URL(address), publicOnly, WEB_PORTS)).toThrow(Refused);
  });

  test.each(['http://a.example/', 'https://a.example/', 'http://a.example:443/', 'https://1.1.1.1:443/'])(
    '%s is fetched',
    (address) => {
      expect(() => checkUrl(new URL(address), publicOnly, WEB_PORTS)).not.toThrow();
    },
  );

  test('an untrusted document is fetched by https from public addresses only, and every failure takes the same time', async () => {
    const fetch = guardedFetch(publicOnly, 300);
    for (const url of [
      'https://localhost/c',
      'https://127.0.0.1/c',
      'https://[::ffff:127.0.0.1]/c',
      'http://a.example/c',
      'https://a.example:8443/c',
    ]) {
      const began = performance.now();
      const failure: Error = await fetch(url).then(
        () => new Error('it was fetched'),
        (error: Error) => (error.cause as Error | undefined) ?? error,
      );
      expect(failure, url).toBeInstanceOf(Refused);
      expect(performance.now() - began).toBeGreaterThan(290);
    }
  });

  test('a name that resolves to a private address is refused before a connection, and so is a redirect', async () => {
    let connected = 0;
    const inside = createServer(() => {
      connected += 1;
    }).listen(0, '127.0.0.1');
    closing.push(() => new Promise((resolve) => inside.close(resolve)));
    await new Promise((resolve) => inside.once('listening', resolve));
    const { port } = inside.address() as { port: number };
    const data = scratch();
    await expect(look(data, [`http://localhost:${port}/`], { allowed: publicOnly })).rejects.toThrow(
      'not a public address',
    );
    expect(connected).toBe(0);
    const { base } = await serve({
      '/out': (_q, r) => void r.writeHead(302, { Location: `http://127.0.0.2:${port}/secret` }).end(),
    });
    const allowed = (address: string) => address === '127.0.0.1' || address === '::1';
    await expect(look(data, [`${base}/out`], { allowed })).rejects.toThrow('127.0.0.2 is not a public address');
    expect(connected).toBe(0);
  });
});

test('a half-written list of known pages costs only a fetch', async () => {
  const { base } = await serve({ '/a': (_q, r) => void r.writeHead(200, { ETag: '"1"' }).end('a') });
  const data = scratch();
  await look(data, [`${base}/a`]);
  const note = join(crawlFolder(data, 'stones', 'site'), 'known.json');
  const { writeFileSync } = await import('node:fs');
  writeFileSync(note, readFileSync(note, 'utf8').slice(0, 20));
  const { version } = await look(data, [`${base}/a`]);
  expect(await pagesOf(data, version)).toEqual(['/a a']);
});
