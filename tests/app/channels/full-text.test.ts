// llms-full.txt: from the rendered file when it is current, else generated in slices; and clients that stop
// reading.
import { EventEmitter, once } from 'node:events';
import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { type Context, operation } from '../../../api/contract/operation.ts';
import { closeStalled } from '../../../api/http/streams.ts';
import { dataset_full_text } from '../../../api/operations/dataset/dataset_full_text.ts';
import { OPERATIONS } from '../../../api/operations/table.ts';
import { compressPages } from '../../../build/hosting/compress.ts';
import { prerender } from '../../../build/static/prerender.ts';
import { publish } from '../../../build/static/publish.ts';
import { codeFingerprint } from '../../../data/model/code.ts';
import { storedOverlays } from '../../../data/releases/overlay-source.ts';
import type { Release } from '../../../data/releases/release.ts';
import { appOfAll, BASE } from '../../support/app.ts';
import { startListener } from '../../support/listening.ts';
import { scratchOfAll, still } from '../../support/night-pack.ts';
import { verifies } from '../../support/verifies.ts';

verifies('markdown.full-text');

const PATH = '/v1/tools/llms-full.txt';
const RECORDS = 400;
const MARK = 'written by the nightly build\n';
const dist = scratchOfAll();
const file = join(dist, PATH);
const pointer = join(dist, '.build', 'published');

/** More than the buffers of a connection. */
const PIECE = 'x'.repeat(65_536);
const PIECES = 800;
/** Streams as much text as an oversized dataset has. */
const endless = operation<null, AsyncIterable<string>>({
  name: 'dataset_endless',
  title: 'Endless',
  description: 'A text without a file.',
  rest: { method: 'GET', path: '/v1/:ds/endless' },
  charge: { access: 'free' },
  tool: {},
  docs: { group: 'dataset' },
  formats: ['text'],
  input: () => z.object({}),
  parse: () => null,
  run: async () => ({
    body: (async function* () {
      for (let piece = 0; piece < PIECES; piece += 1) {
        yield PIECE;
        await setImmediate();
      }
    })(),
  }),
  markdown: () => '',
});

const text = async (headers: Record<string, string> = {}, path = PATH) => (await app.ask(path, { headers })).text();

/** Renders DIST_DIR, and marks the file to distinguish it from generated text. */
async function night(): Promise<void> {
  const config = { DATA_DIR: app.dataDir, DIST_DIR: dist, BASE_URL: BASE, EUR_USD: 1.1 };
  const packs = [...app.register.packs.values()];
  const overlays = storedOverlays(app.state);
  const made = await prerender({ config, packs, untouched: [], overlays, effects: still(), site: async () => {} });
  const { mtime, atime } = statSync(file);
  await publish(dist, made);
  await compressPages(dist, made.entries);
  writeFileSync(file, readFileSync(file, 'utf8') + MARK);
  utimesSync(file, atime, mtime);
}

const app = await appOfAll({
  records: RECORDS,
  dist,
  gate: { code: codeFingerprint(), operations: [...OPERATIONS, endless] },
});
const generated = await text();
await night();
afterAll(async () => {
  expect(app.lent()).toBe(0);
  expect(app.faults).toEqual([]);
});

