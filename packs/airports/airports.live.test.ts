// The airports collector over its real pins: the counts of data.md, one record per airport, what is doubted.
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { paths } from '../../data/layout.ts';
import { loadPack } from '../index.ts';
import type { Observed, Pack } from '../model.ts';
import { checkValue } from '../schema.ts';

let pack: Pack;
const versions = new Map<string, Observed[]>();

beforeAll(async () => {
  pack = await loadPack(import.meta.dirname);
  // tests/live/setup.ts has collected into this folder.
  const sources = paths.sources(process.env['DATA_DIR'] ?? '');
  const folder = async (name: string, version: string) => join(sources, name, version);
  for (const { id, pins } of pack.sources) {
    for (const pin of pins) {
      const reading = { ...pin, source: id, folder: await folder(pin.package, pin.version) };
      const found: Observed[] = [];
      for await (const one of pack.collector.read(reading, { folder, log: () => undefined })) found.push(one);
      versions.set(pin.version, found);
    }
  }
});

const doubted = (version: string, name: string) =>
  versions.get(version)?.filter(({ confidence }) => typeof confidence === 'object' && name in confidence).length;

test('each version holds the airports it held when its integrity was pinned', () => {
  // 3.0.1 lists three more than its own search by continent finds: their continents are wrong or missing.
  const counts = Object.fromEntries([...versions].map(([version, found]) => [version, found.length]));
  expect(counts).toEqual({ '2.0.0': 9027, '3.0.1': 18770, '4.0.0': 18775 });
});

test('no two airports share a code or a slug', () => {
  for (const found of versions.values()) {
    const slugs = found.map((one) => pack.identity.slug(one.identity, one.values as never));
    expect(new Set(found.map((one) => pack.identity.key(one.identity))).size).toBe(found.length);
    expect(new Set(slugs).size).toBe(slugs.length);
  }
});

test('nearly all airports of version 2 are found again under their codes', () => {
  const newest = new Set(versions.get('4.0.0')?.map((one) => one.identity['code']));
  const gone = versions.get('2.0.0')?.filter((one) => !newest.has(one.identity['code'] ?? '')) ?? [];
  expect(gone.length).toBeLessThanOrEqual(6);
});

test('doubts fall where the source went wrong', () => {
  expect(doubted('2.0.0', 'elevation')).toBe(0);
  expect(doubted('4.0.0', 'elevation')).toBeGreaterThan(5000);
  expect(doubted('4.0.0', 'type')).toBe(4899);
  const istanbul = versions.get('4.0.0')?.find((one) => one.identity['code'] === 'LTFM');
  expect(istanbul?.values['elevation']).toBe(325);
  expect(istanbul?.confidence).toBeUndefined();
});

test('next to no value is refused', () => {
  for (const [version, found] of versions) {
    const refused = found.flatMap(({ values }) =>
      pack.attributes
        .filter(({ name }) => values[name] !== undefined)
        .filter((each) => !checkValue(each, values[each.name]).ok),
    );
    expect(refused.length, version).toBeLessThan(450);
  }
});
