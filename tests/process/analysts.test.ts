// Files for analysts, made by a night of the fictional packs: what they hold and say of themselves, in ranges, and what docs/analysts.md promises.
import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { DuckDBInstance } from '@duckdb/node-api';
import { getRequestListener } from '@hono/node-server';
import { asyncBufferFromFile, asyncBufferFromUrl, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FileList } from '../../api/pages/file-list.ts';
import { sqlExamples } from '../../api/pages/sql.ts';
import { runNight } from '../../build/night/run.ts';
import { readConfig } from '../../config.ts';
import { paths, RELEASE_FILES } from '../../data/model/layout.ts';
import { currentRelease } from '../../data/model/manifest.ts';
import type { StoredRecord } from '../../data/model/record.ts';
import { editRecord } from '../../data/releases/overlay-edit.ts';
import { writePublicFiles } from '../../data/write/analysts-files.ts';
import { dictionary } from '../../data/write/dictionary.ts';
import { loadPack } from '../../packs/define/load.ts';
import type { Pack } from '../../packs/define/model.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { scratchOfAll, still } from '../support/night-pack.ts';

const PACKS = join(import.meta.dirname, '../packs');
const NAMES = ['croissant.jsonld', 'dictionary.json', 'dictionary.md', 'public.duckdb', 'public.parquet'];
const IDS = ['harbours', 'tools'];
const BASE = 'https://register.example';

const folder = scratchOfAll();
const config = readConfig({
  DATA_DIR: join(folder, 'data'),
  DIST_DIR: join(folder, 'dist'),
  PACK_DIRS: PACKS,
  BASE_URL: BASE,
});
const file = (dataset: string, name: string) => join(config.DIST_DIR, 'files', dataset, name);
const night = () => runNight(config, still(), { only: null, accept: false });
let packs: Pack[];
let released: Record<string, string>;

beforeAll(async () => {
  const { failures } = await night();
  expect(failures).toEqual([]);
  packs = await Promise.all(IDS.map((id) => loadPack(join(PACKS, id))));
  const ids = await Promise.all(IDS.map((id) => currentRelease(config.DATA_DIR, id)));
  released = Object.fromEntries(IDS.map((id, at) => [id, ids[at] ?? '']));
}, 180_000);

const records = (dataset: string) =>
  readFileSync(join(paths.release(config.DATA_DIR, dataset, released[dataset]!), RELEASE_FILES.jsonl), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as StoredRecord);

