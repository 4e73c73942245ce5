// Similar, statistics, time series and changelog agree with the independent evaluator on seeded random requests,
// on both engines.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openEngine } from '../../../data/duckdb/engine.ts';
import { similarParameters, statsParameters, timeseriesParameters } from '../../../data/input/analysis-parameters.ts';
import { changelogParameters } from '../../../data/input/history-parameters.ts';
import { facetsParameters } from '../../../data/input/search-parameters.ts';
import type { PublishedInterval, StoredRecord } from '../../../data/model/record.ts';
import type { Engine } from '../../../data/plan/plan.ts';
import { getChangelog } from '../../../data/queries/changelog.ts';
import { exceedsFreeAnswers, getFacets } from '../../../data/queries/facets.ts';
import { pageRecords } from '../../../data/queries/record-page.ts';
import { getSimilar } from '../../../data/queries/similar.ts';
import { getStats } from '../../../data/queries/stats.ts';
import { getTimeseries } from '../../../data/queries/timeseries.ts';
import { acceptKeys } from '../../../data/releases/record-keys.ts';
import { openRelease, type Release } from '../../../data/releases/release.ts';
import { loadPack } from '../../../packs/define/load.ts';
import type { Pack } from '../../../packs/define/model.ts';
import { draws } from '../../support/draws.ts';
import { evaluateFacets, onEdge, type SearchQuery } from '../../support/evaluate.ts';
import {
  type ExpectedRow,
  evaluateSimilar,
  evaluateStats,
  evaluateTimeseries,
  firstRows,
} from '../../support/evaluate-analysis.ts';
import { evaluateChangeGroups, evaluateChangelog } from '../../support/evaluate-changelog.ts';
import { randomHistory } from '../../support/random-history.ts';
import { randomOverlay } from '../../support/random-overlay.ts';
import {
  randomChangelog,
  randomSeveralFacets,
  randomSimilar,
  randomStats,
  randomTimeseries,
} from '../../support/random-queries.ts';
import { pickOne, random, randomRecords } from '../../support/random-records.ts';
import { verifies } from '../../support/verifies.ts';
import { writeRelease } from '../../support/write-release.ts';

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

/** Queries of each kind, for each pack and engine. */
const QUESTIONS = draws(300);
/** Fewer under an overlay, since the statements are the same. */
const OVERLAID = draws(100);

const END = Date.UTC(2026, 10, 20);
/** Moments of the last day, its first and last among them. */
const MOMENTS = [0, 1, 43_200_000, 86_399_999].map((clock) => new Date(END + clock));

/** Equal except for the last digits of computed numbers. */
function expectAlike(found: unknown, expected: unknown, context: string, path = ''): void {
  if (typeof found === 'number' && typeof expected === 'number') {
    const apart = Math.abs(found - expected);
    if (apart > 1e-9 * Math.max(1e-9, Math.abs(expected))) expect(found, `${context} at ${path}`).toBe(expected);
  } else if (typeof found === 'object' && found !== null && typeof expected === 'object' && expected !== null) {
    expect(Object.keys(found).sort(), `${context} at ${path}`).toEqual(Object.keys(expected).sort());
    for (const [key, value] of Object.entries(found))
      expectAlike(value, (expected as Record<string, unknown>)[key], context, `${path}/${key}`);
  } else expect(found, `${context} at ${path}`).toEqual(expected);
}

const rowsIn = (rows: readonly ExpectedRow[]): number =>
  rows.reduce((all, { groups }) => all + 1 + rowsIn(groups ?? []), 0);

