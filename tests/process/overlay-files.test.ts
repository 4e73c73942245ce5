// Files next to the API: a running service withholds files with an opted-out record at once, and replaces
// them by files without it.
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runNight } from '../../build/night/run.ts';
import { readConfig } from '../../config.ts';
import type { StoredRecord } from '../../data/model/record.ts';
import { loadPack } from '../../packs/define/load.ts';
import { ADMIN } from '../support/app.ts';
import { type Api, type Got, startApi } from '../support/money-processes.ts';
import { scratchOfAll, still } from '../support/night-pack.ts';
import { type OverlayWorld, openWorld } from '../support/overlay-world.ts';
import { verifies } from '../support/verifies.ts';
import { withCopies } from '../support/whole-night.ts';

verifies('overlay.bulk', 'overlay.links', 'overlay.survives');

const PACKS = join(import.meta.dirname, '../packs');
const OPERATOR = { Authorization: `Bearer ${ADMIN}` };

/** Files with the values of all records. */
const BULK = ['public.duckdb', 'public.geojson', 'public.parquet', 'history.parquet'];

/** Status of a bulk file, and its content with the ids as text; Parquet compresses them. */
async function bulkFile(base: string, name: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`${base}/files/harbours/${name}`);
  const bytes = await response.arrayBuffer();
  const parquet = response.status === 200 && name.endsWith('.parquet');
  const rows = parquet ? await parquetReadObjects({ file: bytes, compressors, columns: ['id', 'slug'] }) : [];
  return { status: response.status, text: Buffer.from(bytes).toString('latin1') + JSON.stringify(rows) };
}

/** Repeats a request until its answer matches; the last one is in the error. */
async function until(ask: () => Promise<Got>, right: (got: Got) => boolean, most = 60_000): Promise<Got> {
  const end = performance.now() + most;
  for (;;) {
    const got = await ask();
    if (right(got) || performance.now() > end) return got;
    await wait(50);
  }
}

