// The real packs under thousands of seeded random queries: both engines agree with the independent evaluator
// over the exported rows.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { similarParameters, statsParameters, timeseriesParameters } from '../../data/input/analysis-parameters.ts';
import { facetsParameters, searchParameters } from '../../data/input/search-parameters.ts';
import { questionOf, visibleSort } from '../../data/input/selection.ts';
import type { Engine } from '../../data/plan/plan.ts';
import { pageRecords } from '../../data/queries/record-page.ts';
import { getSimilar } from '../../data/queries/similar.ts';
import { getStats } from '../../data/queries/stats.ts';
import { getTimeseries } from '../../data/queries/timeseries.ts';
import { cursors } from '../support/cursors.ts';
import { evaluateFacets, evaluateSearch, isUnclear, matching, type SearchQuery } from '../support/evaluate.ts';
import { evaluateSimilar, evaluateStats, evaluateTimeseries, firstRows } from '../support/evaluate-analysis.ts';
import { randomFacets, randomSearch, randomSimilar, randomStats, randomTimeseries } from '../support/random-queries.ts';
import { pickOne, type Random, random } from '../support/random-records.ts';
import { expectAlike, rowsIn } from './alike.ts';
import { DATASETS, historyOf, type LiveRelease, openLive } from './release.ts';

/** Queries of each kind; the evaluator reads every record for each, so the largest pack gets fewer. */
const COUNTS = {
  'llm-models': { search: 1500, facets: 600, stats: 400, timeseries: 200, similar: 300 },
  airports: { search: 400, facets: 200, stats: 120, timeseries: 60, similar: 100 },
  places: { search: 70, facets: 40, stats: 25, timeseries: 15, similar: 20 },
} as const;

/** Pages of one search through a large part of a pack; shorter ones are read to the end. */
const PAGES = 6;

const NOW = new Date('2026-11-20T12:00:00Z');

