// Suggestions for values that no record has: other names of countries, punctuation, typing errors, parts of
// words.
import { expect, test } from 'vitest';
import { loadPack } from '../../packs/define/load.ts';
import type { Attribute } from '../../packs/define/model.ts';
import { countryReader, suggestValues } from './value-hints.ts';

const pack = await loadPack(`${import.meta.dirname}/../../tests/packs/tools`);
const plain = pack.attributes.find(({ name }) => name === 'maker') as Attribute;
const country: Attribute = { ...plain, vocabulary: 'country' };

test.each([
  ['UK', 'GB'],
  ['USA', 'US'],
  ['Deutschland', 'DE'],
  ['Suisse', 'CH'],
  ['日本', 'JP'],
  ['826', 'GB'],
])('%s is the country %s, by code and by name', async (typed, code) => {
  expect(await suggestValues(country, typed, ['US', 'GB', 'DE', 'CH', 'JP', 'FR'])).toEqual([code]);
  const name = new Intl.DisplayNames('en', { type: 'region' }).of(code);
  expect(await suggestValues(country, typed, [name as string, 'France'])).toEqual([name]);
});

test('a text that names no country gives null', async () => {
  const codeOf = await countryReader();
  expect([codeOf('Atlantis'), codeOf(''), codeOf('constructor')]).toEqual([null, null, null]);
});

test.each([
  ['xai', ['zai', 'x-ai'], ['x-ai']],
  ['xai', ['zai', 'openai'], []],
  ['sow', ['saw', 'drill'], ['saw']],
  ['nordwrk', ['Nordwerk', 'Leihgut'], ['Nordwerk']],
  ['large', ['large_airport', 'heliport'], ['large_airport']],
  ['berlin', ['Europe/Berlin', 'Europe/Paris'], ['Europe/Berlin']],
  ['???', ['a', 'b'], []],
  ['x'.repeat(100_000), ['abc'], []],
])('values meant %#', async (typed, known, meant) => expect(await suggestValues(plain, typed, known)).toEqual(meant));
