// Suggests existing values for a value that no record has.
import type { Attribute } from '../../packs/define/model.ts';
import { fold } from '../../packs/define/text.ts';
import { editDistance } from '../input/name-suggestions.ts';

/** Suggestions per requested value. */
const SUGGESTED = 3;

/** Characters of a typed value that are compared. */
const LONGEST = 80;

const plain = (text: string): string => fold(text).replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, '');

/**
 * Known values nearest to `typed`: another name of the same thing, other punctuation, a few typing errors, or
 * a part in common. Empty when no value is near enough.
 */
export async function suggestValues(attribute: Attribute, typed: string, known: readonly string[]): Promise<string[]> {
  const same = attribute.vocabulary === 'country' ? await sameCountry(typed, known) : [];
  if (same.length > 0) return same;
  const letters = plain(typed.slice(0, LONGEST));
  if (letters === '') return [];
  const punctuated = known.filter((value) => plain(value) === letters);
  if (punctuated.length > 0) return punctuated.slice(0, SUGGESTED);
  const slips = misspeltValues(letters, known);
  return slips.length > 0 ? slips.slice(0, SUGGESTED) : partly(letters, fold(typed.slice(0, LONGEST)), known);
}

async function sameCountry(typed: string, known: readonly string[]): Promise<string[]> {
  const codeOf = await countryReader();
  const code = codeOf(typed);
  return code === null ? [] : known.filter((value) => codeOf(value) === code).slice(0, SUGGESTED);
}

/**
 * One error per three letters. In words of up to four letters the first letter must match, where errors are
 * rare.
 */
function misspeltValues(letters: string, known: readonly string[]): string[] {
  const most = Math.floor(letters.length / 3);
  const short = letters.length <= 4;
  const near = known
    .map((value) => ({ value, slips: editDistance(letters, plain(value.slice(0, LONGEST))) }))
    .filter(({ value, slips }) => slips <= most && (!short || plain(value).startsWith(letters.charAt(0))));
  const least = Math.min(...near.map(({ slips }) => slips));
  return near.filter(({ slips }) => slips === least).map(({ value }) => value);
}

/**
 * `large` is a word of `large_airport`, `mistral` is the beginning of `mistralai`; also in the other
 * direction.
 */
function partly(letters: string, typed: string, known: readonly string[]): string[] {
  if (letters.length < 4) return [];
  const parts = (text: string) => text.split(/[^\p{L}\p{M}\p{N}]+/u);
  const words = new Set(parts(typed));
  return known
    .filter((value) => {
      const other = plain(value);
      const begins = other.startsWith(letters) || (other.length >= 4 && letters.startsWith(other));
      return begins || parts(fold(value)).some((word) => word === letters || (word.length > 3 && words.has(word)));
    })
    .slice(0, SUGGESTED);
}

/** Two-letter codes by ISO 3166-1 codes and by folded names in many languages. */
type ByText = ReadonlyMap<string, string>;

let loading: Promise<ByText> | undefined;

/**
 * Finds the two-letter code for a text, such as `GB` for `UK`, `826` or `Vereinigtes Königreich`; null when
 * it names no country. The first call loads the names, one language per turn of the event loop.
 */
export async function countryReader(): Promise<(text: string) => string | null> {
  loading ??= loadCountries();
  const byText = await loading;
  return (text) => byText.get(fold(text)) ?? null;
}

async function loadCountries(): Promise<ByText> {
  const { default: countries } = await import('i18n-iso-countries/index.js');
  const byText = new Map<string, string>();
  const add = (text: string, code: string) => {
    const folded = fold(text);
    if (!byText.has(folded)) byText.set(folded, code);
  };
  for (const [three, two] of Object.entries(countries.getAlpha3Codes())) {
    add(two, two);
    add(three, two);
    add(countries.alpha3ToNumeric(three) ?? three, two);
  }
  // English first: a name that two languages use for different countries keeps its English meaning.
  const languages = countries.getSupportedLanguages();
  for (const language of ['en', ...languages.filter((each) => each !== 'en')]) {
    const file: { default: { countries: Record<string, string | string[]> } } = await import(
      `i18n-iso-countries/langs/${language}.json`,
      { with: { type: 'json' } }
    );
    for (const [code, names] of Object.entries(file.default.countries))
      for (const name of [names].flat()) add(name, code);
  }
  return byText;
}
