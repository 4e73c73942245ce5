// The profile equals a count over all records, and reveals nothing about paid values that fewer than five
// records share.
import { describe, expect, test } from 'vitest';
import { mergeCells } from '../../../api/operations/dataset/dataset_profile.ts';
import type { StoredRecord } from '../../../data/model/record.ts';
import { type AttributeProfile, edgesFor, FIXED_EDGES, getProfile } from '../../../data/queries/profile.ts';
import type { PriceRange, Value } from '../../../packs/define/model.ts';
import { appOfAll } from '../../support/app.ts';
import { verifies } from '../../support/verifies.ts';

interface Told {
  name: string;
  type: string;
  public: boolean;
  count: number | null;
  fill_rate: number | null;
  distinct: number | null;
  quantiles?: Record<string, number>;
  histogram?: { from: number; to: number; count: number }[];
  top?: { value: Value; count: number }[];
  cells?: { counts: { count: number }[] };
  withheld?: number;
  sources: { source: string; values: number }[];
  freshness: object | null;
}

const app = await appOfAll({ records: 120 });

const profile = async (dataset: string) => {
  const { status, body } = await app.json(`/v1/${dataset}/profile`);
  expect(status).toBe(200);
  return body as unknown as { records: number; snapshot: string; attributes: Told[] };
};
const valuesOf = (records: readonly StoredRecord[], name: string) =>
  records.flatMap(({ attributes }) => (attributes[name] === undefined ? [] : [attributes[name]]));
const number = (value: Value): number => (typeof value === 'number' ? value : (value as PriceRange).min);

describe.each(['tools', 'harbours'])('%s', (dataset) => {
  test('counts, fill rates and quantiles are those of the records', async () => {
    const records = app.records[dataset]!;
    const told = await profile(dataset);
    expect(told.records).toBe(records.length);
    expect(told.attributes.length).toBeGreaterThan(5);
    for (const one of told.attributes) {
      const values = valuesOf(records, one.name);
      if (one.count === null) {
        expect(values.length, one.name).toBeLessThan(5);
        continue;
      }
      expect(one.count, one.name).toBe(values.length);
      expect(one.fill_rate, one.name).toBe(Math.floor((values.length / records.length) * 1e4) / 1e4);
      if (one.quantiles) {
        const numbers = values.map(number);
        expect([one.quantiles['min'], one.quantiles['max']], one.name).toEqual([
          Math.min(...numbers),
          Math.max(...numbers),
        ]);
      }
      if (one.type === 'boolean' || one.type === 'enum') expect(one.distinct, one.name).toBe(new Set(values).size);
    }
  });

  test('bins contain every value once, where nothing is withheld', async () => {
    const { attributes } = await profile(dataset);
    const whole = attributes.filter(({ histogram, public: open }) => histogram && open);
    expect(whole.length).toBeGreaterThan(0);
    for (const { name, histogram = [], count } of whole) {
      expect(
        histogram.reduce((sum, bin) => sum + bin.count, 0),
        name,
      ).toBe(count);
      for (const [i, bin] of histogram.entries()) {
        expect(bin.from, name).toBeLessThan(bin.to);
        if (i > 0) expect(bin.from, name).toBeGreaterThanOrEqual(histogram[i - 1]!.to);
      }
    }
  });

  test('the bins of paid numbers do not depend on single values', async () => {
    const { attributes } = await profile(dataset);
    const paid = attributes.filter((one) => !one.public && one.histogram && one.type !== 'date');
    expect(paid.length).toBeGreaterThan(0);
    for (const { name, histogram = [] } of paid)
      for (const { from, to } of histogram) {
        const [at, next] = [FIXED_EDGES.indexOf(from), FIXED_EDGES.indexOf(to)];
        expect([name, at >= 0, next]).toEqual([name, true, at + 1]);
      }
  });

  test('values of paid attributes that fewer than five records share are hidden', async () => {
    verifies('leak.profiles');
    const { attributes } = await profile(dataset);
    const paid = attributes.filter((one) => !one.public);
    expect(paid.length).toBeGreaterThan(0);
    let withheld = 0;
    for (const { name, quantiles, histogram = [], top = [], cells, count, ...rest } of paid) {
      expect(quantiles, name).toBeUndefined();
      for (const group of [...histogram, ...top, ...(cells?.counts ?? [])])
        expect(group.count, name).toBeGreaterThanOrEqual(5);
      if (count === null)
        expect([rest.distinct, rest.fill_rate, rest.sources, rest.freshness]).toEqual([null, null, [], null]);
      withheld += rest.withheld ?? 0;
    }
    expect(withheld).toBeGreaterThan(0);
  });
});

