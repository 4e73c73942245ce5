// Snapshot files behind signed links: who gets one, what a link returns, when it expires.
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { paths } from '../../../data/model/layout.ts';
import { appOfAll, NOW, testApp } from '../../support/app.ts';
import { scratchOfAll } from '../../support/night-pack.ts';
import { verifies } from '../../support/verifies.ts';

verifies('export.get', 'shape.export', 'shape.export-link');

let clock = NOW;
const app = await appOfAll({
  nights: true,
  now: () => clock,
  known: ({ secret }) => (/^(payg|pro)$/.test(secret) ? { kind: 'key', id: secret, plan: secret } : null),
});
afterAll(() => expect(app.faults).toEqual([]));

interface Export {
  format: string;
  snapshot: string;
  url: string;
  expires_at: string;
  bytes: number;
  sha256: string;
}

async function link(format?: string, dataset = 'tools'): Promise<Export & { path: string }> {
  const { status, body } = await app.json(`/v1/${dataset}/export${format ? `?format=${format}` : ''}`, { admin: true });
  expect(status).toBe(200);
  const answer = body as unknown as Export;
  return { ...answer, path: answer.url.replace(/^https:\/\/[^/]+/, '') };
}
const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());
const range = (value: string, more: Record<string, string> = {}) => ({ headers: { Range: value, ...more } });