describe.each([
  ['tools', false],
  ['tools', true],
  ['harbours', false],
  ['harbours', true],
])('%s, under an overlay: %s', (dataset, overlaid) => {
  const asked = overlaid ? OVERLAID : QUESTIONS;
  let pack: Pack;
  let records: StoredRecord[];
  /** Ids of the release by ordinal. */
  let order: string[];
  let history: PublishedInterval[];
  let duckdb: Release;
  let indexed: Release;
  let opened: Engine[];
  beforeAll(async () => {
    pack = await loadPack(join(import.meta.dirname, '../../packs', dataset));
    records = randomRecords(pack, 300, 12);
    order = records.map(({ id }) => id);
    history = randomHistory(pack, records, 13, END + 43_200_000);
    const { folder, manifest, release } = await writeRelease(dataDir, pack, records, true, history);
    const log = (text: string) => expect.fail(text);
    indexed = await openRelease(dataDir, pack, release, { log });
    duckdb = { pack, manifest, folder, engine: acceptKeys(await openEngine(folder, pack, manifest), pack) };
    opened = [duckdb, indexed].map(({ engine }) => engine);
    if (!overlaid) return;
    const overlay = randomOverlay(pack, records, 31, history, END + 43_200_000);
    ({ records, history } = overlay);
    duckdb = { ...duckdb, engine: duckdb.engine.withOverlay(overlay.applied) };
    indexed = { ...indexed, engine: indexed.engine.withOverlay(overlay.applied) };
  });
  afterAll(async () => {
    if (overlaid) await Promise.all([duckdb.engine.close(), indexed.engine.close()]);
    await Promise.all(opened.map((engine) => engine.close()));
  });

  /** Random queries without records on the edge of a circle, where rounding decides. */
  function* questions(seed: number, make: (next: () => number, pack: Pack, records: StoredRecord[]) => SearchQuery) {
    const next = random(seed);
    for (let i = 0; i < asked; i++) {
      const query = make(next, pack, records);
      const near = query['near'];
      if (near === undefined || !records.some((record) => onEdge(pack, record, String(near)))) yield { query, next };
    }
  }

  test(`${asked} facets by one or several attributes`, async () => {
    let several = 0;
    for (const { query, next } of questions(5, randomSeveralFacets)) {
      const input = facetsParameters.parse(query, pack);
      const admin = next() < 0.3;
      const exact = admin || exceedsFreeAnswers(input, pack);
      const expected = input.by.map((by) => {
        const hidden = !pack.attributes.find(({ name }) => name === by)!.public;
        const options = { publicOnly: !admin, floor: hidden && !exact ? 5 : 0 };
        const { withheld, ...facet } = evaluateFacets(pack, records, { ...query, by }, options);
        return { by, ...facet, ...(withheld > 0 ? { withheld } : {}) };
      });
      for (const release of [duckdb, indexed]) {
        const { hint: _, ...answer } = await getFacets(release, input, { admin });
        expect(answer, JSON.stringify(query)).toEqual(expected.length === 1 ? expected[0] : { facets: expected });
      }
      several += expected.length > 1 ? 1 : 0;
    }
    expect(several).toBeGreaterThan(asked / 3);
  }, 120_000);

  test(`${asked} statistics`, async () => {
    let rows = 0;
    let refused = 0;
    for (const { query } of questions(1, randomStats)) {
      const input = statsParameters.parse(query, pack);
      const places = new Map(order.map((id, place) => [id, place]));
      const all = input.attributes.map((attribute) => ({
        ...{ attribute, unit: pack.attributes.find(({ name }) => name === attribute)!.unit },
        rows: evaluateStats(pack, records, { ...query, attribute }, places),
      }));
      const context = JSON.stringify(query);
      for (const release of [duckdb, indexed]) {
        const answering = getStats(release, input);
        if (all.some((stats) => rowsIn(stats.rows) > 1000)) {
          await expect(answering, context).rejects.toMatchObject({ code: 'invalid_parameter' });
          refused += 1;
          continue;
        }
        const answer = await answering;
        const expected = all.map((stats) => ({ ...stats, rows: firstRows(stats.rows, input.limit) }));
        const { group_by, hint: _, attributes, ...stats } = answer;
        expectAlike(attributes ?? [stats], expected, context);
        expect(attributes === undefined, context).toBe(input.attributes.length === 1);
        expect(group_by, context).toBe(query['group_by'] ?? null);
        rows += expected.reduce((sum, stats) => sum + rowsIn(stats.rows), 0);
      }
    }
    expect(rows).toBeGreaterThan(2 * asked);
    expect(refused).toBeLessThan(asked / 5);
  }, 120_000);

  test(`${asked} time series`, async () => {
    let valued = 0;
    for (const { query, next } of questions(2, randomTimeseries)) {
      const now = pickOne(next, MOMENTS);
      const input = timeseriesParameters.parse(query, pack);
      const expected = evaluateTimeseries(pack, records, history, { ...query, step: input.step }, now);
      const context = JSON.stringify([query, now]);
      for (const release of [duckdb, indexed]) {
        let answer: Awaited<ReturnType<typeof getTimeseries>>;
        try {
          answer = await getTimeseries(release, input, now);
        } catch (error) {
          expect(error, context).toMatchObject({ code: 'invalid_parameter' });
          expect(expected.size * input.days, context).toBeGreaterThan(5_000);
          continue;
        }
        const found =
          'series' in answer ? [[null, answer.series]] : answer.groups.map(({ group, series }) => [group, series]);
        expectAlike(found, [...expected], context);
      }
      valued += [...expected.values()].flat().filter(({ count }) => count > 0).length;
    }
    expect(valued).toBeGreaterThan(10 * asked);
  }, 120_000);

  test(`${asked} changelogs, over all pages`, async () => {
    let [changes, grouped] = [0, 0];
    const directions = new Set<unknown>();
    for (const { query, next } of questions(4, randomChangelog)) {
      const now = pickOne(next, MOMENTS);
      const admin = next() < 0.3;
      const expected = evaluateChangelog(pack, records, order, history, query, now, !admin);
      const limit = pickOne(next, [300, 500]);
      for (const release of [duckdb, indexed])
        for (let offset = 0; offset === 0 || offset < expected.length; offset += limit) {
          const input = changelogParameters.parse({ ...query, limit: String(limit), offset: String(offset) }, pack);
          const answer = await getChangelog(release, input, now, { admin });
          const context = JSON.stringify([query, now, offset]);
          const page = { items: expected.slice(offset, offset + limit), total: expected.length, days: null };
          if (input.group_by === null) expect(answer, context).toEqual({ ...page, groups: null });
          else {
            const all = evaluateChangeGroups(expected, records, input.group_by);
            expect([answer.items, answer.total, answer.days], context).toEqual([[], all.length, null]);
            // A median is rounded to two decimals, and each change on the way to it.
            const coarse = (groups: readonly { median_change_percent?: number }[]) =>
              groups.map(({ median_change_percent: median, ...group }) => ({
                ...group,
                measured: median !== undefined,
              }));
            expect(coarse(answer.groups!), context).toEqual(coarse(all.slice(offset, offset + limit)));
            for (const [i, { median_change_percent: median = 0 }] of answer.groups!.entries()) {
              const { median_change_percent: expectedMedian = 0 } = all[offset + i] as {
                median_change_percent?: number;
              };
              expect(Math.abs(median - expectedMedian), context).toBeLessThan(0.011 + 1e-9 * Math.abs(median));
            }
            grouped += all.length;
          }
        }
      changes += expected.length;
      if (expected.length > 0 && Object.keys(query).length > 2) directions.add(query['direction']);
    }
    expect(changes).toBeGreaterThan(asked);
    // Few draws may have no group at all.
    if (asked >= 30) expect(grouped).toBeGreaterThan(asked);
    expect(directions.size).toBeGreaterThan(2);
  }, 120_000);

  test.each([
    ['DuckDB', 'full'],
    ['DuckDB', 'public'],
    ['the packed index', 'full'],
    ['the packed index', 'public'],
  ] as const)(
    `${asked} similar on %s by %s words`,
    async (kind, visibility) => {
      const inPublic = visibility === 'public';
      const open = pack.attributes.map((each) => (each.public ? each : { ...each, searchable: false }));
      const similar_by = open.filter(({ searchable }) => searchable).map(({ name }) => name);
      const seen = inPublic ? { ...pack, attributes: open, serving: { ...pack.serving, similar_by } } : pack;
      const release = kind === 'DuckDB' ? duckdb : indexed;
      let pairs = 0;
      for (const { query, next } of questions(3, randomSimilar)) {
        const subject = pickOne(next, records);
        const context = JSON.stringify([subject.id, query]);
        const presenting = { now: MOMENTS[0]!, base_url: 'https://register.example', visibility };
        const input = similarParameters.parse({ ...query, fields: 'name' }, pack);
        const answer = await getSimilar(release, pickOne(next, [subject.id, subject.slug]), input, presenting);
        const found = await pageRecords(answer, presenting);
        const expected = evaluateSimilar(seen, records, subject, query, inPublic);
        expect(
          found.map(({ id, score }) => ({ id, score })),
          context,
        ).toEqual(expected.map(({ id, score }) => ({ id, score: Number(score.toFixed(6)) })));
        pairs += found.length;
      }
      expect(pairs).toBeGreaterThan(asked);
    },
    120_000,
  );
});
