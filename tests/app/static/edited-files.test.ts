// Static files after owners' edits of a kept release: changed where records were edited, and equal to files that
// are made from nothing.
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { prerender } from '../../../build/static/prerender.ts';
import { publish } from '../../../build/static/publish.ts';
import { Duck, quotedText } from '../../../data/duckdb/duck.ts';
import type { StoredRecord } from '../../../data/model/record.ts';
import type { HistoryRow } from '../../../data/plan/applied-overlay.ts';
import { storedOverlays } from '../../../data/releases/overlay-source.ts';
import { writePublicFiles } from '../../../data/write/analysts-files.ts';
import { loadPack } from '../../../packs/define/load.ts';
import type { Pack } from '../../../packs/define/model.ts';
import { scratchOfAll, still } from '../../support/night-pack.ts';
import { type OverlayWorld, openWorld } from '../../support/overlay-world.ts';

const folder = scratchOfAll();
const dist = join(folder, 'dist');
let world: OverlayWorld;
let pack: Pack;
let records: StoredRecord[];
let fresh = 0;

async function render(to: string, from = folder, of = world) {
  const config = { DATA_DIR: from, DIST_DIR: to, BASE_URL: 'https://register.example', EUR_USD: 1.1 };
  const effects = { progress: still().progress };
  const options = { config, packs: [of.release().pack], untouched: [], overlays: storedOverlays(of.store), effects };
  // The pages for people are made from the data of the same release by another program.
  const made = await prerender({ ...options, site: async () => {} });
  expect(made.failures).toEqual([]);
  await publish(to, made);
  return made;
}

/** Rows of the tables of a database as sorted texts, without the order in which they were inserted. */
async function tablesOf(path: string): Promise<unknown> {
  const duck = await Duck.open(join(folder, 'spill'));
  try {
    await duck.run(`ATTACH ${quotedText(path)} AS made (READ_ONLY)`);
    const tables = await duck.rows(`SELECT table_name FROM duckdb_tables() WHERE database_name = 'made' ORDER BY ALL`);
    const all: Record<string, unknown> = {};
    for (const [name] of tables)
      all[String(name)] = await duck.rows(
        `SELECT ${name === 'records' ? 'rowid, ' : ''}t::VARCHAR AS row FROM made.${String(name)} t ORDER BY row`,
      );
    return all;
  } finally {
    duck.close();
  }
}

/** The content of every file; of a database its rows, and its size and hash are left out of lists. */
async function contentOf(root: string): Promise<Record<string, unknown>> {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1)).sort();
  const all: Record<string, unknown> = {};
  for (const path of paths.filter((each) => !each.startsWith('.build/'))) {
    const text = readFileSync(join(root, path), 'latin1');
    const lists = /^files\/.*(index\.(html|json)|croissant\.jsonld)$/.test(path);
    if (path.endsWith('.duckdb')) all[path] = await tablesOf(join(root, path));
    else
      all[path] = lists
        ? text.replaceAll(/[0-9a-f]{64}|"bytes": ?\d+|[\d.,]+ [kM]?B|"contentSize": ?"[^"]*"/g, '…')
        : text;
  }
  return all;
}

async function expectLikeFresh(): Promise<void> {
  const other = join(folder, `fresh-${fresh++}`);
  await render(other);
  const [changed, made] = [await contentOf(dist), await contentOf(other)];
  expect(Object.keys(changed)).toEqual(Object.keys(made));
  for (const [path, content] of Object.entries(made)) expect(changed[path], path).toEqual(content);
}

beforeAll(async () => {
  pack = await loadPack(join(import.meta.dirname, '../../packs/harbours'));
  world = await openWorld(folder, pack, '2026-11-20T00:00:00Z');
  records = [...(await world.records()).values()];
  await render(dist);
}, 120_000);
afterAll(() => world.close());

const file = (path: string) => readFileSync(join(dist, path), 'utf8');

test('edited names', { timeout: 60_000 }, async () => {
  expect(records.length).toBeGreaterThan(4);
  for (const { id } of [records[0]!, records.at(-1)!])
    await world.say(id, { name: `## Renamed "${id}"` }, '2026-11-21T00:00:00Z');
  const { written } = await render(dist);
  expect(written).toBeGreaterThan(0);
  for (const path of ['v1/harbours/llms-full.txt', 'files/harbours/public.geojson'])
    expect(file(path).match(/Renamed/g)).toHaveLength(2);
  await expectLikeFresh();
  expect(await render(dist)).toMatchObject({ written: 0, deleted: 0 });
});

test('another edit of one, and a withdrawn one', { timeout: 60_000 }, async () => {
  await world.say(records[0]!.id, { name: null }, '2026-11-22T00:00:00Z');
  await world.say(records[1]!.id, { name: 'A much longer name than the one before' }, '2026-11-22T00:00:00Z');
  await render(dist);
  expect(file('v1/harbours/llms-full.txt').match(/Renamed/g)).toHaveLength(1);
  await expectLikeFresh();
});

test('a number, and its withdrawal', { timeout: 60_000 }, async () => {
  for (const depth of [7, null]) {
    await world.say(records[2]!.id, { depth }, '2026-11-22T00:30:00Z');
    await render(dist);
    await expectLikeFresh();
  }
});