async function duckdb(): Promise<{ rows: (sql: string) => Promise<unknown[][]>; close: () => void }> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  return {
    rows: async (sql) => (await connection.runAndReadAll(sql)).getRows(),
    close: () => {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

async function told(path: string): Promise<Record<string, string>> {
  const { key_value_metadata = [] } = await parquetMetadataAsync(await asyncBufferFromFile(path));
  return Object.fromEntries(key_value_metadata.map(({ key, value }) => [key, value ?? '']));
}

describe.each(IDS)('%s', (dataset) => {
  const pack = () => packs.find(({ id }) => id === dataset)!;

  test('public.parquet holds the public values of every record and no other', async () => {
    const rows = await parquetReadObjects({
      file: await asyncBufferFromFile(file(dataset, 'public.parquet')),
      compressors,
    });
    expect(rows.map((row) => row['id'])).toEqual(records(dataset).map(({ id }) => id));
    expect(Object.keys(rows[0]!)).toEqual(dictionary(pack(), 'public').map(({ name }) => name));
    const open = pack().attributes.filter((each) => each.public);
    expect(open.length).toBeLessThan(pack().attributes.length);
    expect(Object.keys(rows[0]!['provenance'] as object)).toEqual(open.map(({ name }) => name));
  });

  test.each([
    ['public.parquet', 'public', () => file(dataset, 'public.parquet')],
    [
      'records.parquet',
      'all',
      () => join(paths.release(config.DATA_DIR, dataset, released[dataset]!), 'records.parquet'),
    ],
  ] as const)('%s says what it is', async (_name, only, path) => {
    const { columns, ...about } = await told(path());
    const { title, description, license, attribution } = pack();
    expect(about).toMatchObject({ dataset, title, description, release: released[dataset], license: license.name });
    expect(about).toMatchObject({ license_url: license.url, attribution, created_at: '2026-11-20T00:00:00Z' });
    const meant = dictionary(pack(), only).map(({ public: _, ...column }) => column);
    expect(JSON.parse(columns!)).toEqual(meant);
    expect(meant.some(({ unit }) => unit !== null)).toBe(true);
  });

  test('public.duckdb is of a storage that DuckDB 1.0 reads, and every example query runs on it', async () => {
    const db = await duckdb();
    await db.rows(`ATTACH '${file(dataset, 'public.duckdb')}' AS register (READ_ONLY)`);
    const [[tags]] = (await db.rows(
      "SELECT tags::VARCHAR FROM duckdb_databases() WHERE database_name = 'register'",
    )) as [[string]];
    expect(tags).toContain('v1.0.0');
    await db.rows('USE register');
    const described = await db.rows(
      "SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = 'records' ORDER BY column_index",
    );
    expect(described).toEqual(dictionary(pack(), 'public', false).map(({ name, type }) => [name, type]));
    expect(await db.rows('SELECT id FROM records')).toEqual(records(dataset).map(({ id }) => [id]));
    for (const { title, sql } of sqlExamples(pack())) expect((await db.rows(sql)).length, title).toBeGreaterThan(0);
    db.close();
  });

  test('the dictionary has every column of the full file, as JSON and as Markdown', async () => {
    const { columns, ...about } = JSON.parse(readFileSync(file(dataset, 'dictionary.json'), 'utf8'));
    expect(about).toMatchObject({ dataset, release: released[dataset], records: records(dataset).length });
    const { schema } = await parquetMetadataAsync(
      await asyncBufferFromFile(join(paths.release(config.DATA_DIR, dataset, released[dataset]!), 'records.parquet')),
    );
    const names = (columns as { name: string }[]).map(({ name }) => name);
    for (const name of names) expect(schema.map((each) => each.name)).toContain(name);
    expect(names).toHaveLength(Number(schema[0]?.num_children));
    const markdown = readFileSync(file(dataset, 'dictionary.md'), 'utf8');
    for (const name of names) expect(markdown).toContain(`|${name}|`);
  });

  test('Croissant has what its specification requires, of the file as it is', async () => {
    const croissant = JSON.parse(readFileSync(file(dataset, 'croissant.jsonld'), 'utf8'));
    // Croissant 1.0 and 1.1, "Dataset-level information", required; and `distribution`, which both make so.
    const required = [
      '@context',
      '@type',
      'conformsTo',
      'description',
      'license',
      'name',
      'url',
      'creator',
      'datePublished',
      'distribution',
    ];
    for (const member of required) expect(croissant[member], member).toBeTruthy();
    expect(croissant).toMatchObject({
      '@type': 'sc:Dataset',
      conformsTo: 'http://mlcommons.org/croissant/1.0',
      version: expect.stringMatching(/^\d+\.\d{8}\.\d{1,6}$/),
      identifier: released[dataset],
    });
    // The context of the specification, whole (Croissant 1.0, appendix 1).
    expect(Object.keys(croissant['@context'])).toHaveLength(34);
    for (const prefix of ['@language', '@vocab', 'cr', 'rai', 'dct', 'sc'])
      expect(croissant['@context'], prefix).toHaveProperty(prefix);
    expect(croissant['@context']).toMatchObject({
      conformsTo: 'dct:conformsTo',
      data: { '@id': 'cr:data', '@type': '@json' },
      jsonPath: 'cr:jsonPath',
      transform: 'cr:transform',
    });
    const [object] = croissant.distribution;
    expect(object).toMatchObject({ '@type': 'cr:FileObject', encodingFormat: 'application/vnd.apache.parquet' });
    expect(object.contentUrl).toBe(`${BASE}/files/${dataset}/public.parquet`);
    const bytes = readFileSync(file(dataset, 'public.parquet'));
    expect(object).toMatchObject({ sha256: hash('sha256', bytes, 'hex'), contentSize: `${bytes.length} B` });
    const [set] = croissant.recordSet;
    expect(set).toMatchObject({ '@type': 'cr:RecordSet', key: { '@id': 'records/id' } });
    const { schema } = await parquetMetadataAsync(await asyncBufferFromFile(file(dataset, 'public.parquet')));
    for (const field of set.field) {
      expect(field).toMatchObject({
        '@type': 'cr:Field',
        '@id': `records/${field.name}`,
        description: expect.any(String),
      });
      expect(field.dataType).toMatch(/^sc:(Text|Integer|Float|Boolean|Date|DateTime)$/);
      expect(field.source.fileObject['@id']).toBe(object['@id']);
      expect(schema.map(({ name }) => name)).toContain(field.source.extract.column);
    }
  });
});

test('the night lists the files of each dataset with size and SHA-256, for hosts that serve files alone', () => {
  for (const dataset of IDS) {
    const list = FileList.parse(JSON.parse(readFileSync(file(dataset, 'index.json'), 'utf8')));
    expect(list).toMatchObject({ dataset, release: released[dataset] });
    expect(list.attribution).toContain(`${BASE}/datasets/${dataset}`);
    expect(list.files.map(({ name }) => name)).toEqual(NAMES);
    const html = readFileSync(file(dataset, 'index.html'), 'utf8');
    for (const { name, url, description, bytes, sha256, last_modified, withheld } of list.files) {
      const content = readFileSync(file(dataset, name));
      expect([name, bytes, sha256]).toEqual([name, content.length, hash('sha256', content, 'hex')]);
      expect(url).toBe(`${BASE}/files/${dataset}/${name}`);
      expect(description, name).not.toBe('');
      expect(last_modified).toBe('2026-11-20T00:00:00.000Z');
      expect(withheld).toBeUndefined();
      expect(html).toContain(`href="/files/${dataset}/${name}"`);
      expect(html).toContain(sha256);
    }
  }
  const { datasets } = JSON.parse(readFileSync(join(config.DIST_DIR, 'files/index.json'), 'utf8'));
  const rows = (datasets as { dataset: string; files: number }[]).map((each) => [each.dataset, each.files]);
  expect(rows).toEqual(IDS.map((id) => [id, NAMES.length]));
});

test('a night without news leaves the files alone', async () => {
  const names = [...NAMES, 'index.json', 'index.html'];
  const stamps = () => IDS.flatMap((id) => names.map((name) => statSync(file(id, name), { bigint: true }).ctimeNs));
  const before = stamps();
  expect((await night()).failures).toEqual([]);
  expect(stamps()).toEqual(before);
}, 60_000);

test('over a release that was made before an overlay, what is gone is left out and what changed says so', async () => {
  const pack = packs[0]!;
  const [gone, changed, ...others] = records(pack.id);
  const release = paths.release(config.DATA_DIR, pack.id, released[pack.id]!);
  const instead = [{ ...changed!, attributes: { ...changed!.attributes, name: 'Renamed' } }];
  const telling = { release: released[pack.id]!, created_at: '2026-11-20T00:00:00Z' };
  const made = await writePublicFiles(pack, release, telling, { without: [gone!.id], instead }, join(folder, 'over'));
  const rows = await parquetReadObjects({ file: await asyncBufferFromFile(made.parquet), compressors });
  expect(rows.map((row) => row['id']).sort()).toEqual([changed!, ...others].map(({ id }) => id).sort());
  expect(rows.find((row) => row['id'] === changed!.id)).toMatchObject({ name: 'Renamed' });
  expect(readFileSync(made.database).includes(gone!.id)).toBe(false);
});

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

  test('ranges are answered, the tag is strong, and what is out of the file is 416', async () => {
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

    test('names what is there, with the type that each file is sent with', async () => {
      const { files } = FileList.parse((await app.json('/files/harbours/')).body);
      for (const { name, url, media_type, bytes } of files) {
        const { status, headers } = await app.ask(new URL(url).pathname, { method: 'HEAD' });
        expect([name, status, headers.get('content-length')]).toEqual([name, 200, String(bytes)]);
        expect(headers.get('content-type')?.split(';')[0], name).toBe(media_type);
      }
    });

    test('is 404 for a dataset that does not exist, and for paths that lead elsewhere', async () => {
      for (const path of ['/files/nothing/', '/files/nothing', '/files/..%2Ffiles', '/files/%ff/']) {
        const { status, body } = await app.json(path);
        expect([path, status, body['error']]).toEqual([path, 404, 'not_found']);
        expect((await page(path)).status, path).toBe(404);
      }
    });

    test('marks the files that are withheld after an opt-out, and no other', async () => {
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
        'public.duckdb',
        'public.parquet',
      ]);
      for (const path of ['/files/tools/', '/files/tools/index.json']) {
        const { status, headers, body } = await app.json(path);
        expect([path, status, headers.get('last-modified')]).toEqual([path, 200, null]);
        const { files } = FileList.parse(body);
        expect(files.map(({ name, withheld = false }) => [name, withheld])).toEqual(expected);
      }
      const html = await (await page('/files/tools/')).text();
      expect(html).toContain('public.parquet (withheld');
      expect(html).not.toContain('href="/files/tools/public.parquet"');
      expect(html).toContain('href="/files/tools/dictionary.md"');
      expect(await (await page('/files/harbours/')).text()).not.toContain('withheld');
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
      const db = await duckdb();
      await db.rows(`SET file_search_path = '${here}'`);
      expect(code('sql')).toHaveLength(4);
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

    test('its hyparquet program runs', async () => {
      const [program, ...others] = code('js');
      expect(others).toEqual([]);
      const run = spawn(process.execPath, ['--input-type=module', '-'], { cwd: join(import.meta.dirname, '../..') });
      run.stdin.end(program!.replaceAll(BASE, base));
      const [out, wrong] = await Promise.all([text(run.stdout), text(run.stderr)]);
      expect(wrong).toBe('');
      const { release, rows } = JSON.parse(out);
      expect(release).toBe(released['harbours']);
      expect(rows).toHaveLength(5);
    });
  });
});