describe('a service with its static files', () => {
  const folder = scratchOfAll();
  let world: OverlayWorld;
  let api: Api;
  let shown: StoredRecord;
  let others: StoredRecord[];
  /** The files of the search index as one text. */
  const searchText = async (): Promise<string> => {
    const { blocks } = JSON.parse((await api.ask('/search/index.json')).body) as { blocks: string[] };
    const files = blocks.map((prefix) => api.ask(`/search/${Buffer.from(prefix).toString('hex')}.txt`));
    return (await Promise.all(files)).map(({ body }) => body).join('');
  };
  const page = (record: StoredRecord, suffix = '.md') => `/datasets/harbours/${record.slug}${suffix}`;

  beforeAll(async () => {
    const config = readConfig({ DATA_DIR: folder, DIST_DIR: join(folder, 'dist'), PACK_DIRS: PACKS });
    await withCopies(config.DIST_DIR);
    const { failures } = await runNight(config, still(), { only: null, accept: false });
    expect(failures).toEqual([]);
    world = await openWorld(folder, await loadPack(join(PACKS, 'harbours')), null);
    const records = [...(await world.records()).values()];
    api = await startApi(folder);
    // The record on the pages for people.
    const html = (await api.ask('/datasets/harbours/', { Accept: 'text/html' })).body;
    shown = records.find(({ slug }) => html.includes(`/datasets/harbours/${slug}.md`))!;
    others = records.filter((record) => record !== shown);
  }, 180_000);
  afterAll(async () => {
    await api.kill('SIGTERM');
    await world.close();
  });

  test('an edit shows on the page that is a file, and the pages for people drop the old value', async () => {
    const [other] = others;
    await world.say(other!.id, { name: 'Renamed by its owner' }, '2026-11-21T00:00:00Z');
    const got = await until(
      () => api.ask(page(other!)),
      ({ body }) => body.includes('Renamed by its owner'),
      5_000,
    );
    expect(got).toMatchObject({ status: 200 });
    expect(await searchText()).toMatch(
      new RegExp(`^Renamed by its owner\t.*\t/datasets/harbours/${other!.slug}$`, 'm'),
    );
    expect(await searchText()).not.toContain(`${other!.name}\t`);
    await world.say(shown.id, { name: 'Another name' }, '2026-11-21T00:01:00Z');
    const home = await until(
      () => api.ask('/datasets/harbours/', { Accept: 'text/html' }),
      ({ body }) => !body.includes(`/datasets/harbours/${shown.slug}.md`) && body.includes('Another name'),
      5_000,
    );
    expect(home.status).toBe(200);
    expect(home.body).toContain('</html>');
    expect(home.body).toContain('Another name');
    expect(home.body).not.toContain(shown.name);
  });

  test('an opt-out withholds every file with the record, and files without it replace them', async () => {
    const export_ = await api.ask('/v1/harbours/export?format=jsonl', OPERATOR);
    const { url, snapshot } = JSON.parse(export_.body) as { url: string; snapshot: string };
    const link = url.slice(api.base.length);
    expect((await api.ask(link)).body).toContain(shown.id);
    for (const name of BULK) expect((await bulkFile(api.base, name)).text, name).toContain(shown.id);

    const seen: number[] = [];
    await world.optOut(shown.id, '2026-11-21T00:02:00Z');
    const gone = await until(
      () => api.ask(page(shown)),
      ({ status }) => status === 404,
      5_000,
    );
    expect(JSON.parse(gone.body)).toMatchObject({ error: 'unknown_entity' });
    const lines = await searchText();
    expect(lines).not.toContain(shown.slug);
    expect(lines).toContain(others[1]!.slug);
    for (const path of [page(shown, ''), page(shown, '.html'), `/v1/harbours/entities/${shown.slug}`])
      expect((await api.ask(path, OPERATOR)).status).toBe(404);

    // The files for analysts are withheld or already written again, and never contain it.
    for (const name of BULK) {
      const { status, text } = await bulkFile(api.base, name);
      expect([200, 503]).toContain(status);
      expect(text, name).not.toContain(shown.id);
      expect(text, name).not.toContain(shown.slug);
    }

    // Until then: withheld, never served. Afterwards the file behind the old link is deleted.
    const ended = await until(
      async () => {
        const got = await api.ask(link);
        seen.push(got.status);
        return got;
      },
      ({ status }) => status === 404,
    );
    expect(ended.status, api.output()).toBe(404);
    expect(seen.every((status) => status === 503 || status === 404)).toBe(true);
    const next = JSON.parse((await api.ask('/v1/harbours/export?format=jsonl', OPERATOR)).body);
    expect(next.snapshot).not.toBe(snapshot);
    const file = await api.ask(next.url.slice(api.base.length));
    expect(file.status).toBe(200);
    expect(file.body).not.toContain(shown.id);
    expect(file.body).toContain('Renamed by its owner');
    for (const name of BULK) {
      const again = await until(
        () => api.ask(`/files/harbours/${name}`),
        ({ status }) => status === 200,
      );
      expect([name, again.status]).toEqual([name, 200]);
      const { text } = await bulkFile(api.base, name);
      expect(text, name).toContain(others[1]!.id);
      expect(text, name).not.toContain(shown.id);
      expect(text, name).not.toContain(shown.slug);
    }
    for (const path of ['/', '/datasets/harbours/', '/v1/harbours/llms-full.txt', '/v1/harbours/examples'])
      expect((await api.ask(path, { Accept: 'text/html' })).body, path).not.toContain(shown.slug);
  }, 120_000);

  test('a restore brings it back at once, from the release before the removal, and then with a new one', async () => {
    const releaseOf = async () => JSON.parse((await api.ask('/healthz')).body).release.harbours as string;
    const without = await releaseOf();
    await world.restore(shown.id, '2026-11-21T00:03:00Z');
    const back = await until(
      () => api.ask(page(shown)),
      ({ status }) => status === 200,
      5_000,
    );
    expect(back.status).toBe(200);
    const before = await releaseOf();
    expect(before).not.toBe(without);
    expect(back.body).toContain('Another name');
    const found = () => api.ask(`/v1/harbours/entities/${shown.id}`, OPERATOR);
    expect((await found()).status).toBe(200);
    while ((await releaseOf()) === before) {
      expect((await found()).status).toBe(200);
      await wait(100);
    }
    expect((await found()).status).toBe(200);
  }, 120_000);

  test('a restarted service still knows', async () => {
    await world.register.refresh();
    await world.optOut(shown.id, '2026-11-21T00:04:00Z');
    await api.kill('SIGKILL');
    api = await startApi(folder);
    expect((await api.ask(page(shown))).status).toBe(404);
    expect((await api.ask(`/v1/harbours/entities/${shown.id}`, OPERATOR)).status).toBe(404);
  }, 60_000);
});
