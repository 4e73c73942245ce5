// DIST_DIR behind the app: files by URL, validators, fallbacks to live pages, and generated documents.
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { findFile, openFile, safeSegments } from '../../../api/http/files.ts';
import { appOfAll, BASE, type TestApp, testApp } from '../../support/app.ts';
import { scratchOfAll } from '../../support/night-pack.ts';
import { verifies } from '../../support/verifies.ts';

const dist = scratchOfAll();
const put = (file: string, text: string) => {
  mkdirSync(join(dist, file, '..'), { recursive: true });
  writeFileSync(join(dist, file), text);
};
put('index.html', '<h1>Home</h1>');
put('404.html', '<h1>Nothing here</h1>');
put('datasets/tools/index.html', '<h1>Tools</h1>');
put('datasets/tools/record-1.md', '# Written by the night\n');
put('assets/style.a1b2c3.css', 'body{}');
put('v1/tools/schema', '{"stale":true}');
put('v1/tools/llms-full/0001.txt', 'part one');
const app = await appOfAll({ dist });

const text = async (path: string, init?: Parameters<TestApp['ask']>[1]) => (await app.ask(path, init)).text();

describe('files', () => {
  test('a file answers at its path, a folder with its index, each with type, tag and date', async () => {
    const page = await app.ask('/datasets/tools/record-1.md');
    expect(await page.text()).toBe('# Written by the night\n');
    expect(page.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    expect(page.headers.get('cache-control')).toBe('public, no-cache');
    const tag = page.headers.get('etag') ?? '';
    const again = await app.ask('/datasets/tools/record-1.md', { headers: { 'If-None-Match': tag } });
    expect([again.status, await again.text()]).toEqual([304, '']);
    expect(await text('/datasets/tools')).toBe('<h1>Tools</h1>');
    expect(await text('/datasets/tools/')).toBe('<h1>Tools</h1>');
    const head = await app.ask('/datasets/tools/record-1.md', { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '23', '']);
  });

  test('a file that is replaced while it is sent matches its Content-Length', async () => {
    const path = join(dist, 'replaced.txt');
    let replacing = true;
    const replaced = (async () => {
      for (let length = 1; replacing; length = (length * 7) % 5003) {
        await writeFile(`${path}.new`, 'x'.repeat(length));
        await rename(`${path}.new`, path);
        await wait(1);
      }
    })();
    await expect.poll(() => text('/replaced.txt')).toContain('xx');
    const wrong: string[] = [];
    for (let i = 0; i < 400; i += 1) {
      const answer = await app.ask('/replaced.txt');
      const [told, sent] = [Number(answer.headers.get('content-length')), (await answer.text()).length];
      if (told !== sent) wrong.push(`${told} told, ${sent} sent`);
    }
    replacing = false;
    await replaced;
    expect(wrong).toEqual([]);
  });

  test('a file deleted before it is opened is 404, and a deleted copy is not sent', async () => {
    const path = join(dist, 'going.txt');
    writeFileSync(path, 'going');
    const file = (await findFile(dist, '/going.txt'))!;
    const copy = { path: join(dist, 'going.txt.br'), bytes: 3 };
    expect(await openFile(file, copy)).toEqual(file);
    rmSync(path);
    await expect(openFile(file, null)).rejects.toMatchObject({ code: 'not_found' });
    await expect(openFile(file, copy)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('files named by their content are immutable', async () => {
    const style = await app.ask('/assets/style.a1b2c3.css');
    expect(style.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(style.headers.get('content-type')).toBe('text/css; charset=utf-8');
    await style.body?.cancel();
  });

  describe('with compressed copies', () => {
    const SCRIPT = `//${' said again and again'.repeat(200)}`;
    const at = '/assets/tool.0a1b2c.js';
    const asked = async (coding: string, more: Record<string, string> = {}) =>
      app.ask(at, { headers: { 'Accept-Encoding': coding, ...more } });
    beforeAll(() => {
      mkdirSync(join(dist, '.build/compressed/assets'), { recursive: true });
      writeFileSync(join(dist, at), SCRIPT);
      writeFileSync(join(dist, '.build/compressed', `${at}.br`), brotliCompressSync(SCRIPT));
      writeFileSync(join(dist, `${at}.gz`), gzipSync(SCRIPT));
    });

    test.each([
      ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
      ['gzip', 'gzip', gunzipSync],
      ['br;q=0.5, gzip', 'gzip', gunzipSync],
      ['*', 'br', brotliDecompressSync],
    ])('who takes %s gets %s, with a tag of its own', async (header, coding, plain) => {
      const response = await asked(header);
      expect(response.headers.get('content-encoding')).toBe(coding);
      expect(response.headers.get('vary')).toBe('Accept-Encoding');
      expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
      const body = Buffer.from(await response.arrayBuffer());
      expect(Number(response.headers.get('content-length'))).toBe(body.length);
      expect(plain(body).toString()).toBe(SCRIPT);
      const tag = response.headers.get('etag') ?? '';
      const again = await asked(header, { 'If-None-Match': tag });
      expect([again.status, again.headers.get('vary')]).toEqual([304, 'Accept-Encoding']);
      const other = await asked('identity', { 'If-None-Match': tag });
      expect(other.status).toBe(200);
      expect(other.headers.get('etag')).not.toBe(tag);
      await other.body?.cancel();
    });

    test.each(['', 'identity', 'zstd', 'br;q=0, gzip;q=0', 'gzip;q=0.3, identity'])(
      'who takes %j gets the file as it is',
      async (header) => {
        const response = await asked(header);
        expect(response.headers.get('content-encoding')).toBeNull();
        expect(response.headers.get('vary')).toBe('Accept-Encoding');
        expect(await response.text()).toBe(SCRIPT);
      },
    );

    test('a copy that is older than its file is not sent', async () => {
      writeFileSync(join(dist, 'assets/new.0a1b2c.css'), 'a{}');
      writeFileSync(join(dist, 'assets/new.0a1b2c.css.gz'), gzipSync('old'));
      utimesSync(join(dist, 'assets/new.0a1b2c.css.gz'), 1, 1);
      const response = await app.ask('/assets/new.0a1b2c.css', { headers: { 'Accept-Encoding': 'gzip' } });
      expect([response.headers.get('content-encoding'), response.headers.get('vary')]).toEqual([null, null]);
      expect(await response.text()).toBe('a{}');
    });

    test('a file that is read a part at a time is sent as it is', async () => {
      mkdirSync(join(dist, 'files/tools'), { recursive: true });
      writeFileSync(join(dist, 'files/tools/rows.parquet'), 'PAR1 rows');
      writeFileSync(join(dist, 'files/tools/rows.parquet.gz'), gzipSync('PAR1 rows'));
      const response = await app.ask('/files/tools/rows.parquet', {
        headers: { 'Accept-Encoding': 'gzip', Range: 'bytes=0-3' },
      });
      expect([response.status, response.headers.get('content-encoding')]).toEqual([206, null]);
      expect(await response.text()).toBe('PAR1');
    });
  });

  test('under /v1 the live answer takes precedence over the file; the parts of a long text are files', async () => {
    expect(await text('/v1/tools/schema')).not.toContain('stale');
    expect(await text('/v1/tools/llms-full/0001.txt')).toBe('part one');
    expect((await app.json('/v1/tools/llms-full/0002.txt')).body['error']).toBe('not_found');
  });

  test('404: JSON, or the HTML page for those who prefer it', async () => {
    expect((await app.json('/nowhere')).body['error']).toBe('not_found');
    const page = await app.ask('/nowhere', { headers: { Accept: 'text/html,*/*;q=0.8' } });
    expect([page.status, await page.text()]).toEqual([404, '<h1>Nothing here</h1>']);
  });

  test.each(['POST', 'PUT', 'DELETE', 'PATCH'])(
    '%s of an unknown address is 404 with the hint of GET',
    async (method) => {
      const faults = app.faults.length;
      for (const path of [
        '/nowhere',
        '/mcp/',
        '/healthz/',
        '/oauth/token/',
        '/v1/tools/nothing',
        '/v1/keys/',
        '/a2a/v2',
      ]) {
        const { status, headers, body } = await app.json(path, { method, body: '{}' });
        expect([path, status, headers.get('allow')]).toEqual([path, 404, null]);
        const get = await app.json(path);
        const hint = (answer: Record<string, unknown>) =>
          JSON.stringify(answer).match(/Paths have no slash[^"]+?(?=\.")?/)?.[0];
        expect(hint(body), path).toBe(hint(get.body));
        if (/.\/$/.test(path)) expect(JSON.stringify(body), path).toContain('Paths have no slash at the end');
      }
      expect(app.faults.length).toBe(faults);
    },
  );

  test('another method of a known address is 405 with the methods of that address', async () => {
    const allowed = async (path: string, method: string) => {
      const { status, headers } = await app.json(path, { method, body: '{}' });
      return [status, headers.get('allow')];
    };
    const readable = [405, 'GET, HEAD, OPTIONS'];
    for (const path of ['/openapi.json', '/healthz', '/v1/catalog', '/v1/tools/llms-full/0001.txt', '/robots.txt'])
      expect([path, await allowed(path, 'POST')]).toEqual([path, readable]);
    expect(await allowed(`/datasets/tools/${app.records['tools']![0]!.slug}`, 'DELETE')).toEqual(readable);
    expect(await allowed('/datasets/tools/nothing-here', 'DELETE')).toEqual([404, null]);
    expect(await allowed('/404.html', 'PUT')).toEqual(readable);
    expect(await allowed('/keys/recover', 'PUT')).toEqual([405, 'GET, HEAD, POST, OPTIONS']);
  });

  test.each([
    '/..%2f..%2fetc/passwd',
    '/%2e%2e/x',
    '/a%5cb',
    '/a%00b',
    '/.build/manifest.tsv',
    '/%ff',
    `/${'x'.repeat(300)}`,
  ])('%s names no file', async (path) => {
    expect(safeSegments(path)).toBeNull();
    expect(await findFile(dist, path)).toBeNull();
    expect((await app.ask(path)).status).toBe(404);
  });
});

describe('record pages', () => {
  verifies('record.url-md');
  test('are rendered live when there is no file: public values only, free, with their sources', async () => {
    const page = await app.ask('/datasets/tools/record-2.md', { address: '203.0.113.5' });
    const body = await page.text();
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    expect(body).toContain(
      `${BASE}/v1/tools/entities/${app.records['tools']?.find(({ slug }) => slug === 'record-2')?.id}`,
    );
    for (const hidden of ['runtime', 'tested_on', 'price.rental'])
      expect(body).not.toMatch(new RegExp(`\\| ${hidden} `));
    const previews = await app.json('/v1/tools/entities', { address: '203.0.113.5' });
    expect(previews.body['items']).toHaveLength(20);
  });

  test('answer without .md too, as a page for people unless Markdown or text is preferred', async () => {
    for (const Accept of ['text/html', '*/*']) {
      const page = await app.ask('/datasets/tools/record-2', { headers: { Accept } });
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(page.headers.get('vary')).toBe('Accept, Accept-Encoding');
      expect(page.headers.get('cache-control')).toBe('public, no-cache');
      const again = { Accept, 'If-None-Match': page.headers.get('etag') ?? '' };
      expect((await app.ask('/datasets/tools/record-2', { headers: again })).status).toBe(304);
    }
    const plain = await app.ask('/datasets/tools/record-2', { headers: { Accept: 'text/plain' } });
    expect(plain.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(await plain.text()).toBe(await text('/datasets/tools/record-2.md'));
    const markdown = await app.ask('/datasets/tools/record-2', { headers: { Accept: 'text/markdown' } });
    expect(markdown.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
  });

  test('the links of samples work too', async () => {
    const { body } = await app.json('/v1/tools/samples');
    for (const { url } of body['items'] as { url: string }[]) {
      const page = await text(`${url.slice(BASE.length)}.md`);
      expect(page).toMatch(/^Fictional sample/);
    }
  });

  test('unknown datasets and records are 404 in JSON', async () => {
    expect((await app.json('/datasets/nowhere/x.md')).body['error']).toBe('unknown_dataset');
    expect((await app.json('/datasets/tools/nobody.md')).body['error']).toBe('unknown_entity');
  });
});

describe('documents', () => {
  verifies('overview.root-map', 'overview.entry-points', 'overview.call-order');
  test('the root is a page, a map or a guide', async () => {
    expect(await text('/', { headers: { Accept: 'text/html,*/*;q=0.8' } })).toBe('<h1>Home</h1>');
    expect(await text('/', { headers: { Accept: 'text/markdown' } })).toMatch(/^# Dataset register\n/);
    const map = await app.json('/', { headers: { Accept: 'application/json' } });
    expect(map.headers.get('vary')).toBe('Accept, Accept-Encoding');
    expect(map.headers.get('link')).toContain('rel="service-doc"');
    expect(map.body['datasets']).toMatchObject([{ id: 'harbours' }, { id: 'tools' }]);
    const urls = (map.body['operations'] as { url: string; method: string }[]).map(({ url }) => url);
    expect(urls).toContain(`${BASE}/v1/{dataset}/entities/{entity_id}`);
  });

  test('llms.txt lists every dataset and address, the order of calls and no other host', async () => {
    const guide = await app.ask('/llms.txt');
    expect(guide.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    const body = await guide.text();
    for (const part of ['`tools`', '`harbours`', '/v1/{dataset}/facets', 'entities/batch', 'attribution'])
      expect(body).toContain(part);
    expect(body.match(/https?:\/\/[^/\s)]+/g)?.every((host) => host === BASE)).toBe(true);
    const again = await app.ask('/llms.txt', { headers: { 'If-None-Match': guide.headers.get('etag') ?? '' } });
    expect(again.status).toBe(304);
  });

  test('robots.txt has a group for everybody and one for named AI crawlers, with the same rules', async () => {
    const groups = (await text('/robots.txt')).split('\n\n').map((group) => group.split('\n'));
    const rules = (group: string[] | undefined) => group?.filter((line) => !line.startsWith('User-agent'));
    expect(groups[0]?.[0]).toBe('User-agent: *');
    expect(rules(groups[1])).toEqual(rules(groups[0]));
    expect(groups[0]).toContain('Content-Signal: search=yes, ai-input=yes, ai-train=no');
  });

  test('healthz has liveness, start time, warm-up and releases', async () => {
    const { status, body } = await app.json('/healthz');
    expect(status).toBe(200);
    expect(body).toEqual({
      status: 'ok',
      started_at: '2026-11-20T12:00:00.000Z',
      cache_warm: true,
      release: app.releases,
    });
    const empty = await testApp({
      gate: { lease: async () => ({ releases: [], leaseEarlier: async () => null, done: () => {} }) },
      records: 1,
    });
    expect(await empty.json('/healthz')).toMatchObject({ status: 200, body: { status: 'empty' } });
    await empty.close();
  });

  test('protected-resource metadata by path or parameter, from an allow-list', async () => {
    const at = '/.well-known/oauth-protected-resource';
    expect((await app.json(at)).body['resource']).toBe(BASE);
    expect((await app.json(`${at}/v1`)).body['resource']).toBe(`${BASE}/v1`);
    expect((await app.json(`${at}?resource_path=/v1`)).body).toEqual((await app.json(`${at}/v1`)).body);
    for (const other of [`${at}/evil`, `${at}?resource_path=https://evil.example`, `${at}/v1/../evil`]) {
      const { status, body } = await app.json(other);
      expect([status, body['error']]).toEqual([404, 'not_found']);
    }
    const challenge = (await app.ask('/v1/tools/schema', { headers: { 'X-API-Key': 'x' } })).headers.get(
      'www-authenticate',
    );
    const pointed = /resource_metadata="([^"]+)"/.exec(challenge ?? '')?.[1] ?? '';
    expect((await app.json(pointed.slice(BASE.length))).status).toBe(200);
  });
});
