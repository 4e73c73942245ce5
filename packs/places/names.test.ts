// Other names of a place: names for search, and published names.
import { expect, test } from 'vitest';
import { isInAlphabet, otherNames, PUBLISHED_NAMES, scriptOf, scriptsOf } from './names.ts';

test('no name that folds like its own name, no transliteration, no link', () => {
  expect(otherNames('Köln,Koln,Cologne,kerun,Кёльн,https://place.example/x', 'Köln', 'DE')).toEqual([
    'Cologne',
    'Кёльн',
  ]);
  expect(otherNames('Köln', 'Köln', 'DE')).toBeUndefined();
  expect(otherNames('', 'Köln', 'DE')).toBeUndefined();
});

test('of spellings that differ by accents the later one with more accents is kept', () => {
  expect(otherNames('Munchen,München', 'Munich', 'DE')).toEqual(['München']);
});

test('a name in lower case counts when it is not plain Latin', () => {
  expect(otherNames("le Havre,'s-Hertogenbosch,s gravenhage,кёльн", 'X', 'FR')).toEqual([
    'le Havre',
    "'s-Hertogenbosch",
    'кёльн',
  ]);
});

test('names that mix two scripts are dropped; Japanese and Korean combine several', () => {
  expect(otherNames('Məskəү,Мaдрид,東京タワー,서울市,さいたま', 'X', 'JP')).toEqual([
    '東京タワー',
    '서울市',
    'さいたま',
  ]);
});

test('all names are searchable, and the first forty are published', () => {
  const latin = Array.from({ length: 60 }, (_, i) => `Name${'abcdefghij'[i % 10]}${'klmnop'[Math.floor(i / 10)]}`);
  const others = ['Имяград', 'Имјаград', '名前', '이름', 'ნამე'];
  const names = otherNames([...latin, ...others].join(','), 'X', 'GE') ?? [];
  expect(new Set(names)).toEqual(new Set([...latin, ...others]));
  const published = names.slice(0, PUBLISHED_NAMES);
  expect(published[0]).toBe('ნამე');
  // Of two names in a foreign script the one in its most common alphabet.
  expect(published.slice(-3).toSorted()).toEqual(['Имяград', '名前', '이름'].toSorted());
  expect(published).not.toContain('Имјаград');
});

test('of several names in the script of the country those in its own alphabet are first, common sounds before rare ones', () => {
  const latin = Array.from({ length: 40 }, (_, i) => `Moskv${'aeiou'[i % 5]}${'klmnoprs'[i % 8]}`);
  const cyrillic = ['Мускав', 'Мәскәү', 'Маскав', 'Мёскваў', 'Москва'];
  const names = otherNames([...cyrillic, ...latin].join(','), 'Moscow', 'RU') ?? [];
  expect(names[0]).toBe('Москва');
  expect(names.slice(0, 5).slice(-2).toSorted()).toEqual(['Мёскваў', 'Мәскәү'].toSorted());
});

test('scripts and alphabets', () => {
  expect(['Москва', '深圳', 'დ', 'Мaдрид', '123', 'サン', "l'Ḥ"].map(scriptOf)).toEqual([
    'Cyrillic',
    'Han',
    'Georgian',
    null,
    null,
    'Katakana',
    'Latin',
  ]);
  expect(['RU', 'GE', 'IL', 'DE', 'JP', 'cj', ''].map((country) => scriptsOf(country)[0])).toEqual([
    'Cyrillic',
    'Georgian',
    'Hebrew',
    undefined,
    'Katakana',
    undefined,
    undefined,
  ]);
  expect(isInAlphabet('Київ', 'Cyrillic', 'UA')).toBe(true);
  expect(isInAlphabet('Київ', 'Cyrillic', 'RU')).toBe(false);
  expect(isInAlphabet('Кыив', 'Cyrillic', 'UA')).toBe(false);
});

test('names of one script, each letter of the Latin blocks included', () => {
  for (let code = 0x41; code <= 0x24f; code++) {
    const letter = String.fromCharCode(code);
    if (/\p{L}/u.test(letter)) expect(scriptOf(letter), letter).toBe(/\p{Script=Latin}/u.test(letter) ? 'Latin' : null);
  }
  expect(scriptOf("L'Ångström-Ville St. Ö")).toBe('Latin');
  expect(scriptOf('Aа')).toBeNull();
  expect(scriptOf("' -")).toBeNull();
});
