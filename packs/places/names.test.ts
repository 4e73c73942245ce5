// Which other names of a place are kept.
import { expect, test } from 'vitest';
import { otherNames } from './names.ts';

test('no name that reads like its own, no transliteration, no link', () => {
  expect(otherNames('Köln,Koln,Cologne,kerun,Кёльн,https://place.example/x', 'Köln')).toEqual(['Cologne', 'Кёльн']);
  expect(otherNames('Köln', 'Köln')).toBeUndefined();
  expect(otherNames('', 'Köln')).toBeUndefined();
});

test('of spellings that differ by accents one is kept, the later and richer one', () => {
  expect(otherNames('Munchen,München', 'Munich')).toEqual(['München']);
});

test('a name in lower case counts when it is no plain Latin', () => {
  expect(otherNames("le Havre,'s-Hertogenbosch,s gravenhage,кёльн", 'X')).toEqual([
    'le Havre',
    "'s-Hertogenbosch",
    'кёльн',
  ]);
});

test('of very many, forty: accented names in use, the shortest, and one of each other script', () => {
  const latin = Array.from({ length: 60 }, (_, i) => `Name${'a'.repeat(i + 1)}`);
  const kept = otherNames(
    [...latin.reverse(), 'Lóngést Náme Whích Hás Áccénts Ánd Ís Véry Lóng', 'Имя', 'Имена', '名前', '이름'].join(','),
    'X',
  );
  expect(kept).toHaveLength(40);
  expect(kept?.slice(0, 2)).toEqual(['Namea', 'Nameaa']);
  expect(kept?.slice(-3)).toEqual(['Имя', '名前', '이름']);
});
