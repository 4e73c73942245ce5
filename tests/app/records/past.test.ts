// History against an independent evaluator, over seeded random years of fictional sources: as_of, facts and
// changelog.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { datasetNight } from '../../../build/night/dataset.ts';
import type { ChangelogInput } from '../../../data/input/history-parameters.ts';
import { isoTime } from '../../../data/model/time.ts';
import { NO_OVERLAY, type Overlay } from '../../../data/plan/overlay.ts';
import { recordsAsOf } from '../../../data/queries/as-of.ts';
import { getChangelog } from '../../../data/queries/changelog.ts';
import { getFacts } from '../../../data/queries/history.ts';
import { applyOverlay } from '../../../data/releases/apply-overlay.ts';
import { NO_OVERLAY_SOURCE } from '../../../data/releases/overlay-source.ts';
import { openRelease, type Release } from '../../../data/releases/release.ts';
import { loadPack } from '../../../packs/define/load.ts';
import type { Pack } from '../../../packs/define/model.ts';
import { compareMoment } from '../../support/compare-moments.ts';
import { draws } from '../../support/draws.ts';
import { PastWorld } from '../../support/evaluate-past.ts';
import { scratch, scratchOfAll, still, stonesPack } from '../../support/night-pack.ts';
import { randomPast } from '../../support/random-past.ts';
import { random } from '../../support/random-records.ts';
import { verifies } from '../../support/verifies.ts';

verifies('feed.observed-at', 'facts.get', 'fact.first-and-confirmed', 'changelog.get', 'consolidate.kept');

const NOW = new Date('2026-11-20T00:00:00Z');
const DAY = 86_400_000;
const EVERYTHING: ChangelogInput = {
  ...{ days: 365, limit: 500, offset: 0, attributes: null, entity: null, type: 'all' },
  ...{ direction: null, min_change_percent: null, by_day: false, from: null, to: null, group_by: null },
  ...{ where: [], words: [], text: '', statuses: [], names: [] },
};

async function nightOf(pack: Pack, folder: string, overlay: Overlay = NO_OVERLAY): Promise<Release> {
  const overlays = { ...NO_OVERLAY_SOURCE, read: async () => overlay };
  const { release } = await datasetNight(pack, folder, still(), { accept: true, overlays });
  return openRelease(folder, pack, release!);
}

/** Every record of a release by its code; ordinals of all of them. */
async function all(release: Release) {
  const ordinals = Array.from({ length: release.manifest.records }, (_, ordinal) => ordinal);
  const bodies = await release.engine.bodies(ordinals);
  const records = bodies.map(({ body }) => JSON.parse(body));
  return { ordinals, records, ids: new Map(records.map(({ id, attributes }) => [id, attributes.code as string])) };
}

