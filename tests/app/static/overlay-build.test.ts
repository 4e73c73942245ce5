// A release with an applied overlay answers as the one before did under it; and a reader of the change feed
// has all values.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { statsParameters, timeseriesParameters } from '../../../data/input/analysis-parameters.ts';
import { changelogParameters, changesParameters } from '../../../data/input/history-parameters.ts';
import { currentRelease } from '../../../data/model/manifest.ts';
import type { StoredRecord } from '../../../data/model/record.ts';
import { recordsAsOf } from '../../../data/queries/as-of.ts';
import { getChangelog } from '../../../data/queries/changelog.ts';
import { type FeedChange, getChanges } from '../../../data/queries/changes.ts';
import { getFacts } from '../../../data/queries/history.ts';
import { getStats } from '../../../data/queries/stats.ts';
import { getTimeseries } from '../../../data/queries/timeseries.ts';
import { type Release, releaseTag } from '../../../data/releases/release.ts';
import type { Pack } from '../../../packs/define/model.ts';
import { draws } from '../../support/draws.ts';
import { scratchOfAll, stonesPack } from '../../support/night-pack.ts';
import { type OverlayWorld, openWorld } from '../../support/overlay-world.ts';
import { randomPast } from '../../support/random-past.ts';
import { pickOne, random } from '../../support/random-records.ts';
import { verifies } from '../../support/verifies.ts';

verifies('overlay.survives', 'consolidate.decision', 'feed.exclusive', 'feed.recorded-at', 'shape.changes-removed');

/** Changes before each release. */
const CHANGES = 15;
const NIGHTS = ['2026-04-30', '2026-07-31', '2026-12-31'];
const at = (night: number, minute: number) => `2026-11-2${night}T00:${String(minute).padStart(2, '0')}:00Z`;

/** All answers of a release in a comparable form, independent of ordinals. */
async function told(release: Release, pack: Pack, ids: readonly string[]): Promise<unknown> {
  const { engine, manifest } = release;
  const query = { where: [], sort: { key: 'quality', descending: true }, after: null, limit: 1000, total: true };
  const found = await engine.search(query);
  const bodies = await engine.bodies(found.ordinals);
  const records = bodies.map(({ body }) => JSON.parse(body) as StoredRecord);
  const ordinals = new Map(records.map(({ id }, i) => [id, found.ordinals[i]!]));
  const resolved = await engine.resolve(ids.slice());
  const facts: Record<string, unknown> = {};
  const doubts: Record<string, unknown> = {};
  for (const id of ids) {
    facts[id] = await getFacts(release, id, { attribute: null, since: null }, {});
    doubts[id] = [await engine.openItems(id), await engine.review({ entity: id, id: null, limit: 20 })];
  }
  const moments = ['2026-03-02', '2026-06-20', '2026-11-23T00:30:00Z', '2027-01-01'].map((moment) =>
    Date.parse(moment),
  );
  const past: unknown[] = [];
  for (const moment of moments) past.push(await recordsAsOf(release, [...ordinals.values()], moment, {}));
  const now = new Date('2026-11-25T00:00:00Z');
  const everything = changelogParameters.parse({ days: '365', limit: '500' }, release.pack);
  const log = await getChangelog(release, everything, now, {});
  const about = { attribute: 'mass', group_by: 'status' };
  return {
    ids: resolved.map((ordinal, i) => (ordinal === null ? null : ids[i])),
    records,
    versions: bodies.map(({ version }) => version),
    total: found.total,
    counts: [manifest.records, manifest.facts, sorted(manifest.ages), manifest.enums],
    facts,
    doubts,
    past,
    log: { total: log.total, items: sorted(log.items) },
    facets: await engine.facets({ where: [], by: 'status', limit: 50, floor: 0 }),
    stats: withoutRecords(await getStats(release, statsParameters.parse(about, pack))),
    series: await getTimeseries(release, timeseriesParameters.parse({ ...about, days: '366' }, pack), now),
    similar: await Promise.all(
      [...ordinals].map(async ([id, subject]) => {
        const alike = await engine.similar({ subject, where: [], differBy: null, limit: 20 });
        return [id, alike.map(({ ordinal, score }) => [records[found.ordinals.indexOf(ordinal)]!.id, score])];
      }),
    ),
    dataset: pack.id,
  };
}

/** Statistics without the records of the least and the greatest: of several, that with the lowest ordinal is named. */
const withoutRecords = (stats: unknown): unknown =>
  JSON.parse(JSON.stringify(stats, (key, value) => (/^(min|max)_record$/.test(key) ? undefined : value)));

const sorted = (list: readonly unknown[]) => list.map((each) => JSON.stringify(each)).sort();

/** A reader who takes five lines at a time, and stores every value. */
class Reader {
  since = '2000-01-01T00:00:00Z';
  readonly copy = new Map<string, Map<string, unknown>>();
  readonly read: FeedChange[] = [];

  async readOn(release: Release, pages = Number.POSITIVE_INFINITY): Promise<void> {
    for (let page = 0; page < pages; page++) {
      const { items, next_since } = await getChanges(
        release,
        changesParameters.parse({ since: this.since, limit: '5' }),
        {},
      );
      if (items.length === 0) return;
      for (const item of items) this.#take(item);
      this.since = next_since;
    }
  }

