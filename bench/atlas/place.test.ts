// The atlas is the same in every run, and has the shape that measurements need.
import { expect, test } from 'vitest';
import { placeAt } from './place.ts';
import { atlasWorld } from './world.ts';

const nowhere = atlasWorld(7);
const places = Array.from({ length: 5000 }, (_, i) => placeAt(7, nowhere, i));

test('a place depends only on its number', () => {
  expect(placeAt(7, atlasWorld(7), 4321)).toEqual(places[4321]);
  expect(placeAt(8, atlasWorld(8), 4321).name).not.toBe(places[4321]?.name);
});

test('names are written in many scripts', () => {
  const text = places.flatMap(({ others }) => others).join(' ');
  for (const script of ['Cyrillic', 'Greek', 'Arabic', 'Han', 'Katakana', 'Hangul', 'Thai', 'Devanagari', 'Hebrew'])
    expect(text).toMatch(new RegExp(`\\p{Script=${script}}`, 'u'));
  expect(places.some(({ name, ascii }) => name !== ascii && /^[ -~]+$/.test(ascii))).toBe(true);
});

test('positions are on the globe, with five decimals', () => {
  for (const { lat, lng } of places) {
    expect(Math.abs(lat)).toBeLessThanOrEqual(90);
    expect(Math.abs(lng)).toBeLessThanOrEqual(180);
    expect(Math.round(lat * 1e5) / 1e5).toBe(lat);
  }
});

test('few countries are large, and shares of values and changes are as in places', () => {
  const share = (which: (place: (typeof places)[number]) => boolean) => places.filter(which).length / places.length;
  expect(share(({ country }) => country.code === 'AA')).toBeGreaterThan(0.05);
  expect(share(({ population }) => population !== null)).toBeCloseTo(0.7, 1);
  expect(share(({ later }) => later.population !== null)).toBeCloseTo(0.03, 1);
  expect(new Set(places.map(({ country }) => country.code)).size).toBeGreaterThan(150);
  expect(new Set(places.map(({ id }) => id)).size).toBe(places.length);
});
