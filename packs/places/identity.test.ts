// Identities and slugs of places.
import { slugify } from 'dataset-register/pack';
import { expect, test } from 'vitest';
import { geohash, placeId, placeSlug, slug } from './identity.ts';

test('geohash: the published example, poles and the date line', () => {
  expect(geohash(57.64911, 10.40744, 11)).toBe('u4pruydqqvj');
  expect(geohash(-90, -180)).toBe('000000');
  expect(geohash(90, 180)).toBe('zzzzzz');
});

test('the id of a place without GeoNames id is from area, name and square', () => {
  const row = { name: 'Villa Ejemplo', country: 'ES', admin1: '99', admin2: '', lat: 40.1, lng: -3.7 };
  expect(placeId(row)).toBe('cj:ES.99.villa-ejemplo.ezjk5g');
});

test('slugs end with the id or the geohash', () => {
  expect(placeSlug('900000001', 'Beispielhafen', 'DE')).toBe('beispielhafen-de-900000001');
  expect(placeSlug('cj:ES.99.villa-ejemplo.u0x1b2', 'Another Name', 'ES')).toBe('villa-ejemplo-es-u0x1b2');
  expect(placeSlug('900000001', '', '')).toBe('place-900000001');
});

test('names in other scripts and with capitals inside become plain addresses', () => {
  expect(slug('McMurdo Station')).toBe('mcmurdo-station');
  expect(slug('Łódź')).toBe('lodz');
  expect(slug('…')).toBe('place');
});

test.each(['Bad 9-Hall', 'A', 'x-Y z', "Saint-John's", 'Two  Spaces', 'a-', '-a', 'A & B', 'St. Gallen', 'McMurdo'])(
  'the slug of %j is that of slugify',
  (name) => expect(slug(name)).toBe(slugify(name, { decamelize: false })),
);
