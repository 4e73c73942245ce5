// Prominence of airports, weights of their codes, and entries of the source that are no airports.
import { expect, test } from 'vitest';
import { loadPack } from '../define/load.ts';
import { flightsOf, prominenceOf } from './prominence.ts';
import type { AirportRow } from './rows.ts';
import { isNoAirport } from './rows.ts';

const row = (values: Partial<AirportRow>): AirportRow => ({
  ...{ iata: 'ZZX', icao: 'ZZX1', airport: 'X', type: '', country_code: 'DE', continent: 'EU', time: '' },
  ...{ latitude: 1, longitude: 1, elevation_ft: null, runway_length: null, scheduled_service: '' },
  ...{ wikipedia: '', website: '' },
  ...values,
});

test('flights are counts in place of an elevation', () => {
  expect(flightsOf(row({ elevation_ft: 232_718 }), row({ elevation_ft: 83 }))).toBe(232_718);
  expect(flightsOf(row({ elevation_ft: 232_718 }), undefined)).toBe(232_718);
  expect(flightsOf(row({ elevation_ft: 8513 }), row({ elevation_ft: 120 }))).toBe(8513);
  // An elevation, complete or truncated, an unconfirmed one, and an airfield without IATA code.
  expect(flightsOf(row({ elevation_ft: 125 }), row({ elevation_ft: 120 }))).toBeNull();
  expect(flightsOf(row({ elevation_ft: 355 }), row({ elevation_ft: 13_355 }))).toBeNull();
  expect(flightsOf(row({ elevation_ft: 8513 }), undefined)).toBeNull();
  expect(flightsOf(row({ elevation_ft: 8513, iata: '' }), row({ elevation_ft: 120 }))).toBeNull();
  expect(flightsOf(undefined, undefined)).toBeNull();
});

test('prominence grows with size, service, runway and flights, and placeholders do not count', () => {
  const large = row({ type: 'large_airport', scheduled_service: 'TRUE', runway_length: 12_000 });
  expect(prominenceOf(large, true, 100_000)).toEqual({
    value: 940,
    evidence: 'derived: large_airport, scheduled service, runway of 12000 ft, 100000 flights counted in version 3.0.1',
  });
  expect(prominenceOf(large, true, null).value).toBe(440);
  expect(prominenceOf(large, false, null)).toEqual({ value: 40, evidence: 'derived: runway of 12000 ft' });
  expect(prominenceOf(row({ type: 'heliport' }), true, null).value).toBe(50);
  expect(prominenceOf(row({}), true, null)).toEqual({ value: 0, evidence: 'derived: no values available' });
  expect(prominenceOf(row({ runway_length: 20_000, type: 'large_airport' }), true, 9e9).value).toBeLessThanOrEqual(
    1000,
  );
});

test('in the order by relevance a code counts as much as a word of the name', async () => {
  const { attributes } = await loadPack(import.meta.dirname);
  const heavy = attributes.filter(({ search_weight }) => search_weight === 10).map(({ name }) => name);
  expect(heavy).toEqual(['code', 'icao', 'iata', 'city', 'city_names']);
});

test.each([
  'London St Pancras railway station',
  'Bonn Thomastrasse Bus Stn',
  'Aix-en-Provence TGV rail station',
  'Hilversum Railway Service',
  'Aerogare des Invalides',
  'Gare Montparnasse Station',
  'Taipa Ferry Terminal',
  'Lost Harbor Sea Port',
  'Paris Metropolitan',
  '(Duplicate)Aeródromo de Coja',
])('no airport: %s', (name) => expect(isNoAirport(name)).toBe(true));

test.each([
  'Union Station Heliport',
  'Ferry County Airport',
  'Naval Air Station',
  'Alice Downs Station Airport',
  'Leuchars Station (Army)',
  'Port Alfred Airport',
  'Vancouver Harbour Flight Centre Seaplane Terminal',
  'Commerce Bus Plaza Heliport',
  'Fostoria Metropolitan',
  'Cavern City Air Terminal',
  'Halley Research Station',
  'Sky Harbor',
])('an airport: %s', (name) => expect(isNoAirport(name)).toBe(false));
