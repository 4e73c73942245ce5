// Countries by codes and by names in many languages.
import { expect, test } from 'vitest';
import { countryReader } from './hints.ts';

test.each([
  ['UK', 'GB'],
  ['USA', 'US'],
  ['Deutschland', 'DE'],
  ['Suisse', 'CH'],
  ['日本', 'JP'],
  ['826', 'GB'],
])('%s is the country %s, by code and by name', async (typed, code) => {
  const codeOf = await countryReader();
  expect(codeOf(typed)).toBe(code);
  expect(codeOf(new Intl.DisplayNames('en', { type: 'region' }).of(code) as string)).toBe(code);
});

test('a text that names no country gives null', async () => {
  const codeOf = await countryReader();
  expect([codeOf('Atlantis'), codeOf(''), codeOf('constructor')]).toEqual([null, null, null]);
});
