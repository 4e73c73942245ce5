// SQL over one release after the other: an edit at once, then the release that contains it; old files are removed.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { SqlProcess } from '../../../data/sql/process.ts';
import { sqlSource } from '../../../data/sql/tables.ts';
import { loadPack } from '../../../packs/define/load.ts';
import { scratchOfAll } from '../../support/night-pack.ts';
import { openWorld } from '../../support/overlay-world.ts';

const folder = scratchOfAll();
const files = join(folder, 'sql');
const sqlProcess = new SqlProcess(files, 256 * 2 ** 20, () => {});
const world = await openWorld(folder, await loadPack('tests/packs/harbours'), '2026-11-20T00:00:00Z');
afterAll(async () => {
  sqlProcess.close();
  await world.close();
});

async function rows(sql: string): Promise<unknown> {
  const sources = [sqlSource(world.release(), 'public')];
  const query = { sql, parameters: [], max_rows: 100, form: 'json', tier: 'public', seconds: 60, sources } as const;
  const outcome = await sqlProcess.run({ query, caller: 'a test', alone: true }, new AbortController().signal);
  return 'answer' in outcome ? JSON.parse(Buffer.from(outcome.answer.rows).toString()) : outcome.error;
}

test('the tables of a new release are made before its first statement', { timeout: 120_000 }, async () => {
  sqlProcess.prepare([sqlSource(world.release(), 'public')]);
  const databases = () => readdirSync(files).filter((name) => name.endsWith('.duckdb'));
  await vi.waitFor(() => expect(databases()).toHaveLength(1), { timeout: 100_000, interval: 50 });
  const [made] = databases();
  expect(await rows('SELECT count(*) FROM harbours')).toEqual([[13]]);
  expect(databases()).toEqual([made]);
});

test('an edit applies at once, and stays with the release that contains it', { timeout: 120_000 }, async () => {
  const fuel = "SELECT fuel FROM harbours WHERE slug = 'harbour-3'";
  const [[id]] = (await rows("SELECT id FROM harbours WHERE slug = 'harbour-3'")) as [[string]];
  const before = await rows(fuel);
  const after = [[!(before as boolean[][])[0]![0]]];
  const first = world.release().manifest.release;
  await world.say(id, { fuel: after[0]![0]! }, '2026-11-20T01:00:00Z');
  expect(world.release().manifest.release).toBe(first);
  expect(await rows(fuel)).toEqual(after);

  await world.night('2026-11-21T00:00:00Z');
  expect(world.release().manifest.release).not.toBe(first);
  expect(await rows(fuel)).toEqual(after);
  expect(await rows('SELECT count(*), count(DISTINCT id) FROM harbours')).toEqual([[13, 13]]);

  await world.say(id, { fuel: (before as boolean[][])[0]![0]! }, '2026-11-21T01:00:00Z');
  await world.night('2026-11-22T00:00:00Z');
  expect(await rows(fuel)).toEqual(before);
  // Those of the last two releases.
  expect(readdirSync(files).filter((name) => name.endsWith('.duckdb'))).toHaveLength(2);
});
