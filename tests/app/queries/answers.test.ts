// Cached answers: keyed by release, overlay and plan; computed once for parallel queries; bounded; separate
// by visibility.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { statsParameters } from '../../../data/input/analysis-parameters.ts';
import { facetsParameters } from '../../../data/input/search-parameters.ts';
import type { StoredRecord } from '../../../data/model/record.ts';
import type { Engine, StatsPlan } from '../../../data/plan/plan.ts';
import { getFacets } from '../../../data/queries/facets.ts';
import { getStats } from '../../../data/queries/stats.ts';
import { AnswerCache, cacheAnswers, canonicalPlan } from '../../../data/releases/answers.ts';
import { openRelease } from '../../../data/releases/release.ts';
import { loadPack } from '../../../packs/define/load.ts';
import { randomRecords } from '../../support/random-records.ts';
import { writeRelease } from '../../support/write-release.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'answers-'));

const pack = await loadPack(join(import.meta.dirname, '../../packs/harbours'));
const records: StoredRecord[] = randomRecords(pack, 120, 5);
const written = await writeRelease(dataDir, pack, records);
const release = await openRelease(dataDir, pack, written.release);
afterAll(async () => {
  await release.engine.close();
  rmSync(dataDir, { recursive: true, force: true });
});

/** The engine of the release, and the queries that reached it. */
function counted(): { engine: Engine; asked: string[] } {
  const asked: string[] = [];
  const over = (engine: Engine): Engine => ({
    ...engine,
    stats: (plan, options) => {
      asked.push('stats');
      return engine.stats(plan, options);
    },
    similar: (plan, options) => {
      asked.push('similar');
      return engine.similar(plan, options);
    },
    facets: (plan, options) => {
      asked.push('facets');
      return engine.facets(plan, options);
    },
    withOverlay: (overlay) => over(engine.withOverlay(overlay)),
  });
  return { engine: over(release.engine), asked };
}

const plan = (least = 0): StatsPlan => ({
  where: [{ kind: 'min_quality', value: least }],
  attribute: 'depth',
  by: ['coast'],
  groups: 1000,
});

test('the same query reaches the engine once, whatever the order of its conditions', async () => {
  const { engine, asked } = counted();
  const kept = cacheAnswers(engine, new AnswerCache(1e6), 'r');
  const where: StatsPlan['where'] = [
    { kind: 'any', attribute: 'coast', values: ['north', 'south'] },
    { kind: 'min_quality', value: 0.1 },
  ];
  const first = await kept.stats({ ...plan(), where });
  const again = await kept.stats({
    ...plan(),
    where: [where[1]!, { kind: 'any', attribute: 'coast', values: ['south', 'north', 'south'] }],
  });
  expect(again).toBe(first);
  expect(first).toEqual(await release.engine.stats({ ...plan(), where }));
  await kept.stats({ ...plan(), where: [where[0]!, { kind: 'min_quality', value: 0.2 }] });
  await kept.stats({ ...plan(), where, attribute: 'berths' });
  expect(asked).toHaveLength(3);
  expect(canonicalPlan(plan(1))).not.toBe(canonicalPlan(plan(2)));
});

test('similar records are cached too, by record, filters and limit', async () => {
  const { engine, asked } = counted();
  const kept = cacheAnswers(engine, new AnswerCache(1e6), 'r');
  const plan = { subject: 3, where: [], differBy: null, limit: 5 };
  const first = await kept.similar(plan);
  expect(await kept.similar({ ...plan })).toBe(first);
  expect(first).toEqual(await release.engine.similar(plan));
  await kept.similar({ ...plan, subject: 4 });
  await kept.similar({ ...plan, limit: 4 });
  await kept.similar({ ...plan, differBy: 'coast' });
  expect(asked).toEqual(['similar', 'similar', 'similar', 'similar']);
});

test('parallel equal queries share one, which continues while one caller waits', async () => {
  const { engine, asked } = counted();
  const kept = cacheAnswers(engine, new AnswerCache(1e6), 'r');
  const leaving = new AbortController();
  const gone = kept.stats(plan(), { signal: leaving.signal });
  const waiting = [kept.stats(plan()), kept.stats(plan(), {})];
  leaving.abort();
  await expect(gone).rejects.toMatchObject({ code: 'unavailable' });
  const [a, b] = await Promise.all(waiting);
  expect(a).toBe(b);
  expect(asked).toEqual(['stats']);
});

