// Matching two lists of places: equal and different places, each matched once.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { match, type Spot } from './match.ts';

const spot = (name: string, lat: number, lng: number, admin1 = '01', country = 'AT'): Spot => ({
  name,
  country,
  admin1,
  lat,
  lng,
});

/** `name of a candidate = name of its place (reason)`, in the order of `candidates`. */
function describeMatches(places: Spot[], candidates: Spot[]): string[] {
  return match(places, candidates).map((hit, i) =>
    hit ? `${candidates[i]?.name} = ${places[hit.index]?.name} (${hit.by})` : `${candidates[i]?.name} is new`,
  );
}

test('the same point in the same country is the same place, whatever its name', () => {
  expect(describeMatches([spot('Alt', 47.5, 14.1)], [spot('Neu', 47.5, 14.1)])).toEqual(['Neu = Alt (position)']);
  expect(describeMatches([spot('Alt', 47.5, 14.1)], [spot('Neu', 47.5, 14.1, '01', 'SI')])).toEqual(['Neu is new']);
});

test('two places at one point are distinguished by name, in any order', () => {
  const places = [spot('Zwilling', 47.6, 14.3), spot('Greater Zwilling', 47.6, 14.3)];
  expect(describeMatches(places, [...places].reverse())).toEqual([
    'Greater Zwilling = Greater Zwilling (position)',
    'Zwilling = Zwilling (position)',
  ]);
  expect(describeMatches(places.slice(0, 1), [...places].reverse())).toEqual([
    'Greater Zwilling is new',
    'Zwilling = Zwilling (position)',
  ]);
});

test('the same name without accents within a tenth of a degree', () => {
  const places = [spot('Sankt Prübe', 47.5, 14.1)];
  expect(describeMatches(places, [spot('sankt prube', 47.59, 14.19)])).toEqual(['sankt prube = Sankt Prübe (name)']);
  expect(describeMatches(places, [spot('Sankt Prübe', 47.61, 14.1)])).toEqual(['Sankt Prübe is new']);
});

test('a new area code makes no other place, but the same area has precedence', () => {
  const places = [spot('Probe', 47.5, 14.1, '01'), spot('Probe', 47.52, 14.1, '02')];
  expect(describeMatches(places, [spot('Probe', 47.53, 14.1, '01')])).toEqual(['Probe = Probe (name)']);
  expect(match(places, [spot('Probe', 47.53, 14.1, '01')])[0]?.index).toBe(0);
  expect(match(places.slice(1), [spot('Probe', 47.53, 14.1, '03')])[0]?.index).toBe(0);
});

test('the closest pair is first, and a place is matched once', () => {
  const places = [spot('Probe', 47.5, 14.1)];
  expect(describeMatches(places, [spot('Probe', 47.58, 14.1), spot('Probe', 47.51, 14.1)])).toEqual([
    'Probe is new',
    'Probe = Probe (name)',
  ]);
});

test('a renamed place is the same within a hundredth of a degree', () => {
  const places = [spot('Gorodok', 55.46, 29.98)];
  expect(describeMatches(places, [spot('Haradok', 55.4699, 29.98)])).toEqual(['Haradok = Gorodok (nearness)']);
  expect(describeMatches(places, [spot('Haradok', 55.4705, 29.98)])).toEqual(['Haradok is new']);
});

test('nothing is matched twice, and a list matches itself', () => {
  const coordinate = fc.integer({ min: 0, max: 40 }).map((n) => 10 + n / 200);
  const place = fc
    .tuple(fc.constantFrom('Alt', 'Neu', 'Probe'), coordinate, coordinate, fc.constantFrom('01', '02'))
    .map(([name, lat, lng, admin1]) => spot(name, lat, lng, admin1));
  fc.assert(
    fc.property(fc.array(place, { maxLength: 30 }), fc.array(place, { maxLength: 30 }), (places, candidates) => {
      const used = match(places, candidates).flatMap((hit) => (hit ? [hit.index] : []));
      expect(new Set(used).size).toBe(used.length);
      expect(match(candidates, candidates).every((hit) => hit?.by === 'position')).toBe(true);
    }),
  );
});
