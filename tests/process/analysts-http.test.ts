// Files for analysts over HTTP: ranges, lists of files, and the promises of docs/analysts.md.
import { cpSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { asyncBufferFromUrl, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FileList } from '../../api/pages/file-list.ts';
import { editRecord } from '../../data/releases/overlay-edit.ts';
import { fold } from '../../packs/define/text.ts';
import { analystsStage, IDS, NAMES, openDuckdb } from '../support/analysts-stage.ts';
import { type TestApp, testApp } from '../support/app.ts';

interface Fact {
  attribute: string;
  value: unknown;
  observed_at: string;
  source_url: string;
  source: { id: string };
  confidence: number;
}

/** A value as `history.parquet` has it. */
const printed = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

const stage = analystsStage();
const { folder, config, file, records, released } = stage;
beforeAll(() => stage.open(), 180_000);

describe('over HTTP', () => {
  let app: TestApp;
  let server: Server;
  let base: string;
  beforeAll(async () => {
    app = await testApp({ dist: config.DIST_DIR, nights: true });
    server = createServer(getRequestListener(app.fetch)).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await new Promise((resolve) => server.close(resolve));
    await app.close();
  });
  const PATH = '/files/harbours/public.parquet';
  const ask = (range: string, more = {}) => fetch(`${base}${PATH}`, { headers: { Range: range, ...more } });

  test('ranges are answered, the tag is strong, and a range beyond the file is 416', async () => {
    const whole = Buffer.from(await (await fetch(`${base}${PATH}`)).arrayBuffer());
    expect(whole.subarray(0, 4).toString()).toBe('PAR1');
    const first = await ask('bytes=0-3');
    expect([first.status, first.headers.get('content-range'), await first.text()]).toEqual([
      206,
      `bytes 0-3/${whole.length}`,
      'PAR1',
    ]);
    const etag = first.headers.get('etag')!;
    expect(etag).toMatch(/^"/);
    expect(first.headers.get('content-type')).toBe('application/vnd.apache.parquet');
    const last = await ask('bytes=-4');
    expect([last.status, await last.text()]).toEqual([206, 'PAR1']);
    expect((await ask('bytes=0-3', { 'If-Range': etag })).status).toBe(206);
    expect((await ask('bytes=0-3', { 'If-Range': '"another"' })).status).toBe(200);
    const beyond = await ask(`bytes=${whole.length}-`);
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, `bytes */${whole.length}`]);
    expect((await fetch(`${base}${PATH}`, { headers: { 'If-None-Match': etag } })).status).toBe(304);
    const head = await fetch(`${base}${PATH}`, { method: 'HEAD' });
    expect([head.headers.get('accept-ranges'), head.headers.get('content-length')]).toEqual([
      'bytes',
      String(whole.length),
    ]);
  });

  test('a reader takes a column through ranges, of the open file and of the full one behind its link', async () => {
    const open = await asyncBufferFromUrl({ url: `${base}${PATH}` });
    const rows = await parquetReadObjects({ file: open, compressors, columns: ['id'] });
    expect(rows.map((row) => row['id'])).toEqual(records('harbours').map(({ id }) => id));
    const { body } = await app.json('/v1/harbours/export?format=parquet', { admin: true });
    const { pathname, search } = new URL(body['url'] as string);
    const full = await asyncBufferFromUrl({ url: `${base}${pathname}${search}` });
    const all = await parquetReadObjects({ file: full, compressors, columns: ['berths'] });
    expect(all.some((row) => row['berths'] !== null)).toBe(true);
    const { key_value_metadata = [] } = await parquetMetadataAsync(full);
    expect(key_value_metadata.find(({ key }) => key === 'release')?.value).toBe(body['snapshot']);
  });

  test('history.parquet has the values of the API, then and now', async () => {
    for (const [dataset, slug] of [
      ['tools', 'nordwerk-fs-210'],
      ['tools', 'leihgut-hobel-9'],
      ['harbours', 'harbour-3'],
    ] as const) {
      const history = await asyncBufferFromUrl({ url: `${base}/files/${dataset}/history.parquet` });
      const all = await parquetReadObjects({ file: history, compressors });
      const rows = all.filter((row) => row['slug'] === slug);
      const path = `/v1/${dataset}/entities/${slug}`;
      const { body } = await app.json(`${path}/facts`, { admin: true });
      for (const { attribute, value, valid_from, source_url, source, confidence } of rows) {
        const earlier = (body['facts'] as Fact[]).filter((fact) => Date.parse(fact.observed_at) <= Number(valid_from));
        const facts = earlier.map((fact) => {
          return [fact.attribute, printed(fact.value), fact.source_url, fact.source.id, fact.confidence];
        });
        expect(facts).toContainEqual([attribute, value, source_url, source, confidence]);
      }
      const moments = [...new Set(rows.map((row) => row['valid_from'] as Date))];
      expect(new Set(moments.map(Number)).size).toBeGreaterThan(1);
      for (const moment of [...moments, new Date('2026-11-19T00:00:00Z')]) {
        const then = await app.json(`${path}?as_of=${moment.toISOString()}`, { admin: true });
        const open = app.register.packs.get(dataset)!.attributes.filter((each) => each.public);
        const values = then.body['attributes'] as Record<string, unknown>;
        // The file has the newest spelling of a text, which differs in case or white space.
        const expected = open.flatMap(({ name }) => (name in values ? [[name, fold(printed(values[name]))]] : []));
        const valid = rows.filter(({ valid_from, valid_until }) => {
          return (valid_from as Date) <= moment && (valid_until === null || (valid_until as Date) > moment);
        });
        expect(valid.map(({ attribute, value }) => [attribute, fold(String(value))]).sort()).toEqual(expected.sort());
      }
    }
  });

  test('public.geojson has the features of a search of the public attributes', async () => {
    for (const dataset of IDS) {
      const open = app.register.packs.get(dataset)!.attributes.filter((each) => each.public);
      const query = `fields=${open.map(({ name }) => name).join(',')}&limit=100&format=geojson&total=true`;
      const answer = await app.json(`/v1/${dataset}/entities?${query}`, { admin: true });
      const { features, release, ...head } = JSON.parse(readFileSync(file(dataset, 'public.geojson'), 'utf8'));
      const byId = (list: unknown) => (list as { id: string }[]).toSorted((a, b) => (a.id < b.id ? -1 : 1));
      expect(release).toBe(released[dataset]);
      const { features: searched, ...rest } = answer.body;
      expect(head).toEqual(rest);
      expect(byId(features)).toEqual(byId(searched));
    }
  });

  test('public.geojson is compressed, except in ranges', async () => {
    const url = `${base}/files/harbours/public.geojson`;
    const text = readFileSync(file('harbours', 'public.geojson'), 'utf8');
    const whole = await fetch(url, { headers: { 'Accept-Encoding': 'br' } });
    expect(whole.headers.get('content-encoding')).toBe('br');
    expect(whole.headers.get('content-type')).toBe('application/geo+json');
    expect(whole.headers.get('vary')).toContain('Accept-Encoding');
    expect(await whole.text()).toBe(text);
    const part = await fetch(url, { headers: { 'Accept-Encoding': 'br', Range: 'bytes=0-99' } });
    expect([part.status, part.headers.get('content-encoding')]).toEqual([206, null]);
    expect(part.headers.get('vary')).toContain('Accept-Encoding');
    expect(await part.text()).toBe(Buffer.from(text).subarray(0, 100).toString());
    const etag = part.headers.get('etag')!;
    expect(etag).toMatch(/^"/);
    expect(whole.headers.get('etag')).toBe(etag.replace(/"$/, '-br"'));
    const plain = { 'Accept-Encoding': 'identity' };
    expect((await fetch(url, { headers: { ...plain, 'If-None-Match': etag } })).status).toBe(304);
    expect((await fetch(url, { headers: { ...plain, 'If-Match': '"another"' } })).status).toBe(412);
    const head = await fetch(url, { method: 'HEAD', headers: plain });
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
  });

  describe('the list of the files', () => {
    const page = (path: string) => app.ask(path, { headers: { Accept: 'text/html,*/*;q=0.8' } });

    test('is HTML for browsers and JSON for everything else, with and without a slash at the end', async () => {
      for (const folder of ['/files', '/files/harbours']) {
        const json = readFileSync(join(config.DIST_DIR, folder, 'index.json'), 'utf8');
        const html = readFileSync(join(config.DIST_DIR, folder, 'index.html'), 'utf8');
        for (const path of [folder, `${folder}/`]) {
          for (const headers of [{}, { Accept: '*/*' }, { Accept: 'application/json' }]) {
            const response = await app.ask(path, { headers });
            expect([path, response.status, await response.text()]).toEqual([path, 200, json]);
            expect(response.headers.get('content-type')).toBe('application/json');
            expect(response.headers.get('access-control-allow-origin')).toBe('*');
            expect(response.headers.get('vary')).toContain('Accept');
          }
          const response = await page(path);
          expect([path, response.status, await response.text()]).toEqual([path, 200, html]);
          expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
        }
        expect(await (await app.ask(`${folder}/index.json`)).text()).toBe(json);
        expect(await (await page(`${folder}/index.html`)).text()).toBe(html);
      }
    });

    test('answers HEAD and If-None-Match, and no other method', async () => {
      const { headers } = await app.ask('/files/tools/');
      const head = await app.ask('/files/tools/', { method: 'HEAD' });
      expect([head.status, head.headers.get('etag'), await head.text()]).toEqual([200, headers.get('etag'), '']);
      expect(head.headers.get('content-length')).toBe(String(statSync(file('tools', 'index.json')).size));
      const known = { headers: { 'If-None-Match': headers.get('etag')! } };
      expect((await app.ask('/files/tools/', known)).status).toBe(304);
      expect((await app.ask('/files/tools/', { method: 'POST' })).status).toBe(405);
    });

    test('lists the files with their media types', async () => {
      const { files } = FileList.parse((await app.json('/files/harbours/')).body);
      for (const { name, url, media_type, bytes } of files) {
        const { status, headers } = await app.ask(new URL(url).pathname, { method: 'HEAD' });
        expect([name, status, headers.get('content-length')]).toEqual([name, 200, String(bytes)]);
        expect(headers.get('content-type')?.split(';')[0], name).toBe(media_type);
      }
    });

    test('is 404 for a dataset that does not exist, and for paths outside', async () => {
      for (const path of ['/files/nothing/', '/files/nothing', '/files/..%2Ffiles', '/files/%ff/']) {
        const { status, body } = await app.json(path);
        expect([path, status, body['error']]).toEqual([path, 404, 'not_found']);
        expect((await page(path)).status, path).toBe(404);
      }
    });

    test('marks the files that are withheld after an opt-out, and no others', async () => {
      const { register, state: store } = app;
      const editing = { store, refresh: () => register.refresh(), current: (id: string) => register.current(id) };
      const { id, slug } = app.records['tools']![0]!;
      await editRecord(editing, {
        dataset: 'tools',
        entity: id,
        now: Date.parse('2026-11-21T00:00:00Z'),
        alter: (overlay, version) => ({
          ...overlay,
          removed: new Map(overlay.removed).set(id, { entity: id, slug, version }),
        }),
        write: async (tx, version) => {
          const times = { at: 0, version, restored_at: null, restored_version: null };
          const about = { id, name: 'A record', contact: 'a@b.example', domain: 'b.example', reason: null };
          await tx
            .insertInto('opt_outs')
            .values({ dataset: 'tools', entity_id: id, slug, ...about, ...times })
            .execute();
        },
      });
      const expected = await Promise.all(
        NAMES.map(async (name) => [name, (await app.ask(`/files/tools/${name}`)).status === 503]),
      );
      expect(expected.filter(([, withheld]) => withheld).map(([name]) => name)).toEqual([
        'history.parquet',
        'public.duckdb',
        'public.geojson',
        'public.parquet',
      ]);
      for (const path of ['/files/tools/', '/files/tools/index.json']) {
        const { status, headers, body } = await app.json(path);
        expect([path, status, headers.get('last-modified')]).toEqual([path, 200, null]);
        const { files } = FileList.parse(body);
        expect(files.map(({ name, withheld = false }) => [name, withheld])).toEqual(expected);
      }
      const html = await (await page('/files/tools/')).text();
      expect(html).toContain('<h2>public.parquet</h2>');
      expect(html).toContain('Withheld: it is being written');
      expect(html).not.toContain('href="/files/tools/public.parquet"');
      expect(html).toContain('href="/files/tools/dictionary.md"');
      expect(await (await page('/files/harbours/')).text()).not.toContain('Withheld:');
      const head = await app.ask('/files/tools/', { method: 'HEAD' });
      expect([head.status, await head.text()]).toEqual([200, '']);
    });
  });

  describe('docs/analysts.md', () => {
    const doc = readFileSync(join(import.meta.dirname, '../../docs/analysts.md'), 'utf8');
    const code = (language: string) =>
      [...doc.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, block]) => block!);

    test('its SQL runs', async () => {
      const here = join(folder, 'docs');
      mkdirSync(here);
      for (const name of ['public.parquet', 'public.duckdb']) cpSync(file('harbours', name), join(here, name));
      cpSync(file('tools', 'history.parquet'), join(here, 'history.parquet'));
      const db = await openDuckdb();
      await db.rows(`SET file_search_path = '${here}'`);
      expect(code('sql')).toHaveLength(5);
      for (const sql of code('sql')) {
        const statements = sql
          .replaceAll("'public.duckdb'", `'${join(here, 'public.duckdb')}'`)
          .split(/;\s*\n?/)
          .filter(Boolean);
        let rows: unknown[][] = [];
        for (const statement of statements) rows = await db.rows(statement);
        expect(rows.length, sql).toBeGreaterThan(0);
      }
      db.close();
    });
  });
});
