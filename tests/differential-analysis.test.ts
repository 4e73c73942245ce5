// Similar, statistics and time series agree with the independent evaluator on seeded random requests, on both engines.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openEngine } from '../data/duckdb/engine.ts';
import { foundRecords } from '../data/found.ts';
import type { Interval, StoredRecord } from '../data/model.ts';
import { parseSimilar, parseStats, parseTimeseries } from '../data/parse-analysis.ts';
import { openRelease, type Release } from '../data/release.ts';
import { similar } from '../data/similar.ts';
import { stats } from '../data/stats.ts';
import { timeseries } from '../data/timeseries.ts';
import { loadPack } from '../packs/index.ts';
import type { Pack } from '../packs/model.ts';
import { onEdge, type Query } from './evaluate.ts';
import { type ExpectedRow, evaluateSimilar, evaluateStats, evaluateTimeseries } from './evaluate-analysis.ts';
import { randomHistory } from './random-history.ts';
import { randomSimilar, randomStats, randomTimeseries } from './random-queries.ts';
import { pick, random, randomRecords } from './random-records.ts';
import { verifies } from './verifies.ts';
import { writeRelease } from './write-release.ts';

verifies(
  'similar.limit',
  'similar.differ-by',
  'similar.filters',
  'similar.score',
  'stats.group-by',
  'stats.filters',
  'shape.stats-groups',
  'timeseries.days',
  'timeseries.step',
  'timeseries.group-by',
  'timeseries.filters',
);

const dataDir = mkdtempSync(join(tmpdir(), 'analysis-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

/** Questions of each kind, for each pack and engine. */
const QUESTIONS = 300;

const END = Date.UTC(2026, 10, 20);
/** Moments of the last day, its first and last among them. */
const MOMENTS = [0, 1, 43_200_000, 86_399_999].map((clock) => new Date(END + clock));

/** Equal but for the last digits of computed numbers. */
function expectAlike(found: unknown, expected: unknown, told: string, path = ''): void {
  if (typeof found === 'number' && typeof expected === 'number') {
    const apart = Math.abs(found - expected);
    if (apart > 1e-9 * Math.max(1e-9, Math.abs(expected))) expect(found, `${told} at ${path}`).toBe(expected);
  } else if (typeof found === 'object' && found !== null && typeof expected === 'object' && expected !== null) {
    expect(Object.keys(found).sort(), `${told} at ${path}`).toEqual(Object.keys(expected).sort());
    for (const [key, value] of Object.entries(found))
      expectAlike(value, (expected as Record<string, unknown>)[key], told, `${path}/${key}`);
  } else expect(found, `${told} at ${path}`).toEqual(expected);
}

const rowsIn = (rows: readonly ExpectedRow[]): number =>
  rows.reduce((all, { groups }) => all + 1 + rowsIn(groups ?? []), 0);

describe.each(['tools', 'harbours'])('%s', (dataset) => {
  let pack: Pack;
  let records: StoredRecord[];
  let history: Interval[];
  let duckdb: Release;
  let indexed: Release;
  beforeAll(async () => {
    pack = await loadPack(join(import.meta.dirname, 'packs', dataset));
    records = randomRecords(pack, 300, 12);
    history = randomHistory(pack, records, 13, END + 43_200_000);
    const { folder, manifest, release } = await writeRelease(dataDir, pack, records, true, history);
    const log = (text: string) => expect.fail(text);
    indexed = await openRelease(dataDir, pack, release, {}, undefined, log);
    duckdb = { pack, manifest, folder, engine: await openEngine(folder, pack, manifest) };
  });
  afterAll(() => Promise.all([duckdb.engine.close(), indexed.engine.close()]));

  /** Random questions that do not ask for what lies on the edge of a circle, where rounding decides. */
  function* questions(seed: number, make: (next: () => number, pack: Pack, records: StoredRecord[]) => Query) {
    const next = random(seed);
    for (let i = 0; i < QUESTIONS; i++) {
      const query = make(next, pack, records);
      const near = query['near'];
      if (near === undefined || !records.some((record) => onEdge(pack, record, String(near)))) yield { query, next };
    }
  }

  test(`${QUESTIONS} statistics`, async () => {
    let rows = 0;
    let refused = 0;
    for (const { query } of questions(1, randomStats)) {
      const expected = evaluateStats(pack, records, query);
      const told = JSON.stringify(query);
      const asked = stats(duckdb, parseStats(query, pack));
      if (rowsIn(expected) > 1000) {
        await expect(asked, told).rejects.toMatchObject({ code: 'invalid_parameter' });
        refused += 1;
        continue;
      }
      const answer = await asked;
      expectAlike(answer.rows, expected, told);
      expect(answer.group_by, told).toBe(query['group_by'] ?? null);
      rows += rowsIn(expected);
    }
    expect(rows).toBeGreaterThan(QUESTIONS);
    expect(refused).toBeLessThan(QUESTIONS / 10);
  }, 120_000);

  test(`${QUESTIONS} time series`, async () => {
    let valued = 0;
    for (const { query, next } of questions(2, randomTimeseries)) {
      const now = pick(next, MOMENTS);
      const input = parseTimeseries(query, pack);
      const expected = evaluateTimeseries(pack, records, history, { ...query, step: input.step }, now);
      const told = JSON.stringify([query, now]);
      let answer: Awaited<ReturnType<typeof timeseries>>;
      try {
        answer = await timeseries(duckdb, input, now);
      } catch (error) {
        expect(error, told).toMatchObject({ code: 'invalid_parameter' });
        expect(expected.size * input.days, told).toBeGreaterThan(5_000);
        continue;
      }
      const found =
        'series' in answer ? [[null, answer.series]] : answer.groups.map(({ group, series }) => [group, series]);
      expectAlike(found, [...expected], told);
      valued += [...expected.values()].flat().filter(({ count }) => count > 0).length;
    }
    expect(valued).toBeGreaterThan(10 * QUESTIONS);
  }, 120_000);

  test.each(['DuckDB', 'the packed index'])(
    `${QUESTIONS} similar on %s`,
    async (kind) => {
      const release = kind === 'DuckDB' ? duckdb : indexed;
      let pairs = 0;
      for (const { query, next } of questions(3, randomSimilar)) {
        const subject = pick(next, records);
        const told = JSON.stringify([subject.id, query]);
        const presenting = { now: MOMENTS[0]!, base_url: 'https://register.example', visibility: 'full' as const };
        const input = parseSimilar({ ...query, fields: 'name' }, pack);
        const answer = await similar(release, pick(next, [subject.id, subject.slug]), input, presenting);
        const found = await foundRecords(answer, presenting);
        const expected = evaluateSimilar(pack, records, subject, query);
        expect(
          found.map(({ id, score }) => ({ id, score })),
          told,
        ).toEqual(expected.map(({ id, score }) => ({ id, score: Number(score.toFixed(6)) })));
        pairs += found.length;
      }
      expect(pairs).toBeGreaterThan(QUESTIONS);
    },
    120_000,
  );
});
