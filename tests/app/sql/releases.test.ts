// SQL over one release after the other: an edit at once, then the release that contains it; old files are removed.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { makeTables } from '../../../data/sql/make-tables.ts';
import { SqlProcess } from '../../../data/sql/process.ts';
import { sqlSource } from '../../../data/sql/tables.ts';
import { loadPack } from '../../../packs/define/load.ts';
import { scratchOfAll } from '../../support/night-pack.ts';
import { openWorld } from '../../support/overlay-world.ts';

const folder = scratchOfAll();
const files = join(folder, 'sql');
/** Statements are refused for at most a minute an hour. */
const times = { collect: { first: 300, next: 300 }, deferred: 600_000, refused: 60_000 };
const options = { folder: files, memory: 256 * 2 ** 20, make: makeTables, log: () => {}, times };
const sqlProcess = new SqlProcess(options);
const world = await openWorld(folder, await loadPack('tests/packs/harbours'), '2026-11-20T00:00:00Z');
afterAll(async () => {
  sqlProcess.close();
  await world.close();
});

const ask = (sql: string) => {
  const sources = [sqlSource(world.release(), 'public')];
  const query = { sql, parameters: [], max_rows: 100, form: 'json', tier: 'public', seconds: 60, sources } as const;
  return sqlProcess.run({ query, caller: 'a test', alone: false, keyed: false }, new AbortController().signal);
};

async function rows(sql: string): Promise<unknown> {
  const outcome = await ask(sql);
  return 'answer' in outcome ? JSON.parse(Buffer.from(outcome.answer.rows).toString()) : outcome.error;
}

/** The rows when the change of an overlay is in the tables; statements are refused before. */
async function rowsAfterChange(sql: string): Promise<unknown> {
  expect(await rows(sql)).toMatchObject({ code: 'unavailable', retry_after_seconds: expect.any(Number) });
  expect(await rows('SELECT 1')).toEqual([[1]]);
  await vi.waitFor(async () => expect(await rows(sql)).toBeInstanceOf(Array), { timeout: 60_000, interval: 50 });
  return rows(sql);
}

const follow = () => sqlProcess.follow('public', [sqlSource(world.release(), 'public')]);
const databases = () => readdirSync(files).filter((name) => name.endsWith('.duckdb'));

test('the tables of a new release are made before its first statement', { timeout: 120_000 }, async () => {
  follow();
  await vi.waitFor(() => expect(databases()).toHaveLength(1), { timeout: 100_000, interval: 50 });
  const [made] = databases();
  expect(await rows('SELECT count(*) FROM harbours')).toEqual([[13]]);
  expect(databases()).toEqual([made]);
});

test('an edit is in the tables before the next statement, and stays with the release that contains it', {
  timeout: 120_000,
}, async () => {
  const fuel = "SELECT fuel FROM harbours WHERE slug = 'harbour-3'";
  const [[id]] = (await rows("SELECT id FROM harbours WHERE slug = 'harbour-3'")) as [[string]];
  const before = await rows(fuel);
  const after = [[!(before as boolean[][])[0]![0]]];
  const first = world.release().manifest.release;
  await world.say(id, { fuel: after[0]![0]! }, '2026-11-20T01:00:00Z');
  expect(world.release().manifest.release).toBe(first);
  expect(await rowsAfterChange(fuel)).toEqual(after);

  await world.night('2026-11-21T00:00:00Z');
  const second = world.release().manifest.release;
  expect(second).not.toBe(first);
  // The tables of the first release answer until those of the second are made.
  const outcome = await ask(fuel);
  expect(outcome).toMatchObject({ releases: { harbours: first } });
  await vi.waitFor(async () => expect(await ask(fuel)).toMatchObject({ releases: { harbours: second } }), {
    timeout: 60_000,
    interval: 50,
  });
  expect(await rows(fuel)).toEqual(after);
  expect(await rows('SELECT count(*), count(DISTINCT id) FROM harbours')).toEqual([[13, 13]]);

  await world.say(id, { fuel: (before as boolean[][])[0]![0]! }, '2026-11-21T01:00:00Z');
  await rowsAfterChange(fuel);
  await world.night('2026-11-22T00:00:00Z');
  expect(await rows(fuel)).toEqual(before);
  // No file has values that were replaced.
  await vi.waitFor(() => expect(databases()).toHaveLength(1), { timeout: 60_000, interval: 50 });
});