describe.each([1, 2, 3, 4].slice(0, draws(4)))('world %i', (seed) => {
  const issues = randomPast(seed);
  const world = new PastWorld(issues);
  const folder = scratchOfAll();
  let release: Release;
  let found: Awaited<ReturnType<typeof all>>;
  beforeAll(async () => {
    release = await nightOf(stonesPack(folder, issues), folder);
    found = await all(release);
  });
  afterAll(() => release.engine.close());

  test('as of 60 random moments, each record matches the sources’ statements', async () => {
    const next = random(seed);
    const readings = [...world.readings.values()].flat();
    let known = 0;
    let unknown = 0;
    for (let i = 0; i < 60; i++) {
      // Moments of readings, those just before, and any others.
      const reading = Date.parse(readings[Math.floor(next() * readings.length)]!);
      const at =
        next() < 0.6 ? reading - Math.floor(next() * 2) : Date.parse('2025-12-20') + Math.floor(next() * 330 * DAY);
      const then = await recordsAsOf(release, found.ordinals, at, {});
      found.ordinals.forEach((ordinal, index) => {
        const code = found.ids.get(found.records[ordinal].id)!;
        const record = then[index];
        expect(record?.attributes ?? null, `${code} as of ${isoTime(at)}`).toEqual(world.record(code, isoTime(at)));
        if (record === null) unknown++;
        else known++;
      });
    }
    expect(Math.min(known, unknown)).toBeGreaterThan(5);
  });

  test('as of the end, a record is the current one but for the moment of its last change', async () => {
    const then = await recordsAsOf(release, found.ordinals, NOW.getTime(), {});
    then.forEach((record, ordinal) => {
      const { updated_at, ...rest } = record!;
      const { updated_at: visible, ...now } = found.records[ordinal];
      expect(rest).toEqual(now);
      expect(visible).toBe(isoTime(NOW.getTime()));
      const last = world.changes().find(({ code }) => code === now.attributes.code);
      expect(updated_at).toBe(last?.observed_at);
    });
  });

  test('facts are the statements, with first and newest observation, newest first', async () => {
    for (const [id, code] of found.ids) {
      const facts = await getFacts(release, id, { attribute: null, since: null }, {});
      const expected = [...world.said]
        .filter(([key]) => key.startsWith(`${code} `))
        .flatMap(([key, said]) => {
          const attribute = key.slice(code.length + 1);
          return said.map((each) => ({
            ...{ attribute, source: each.source, observed_at: each.at, confidence: expect.any(Number) },
            ...(each.value === undefined ? {} : { value: each.value }),
            confirmed_at: world.confirmed(code, attribute, each),
          }));
        });
      const told = facts.map(({ attribute, source, observed_at, confirmed_at, confidence, ...rest }) => ({
        ...{ attribute, source: source.id, observed_at, confidence },
        ...('value' in rest ? { value: rest.value } : {}),
        confirmed_at,
      }));
      const order = (one: { observed_at: string; attribute: string; source: string }) =>
        `${one.observed_at} ${one.attribute} ${one.source}`;
      const sorted = <T extends Parameters<typeof order>[0]>(list: T[]) =>
        list.toSorted((a, b) => order(a).localeCompare(order(b)));
      expect(sorted(told)).toEqual(sorted(expected));
      const times = facts.map(({ observed_at }) => observed_at);
      expect(times).toEqual(times.toSorted().reverse());
      for (const [attribute, each] of Map.groupBy(facts, (fact) => fact.attribute)) {
        const winner = world.published(code, attribute, '9');
        expect(each.filter(({ won }) => won).map(({ value }) => value)).toEqual(winner ? [winner.value] : []);
      }
    }
  });

  test('facts of one attribute, and since a moment', async () => {
    const [id = ''] = found.ids.keys();
    const every = await getFacts(release, id, { attribute: null, since: null }, {});
    const since = every[Math.floor(every.length / 2)]!.observed_at;
    const some = await getFacts(release, id, { attribute: null, since: Date.parse(since) }, {});
    expect(some).toEqual(every.filter(({ observed_at }) => observed_at >= since));
    const mass = await getFacts(release, id, { attribute: 'mass', since: null }, {});
    expect(mass).toEqual(every.filter(({ attribute }) => attribute === 'mass'));
  });

  test('the changelog has every change of a published value, once', async () => {
    const open = new Set(['code', 'name', 'status']);
    const { items, total } = await getChangelog(release, EVERYTHING, NOW, {});
    const expected = world.changes().map(({ code, attribute, old_value, new_value, ...rest }) => ({
      ...{ code, attribute, ...rest },
      ...(open.has(attribute) && old_value !== undefined ? { old_value } : {}),
      ...(open.has(attribute) && new_value !== undefined ? { new_value } : {}),
      ...(open.has(attribute) && old_value !== undefined && new_value === undefined ? { kind: 'withdrawn' } : {}),
    }));
    expect(total).toBe(expected.length);
    const told = items.map(({ entity_id, slug: _slug, name: _name, source_url: _url, ...rest }) => ({
      code: found.ids.get(entity_id) ?? '',
      ...rest,
    }));
    const order = (one: { code: string; attribute?: string; observed_at: string }) =>
      `${one.observed_at} ${one.code} ${one.attribute}`;
    const sorted = <T extends Parameters<typeof order>[0]>(list: T[]) =>
      list.toSorted((a, b) => order(a).localeCompare(order(b)));
    expect(sorted(told)).toEqual(sorted(expected));
    const times = items.map(({ observed_at }) => observed_at);
    expect(times).toEqual(times.toSorted().reverse());
  });

  test('its pages make up the complete list, and its filters work', async () => {
    const { items: every } = await getChangelog(release, EVERYTHING, NOW, {});
    const paged = [];
    for (let offset = 0; offset <= every.length; offset += 7)
      paged.push(...(await getChangelog(release, { ...EVERYTHING, limit: 7, offset }, NOW, {})).items);
    expect(paged).toEqual(every);
    const next = random(seed + 100);
    for (let i = 0; i < 20; i++) {
      const days = 1 + Math.floor(next() * 365);
      const attribute = next() < 0.5 ? 'mass' : null;
      const type = (['all', 'changed', 'added'] as const)[Math.floor(next() * 3)]!;
      const { slug } = found.records[Math.floor(next() * found.records.length)];
      const entity = next() < 0.5 ? slug.toUpperCase() : null;
      const some = await getChangelog(
        release,
        { ...EVERYTHING, days, attributes: attribute && [attribute], type, entity },
        NOW,
        {},
      );
      const since = isoTime(NOW.getTime() - days * DAY);
      const kept = every
        .filter(({ observed_at }) => observed_at >= since)
        .filter((each) => attribute === null || each.attribute === attribute)
        .filter((each) => type === 'all' || each.type === type)
        .filter((each) => entity === null || each.slug === slug);
      expect(some).toEqual({ items: kept, total: kept.length, days: null, groups: null });
    }
  });
});