test('a query without waiting callers is interrupted, and run again by the next', async () => {
  const { engine, asked } = counted();
  const kept = cacheAnswers(engine, new AnswerCache(1e6), 'r');
  const leaving = new AbortController();
  const gone = kept.stats(plan(), { signal: leaving.signal });
  leaving.abort();
  await expect(gone).rejects.toMatchObject({ code: 'unavailable' });
  expect((await kept.stats(plan())).total).toBeGreaterThan(0);
  await expect(kept.stats({ ...plan(1), attribute: 'nothing' })).rejects.toThrow();
  await expect(kept.stats({ ...plan(1), attribute: 'nothing' }), 'a failure is not kept').rejects.toThrow();
  expect(asked).toHaveLength(4);
});

test('another overlay, also one of the same version, and another release have separate answers', async () => {
  const { engine, asked } = counted();
  const answers = new AnswerCache(1e6);
  const kept = cacheAnswers(engine, answers, 'r');
  const before = await kept.stats(plan());
  const count = (answer: typeof before) => answer.groups.reduce((sum, { figures }) => sum + figures.count, 0);
  const valued = records.find(({ attributes }) => attributes['depth'] !== undefined && attributes['coast']);
  const overlay = { version: 1, removed: new Set([valued!.id]), changed: [], decided: new Map() };
  const under = kept.withOverlay(overlay);
  expect(count(await under.stats(plan()))).toBe(count(before) - 1);
  const other = kept.withOverlay({ ...overlay, removed: new Set<string>() });
  expect(count(await other.stats(plan()))).toBe(count(before));
  expect(await kept.stats(plan()), 'the release itself stays as it is').toBe(before);
  await cacheAnswers(engine, answers, 'another').stats(plan());
  expect(asked).toHaveLength(4);
  await Promise.all([under.close(), other.close()]);
});

test('a caller never gets cached values that another may see', async () => {
  const { engine, asked } = counted();
  const open = { ...release, engine: cacheAnswers(engine, new AnswerCache(1e6), 'r') };
  const hidden = pack.attributes.find(({ public: seen, type }) => !seen && type === 'string')!;
  const input = facetsParameters.parse({ by: hidden.name, limit: '200' }, pack);
  const all = await getFacets(open, input, { admin: true });
  const some = await getFacets(open, input, { admin: false });
  expect(some.withheld, 'rare values are withheld').toBeGreaterThan(0);
  expect(all.withheld).toBeUndefined();
  expect(await getFacets(open, input, { admin: true })).toBe(all);
  const word = String(records.find(({ attributes }) => attributes[hidden.name])!.attributes[hidden.name]);
  const worded = facetsParameters.parse({ by: 'coast', q: word }, pack);
  await getFacets(open, worded, { admin: true });
  const before = asked.length;
  await getFacets(open, worded, { admin: false });
  expect(asked.length, 'words of public attributes are another question').toBe(before + 1);
});

test('the cache is bounded in bytes and evicts the least recently used answer', async () => {
  const { engine, asked } = counted();
  const answers = new AnswerCache(40_000);
  const kept = cacheAnswers(engine, answers, 'r');
  for (let i = 0; i < 30; i += 1) await kept.stats(plan(i / 100));
  expect(answers.bytes).toBeGreaterThan(0);
  expect(answers.bytes).toBeLessThanOrEqual(40_000);
  const before = asked.length;
  await kept.stats(plan(0.29));
  expect(asked.length).toBe(before);
  await kept.stats(plan(0));
  expect(asked.length).toBe(before + 1);
  const none = cacheAnswers(engine, new AnswerCache(0), 'r');
  await none.stats(plan());
  await none.stats(plan());
  expect(asked.length).toBe(before + 3);
});

test('a result derived from a cached answer is computed once per answer', async () => {
  const open = { ...release, engine: cacheAnswers(release.engine, new AnswerCache(1e6), 'r') };
  const input = statsParameters.parse({ attribute: 'depth', group_by: 'coast' }, pack);
  const told = await getStats(open, input);
  expect(await getStats(open, input)).toBe(told);
  expect(await getStats(release, input)).toEqual(told);
});
