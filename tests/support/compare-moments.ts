// Compares the answers of a release as of a moment with those of a release that was built then, over seeded random
// requests.
import { expect } from 'vitest';
import { similarParameters, statsParameters } from '../../data/input/analysis-parameters.ts';
import { facetsParameters, searchParameters } from '../../data/input/search-parameters.ts';
import { questionOf, visibleSort } from '../../data/input/selection.ts';
import { isoTime } from '../../data/model/time.ts';
import type { Position, Predicate, SearchAnswer, SearchPlan, Visibility } from '../../data/plan/plan.ts';
import type { Release } from '../../data/releases/release.ts';
import { randomFacets, randomSearch, randomSimilar, randomStats } from './random-queries.ts';
import { pickOne, type Random } from './random-records.ts';

/** Ids of all records by ordinal, and the stored records. */
async function recordsOf({ engine, manifest }: Release) {
  const bodies = await engine.bodies(Array.from({ length: manifest.records }, (_, ordinal) => ordinal));
  const records = bodies.map(({ body }) => JSON.parse(body));
  return { records, ids: records.map(({ id }) => id as string) };
}

/** What earlier states do not have, or have from the night that published them. */
const TODAY = ['updated_since', 'provenance_status'];

/**
 * `release` as of `at` (milliseconds) answers like `then`; each kind of request `rounds` times. A release without
 * records has no requests.
 */
export async function compareMoment(release: Release, at: number, then: Release, next: Random, rounds: number) {
  const { pack } = release;
  const [today, past] = [await recordsOf(release.base ?? release), await recordsOf(then)];
  if (past.records.length === 0) return;
  const moment: Predicate = { kind: 'as_of', at };
  for (let round = 0; round < rounds; round += 1) {
    const scope: Visibility = pickOne(next, ['public', 'full']);
    const ready = <T>(make: (...args: [Random, Release['pack'], typeof past.records]) => T) => {
      const raw = make(next, pack, past.records) as Record<string, string | string[]>;
      for (const name of TODAY) delete raw[name];
      if (/updated$/.test(String(raw['sort']))) delete raw['sort'];
      return raw;
    };
    const compareAnswers = async <P extends { where: Predicate[] }, T>(
      raw: object,
      plan: P,
      ask: (engine: Release['engine'], plan: P) => Promise<T>,
      ids: (answer: T, ids: string[]) => unknown,
    ) => {
      const asOf = { ...plan, where: [...plan.where, moment] };
      const [answer, expected] = [await ask(release.engine, asOf), await ask(then.engine, plan)];
      expect(ids(answer, today.ids), `${isoTime(at)} ${JSON.stringify(raw)}`).toEqual(ids(expected, past.ids));
      return expected;
    };
    const search = ready(randomSearch);
    const input = searchParameters.parse(search, pack);
    const sort = visibleSort(input.sort, scope, pack);
    let after: Position | null = null;
    for (let page = 0; page < 3; page += 1) {
      const plan: SearchPlan = {
        where: questionOf(input, scope),
        sort,
        after,
        limit: pickOne(next, [2, 40]),
        total: true,
      };
      const answer: SearchAnswer = await compareAnswers(
        search,
        plan,
        (engine, plan) => engine.search(plan),
        ({ ordinals, ...rest }, ids) => ({ ...rest, ids: ordinals.map((ordinal) => ids[ordinal]) }),
      );
      after = answer.next;
      if (after === null) break;
    }
    const facets = ready(randomFacets);
    const {
      by: [by = ''],
      limit,
      ...counted
    } = facetsParameters.parse(facets, pack);
    const floor = pickOne(next, [0, 2]);
    await compareAnswers(
      facets,
      { where: questionOf(counted, scope), by, limit, floor },
      (engine, plan) => engine.facets(plan),
      (answer) => answer,
    );
    const stats = ready(randomStats);
    const {
      attributes: [attribute = ''],
      group_by,
      ...of
    } = statsParameters.parse(stats, pack);
    const grouped = { where: questionOf(of, scope), attribute, by: group_by, groups: 1000 };
    await compareAnswers(
      stats,
      grouped,
      (engine, plan) => engine.stats(plan),
      // Of equal numbers the lowest ordinal is another record in the other release.
      ({ total, groups }) => ({ total, groups: groups.map(({ lowest: _, highest: __, ...group }) => group) }),
    );
    const similar = ready(randomSimilar);
    const id = pickOne(next, past.ids);
    const likeness = similarParameters.parse({ ...similar, entity_id: id }, pack);
    const plan = {
      where: questionOf(likeness, scope),
      scope,
      differBy: likeness.differ_by,
      minScore: 0,
      limit: likeness.limit,
    };
    await compareAnswers(
      similar,
      plan,
      (engine, plan) => engine.similar({ ...plan, subject: (engine === then.engine ? past : today).ids.indexOf(id) }),
      (answer, ids) => answer.map(({ ordinal, score }) => ({ id: ids[ordinal], score })),
    );
  }
}