// The strongest check: a register without any later readings.
describe('a record as of a day is what a night of that day would have published', () => {
  const known = (pack: Pack, end: string) => {
    const sources = pack.sources.map((source) => ({
      ...source,
      pins: source.pins.filter(({ observed_at }) => observed_at.slice(0, 10) <= end),
    }));
    // Too early: too few records for the pack's own tests.
    return { ...pack, sources, tests: [] };
  };

  async function compare(pack: Pack, dates: string[]) {
    const release = await nightOf(pack, scratch());
    const { ordinals, records } = await all(release);
    const next = random(7);
    for (const date of dates) {
      const then = await nightOf(known(pack, date), scratch());
      const published = new Map((await all(then)).records.map((record) => [record.id, record]));
      // The last moment of the day, since readings can be at any hour.
      const told = await recordsAsOf(release, ordinals, Date.parse(`${date}T23:59:59.999Z`), {});
      told.forEach((record, ordinal) => {
        const expected = published.get(records[ordinal].id);
        expect(record && { ...record, updated_at: '' }, `${date} ${records[ordinal].name}`).toEqual(
          expected === undefined ? null : { ...expected, updated_at: '' },
        );
      });
      await compareMoment(release, Date.parse(`${date}T23:59:59.999Z`), then, next, draws(4));
      await then.engine.close();
    }
    await release.engine.close();
  }

  const RULES: [string, Partial<Pack['consolidation']>][] = [
    ['the more trusted, however old', {}],
    ['the more trusted, unless it is a month older', { apart_days: 30 }],
    ['the newer reading', { rule: () => ({ prefer: 'newest' }) }],
  ];
  test.each(RULES)('where the sources win by: %s', async (_, rule) => {
    const pack = stonesPack(scratch(), randomPast(11));
    const ruled = { ...pack, consolidation: { ...pack.consolidation, ...rule } };
    await compare(ruled, ['2026-02-20', '2026-05-01', '2026-07-15', '2026-09-30']);
  });

  test('with opted-out records absent at every moment, and owners’ values from their edit', async () => {
    const pack = stonesPack(scratch(), randomPast(12));
    const base = await nightOf(pack, scratch());
    const { records } = await all(base);
    const [gone, edited] = records.map(({ id, slug }) => ({ entity: id as string, slug: slug as string }));
    const at = Date.parse('2026-05-10T12:00:00Z');
    const fact = {
      attribute: 'mass',
      value: '77',
      source_url: 'https://owner.example/',
      evidence: 'owner',
      at,
      version: 2,
    };
    const overlay = {
      ...NO_OVERLAY,
      version: 2,
      removed: new Map([[gone!.entity, { ...gone!, version: 1 }]]),
      ownerFacts: new Map([[edited!.entity, [{ ...fact, entity: edited!.entity }]]]),
    };
    const { release, problem } = await applyOverlay(base, overlay);
    expect(problem).toBeNull();
    const next = random(8);
    for (const date of ['2026-03-20', '2026-05-10', '2026-09-30']) {
      const moment = Date.parse(`${date}T23:59:59.999Z`);
      const facts = moment < at ? new Map() : overlay.ownerFacts;
      const then = await nightOf(known(pack, date), scratch(), { ...overlay, ownerFacts: facts });
      await compareMoment(release, moment, then, next, draws(4));
      const where = [{ kind: 'as_of' as const, at: moment }];
      const plan = { where, sort: { key: 'quality', descending: true }, after: null, limit: 100, total: true };
      const { total } = await release.engine.search(plan);
      expect(total).toBe(then.manifest.records);
      await then.engine.close();
    }
    await release.engine.close();
    await base.engine.close();
  });

  test.each(['tools', 'harbours'])('of %s', async (dataset) => {
    const pack = await loadPack(join(import.meta.dirname, '../../packs', dataset));
    const days = pack.sources.flatMap(({ pins }) => pins.map(({ observed_at }) => observed_at.slice(0, 10)));
    await compare(pack, [...new Set(days)]);
  });
});
