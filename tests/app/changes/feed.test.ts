// The change feed over several nights: a reader gets every change once, in order, also when releases appear
// in between.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { datasetNight } from '../../../build/night/dataset.ts';
import { changesParameters } from '../../../data/input/history-parameters.ts';
import { paths } from '../../../data/model/layout.ts';
import type { StoredRecord } from '../../../data/model/record.ts';
import { type FeedChange, getChanges } from '../../../data/queries/changes.ts';
import { openRelease, type Release } from '../../../data/releases/release.ts';
import type { Value } from '../../../packs/define/model.ts';
import { type Issues, scratchOfAll, still, stonesPack } from '../../support/night-pack.ts';
import { randomPast } from '../../support/random-past.ts';
import { verifies } from '../../support/verifies.ts';

verifies('changes.get', 'changes.since', 'feed.recorded-at', 'feed.exclusive', 'feed.limit');

/**
 * Data and time of each night. In the last one a new revision reads the sources again, without the stones "a"
 * and "b".
 */
const NIGHTS = [
  { end: '2026-04-30', now: '2026-05-01T00:00:00Z', without: [] as string[] },
  { end: '2026-07-31', now: '2026-08-01T00:00:00Z', without: [] },
  { end: '2026-12-31', now: '2026-11-01T00:00:00Z', without: [] },
  { end: '2026-12-31', now: '2026-11-20T00:00:00Z', without: ['a', 'b'] },
];

const folder = scratchOfAll();
const issues = randomPast(5);

function without(said: Record<string, Issues>, codes: string[]): Record<string, Issues> {
  const kept = (told: Issues[string]) => (told === 'broken' ? told : told.filter(({ code }) => !codes.includes(code)));
  return Object.fromEntries(
    Object.entries(said).map(([source, readings]) => [
      source,
      Object.fromEntries(Object.entries(readings).map(([date, told]) => [date, kept(told)])),
    ]),
  );
}

async function night({ end, now, without: codes }: (typeof NIGHTS)[number]): Promise<Release> {
  const pack = stonesPack(folder, without(issues, codes), codes.length > 0 ? 2 : 1);
  for (const source of pack.sources) source.pins = source.pins.filter((pin) => pin.observed_at.slice(0, 10) <= end);
  const { release, outcome } = await datasetNight(pack, folder, still(now), { accept: true });
  expect(outcome).toBe('released');
  return openRelease(folder, pack, release!);
}

async function recordsOf(release: Release): Promise<Map<string, StoredRecord>> {
  const ordinals = Array.from({ length: release.manifest.records }, (_, ordinal) => ordinal);
  const bodies = await release.engine.bodies(ordinals);
  return new Map(bodies.map(({ body }) => JSON.parse(body) as StoredRecord).map((record) => [record.id, record]));
}

/** Changes of a night, by comparing all records before and after. */
function compared(before: Map<string, StoredRecord>, after: Map<string, StoredRecord>) {
  const found: unknown[] = [];
  for (const id of new Set([...before.keys(), ...after.keys()])) {
    const [old, now] = [before.get(id), after.get(id)];
    if (!now) found.push({ entity_id: id, type: 'removed' });
    else
      for (const attribute of new Set(Object.keys({ ...old?.attributes, ...now.attributes }))) {
        const [was, is] = [old?.attributes[attribute], now.attributes[attribute]];
        if (JSON.stringify(was) === JSON.stringify(is)) continue;
        const values = {
          ...(was === undefined ? {} : { old_value: was }),
          ...(is === undefined ? {} : { new_value: is }),
        };
        found.push({ entity_id: id, attribute, type: was === undefined ? 'added' : 'changed', ...values });
      }
  }
  return found;
}

const sorted = (list: unknown[]) => list.map((each) => JSON.stringify(each)).sort();

