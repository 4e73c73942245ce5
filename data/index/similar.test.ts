// Similar records of the packed index equal DuckDB's, with and without an overlay.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadPack } from '../../packs/define/load.ts';
import type { Pack } from '../../packs/define/model.ts';
import { scratchOfAll } from '../../tests/support/night-pack.ts';
import { randomOverlay } from '../../tests/support/random-overlay.ts';
import { randomRecords } from '../../tests/support/random-records.ts';
import { writeRelease } from '../../tests/support/write-release.ts';
import { openEngine } from '../duckdb/engine.ts';
import type { StoredRecord } from '../model/record.ts';
import type { Engine, SimilarPlan } from '../plan/plan.ts';
import { PackedIndex } from './packed-index.ts';

const dataDir = scratchOfAll();

describe.each([
  ['tools', 300],
  ['tools', 2_000],
  ['harbours', 300],
  ['harbours', 2_000],
])('%s, %i records', (dataset, size) => {
  let pack: Pack;
  let records: StoredRecord[];
  /** DuckDB and the index of the release, then both under an overlay. */
  let engines: { duckdb: Engine; index: PackedIndex }[];
  beforeAll(async () => {
    pack = await loadPack(join(import.meta.dirname, '../../tests/packs', dataset));
    records = randomRecords(pack, size, 5);
    const { folder, manifest } = await writeRelease(join(dataDir, String(size)), pack, records);
    const duckdb = await openEngine(folder, pack, manifest);
    const index = new PackedIndex(folder, pack, manifest);
    const { applied } = randomOverlay(pack, records, 6);
    engines = [
      { duckdb, index },
      { duckdb: duckdb.withOverlay(applied), index: index.withOverlay(applied) },
    ];
  });
  afterAll(async () => {
    for (const { duckdb } of engines.toReversed()) await duckdb.close();
    engines[0]!.index.close();
  });

  test('similar records, also of records that the overlay changed', async () => {
    const differing = pack.attributes
      .filter(({ type }) => type === 'string' || type === 'enum')
      .map(({ name }) => name);
    let found = 0;
    // Without records that the overlay removed.
    for (const { duckdb, index } of engines)
      for (const subject of index.resolve(records.slice(0, 60).map(({ id }) => id)).filter((each) => each !== null))
        for (const scope of ['public', 'full'] as const) {
          const differBy = [null, ...differing][subject % (1 + differing.length)]!;
          const plan: SimilarPlan = { subject, where: [], differBy, scope, minScore: 0.1, limit: 20 };
          const expected = await duckdb.similar(plan);
          expect(index.similar(plan), JSON.stringify(plan)).toEqual(expected);
          found += expected.length;
        }
    expect(found).toBeGreaterThan(1_000);
  }, 60_000);
});