describe('the rendered file', () => {
  test('is sent while it is of the current release, in every form of the address', async () => {
    expect(generated.match(/^## /gm)).toHaveLength(RECORDS);
    expect(await text()).toBe(generated + MARK);
    expect(await text({}, `${PATH}.md`)).toBe(generated + MARK);
    const response = await app.ask(PATH);
    expect(response.headers.get('content-length')).toBe(String(Buffer.byteLength(generated + MARK)));
    expect(response.headers.get('vary')).toContain('Accept-Encoding');
    await response.arrayBuffer();
  });

  test('is sent as its compressed copy, also where If-None-Match has a foreign tag; a matching one is 304', async () => {
    for (const [coding, decoded] of [
      ['gzip', gunzipSync],
      ['br', brotliDecompressSync],
    ] as const) {
      const headers = { 'Accept-Encoding': coding, 'If-None-Match': 'W/"foreign"' };
      const response = await app.ask(PATH, { headers });
      expect(response.headers.get('content-encoding')).toBe(coding);
      const body = Buffer.from(await response.arrayBuffer());
      expect(response.headers.get('content-length')).toBe(String(body.length));
      // The copy was made before the mark was added to the file.
      expect(decoded(body).toString()).toBe(generated);
      const again = { 'Accept-Encoding': coding, 'If-None-Match': response.headers.get('etag')! };
      expect((await app.ask(PATH, { headers: again })).status).toBe(304);
    }
  });

  test.each([
    ['of another release', { releases: { tools: '0000000000000000' } }],
    ['of another state of the overlay', { overlays: { tools: 7 } }],
    ['for another BASE_URL', { base_url: 'https://elsewhere.example' }],
    ['by another version of the program', { code: 'older' }],
    ['by a program that did not note its version', { code: undefined }],
  ])('is not sent when it was made %s', async (_, change) => {
    const before = readFileSync(pointer, 'utf8');
    writeFileSync(pointer, JSON.stringify({ ...JSON.parse(before), ...change }));
    await wait(5);
    expect(await text()).toBe(generated);
    writeFileSync(pointer, before);
    await wait(5);
    expect(await text()).toBe(generated + MARK);
  });

  test('is not sent when it is missing, or newer than what was published', async () => {
    const { atime, mtime } = statSync(file);
    utimesSync(file, new Date(), new Date(Date.now() + 60_000));
    expect(await text()).toBe(generated);
    const whole = readFileSync(file);
    rmSync(file);
    expect(await text()).toBe(generated);
    writeFileSync(file, whole);
    utimesSync(file, atime, mtime);
    expect(await text()).toBe(generated + MARK);
  });

  test('is not sent after a new release until it is rendered again', async () => {
    const [record] = app.records['tools']!;
    await app.publish('tools', app.records['tools']!.slice(1));
    const fewer = await text();
    expect(fewer.match(/^## /gm)).toHaveLength(RECORDS - 1);
    expect(fewer).not.toContain(`/${record!.slug}\n`);
    await night();
    expect(await text()).toBe(fewer + MARK);
  });
});

describe('a generated text', () => {
  beforeAll(() => rmSync(pointer));

  test('lets other work run every 100 records, also where the engine answers without a turn of the event loop', async () => {
    const release = app.register.current('tools')!;
    const plan = { where: [], sort: { key: 'quality', descending: true }, after: null, limit: 1000, total: false };
    const bodies = await release.engine.bodies((await release.engine.search(plan)).ordinals);
    const engine: Release['engine'] = {
      ...release.engine,
      search: async ({ after, limit }) => {
        const from = after === null ? 0 : Number(after.id) + 1;
        const ordinals = [...bodies.keys()].slice(from, from + limit);
        const last = ordinals.at(-1)!;
        return { ordinals, next: last + 1 < bodies.length ? { value: null, id: String(last) } : null, total: null };
      },
      bodies: async (ordinals) => ordinals.map((ordinal) => bodies[ordinal]!),
    };
    const ctx = { release: { ...release, engine }, base_url: BASE, signal: undefined } as unknown as Context;
    const { body } = (await dataset_full_text.run(null, ctx)) as { body: AsyncIterable<string> };
    let turns = 0;
    let reading = true;
    const counting = (async () => {
      for (; reading; turns += 1) await setImmediate();
    })();
    let records = 0;
    for await (const piece of body) records += piece.match(/^## /gm)?.length ?? 0;
    reading = false;
    await counting;
    expect(records).toBe(bodies.length);
    expect(turns).toBeGreaterThanOrEqual(Math.floor(records / 100));
  });

  test('is complete for each of several readers; one more than the bound is 503 and may try again', async () => {
    const from = (last: number) => ({ address: `2001:db8:0:${last}::1` });
    // Callers without a key leave a place to those with one.
    const anonymous = await Promise.all(Array.from({ length: 3 }, (_, i) => app.ask(PATH, from(i))));
    const refused = await app.ask(PATH, from(9));
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('10');
    expect(await refused.json()).toMatchObject({ error: 'unavailable', is_retriable: true });
    const open = [...anonymous, await app.ask(PATH, { ...from(9), admin: true })];
    // The same subscriber: one stream, whatever address of the /64 it uses; the same key, whatever address.
    for (const again of [{ address: '2001:db8:0:2::2' }, { ...from(7), admin: true }]) {
      const second = await app.json(PATH, again);
      expect([second.status, second.body['error'], second.headers.get('retry-after')]).toEqual([
        429,
        'rate_limited',
        '10',
      ]);
    }
    const texts = await Promise.all(open.map((each) => each.text()));
    expect(new Set(texts).size).toBe(1);
    expect(texts[0]!.match(/^## /gm)).toHaveLength(RECORDS - 1);
    expect((await app.ask(PATH, { method: 'HEAD' })).status).toBe(200);
    expect(await text()).toBe(texts[0]);
    expect(app.lent()).toBe(0);
  });
});

describe('a client that stops reading', () => {
  const STALLED = 400;

  test('is disconnected and its release returned', async () => {
    const at = await startListener(app, app.listener(), STALLED);
    const socket = connect(Number(new URL(at.base).port), '127.0.0.1');
    socket.write(`GET /v1/tools/endless HTTP/1.1\r\nHost: here\r\n\r\n`);
    await once(socket, 'readable');
    expect(app.lent()).toBe(1);
    await expect.poll(() => app.lent(), { timeout: 10_000 }).toBe(0);
    socket.destroy();
    await at.stop();
  });

  test.each([
    [3_900, true],
    [4_100, false],
  ])('and one that reads %i bytes a second is disconnected: %s', async (rate, cut) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    // The progress of a real connection cannot be set: the kernel takes whole segments.
    const connection = { bytesWritten: 100_000, writableLength: 60_000, destroy: vi.fn() };
    const socket = Object.assign(new EventEmitter(), connection);
    const server = new EventEmitter();
    closeStalled(server as Server, 20_000);
    server.emit('connection', socket);
    for (let interval = 0; interval < 3; interval += 1) {
      socket.bytesWritten += rate * 20;
      vi.advanceTimersByTime(20_000);
      await setImmediate();
    }
    expect(connection.destroy.mock.calls.length > 0).toBe(cut);
    server.emit('close');
    expect(vi.getTimerCount()).toBe(0);
  });

  test('of every stream: they are free again for others after the limit', async () => {
    const at = await startListener(app, app.listener(), STALLED);
    const begin = async (last: number) => {
      const socket = connect(Number(new URL(at.base).port), '127.0.0.1');
      socket.on('error', () => {});
      socket.write(`GET /v1/tools/endless HTTP/1.1\r\nHost: here\r\nX-Forwarded-For: 192.0.2.${last}\r\n\r\n`);
      await once(socket, 'readable');
      return socket;
    };
    const readers = await Promise.all([1, 2, 3, 4].map(begin));
    const status = async () => {
      const answer = await fetch(`${at.base}${PATH}`, { headers: { 'X-Forwarded-For': '192.0.2.5' } });
      await answer.body?.cancel();
      return answer.status;
    };
    expect(await status()).toBe(503);
    await expect.poll(status, { timeout: 10_000 }).toBe(200);
    for (const reader of readers) reader.destroy();
    await at.stop();
  });

  test('is distinguished from a slow one, which gets everything', async () => {
    const at = await startListener(app, app.listener(), STALLED);
    const socket = connect(Number(new URL(at.base).port), '127.0.0.1');
    socket.write('GET /v1/tools/endless HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n');
    let bytes = 0;
    for await (const piece of socket) {
      bytes += (piece as Buffer).length;
      // Some seconds in total, with pauses that are shorter than the limit.
      if (bytes % 7 === 0) await wait(STALLED / 8);
    }
    expect(bytes).toBeGreaterThan(PIECE.length * PIECES);
    await at.stop();
  });
});
