// Statistics, time series and similar records of the packed index equal DuckDB's, with and without an overlay, and
// the index leaves the rest to DuckDB.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadPack } from '../../packs/define/load.ts';
import type { Pack } from '../../packs/define/model.ts';
import { draws } from '../../tests/support/draws.ts';
import { scratchOfAll } from '../../tests/support/night-pack.ts';
import { randomHistory } from '../../tests/support/random-history.ts';
import { randomOverlay } from '../../tests/support/random-overlay.ts';
import { randomStats, randomTimeseries } from '../../tests/support/random-queries.ts';
import { random, randomRecords } from '../../tests/support/random-records.ts';
import { writeRelease } from '../../tests/support/write-release.ts';
import { openEngine } from '../duckdb/engine.ts';
import { statsParameters, timeseriesParameters } from '../input/analysis-parameters.ts';
import { questionOf } from '../input/selection.ts';
import type { StoredRecord } from '../model/record.ts';
import type { Engine, SeriesPlan, SimilarPlan, StatsPlan } from '../plan/plan.ts';
import { PackedIndex } from './packed-index.ts';

const dataDir = scratchOfAll();

const END = Date.UTC(2026, 10, 20, 12);
const TODAY = Math.floor(END / 86_400_000);
const QUERIES = draws(120);

const packOf = (dataset: string) => loadPack(join(import.meta.dirname, '../../tests/packs', dataset));

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
    pack = await packOf(dataset);
    records = randomRecords(pack, size, 5);
    const history = randomHistory(pack, records, 9, END);
    const { folder, manifest } = await writeRelease(join(dataDir, String(size)), pack, records, true, history);
    const duckdb = await openEngine(folder, pack, manifest);
    const index = new PackedIndex(folder, pack, manifest);
    const { applied } = randomOverlay(pack, records, 6, history, END);
    engines = [
      { duckdb, index },
      { duckdb: duckdb.withOverlay(applied), index: index.withOverlay(applied) },
    ];
  });
  afterAll(async () => {
    for (const { duckdb } of engines.toReversed()) await duckdb.close();
    engines[0]!.index.close();
  });

  test('statistics', async () => {
    const next = random(7);
    let answered = 0;
    let groups = 0;
    for (let i = 0; i < QUERIES; i += 1) {
      const input = statsParameters.parse(randomStats(next, pack, records), pack);
      const { group_by: by, having_min_count: minCount, buckets } = input;
      const plan: StatsPlan = {
        ...{
          where: i % 3 === 0 ? [] : questionOf(input),
          attribute: input.attributes[0]!,
          by,
          groups: 1_000,
          minCount,
        },
        ...(buckets === null ? {} : { buckets }),
      };
      for (const { duckdb, index } of engines) {
        // Two queries at the same time, in slices of a few records.
        const slice = { slice: Math.ceil(next() * 1_000) };
        const [answer] = await Promise.all([
          index.stats(plan, slice),
          index.stats({ ...plan, where: [], by: [] }, slice),
        ]);
        if (answer === null) continue;
        const expected = await duckdb.stats(plan);
        expect(answer.total).toBe(expected.total);
        expect(answer.groups, JSON.stringify(plan)).toEqual(expected.groups);
        answered += 1;
        groups += answer.groups.length;
      }
    }
    expect(answered).toBeGreaterThan(QUERIES);
    expect(groups).toBeGreaterThan(10 * QUERIES);
  }, 60_000);

  test('time series', async () => {
    const next = random(8);
    let answered = 0;
    let spans = 0;
    for (let i = 0; i < QUERIES; i += 1) {
      const input = timeseriesParameters.parse(randomTimeseries(next, pack, records), pack);
      const { attribute, group_by: by, days } = input;
      const step = input.step === 'week' ? 7 : 1;
      const points = Math.ceil(days / step);
      const plan: SeriesPlan = {
        where: i % 3 === 0 ? [] : questionOf(input),
        ...{ attribute, by, step, points, first: TODAY - step * (points - 1) },
        // Sometimes too few.
        ...{ records: 1_800, groups: Math.floor(next() * 300) },
      };
      for (const { duckdb, index } of engines) {
        const answer = await index.timeseries(plan);
        if (answer === null) continue;
        const { spans: expected, ...sums } = await duckdb.timeseries(plan);
        expect(answer, JSON.stringify(plan)).toMatchObject(sums);
        expect(answer.spans, JSON.stringify(plan)).toEqual(expected);
        answered += 1;
        spans += expected.length;
      }
    }
    expect(answered).toBeGreaterThan(QUERIES);
    expect(spans).toBeGreaterThan(10 * QUERIES);
  }, 60_000);

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

test('left to DuckDB: keys that are numbers without codes, and pairs of two large keys', async () => {
  const pack = await packOf('tools');
  const records = randomRecords(pack, 800, 8).map((record, i) => ({
    ...record,
    attributes: { name: `name ${i}`, maker: `maker ${i}`, mass: 1_000 + i * 7, 'price.list': i },
  }));
  const { folder, manifest } = await writeRelease(join(dataDir, 'left'), pack, records);
  const index = new PackedIndex(folder, pack, manifest);
  const plan = { where: [], attribute: 'price.list', groups: 1_000 };
  expect(index.stats({ ...plan, by: ['name', 'maker'] })).toBeNull();
  expect(index.stats({ ...plan, by: ['mass'] })).toBeNull();
  expect(index.timeseries({ ...plan, by: 'mass', first: TODAY, step: 1, points: 1, records: 999 })).toBeNull();
  expect(await index.stats({ ...plan, by: ['name'] })).toMatchObject({ total: 800 });
  expect(await index.stats({ ...plan, by: ['name'], groups: 799 })).toEqual({ groups: [], total: 800 });
  index.close();
});

test('aborted statistics and time series end at the next slice', async () => {
  const pack = await packOf('tools');
  const records = randomRecords(pack, 2_000, 3);
  const history = randomHistory(pack, records, 4, END);
  const { folder, manifest } = await writeRelease(join(dataDir, 'aborted'), pack, records, true, history);
  const index = new PackedIndex(folder, pack, manifest);
  const range = { first: TODAY - 365, step: 1, points: 366, records: 5_000, groups: 1 };
  const plan = { where: [], attribute: 'price.list', by: null, ...range };
  const abort = new AbortController();
  const answer = index.timeseries(plan, { signal: abort.signal });
  abort.abort();
  await expect(answer).rejects.toMatchObject({ code: 'unavailable' });
  expect((await index.timeseries(plan))?.spans.length).toBeGreaterThan(100);
  const stats = { where: [], attribute: 'price.list', by: [], groups: 1 };
  await expect(index.stats(stats, { signal: abort.signal })).rejects.toMatchObject({ code: 'unavailable' });
  expect((await index.stats(stats))?.groups[0]?.figures.count).toBeGreaterThan(1_000);
  index.close();
});
