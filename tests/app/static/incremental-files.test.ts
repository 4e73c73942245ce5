// A night with few changes writes few files: the pages of changed records, and the lists with them.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { shortenLists } from '../../../api/discovery/openapi-examples.ts';
import { runNight } from '../../../build/night/run.ts';
import { readConfig } from '../../../config.ts';
import type { StoredRecord } from '../../../data/model/record.ts';
import { storedOverlays } from '../../../data/releases/overlay-source.ts';
import { loadPack } from '../../../packs/define/load.ts';
import { scratchOfAll, still } from '../../support/night-pack.ts';
import { type OverlayWorld, openWorld } from '../../support/overlay-world.ts';
import { withCopies } from '../../support/whole-night.ts';

const PACKS = join(import.meta.dirname, '../../packs');
const folder = scratchOfAll();
const dist = join(folder, 'dist');
const config = readConfig({ DATA_DIR: folder, DIST_DIR: dist, PACK_DIRS: PACKS });

const night = (now?: string) => runNight(config, still(now), { only: null, accept: false });

/** Times at which files were last put in place, by path, without the notes of the build. */
function stamps(): Map<string, bigint> {
  const found = readdirSync(dist, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = found.map(({ parentPath, name }) => join(parentPath, name).slice(dist.length + 1));
  const shown = paths.filter((path) => !path.startsWith('.build/'));
  return new Map(shown.map((path) => [path, statSync(join(dist, path), { bigint: true }).ctimeNs]));
}

await withCopies(dist);
expect((await night()).failures).toEqual([]);
const world: OverlayWorld = await openWorld(folder, await loadPack(join(PACKS, 'harbours')), null);
const records: StoredRecord[] = [...(await world.records()).values()];
afterAll(() => world.close());

test('two records of many: their pages, and not those of other records', { timeout: 120_000 }, async () => {
  expect(records.length).toBeGreaterThan(4);
  const before = stamps();
  const changed = records.slice(-2);
  for (const { id } of changed) await world.say(id, { name: `Renamed ${id}` }, '2026-11-21T00:00:00Z');
  expect(await storedOverlays(world.store).read('harbours')).not.toBeNull();
  expect((await night('2026-11-22T00:00:00Z')).failures).toEqual([]);
  const after = stamps();
  const touched = [...after].filter(([path, at]) => before.get(path) !== at).map(([path]) => path);
  const pages = touched.filter((path) => /^datasets\/.*\.md$/.test(path)).sort();
  expect(pages).toEqual(changed.map(({ slug }) => `datasets/harbours/${slug}.md`).sort());
  expect(
    [...before.keys()].filter((path) => !after.has(path)),
    'files that went',
  ).toEqual([]);
  // Lists of all records of the dataset are written again; files of other datasets are not.
  expect(touched).toContain('v1/harbours/llms-full.txt');
  expect(touched.filter((path) => path.startsWith('v1/tools/') || path.startsWith('datasets/tools/'))).toEqual([]);
  expect(touched.length).toBeLessThan(after.size / 2);
});

test('the OpenAPI document shows the profile of a dataset without edits', () => {
  const read = (path: string) => JSON.parse(readFileSync(join(dist, path), 'utf8'));
  const { content } = read('openapi.json').paths['/v1/tools/profile'].get.responses['200'];
  const { attributes } = content['application/json'].examples.dataset_profile.value;
  expect(attributes.length).toBeGreaterThan(0);
  expect(attributes).toEqual(shortenLists(read('v1/tools/profile').attributes));
});