test('the name of a record that others show as similar', { timeout: 60_000 }, async () => {
  const [one, other] = [records[0]!, records.at(-1)!];
  await world.say(one.id, { name: other.name }, '2026-11-22T00:40:00Z');
  await render(dist);
  await expectLikeFresh();
  await world.say(one.id, { name: null }, '2026-11-22T00:50:00Z');
  await render(dist);
  await expectLikeFresh();
});

test('after a killed run all files are repaired', { timeout: 60_000 }, async () => {
  await world.say(records[2]!.id, { name: 'Edited before the run was killed' }, '2026-11-22T01:00:00Z');
  writeFileSync(join(dist, '.build/unfinished'), '');
  writeFileSync(join(dist, 'v1/harbours/llms-full.txt'), 'half of a');
  mkdirSync(join(dist, '.build/tmp'), { recursive: true });
  writeFileSync(join(dist, '.build/tmp/0'), 'rest');
  await render(dist);
  await expectLikeFresh();
});

test('an edit that the store lost', { timeout: 60_000 }, async () => {
  const { id } = records[1]!;
  await world.store.db.deleteFrom('owner_facts').where('entity_id', '=', id).execute();
  await world.store.db.deleteFrom('feed').where('entity_id', '=', id).execute();
  await world.store.db.updateTable('overlays').set({ version: 99 }).execute();
  await world.register.refresh();
  await render(dist);
  expect(file('v1/harbours/llms-full.txt')).not.toContain('A much longer name');
  await expectLikeFresh();
});

test('an opted-out record that comes back, and an edited one', { timeout: 60_000 }, async () => {
  await world.say(records[4]!.id, { depth: 3 }, '2026-11-22T02:00:00Z');
  await world.optOut(records[0]!.id, '2026-11-22T02:00:00Z');
  await render(dist);
  await expectLikeFresh();
  await world.restore(records[0]!.id, '2026-11-22T02:10:00Z');
  await world.say(records[4]!.id, { depth: 4 }, '2026-11-22T02:10:00Z');
  await render(dist);
  await expectLikeFresh();
});

test('an opted-out record before a release without it', { timeout: 60_000 }, async () => {
  await world.optOut(records[3]!.id, '2026-11-23T00:00:00Z');
  await render(dist);
  for (const path of ['v1/harbours/llms-full.txt', 'files/harbours/public.geojson'])
    expect(file(path)).not.toContain(records[3]!.slug);
  await expectLikeFresh();
  await world.night('2026-11-24T00:00:00Z');
  await render(dist);
  await expectLikeFresh();
});

test('attributes whose names are those of columns and tables in SQL', { timeout: 120_000 }, async () => {
  const source = join(import.meta.dirname, '../../packs/harbours');
  const [renamed, data, out] = ['named/harbours', 'named-data', 'named-dist'].map((name) => join(folder, name));
  const names: Record<string, string> = { depth: 'other', berths: 'ord', fuel: 'i', surveyed: 'instead', site: 'id' };
  cpSync(source, renamed!, { recursive: true });
  for (const entry of readdirSync(renamed!, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const text = readFileSync(path, 'utf8');
    writeFileSync(
      path,
      text.replaceAll(/\b(depth|berths|fuel|surveyed|site)\b/g, (name) => names[name]!),
    );
  }
  const other = await openWorld(data!, await loadPack(renamed!), '2026-11-20T00:00:00Z');
  try {
    const edited = [...(await other.records()).values()][1]!;
    await render(out!, data, other);
    await other.say(edited.id, { name: 'Renamed', other: 9 }, '2026-11-21T00:00:00Z');
    await render(out!, data, other);
    await render(`${out}-fresh`, data, other);
    expect(await contentOf(out!)).toEqual(await contentOf(`${out}-fresh`));
  } finally {
    await other.close();
  }
});

test('an edited record whose history is not public has no rows', { timeout: 60_000 }, async () => {
  const { folder: release, manifest } = world.release();
  const paid = pack.attributes.find((each) => !each.public)!.name;
  const edited = records.at(-1)!;
  const cells: HistoryRow['cells'] = ['1', null, 1, null, 0, null, '', null, null];
  const at = (name: string) => join(dist, 'files/harbours', name);
  const [database, history, historyDatabase, provenanceDatabase] = [
    ...['public.duckdb', 'history.parquet', 'history.duckdb', 'provenance.duckdb'].map(at),
  ] as [string, string, string, string];
  const old = { database, history, historyDatabase, provenanceDatabase };
  const differences = { without: [], instead: [edited], history: [{ id: edited.id, attribute: paid, cells }] };
  const telling = { release: manifest.release, created_at: manifest.created_at };
  const made = await writePublicFiles(pack, release, telling, differences, join(folder, 'unpublic'), old);
  const duck = await Duck.open(join(folder, 'spill'));
  try {
    const rows = (path: string) => duck.rows(`SELECT DISTINCT id FROM read_parquet(${quotedText(path)}) ORDER BY id`);
    const before = (await rows(history)).flat();
    expect(before).toContain(edited.id);
    expect((await rows(made.history)).flat()).toEqual(before.filter((id) => id !== edited.id));
  } finally {
    duck.close();
  }
});
