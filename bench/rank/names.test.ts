// Which record a query means: by name and prominence, the same in every run.
import { expect, test } from 'vitest';
import { plainName, type RankRecord, rankQueries, sampleRecords, sharesOf } from './names.ts';

const record = (id: string, name: string, prominence: number, more: Partial<RankRecord> = {}): RankRecord => ({
  ...{ id, name, prominence, place: null, others: [] },
  ...more,
});

const RECORDS = [
  record('a', 'Lódź Süd', 900, { place: 'Poland', others: ['LDZ'] }),
  record('b', 'Lodz-Sud', 500, { place: 'France' }),
  record('c', 'Port', 10, { place: 'France' }),
  record('d', 'Port Said', 800, { others: ['Port Said', 'PSD'] }),
  record('e', 'Port Moresby', 800, { others: ['LDZ'] }),
  record('f', 'San Juan Bautista', -1),
];

const meant = (id: string) =>
  Object.fromEntries(
    rankQueries(
      RECORDS,
      RECORDS.filter((each) => each.id === id),
    ).map(({ kind, text, meant }) => [kind, [text, ...meant]]),
  );

test('equal names without accents mean the most prominent; ties are all meant', () => {
  expect(plainName('  São-Paulo/Congonhas ')).toBe('sao paulo congonhas');
  expect(meant('b')).toEqual({
    'full name': ['Lodz-Sud', 'a'],
    'plain name': ['lodz sud', 'a'],
    'first words': ['lodz', 'a'],
    'name and place': ['Lodz-Sud France', 'b'],
  });
  expect(meant('a')['code or other name']).toEqual(['LDZ', 'a']);
});

test('first words mean the record of exactly that name, else the most prominent that begins with them', () => {
  expect(meant('d')).toMatchObject({ 'first words': ['port', 'c'], 'code or other name': ['PSD', 'd'] });
  expect(meant('f')).toEqual({
    'full name': ['San Juan Bautista', 'f'],
    'plain name': ['san juan bautista', 'f'],
    'first words': ['san juan', 'f'],
  });
});

test('a sample has the most prominent, the middle and others, the same in every order', () => {
  const many = Array.from({ length: 90 }, (_, i) => record(`r${i}`, `n${i}`, i));
  const ids = sampleRecords(many, 9).map(({ id }) => id);
  expect(ids.slice(0, 6)).toEqual(['r89', 'r88', 'r87', 'r59', 'r49', 'r39']);
  expect(new Set(ids).size).toBe(9);
  expect(sampleRecords(many.toReversed(), 9).map(({ id }) => id)).toEqual(ids);
});

test('shares of the first and the first five', () => {
  expect(sharesOf([0, 0, 4, -1])).toEqual({ queries: 4, first: 0.5, five: 0.75 });
});