test('it is free, tagged by the release and the pack, and has a Markdown twin without any key', async () => {
  const response = await app.ask('/v1/tools/profile');
  const etag = response.headers.get('etag') ?? '';
  expect(response.headers.get('cache-control')).toBe('public, no-cache');
  expect((await app.ask('/v1/tools/profile', { headers: { 'If-None-Match': etag } })).status).toBe(304);
  const text = await (await app.ask('/v1/tools/profile.md')).text();
  expect(text).toMatch(/^# Profile of tools/);
  // Public attributes show their range; paid ones the rounded edges around it. Both have their unit.
  expect(text).toMatch(/\n\|mass \(kg\)\|public\|.*\|-?[\d.,]+ to [\d.,]+, median/);
  expect(text).toMatch(/\n\|price\.rental \(EUR\/day\)\|paid\|.*\|between [\d.,]+ and [\d.,]+/);
  expect((await app.json('/v1/tools/profile?days=3')).body['error']).toBe('unknown_filter');
  expect((await app.json('/v1/nowhere/profile')).body['error']).toBe('unknown_dataset');
});

test('it equals a direct query, and is computed once', async () => {
  const lease = (await app.register.lease('tools'))!;
  try {
    const { attributes } = await profile('tools');
    expect(attributes).toEqual(JSON.parse(JSON.stringify(await getProfile(lease.release, {}))));
  } finally {
    lease.done();
  }
});

describe('edges', () => {
  const figures = (min: number, median: number, max: number) => ({ min, median, max });
  test.each([
    [figures(0, 5, 10), [0, 10]],
    [figures(-3.2, 0, 4), [-3.2, 4]],
    [figures(7, 7, 7), [7, 7]],
    [figures(0, 0.6, 220), [0, 220]],
    [figures(512, 262_144, 10_000_000), [512, 10_000_000]],
    [figures(0, 0, 0), [0, 0]],
  ])('of %j hold all values, ascend, and are round', (given, [min, max]) => {
    const edges = edgesFor(given);
    expect(edges.length).toBeGreaterThan(1);
    expect(edges.length).toBeLessThan(40);
    expect(edges).toEqual(edges.toSorted((a, b) => a - b));
    expect(new Set(edges).size).toBe(edges.length);
    expect(edges[0]).toBeLessThanOrEqual(min!);
    expect(edges.at(-1)).toBeGreaterThanOrEqual(max!);
    for (const edge of edges) expect(String(edge).replace(/[^1-9]/g, '').length).toBeLessThanOrEqual(3);
  });
});

test('for a tool, cells are merged into at most 50, and no record is lost', () => {
  const counts = Array.from({ length: 2000 }, (_, index) => ({
    lat: -90 + 2 * (index % 90),
    lng: -180 + 2 * ((index * 7) % 180),
    count: 1 + (index % 5),
  }));
  const total = (cells: readonly { count: number }[]) => cells.reduce((sum, { count }) => sum + count, 0);
  const profile = { name: 'location', cells: { degrees: 2, counts } } as unknown as AttributeProfile;
  const { cells } = mergeCells(profile);
  expect(cells!.counts.length).toBeLessThanOrEqual(50);
  expect(total(cells!.counts)).toBe(total(counts));
  for (const { lat, lng } of cells!.counts)
    expect([(lat + 90) % cells!.degrees, (lng + 180) % cells!.degrees]).toEqual([0, 0]);
  const few = { ...profile, cells: { degrees: 2, counts: counts.slice(0, 50) } };
  expect(mergeCells(few)).toBe(few);
});
