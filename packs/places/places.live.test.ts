// The places collector on its real pins: the counts of data.md, one record per place, time and memory.
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { paths } from '../../data/model/layout.ts';
import { loadPack } from '../define/load.ts';
import type { Pack } from '../define/model.ts';

interface Told {
  records: number;
  listed: number;
  population: number;
  timezone: number;
  elevation: number;
  admin1: number;
  byName: number;
  byNearness: number;
}

let pack: Pack;
/** CPU time, which other work on the machine does not affect. */
let seconds = 0;
const told = new Map<string, Told>();
const slugs = new Map<string, string>();
const twice: string[] = [];
/** Population by id, and its change in the newer dump. */
const people = new Map<string, number>();
const population = { filled: 0, up: 0, down: 0, outliers: 0 };

beforeAll(async () => {
  pack = await loadPack(import.meta.dirname);
  // tests/live/setup.ts collects into this folder.
  const sources = paths.sources(process.env['DATA_DIR'] ?? '');
  const folder = async (name: string, version: string) => join(sources, name, version);
  const start = process.cpuUsage();
  for (const source of pack.sources) {
    for (const pin of source.pins) {
      const reading = { ...pin, source: source.id, folder: await folder(pin.package, pin.version) };
      const seen = new Set<string>();
      const counts = {
        records: 0,
        listed: 0,
        population: 0,
        timezone: 0,
        elevation: 0,
        admin1: 0,
        byName: 0,
        byNearness: 0,
      };
      for await (const one of pack.collector.read(reading, { folder, log: () => undefined })) {
        const key = pack.identity.key(one.identity);
        if (seen.has(key)) twice.push(`${key} in ${pin.version}`);
        seen.add(key);
        if (!slugs.has(key)) slugs.set(key, pack.identity.slug(one.identity, one.values as never));
        counts.records++;
        counts.listed += Number(one.values['status'] === 'listed');
        for (const name of ['population', 'timezone', 'elevation', 'admin1'] as const) {
          counts[name] += Number(one.values[name] !== undefined);
        }
        counts.byName += Number(one.confidence === 0.75);
        counts.byNearness += Number(one.confidence === 0.6);
        if (source.id === 'geonames') count(key, Number(one.values['population'] ?? 0), pin.version === '3.0.0');
      }
      told.set(pin.version, counts);
    }
  }
  const { user, system } = process.cpuUsage(start);
  seconds = (user + system) / 1e6;
});

function count(key: string, now: number, first: boolean): void {
  const before = people.get(key);
  if (first) people.set(key, now);
  else if (before !== undefined && before !== now) {
    if (before === 0) population.filled++;
    else if (now > before) population.up++;
    else population.down++;
    if (before > 0 && now > 0 && Math.max(now / before, before / now) > 3) population.outliers++;
  }
}

test('each version has the same number of places as when its integrity was pinned', () => {
  expect(told.get('3.0.0')).toMatchObject({ records: 127_420, population: 112_940 });
  expect(told.get('1.0.4')).toMatchObject({ records: 135_233, population: 122_445, timezone: 135_233 });
  // 264 of 135,233 have no terrain height; 13 of them are surveyed.
  expect(told.get('1.0.4')?.elevation).toBe(134_982);
  expect([...told.values()].map((each) => each.listed)).toEqual([127_420, 135_233, 154_694, 170_114, 171_075]);
});

test('nearly all places with an id are matched, and nearly all by their position', () => {
  const newest = told.get('1.1.64');
  const missing = (newest?.records ?? 0) - (newest?.listed ?? 0);
  expect(missing).toBeGreaterThan(1000);
  expect(missing).toBeLessThan(1300);
  expect((newest?.byName ?? 0) + (newest?.byNearness ?? 0)).toBeLessThan(1200);
});

test('history of populations by id', () => {
  // data.md: 2,106 newly filled, 2,466 up, 1,170 down, 129 outliers, for equal ids; 125 places have changed
  // their id.
  expect(population.filled).toBeGreaterThanOrEqual(2106);
  expect(population.up).toBeGreaterThanOrEqual(2466);
  expect(population.down).toBeGreaterThanOrEqual(1170);
  expect(population.filled + population.up + population.down).toBeLessThan(5742 + 125);
  expect(population.outliers).toBeGreaterThanOrEqual(129);
});

test('all places: their number, and each once', () => {
  expect(slugs.size).toBeGreaterThan(172_000);
  expect(slugs.size).toBeLessThan(173_500);
  // Two new places of one name are in one square on both sides of a border; the build makes their slugs
  // unique.
  expect(slugs.size - new Set(slugs.values()).size).toBeLessThanOrEqual(1);
  expect(twice).toEqual([]);
  expect([...slugs.values()].filter((slug) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(slug))).toEqual([]);
});

test('all five versions are read in less than a minute of CPU time', () => {
  expect(seconds).toBeLessThan(60);
});
