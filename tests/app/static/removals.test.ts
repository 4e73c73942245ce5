// Files after removals: each is written again and published by itself, the first one before the others, and a removed
// record is in none that counts as written.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { afterAll, expect, test } from 'vitest';
import { prerender } from '../../../build/static/prerender.ts';
import { publish, readPublished } from '../../../build/static/publish.ts';
import { parseManifest } from '../../../build/static/publish-manifest.ts';
import { rewriteFiles } from '../../../build/static/removals.ts';
import type { StoredRecord } from '../../../data/model/record.ts';
import { rebuildDue } from '../../../data/plan/overlay.ts';
import { getEdits } from '../../../data/queries/edits.ts';
import { storedOverlays } from '../../../data/releases/overlay-source.ts';
import { loadPack } from '../../../packs/define/load.ts';
import { scratchOfAll, still } from '../../support/night-pack.ts';
import { type OverlayWorld, openWorld } from '../../support/overlay-world.ts';
import { verifies } from '../../support/verifies.ts';

verifies('overlay.bulk');

const folder = scratchOfAll();
const dist = join(folder, 'dist');
const config = { DATA_DIR: folder, DIST_DIR: dist, BASE_URL: 'https://register.example', EUR_USD: 1.1 };
const ORDER = ['public.parquet', 'public.duckdb', 'history.parquet'].map((name) => `files/harbours/${name}`);
const TEXTS = ['v1/harbours/llms-full.txt', 'files/harbours/public.geojson'];

async function render(): Promise<void> {
  const effects = { progress: still().progress };
  const options = { config, packs: [pack], untouched: [], overlays: storedOverlays(world.store), effects };
  await publish(dist, await prerender({ ...options, site: async () => {} }));
}

/** Runs the rewriting; `note` is called after each file, with the number of files before it. */
const rewrite = (note: (written: number) => void = () => {}) => {
  let written = 0;
  const progress = { note: () => note(written++) };
  return rewriteFiles({ config, pack, packs: [pack], overlays: storedOverlays(world.store), progress });
};

const versions = () => readPublished(dist)!.rewritten ?? {};

async function content(path: string): Promise<string> {
  if (!path.endsWith('.parquet')) return readFileSync(join(dist, path), 'latin1');
  return JSON.stringify(
    await parquetReadObjects({
      file: await asyncBufferFromFile(join(dist, path)),
      compressors,
      columns: ['id', 'slug'],
    }),
  );
}

async function expectWithout(paths: readonly string[], ...gone: StoredRecord[]): Promise<void> {
  for (const path of paths) {
    const text = await content(path);
    for (const { id, slug } of gone)
      for (const name of [id, slug]) expect(text.includes(name), `${path} ${name}`).toBe(false);
    expect(text, path).not.toBe('');
  }
}

const pack = await loadPack(join(import.meta.dirname, '../../packs/harbours'));
const world: OverlayWorld = await openWorld(folder, pack, '2026-11-20T00:00:00Z');
const records: StoredRecord[] = [...(await world.records()).values()];
await render();
afterAll(() => world.close());

test('without a removal nothing is written', async () => {
  const before = readFileSync(join(dist, '.build/published'), 'utf8');
  await rewrite();
  expect(readFileSync(join(dist, '.build/published'), 'utf8')).toBe(before);
});

test('each file is published before the next one; the pages of the record are deleted with the first', async () => {
  const gone = records[0]!;
  const page = `datasets/harbours/${gone.slug}.md`;
  expect(existsSync(join(dist, page))).toBe(true);
  expect(await content('files/harbours/public.geojson')).toContain(gone.id);
  await world.optOut(gone.id, '2026-11-21T00:00:00Z');
  const seen: string[][] = [];
  await rewrite(() => {
    seen.push(Object.keys(versions()));
    const { manifest } = readPublished(dist)!;
    const listed = parseManifest(readFileSync(join(dist, '.build', manifest), 'utf8'));
    expect([listed.has(page), existsSync(join(dist, page))]).toEqual([false, false]);
  });
  expect(seen.slice(0, -1)).toEqual(ORDER.map((_, i) => ORDER.slice(0, i + 1)));
  expect(seen.at(-1)!.sort()).toEqual([...ORDER, ...TEXTS].sort());
  await expectWithout([...ORDER, ...TEXTS], gone);
  const list = JSON.parse(readFileSync(join(dist, 'files/harbours/index.json'), 'utf8')) as {
    files: { name: string; bytes: number }[];
  };
  for (const { name, bytes } of list.files)
    expect([name, bytes]).toEqual([name, readFileSync(join(dist, 'files/harbours', name)).length]);
}, 60_000);