describe('a reader who takes seven changes at a time', () => {
  const nights: { release: Release; read: FeedChange[]; expected: unknown[] }[] = [];
  /** Everything read, in order. */
  const read: FeedChange[] = [];

  beforeAll(async () => {
    let since = '2000-01-01T00:00:00Z';
    let before = new Map<string, StoredRecord>();
    for (const [index, each] of NIGHTS.entries()) {
      const release = await night(each);
      const after = await recordsOf(release);
      const part: FeedChange[] = [];
      // Some nights are only partly read before the next release; after the last one everything is read.
      for (let page = 0; index === NIGHTS.length - 1 || page < [2, 100, 1][index]!; page++) {
        const { items, next_since } = await getChanges(release, changesParameters.parse({ since, limit: '7' }), {});
        expect(items.length).toBeLessThanOrEqual(7);
        if (items.length === 0) {
          expect(next_since).toBe(since);
          break;
        }
        expect(next_since).toBe(items.at(-1)!.recorded_at);
        part.push(...items);
        since = next_since;
      }
      read.push(...part);
      nights.push({ release, read: part, expected: compared(before, after) });
      before = after;
    }
  });
  afterAll(async () => {
    for (const { release } of nights) await release.engine.close();
  });

  test('gets every change of every night exactly once', () => {
    verifies('shape.changes');
    const told = read.map(({ entity_id, attribute, type, old_value, new_value }) => ({
      ...{ entity_id, type },
      ...(attribute === undefined ? {} : { attribute }),
      ...(old_value === undefined ? {} : { old_value }),
      ...(new_value === undefined ? {} : { new_value }),
    }));
    const expected = nights.flatMap((each) => each.expected);
    expect(expected.length).toBeGreaterThan(100);
    expect(sorted(told.map(ordered))).toEqual(sorted(expected.map((each) => ordered(each as Record<string, unknown>))));
    expect(told.filter(({ type }) => type === 'removed')).toHaveLength(2);
    for (const { old_value, new_value, change } of read)
      if (typeof old_value === 'number' && typeof new_value === 'number') expect(change).toBe(new_value - old_value);
  });

  test('in the order in which they became visible, each at a microsecond of its own', () => {
    const times = read.map(({ recorded_at }) => recorded_at);
    expect(times).toEqual([...new Set(times)].sort());
    for (const time of times) expect(time).toMatch(/^2026-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    NIGHTS.forEach(({ now }, index) => {
      const until = `${now.slice(0, -1)}.000000Z`;
      const from = index === 0 ? '' : `${NIGHTS[index - 1]!.now.slice(0, -1)}.000000Z`;
      const visible = times.filter((time) => time > from && time <= until);
      expect(visible).toHaveLength(nights[index]!.expected.length);
    });
  });

  test('and has the register’s values at the end', async () => {
    const copy = new Map<string, Record<string, Value>>();
    for (const { entity_id, attribute, type, new_value } of read) {
      const record = copy.get(entity_id) ?? {};
      copy.set(entity_id, record);
      if (type === 'removed') copy.delete(entity_id);
      else if (new_value === undefined) delete record[attribute!];
      else record[attribute!] = new_value;
    }
    const last = await recordsOf(nights.at(-1)!.release);
    expect(copy).toEqual(new Map([...last].map(([id, { attributes }]) => [id, attributes])));
  });

  test('another page size reads the same, and so does another release that has seen it', async () => {
    const { release } = nights.at(-1)!;
    const [whole, page] = await Promise.all(
      ['10000', '1'].map((limit) => getChanges(release, changesParameters.parse({ since: '2000-01-01', limit }), {})),
    );
    expect(whole!.items).toEqual(read);
    expect(page!.items).toEqual(read.slice(0, 1));
    // The first release is deleted by now; the one before the last is kept, and has all but the last night.
    const kept = nights.at(-2)!.release;
    expect(paths.release(folder, 'stones', kept.manifest.release)).toBe(kept.folder);
    const earlier = await getChanges(kept, changesParameters.parse({ since: '2000-01-01', limit: '10000' }), {});
    expect(earlier.items).toEqual(read.slice(0, earlier.items.length));
    expect(read.length - earlier.items.length).toBe(nights.at(-1)!.expected.length);
  });

  test('since is exclusive, to the microsecond', async () => {
    const { release } = nights.at(-1)!;
    const one = read[10]!.recorded_at;
    const after = await getChanges(release, changesParameters.parse({ since: one, limit: '1' }), {});
    expect(after.items).toEqual([read[11]]);
    const finer = await getChanges(
      release,
      changesParameters.parse({ since: one.replace('Z', '999Z'), limit: '1' }),
      {},
    );
    expect(finer.items).toEqual([read[11]]);
    const shifted = `${one.slice(0, 11)}${String((Number(one.slice(11, 13)) + 2) % 24).padStart(2, '0')}${one.slice(13, -1)}+02:00`;
    if (Number(one.slice(11, 13)) < 22)
      expect((await getChanges(release, changesParameters.parse({ since: shifted, limit: '1' }), {})).items).toEqual([
        read[11],
      ]);
  });

  test('a removed record keeps its name', () => {
    const removed = read.filter(({ type }) => type === 'removed');
    for (const { name, slug, attribute, source_url } of removed) {
      expect(name).toMatch(/^St(one|ein) [ab]$/);
      expect(slug).toMatch(/^(st(one|ein)-)?[ab]$/);
      expect([attribute, source_url]).toEqual([undefined, undefined]);
    }
  });
});

/** Sorts members, so that texts can be compared. */
function ordered(each: Record<string, unknown>): unknown {
  return Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)));
}
