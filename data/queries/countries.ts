// Which country a text means: ISO 3166-1 codes of two letters, three letters or digits, and names in many languages.
import { fold } from '../../packs/define/text.ts';

type ByText = ReadonlyMap<string, string>;

let loading: Promise<ByText> | undefined;

/**
 * Reads the code of two letters from a text, such as `GB` from `UK`, `826` or `Vereinigtes Königreich`; null where it means no country.
 * The first call loads the names, language by language, so that other requests are answered meanwhile.
 */
export async function countryReader(): Promise<(text: string) => string | null> {
  loading ??= load();
  const byText = await loading;
  return (text) => byText.get(fold(text)) ?? null;
}

async function load(): Promise<ByText> {
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
  // English first: a name that two languages give to different countries keeps its English meaning.
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