describe('an export', () => {
  test('is for plans and operators', async () => {
    verifies('export.plan');
    expect((await app.json('/v1/tools/export')).status).toBe(403);
    const as = (key: string) => app.json('/v1/tools/export', { headers: { Authorization: `Bearer ${key}` } });
    expect((await as('payg')).body['error']).toBe('plan_required');
    expect((await as('pro')).status).toBe(200);
  });

  test('links to csv, jsonl or Parquet of the current release', async () => {
    verifies('export.format');
    const folder = paths.release(app.dataDir, 'tools', app.releases['tools']!);
    const files = { csv: 'records.csv', jsonl: 'records.jsonl', parquet: 'records.parquet' };
    for (const [format, file] of Object.entries(files)) {
      const found = await link(format);
      const content = readFileSync(join(folder, file));
      const members = ['attribution', 'bytes', 'expires_at', 'format', 'license', 'path', 'sha256', 'snapshot', 'url'];
      expect(Object.keys(found).sort()).toEqual(members);
      expect(found).toMatchObject({ format, snapshot: app.releases['tools'], bytes: content.length });
      expect(found.expires_at).toBe('2026-11-20T13:00:00Z');
      const response = await app.ask(found.path);
      const body = await bytesOf(response);
      expect([response.status, body.equals(content)]).toEqual([200, true]);
      expect(createHash('sha256').update(body).digest('hex')).toBe(found.sha256);
      const headers = Object.fromEntries(response.headers);
      expect(headers).toMatchObject({
        'accept-ranges': 'bytes',
        'content-disposition': `attachment; filename="tools-${found.snapshot}.${format}"`,
        'content-length': String(content.length),
        etag: `"${found.sha256}"`,
        'referrer-policy': 'no-referrer',
        'repr-digest': `sha-256=:${Buffer.from(found.sha256, 'hex').toString('base64')}:`,
      });
    }
    expect((await link()).format).toBe('csv');
  });

  test('has its own format parameter, and Markdown', async () => {
    const markdown = await app.ask('/v1/tools/export.md?format=jsonl', { admin: true });
    expect(markdown.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    expect(await markdown.text()).toMatch(/as jsonl, \d+ bytes: https:\/\/register\.example\/v1\/tools\/export\//);
    for (const wrong of ['xml', 'md', 'json', ''])
      expect((await app.json(`/v1/tools/export?format=${wrong}`, { admin: true })).status).toBe(422);
  });
});

test('an address has 16 downloads of an export at a time', async () => {
  const path = join(scratchOfAll(), 'large.csv');
  writeFileSync(path, 'x'.repeat(2 ** 20));
  const file = { path, name: 'large.csv', bytes: 2 ** 20, sha256: 'a', content_type: 'text/csv', made_at: NOW };
  const exports = { open: async () => file, link: () => ({ path: '/', expires_at: NOW }) };
  const served = await testApp({ records: 3, gate: { exports } });
  const ask = (address: string) => served.ask('/v1/tools/export/large.csv', { address });
  const open = await Promise.all(Array.from({ length: 16 }, () => ask('2001:db8::1')));
  const refused = await ask('2001:db8::1');
  expect([refused.status, refused.headers.get('retry-after'), open.at(-1)!.status]).toEqual([429, '10', 200]);
  expect((await ask('2001:db8:1::1')).status).toBe(200);
  await open[0]!.arrayBuffer();
  await open[1]!.body!.cancel();
  expect([(await ask('2001:db8::1')).status, (await ask('2001:db8::1')).status]).toEqual([200, 200]);
  expect((await ask('2001:db8::1')).status).toBe(429);
  await served.close();
});

describe('a link', () => {
  test('serves any single range, and the ranges make up the file', async () => {
    const { path, bytes } = await link('jsonl');
    const whole = await bytesOf(await app.ask(path));
    const pieces: Buffer[] = [];
    for (let from = 0; from < bytes; from += 10_000) {
      const response = await app.ask(path, range(`bytes=${from}-${from + 9_999}`));
      const to = Math.min(from + 9_999, bytes - 1);
      expect(response.status).toBe(206);
      expect(response.headers.get('content-range')).toBe(`bytes ${from}-${to}/${bytes}`);
      expect(response.headers.get('content-length')).toBe(String(to - from + 1));
      pieces.push(await bytesOf(response));
    }
    expect(pieces.length).toBeGreaterThan(3);
    expect(Buffer.concat(pieces).equals(whole)).toBe(true);
    for (const [asked, from, to] of [
      ['bytes=-7', bytes - 7, bytes],
      [`bytes=${bytes - 3}-`, bytes - 3, bytes],
      ['bytes=0-0', 0, 1],
      [`bytes=5-${bytes * 9}`, 5, bytes],
      [`bytes=-${bytes * 9}`, 0, bytes],
    ] as const) {
      const response = await app.ask(path, range(asked));
      expect([asked, response.status]).toEqual([asked, 206]);
      expect((await bytesOf(response)).equals(whole.subarray(from, to)), asked).toBe(true);
    }
  });

  test('answers 416 beyond the end, and the complete file for an unreadable range', async () => {
    const { path, bytes } = await link();
    for (const beyond of [`bytes=${bytes}-`, `bytes=${bytes * 2}-${bytes * 3}`, 'bytes=-0']) {
      const response = await app.ask(path, range(beyond));
      expect([beyond, response.status, await response.text()]).toEqual([beyond, 416, '']);
      expect(response.headers.get('content-range')).toBe(`bytes */${bytes}`);
    }
    for (const odd of [
      'bytes=5-2',
      'bytes=a-b',
      'lines=0-1',
      'bytes=0-1,3-4',
      'bytes=-',
      '',
      `bytes=${'9'.repeat(99)}-`,
    ]) {
      const response = await app.ask(path, range(odd));
      expect([odd, response.status, (await bytesOf(response)).length]).toEqual([odd, 200, bytes]);
    }
  });

  test('resumes only the same file (If-Range), and answers 304 to If-None-Match', async () => {
    const { path, sha256, bytes } = await link();
    const first = await app.ask(path);
    await first.text();
    const date = first.headers.get('last-modified')!;
    const status = async (value: string) => (await app.ask(path, range('bytes=0-9', { 'If-Range': value }))).status;
    expect([await status(`"${sha256}"`), await status(date)]).toEqual([206, 206]);
    for (const other of [`W/"${sha256}"`, '"other"', 'Fri, 01 Jan 2027 00:00:00 GMT'])
      expect(await status(other)).toBe(200);
    const same = await app.ask(path, { headers: { 'If-None-Match': `"${sha256}"` } });
    expect([same.status, await same.text()]).toEqual([304, '']);
    const head = await app.ask(path, { method: 'HEAD', ...range('bytes=0-9') });
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, String(bytes), '']);
    const post = await app.ask(path, { method: 'POST' });
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });

  test('is valid for an hour and unchanged only', async () => {
    const { path } = await link();
    const refused = async (asked: string) => {
      const { status, body } = await app.json(asked);
      expect([asked, status, body['error']]).toEqual([asked, 404, 'not_found']);
      return String(body['message']);
    };
    const [name = '', query = ''] = path.split('?');
    const forged = [
      name,
      `${name}?${query.replace(/expires=\d+/, 'expires=9999999999')}`,
      `${name}?${query.replace(/signature=./, 'signature=')}`,
      `${name}?${query.replace(/signature=.*/, 'signature=')}`,
      `${name.replace('.csv', '.jsonl')}?${query}`,
      `${name.replace('/tools/', '/harbours/')}?${query}`,
      `${name.replace(/-[0-9a-f]{16}/, '-0123456789abcdef')}?${query}`,
      `/v1/tools/export/..%2f..%2fcurrent?${query}`,
      `${path}&expires=1`,
    ];
    for (const each of forged) expect(await refused(each)).toMatch(/was not issued by this service/);
    clock = new Date(NOW.getTime() + 3_599_000);
    expect((await app.ask(path, { method: 'HEAD' })).status).toBe(200);
    clock = new Date(NOW.getTime() + 3_600_000);
    expect(await refused(path)).toMatch(/expired/);
    clock = NOW;
  });

  test('works during newer releases while its own is kept, and is then gone', async () => {
    const before = await link('jsonl', 'harbours');
    const next = await app.publish('harbours', app.records['harbours']!.slice(0, 5));
    const after = await link('jsonl', 'harbours');
    expect([before.snapshot === after.snapshot, after.snapshot]).toEqual([false, next]);
    const lines = async (path: string) => (await (await app.ask(path)).text()).trimEnd().split('\n').length;
    expect([await lines(before.path), await lines(after.path)]).toEqual([app.records['harbours']!.length, 5]);
    rmSync(paths.release(app.dataDir, 'harbours', before.snapshot), { recursive: true });
    const { status, body } = await app.json(before.path);
    expect([status, body['message']]).toEqual([404, 'The release of this link is no longer available.']);
  });

  test('counts as a call, and a wrong credential is still wrong', async () => {
    const { path } = await link();
    expect((await app.json(path, { headers: { Authorization: 'Bearer nobody' } })).status).toBe(401);
    const { headers } = await app.ask(path, { method: 'HEAD' });
    expect(Number(headers.get('x-ratelimit-remaining'))).toBeGreaterThan(0);
  });
});