  #take(item: FeedChange): void {
    this.read.push(item);
    if (item.type === 'removed') {
      expect(Object.keys(item).sort()).toEqual(['entity_id', 'name', 'observed_at', 'recorded_at', 'slug', 'type']);
      this.copy.delete(item.entity_id);
      return;
    }
    const record = this.copy.get(item.entity_id) ?? new Map<string, unknown>();
    this.copy.set(item.entity_id, record);
    if (item.new_value === undefined) record.delete(item.attribute!);
    else record.set(item.attribute!, item.new_value);
  }
}

describe.each([1, 2, 3].slice(0, draws(3)))('world %i', (seed) => {
  const folder = scratchOfAll();
  const issues = randomPast(seed);
  const pack = stonesPack(folder, issues);
  const pins = new Map(pack.sources.map((source) => [source.id, source.pins]));
  const next = random(seed * 7);
  let world: OverlayWorld;
  const reader = new Reader();
  let known: string[];

  /** The sources up to a day. */
  const until = (day: string) => {
    for (const source of pack.sources)
      source.pins = pins.get(source.id)!.filter((pin) => pin.observed_at.slice(0, 10) <= day);
  };

  beforeAll(async () => {
    until(NIGHTS[0]!);
    world = await openWorld(folder, pack, at(0, 0));
    known = [...(await world.records()).keys()];
  });
  afterAll(() => world.close());

  /** One random change; impossible ones are skipped. */
  async function change(night: number, minute: number): Promise<void> {
    const when = at(night, minute);
    const here = [...(await world.records()).values()];
    const gone = [...world.release().overlay!.removed.keys()];
    const record = pickOne(next, here);
    const chance = next();
    if (chance < 0.2 && here.length > 4) await world.optOut(record.id, when);
    else if (chance < 0.3 && gone.length > 0) {
      const back = pickOne(next, gone);
      await world.restore(back, when);
      // A release without the record is built again at once; until then an earlier one may have it.
      if ((await currentRelease(folder, pack.id)) !== world.release().manifest.release) {
        expect([...(await world.records()).keys()]).toContain(back);
        await world.night(when, { collects: false });
      }
      if (!(await world.records()).has(back)) await world.night(when, { collects: false });
      expect([...(await world.records()).keys()]).toContain(back);
    } else if (chance < 0.55) {
      const [item] = await world.release().engine.review({ entity: record.id, id: null, limit: 9 });
      if (item) await world.decide(record.id, item.id, item.attribute, pickOne(next, ['approved', 'rejected']), when);
    } else if (chance < 0.9) {
      const values = {
        name: pickOne(next, ['A new name', 'Änderung', null]),
        status: pickOne(next, ['here', 'nowhere before']),
        mass: pickOne(next, [7, 900, null]),
        tags: pickOne(next, [['red', 'by the owner'], ['flat']]),
        'price.sale': pickOne(next, [9, { min: 1, max: 4, currency: 'EUR' }]),
        place: { lat: 3, lng: 4 },
      };
      const some = Object.entries(values).filter(() => next() < 0.4);
      if (some.length > 0) await world.say(record.id, Object.fromEntries(some), when);
    }
  }

  test('after many changes the next release equals the last one under them, and the reader lost nothing', async () => {
    let minute = 1;
    for (const [night, end] of NIGHTS.entries()) {
      for (let i = 0; i < CHANGES; i++) {
        await change(night, minute++ % 60);
        if (next() < 0.5) await reader.readOn(world.release(), 2);
      }
      const [first] = (await world.records()).keys();
      await world.say(first!, { name: `Night ${night}` }, at(night, 57));
      // The same facts and the later decisions: no difference is visible.
      const before = world.release();
      const expected = await told(before, pack, known);
      const made = await world.night(at(night, 59), { collects: false });
      expect(made.outcome).toBe('released');
      const after = world.release();
      expect(after.manifest.release).not.toBe(before.manifest.release);
      expect(releaseTag(after)).toBe(after.manifest.release);
      expect(after.touched).toBeUndefined();
      expect(await told(after, pack, known)).toEqual(expected);
      await reader.readOn(after);
      expectCopy(reader, await world.records());
      expect(await getChanges(after, changesParameters.parse({ since: reader.since }), {})).toMatchObject({
        items: [],
      });
      // A second run changes nothing.
      expect((await world.night(at(night, 59), { collects: false })).outcome).toBe('unchanged');

      // New readings after the decisions, and a change during the build.
      until(end);
      await change(night, 58);
      await world.night(at(night, 59));
      for (const id of (await world.records()).keys()) if (!known.includes(id)) known.push(id);
    }
    await reader.readOn(world.release());
    expectCopy(reader, await world.records());
    const times = reader.read.map(({ recorded_at }) => recorded_at);
    expect(times).toEqual([...new Set(times)].sort());
    expect(reader.read.filter(({ type }) => type === 'removed').length).toBeGreaterThan(1);
  }, 120_000);
});

function expectCopy({ copy }: Reader, records: Map<string, StoredRecord>): void {
  const plain = [...copy]
    .filter(([, values]) => values.size > 0)
    .map(([id, values]) => [id, Object.fromEntries(values)] as const);
  expect(Object.fromEntries(plain)).toEqual(
    Object.fromEntries([...records].map(([id, { attributes }]) => [id, attributes])),
  );
}