describe.each(DATASETS)('%s', (dataset) => {
  let live: LiveRelease;
  const counts = COUNTS[dataset];
  const summaries: string[] = [];

  beforeAll(async () => {
    live = await openLive(dataset, (text) => expect.fail(text));
  });
  afterAll(async () => {
    console.log(
      `${dataset}, ${live.records.length} records, each question to both engines:\n  ${summaries.join('\n  ')}`,
    );
    await live.close();
  });

  /** Random queries, without records on the edge of the circle, where rounding decides. */
  function* questions(
    count: number,
    seed: number,
    make: (next: Random, ...rest: [LiveRelease['pack'], LiveRelease['records']]) => SearchQuery,
  ) {
    const next = random(seed);
    for (let i = 0; i < count; i++) {
      const query = make(next, live.pack, live.records);
      if (!live.records.some((record) => isUnclear(live.pack, record, query))) yield { query, next };
    }
  }

  /** Ids page by page, through the cursors of callers; `pages` at most. */
  async function walk(engine: Engine, query: SearchQuery, scope: 'public' | 'full', pages: number) {
    const ids: string[] = [];
    let cursor: string | null = null;
    let total: number | null = null;
    let page = 0;
    do {
      const input = searchParameters.parse(cursor === null ? query : { ...query, cursor }, live.pack, {
        format: 'ndjson',
        cursors,
      });
      const { limit, total: count } = input;
      const sort = visibleSort(input.sort, scope, live.pack);
      const answer = await engine.search({
        where: questionOf(input, scope),
        sort,
        after: input.cursor?.after ?? null,
        limit,
        total: count,
      });
      ids.push(...answer.ordinals.map((ordinal) => live.records[ordinal]!.id));
      total = answer.total;
      cursor =
        answer.next && cursors.write({ dataset, where: questionOf(input), sort }, live.manifest.release, answer.next);
      page += 1;
    } while (cursor !== null && page < pages);
    return { ids, total, pages: page, ended: cursor === null };
  }

  test(`${counts.search} searches`, async () => {
    let [asked, matches, pages, ended, none] = [0, 0, 0, 0, 0];
    for (const { query, next } of questions(counts.search, 11, randomSearch)) {
      const scope = next() < 0.3 ? 'public' : 'full';
      const expected = evaluateSearch(live.pack, live.records, query, { publicOnly: scope === 'public' });
      for (const [name, engine] of Object.entries(live.engines)) {
        const found = await walk(engine, query, scope, PAGES);
        const what = `${name}: ${JSON.stringify(query)}`;
        expect(found.ids, what).toEqual(found.ended ? expected : expected.slice(0, found.ids.length));
        expect(found.total, what).toBe(query['total'] ? expected.length : null);
        pages += found.pages;
        ended += Number(found.ended);
      }
      asked += 1;
      matches += expected.length;
      none += Number(expected.length === 0);
    }
    summaries.push(
      `${asked} searches, ${matches} matches, ${none} without any; ${pages} pages, ${ended} of ${2 * asked} walks to the end`,
    );
    expect(none).toBeLessThan(asked * 0.8);
  }, 600_000);

  test('walks through the whole pack, in three orders', async () => {
    const numeric = live.pack.attributes.find(({ type }) => type === 'integer' || type === 'number')!;
    for (const sort of ['-quality', 'updated', `-${numeric.name}`]) {
      const query = { sort, limit: '1000' };
      const expected = evaluateSearch(live.pack, live.records, query);
      // DuckDB computes each page again, so the largest pack is read in one order only.
      const engines = Object.entries(live.engines).filter(([name]) => name !== 'DuckDB' || sort === 'updated');
      for (const [name, engine] of engines) {
        const { ids, ended, pages } = await walk(engine, query, 'full', Number.POSITIVE_INFINITY);
        expect([ended, pages], `${name} ${sort}`).toEqual([true, Math.ceil(live.records.length / 1000)]);
        // Compared as one text: a difference of 172,000 lines would be slow to print.
        expect(ids.join() === expected.join(), `${name} ${sort}`).toBe(true);
      }
    }
  }, 600_000);

  test(`${counts.facets} facets`, async () => {
    let values = 0;
    let asked = 0;
    for (const { query, next } of questions(counts.facets, 12, randomFacets)) {
      const floor = next() < 0.5 ? 5 : 0;
      const {
        by: [by = ''],
        limit,
        ...input
      } = facetsParameters.parse(query, live.pack);
      const expected = evaluateFacets(live.pack, live.records, query, { floor });
      for (const [name, engine] of Object.entries(live.engines)) {
        const found = await engine.facets({ where: questionOf(input), by, limit, floor });
        expect(found, `${name}: ${JSON.stringify(query)}`).toEqual(expected);
      }
      asked += 1;
      values += expected.values.length;
    }
    summaries.push(`${asked} facets, ${values} values`);
  }, 600_000);

  test(`${counts.stats} statistics`, async () => {
    let [asked, rows, refused] = [0, 0, 0];
    for (const { query } of questions(counts.stats, 13, randomStats)) {
      const input = statsParameters.parse(query, live.pack);
      const [attribute = ''] = input.attributes;
      const expected = evaluateStats(live.pack, live.records, { ...query, attribute });
      const what = JSON.stringify(query);
      const answer = getStats({ ...live, engine: live.engines.DuckDB }, { ...input, attributes: [attribute] });
      asked += 1;
      if (rowsIn(expected) > 1000) {
        await expect(answer, what).rejects.toMatchObject({ code: 'invalid_parameter' });
        refused += 1;
        continue;
      }
      expectAlike((await answer).rows, firstRows(expected, input.limit), what);
      rows += rowsIn(expected);
    }
    summaries.push(`${asked} statistics, ${rows} rows, ${refused} with too many groups`);
  }, 600_000);

  test(`${counts.timeseries} time series`, async () => {
    let [asked, points, refused] = [0, 0, 0];
    for (const { query } of questions(counts.timeseries, 14, randomTimeseries)) {
      const input = timeseriesParameters.parse(query, live.pack);
      const { attribute } = input;
      const what = JSON.stringify(query);
      const own = ['attribute', 'group_by', 'days', 'step'];
      const filters = Object.fromEntries(Object.entries(query).filter(([name]) => !own.includes(name)));
      const matched = matching(live.pack, live.records, filters);
      const answer = getTimeseries({ ...live, engine: live.engines.DuckDB }, input, NOW).catch(
        (error: unknown) => error as { code: string },
      );
      asked += 1;
      if (matched.length > 5_000) {
        expect((await answer) as { code: string }, what).toMatchObject({
          code: 'too_many_records',
          message: expect.stringContaining('More than 5000 records match'),
        });
        refused += 1;
        continue;
      }
      const ids = matched.map(({ id }) => id);
      const intervals = ids.length === 0 ? [] : await historyOf(live.folder, attribute, ids);
      const expected = evaluateTimeseries(live.pack, matched, intervals, { ...query, step: input.step }, NOW);
      const found = await answer;
      if ('code' in found) {
        expect(found, what).toMatchObject({ code: 'invalid_parameter' });
        refused += 1;
        continue;
      }
      const series = 'series' in found ? [[null, found.series]] : found.groups.map((each) => [each.group, each.series]);
      expectAlike(series, [...expected], what);
      points += [...expected.values()].flat().filter(({ count }) => count > 0).length;
    }
    summaries.push(`${asked} time series, ${points} points with values, ${refused} refused as too large`);
  }, 600_000);

  test(`${counts.similar} similar`, async () => {
    let [asked, found] = [0, 0];
    for (const { query, next } of questions(counts.similar, 15, randomSimilar)) {
      const subject = pickOne(next, live.records);
      const expected = evaluateSimilar(live.pack, live.records, subject, query).map(({ id, score }) => [
        id,
        Number(score.toFixed(6)),
      ]);
      const presenting = { now: NOW, base_url: 'https://register.example', visibility: 'full' as const };
      const input = similarParameters.parse({ ...query, fields: live.pack.attributes[0]!.name }, live.pack);
      for (const [name, engine] of Object.entries(live.engines)) {
        const answer = await pageRecords(
          await getSimilar({ ...live, engine }, subject.slug, input, presenting),
          presenting,
        );
        const what = `${name}: ${subject.slug} ${JSON.stringify(query)}`;
        expect(
          answer.map(({ id, score }) => [id, score]),
          what,
        ).toEqual(expected);
      }
      asked += 1;
      found += expected.length;
    }
    summaries.push(`${asked} similar, ${found} records found`);
  }, 600_000);
});
