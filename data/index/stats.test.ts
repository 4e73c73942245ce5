// Statistics of the packed index equal DuckDB's, with and without an overlay, and the index leaves the rest to
// DuckDB.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { loadPack } from '../../packs/define/load.ts';
import { draws } from '../../tests/support/draws.ts';
import { randomOverlay } from '../../tests/support/random-overlay.ts';
import { randomStats } from '../../tests/support/random-queries.ts';
import { random, randomRecords } from '../../tests/support/random-records.ts';
import { writeRelease } from '../../tests/support/write-release.ts';
import { openEngine } from '../duckdb/engine.ts';
import { statsParameters } from '../input/analysis-parameters.ts';
import { questionOf } from '../input/selection.ts';
import type { StatsAnswer, StatsPlan } from '../plan/plan.ts';
import { PackedIndex } from './packed-index.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'stats-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const packOf = (dataset: string) => loadPack(join(import.meta.dirname, '../../tests/packs', dataset));

/** Equal answers; means may differ in the last digit, because DuckDB adds in another order. */
function expectEqual(found: StatsAnswer, expected: StatsAnswer, plan: StatsPlan): void {
  const withMeans = (means: readonly StatsAnswer['groups'][number][]) =>
    found.groups.map((group, i) => {
      const { mean } = means[i]?.figures ?? group.figures;
      const apart = Math.abs(group.figures.mean - mean);
      return apart <= 1e-14 * Math.abs(mean) ? { ...group, figures: { ...group.figures, mean } } : group;
    });
  expect({ ...found, groups: withMeans(expected.groups) }, JSON.stringify(plan)).toEqual(expected);
}

test.each([
  ['tools', 300],
  ['tools', 2_000],
  ['harbours', 300],
  ['harbours', 2_000],
])(
  '%s, %i records',
  async (dataset, size) => {
    const pack = await packOf(dataset);
    const records = randomRecords(pack, size, 5);
    const { folder, manifest } = await writeRelease(join(dataDir, String(size)), pack, records);
    const duckdb = await openEngine(folder, pack, manifest);
    const index = new PackedIndex(folder, pack, manifest);
    const overlay = randomOverlay(pack, records, 6).applied;
    const changed = { duckdb: duckdb.withOverlay(overlay), index: index.withOverlay(overlay) };
    const next = random(7);
    let answered = 0;
    let groups = 0;
    const queries = draws(120);
    for (let i = 0; i < queries; i += 1) {
      const query = randomStats(next, pack, records);
      const { attribute, group_by, ...input } = statsParameters.parse(query, pack);
      const where = i % 3 === 0 ? [] : questionOf(input);
      const plan: StatsPlan = { where, attribute, by: group_by, groups: 1_000 };
      for (const engines of [{ duckdb, index }, changed]) {
        const answer = engines.index.stats(plan);
        if (answer === null) continue;
        expectEqual(answer, await engines.duckdb.stats(plan), plan);
        answered += 1;
        groups += answer.groups.length;
      }
    }
    expect(answered).toBeGreaterThan(queries);
    expect(groups).toBeGreaterThan(10 * queries);
    await changed.duckdb.close();
    await duckdb.close();
    index.close();
  },
  60_000,
);

describe('left to DuckDB', () => {
  test('groups of numbers that have no codes, and pairs of two large keys', async () => {
    const pack = await packOf('tools');
    const bare = randomRecords(pack, 800, 8);
    const records = bare.map((record, i) => ({
      ...record,
      attributes: { name: `name ${i}`, maker: `maker ${i}`, mass: 1_000 + i * 7, 'price.list': i },
    }));
    const { folder, manifest } = await writeRelease(join(dataDir, 'left'), pack, records);
    const index = new PackedIndex(folder, pack, manifest);
    const plan = { where: [], attribute: 'price.list', groups: 1_000 };
    expect(index.stats({ ...plan, by: ['name', 'maker'] })).toBeNull();
    expect(index.stats({ ...plan, by: ['mass'] })).toBeNull();
    expect(index.stats({ ...plan, by: ['name'] })).toMatchObject({ total: 800 });
    expect(index.stats({ ...plan, by: ['name'], groups: 799 })).toEqual({ groups: [], total: 800 });
    index.close();
  });
});