test('a run that ends in the middle is continued; a removal meanwhile begins with the first file again', async () => {
  const [, second, third] = records as [StoredRecord, StoredRecord, StoredRecord];
  await world.optOut(second.id, '2026-11-21T00:10:00Z');
  const version = world.release().overlay!.version;
  const killed = rewrite((written) => {
    if (written === 1) throw new Error('killed');
  });
  await expect(killed).rejects.toThrow('killed');
  expect(ORDER.map((path) => versions()[path])).toEqual([version, version, version - 1]);
  await expectWithout(ORDER.slice(0, 2), second);
  const order: string[] = [];
  let before = versions();
  let removal: Promise<void> | null = null;
  await rewrite((written) => {
    const changed = Object.keys(versions()).find((path) => ORDER.includes(path) && versions()[path] !== before[path]);
    before = versions();
    order.push(changed ?? 'texts');
    if (written === 0) removal = world.optOut(third.id, '2026-11-21T00:20:00Z');
  });
  await removal;
  await rewrite();
  expect(order[0]).toBe(ORDER[2]);
  await expectWithout([...ORDER, ...TEXTS], records[0]!, second, third);
  expect(new Set(Object.values(versions()))).toEqual(new Set([version + 1]));
}, 60_000);

test('the next build makes all files, and contains edits', async () => {
  const [edited, gone] = records.slice(-2) as [StoredRecord, StoredRecord];
  await world.say(edited.id, { name: 'By its owner', depth: null }, '2026-11-22T00:00:00Z');
  await world.optOut(gone.id, '2026-11-22T00:01:00Z');
  const release = world.release();
  const found = await getEdits(release);
  expect(found).toMatchObject({ release: release.manifest.release, restored: [] });
  expect(found!.removed).toEqual([...records.slice(0, 3), gone].map(({ id }) => id));
  const values = { name: 'By its owner' };
  expect(found!.records).toEqual([{ id: edited.id, name: 'By its owner', values: expect.objectContaining(values) }]);
  const open = new Set(pack.attributes.filter((attribute) => attribute.public).map(({ name }) => name));
  expect(Object.keys(found!.records[0]!.values).every((name) => open.has(name))).toBe(true);
  const held = world.release().base!.manifest.overlay ?? 0;
  expect(rebuildDue(release.overlay!, held)).toBe(0);
  await render();
  // The static files of the old release lack the record, and the edit.
  await expectWithout([...ORDER, ...TEXTS], gone);
  expect(await content('files/harbours/public.geojson')).not.toContain('By its owner');
  await world.night('2026-11-22T01:00:00Z');
  await render();
  expect(await content('files/harbours/public.geojson')).toContain('By its owner');
  expect(await getEdits(world.release())).toBeNull();
  expect(versions()).toEqual({});
}, 60_000);

test('edits are built half an hour after the first one, removals and restorations at once', async () => {
  const held = world.release().overlay!.version;
  const at = Date.parse('2026-11-23T00:00:00Z');
  await world.say(records[4]!.id, { name: 'Edited' }, '2026-11-23T00:00:00Z');
  await world.say(records[4]!.id, { name: 'Edited again' }, '2026-11-23T00:20:00Z');
  expect(rebuildDue(world.release().overlay!, held)).toBe(at + 30 * 60_000);
  await world.restore(records[0]!.id, '2026-11-23T00:30:00Z');
  expect(rebuildDue(world.release().overlay!, held)).toBe(0);
  expect(rebuildDue(world.release().overlay!, world.release().overlay!.version)).toBeNull();
  // The release before the removals is served: the others are listed too, although the files lack them already.
  expect(await getEdits(world.release())).toMatchObject({ restored: [records[0]!.id] });
});
