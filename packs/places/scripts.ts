// Scripts and alphabets: which script a name is written in, and which scripts and languages are at home in a country.

/** Scripts that names of places come in, the most read ones first. Japanese writes three together. */
const SCRIPTS = [
  ...['Latin', 'Han', 'Cyrillic', 'Arabic', 'Devanagari', 'Katakana', 'Hangul', 'Bengali', 'Greek', 'Hebrew', 'Thai'],
  ...['Tamil', 'Telugu', 'Georgian', 'Armenian', 'Gujarati', 'Kannada', 'Malayalam', 'Gurmukhi', 'Oriya', 'Myanmar'],
  ...['Khmer', 'Sinhala', 'Ethiopic', 'Lao', 'Tibetan', 'Thaana', 'Mongolian', 'Syriac', 'Cherokee', 'Tifinagh'],
] as const;
export type Script = (typeof SCRIPTS)[number];

/** Scripts other than Latin, the most read ones first. */
export const OTHER_SCRIPTS: readonly Script[] = SCRIPTS.slice(1);

/** What else may stand in a name: marks, punctuation, symbols, digits, spaces, modifier letters. */
const NEUTRAL = '\\p{Lm}\\p{M}\\p{P}\\p{S}\\p{Zs}\\p{Cf}\\d';

const of = (...scripts: string[]) =>
  new RegExp(`^[${scripts.map((script) => `\\p{Script=${script}}`).join('')}${NEUTRAL}]+$`, 'u');

/** All letters of a pure name. Kanji beside kana are Japanese, and hanja beside hangul Korean. */
const PURE: readonly (readonly [Script, RegExp])[] = SCRIPTS.map((script) => {
  if (script === 'Katakana') return [script, of('Katakana', 'Hiragana', 'Han')];
  return [script, script === 'Hangul' ? of('Hangul', 'Han') : of(script)];
});

/** The script that all letters of a name belong to; null where they are of several, as in look-alikes. */
export function scriptOf(name: string): Script | null {
  if (!/\p{L}/u.test(name)) return null;
  return PURE.find(([, pattern]) => pattern.test(name))?.[0] ?? null;
}

/** Scripts of countries that have more than the one of their main language, or another. */
const COUNTRY_SCRIPTS: Record<string, readonly Script[]> = {
  ...{ AF: ['Arabic'], AZ: ['Cyrillic'], BA: ['Cyrillic'], BT: ['Tibetan'], CY: ['Greek'], DJ: ['Arabic'] },
  ...{ DZ: ['Arabic', 'Tifinagh'], ER: ['Ethiopic', 'Arabic'], ET: ['Ethiopic'], IL: ['Hebrew', 'Arabic'] },
  ...{ JP: ['Katakana', 'Han'], KG: ['Cyrillic'], KM: ['Arabic'], KR: ['Hangul', 'Han'], KP: ['Hangul', 'Han'] },
  ...{ KZ: ['Cyrillic'], LK: ['Sinhala', 'Tamil'], MA: ['Arabic', 'Tifinagh'], MD: ['Cyrillic'], ME: ['Cyrillic'] },
  ...{ MK: ['Cyrillic'], MN: ['Cyrillic', 'Mongolian'], MR: ['Arabic'], MV: ['Thaana'], MY: ['Arabic', 'Han'] },
  ...{ PK: ['Arabic'], RS: ['Cyrillic'], SG: ['Han', 'Tamil'], SO: ['Arabic'], TD: ['Arabic'], TJ: ['Cyrillic'] },
  ...{ TM: ['Cyrillic'], UZ: ['Cyrillic'], XK: ['Cyrillic'], EH: ['Arabic'], PS: ['Arabic', 'Hebrew'] },
  IN: ['Devanagari', 'Bengali', 'Tamil', 'Telugu', 'Kannada', 'Malayalam', 'Gujarati', 'Gurmukhi', 'Oriya', 'Arabic'],
};

const scripts = new Map<string, readonly Script[]>();

/** ISO 15924 codes as CLDR's likely subtags give them, where a script has another name here. */
const CODES: Record<string, Script> = {
  ...{ Cyrl: 'Cyrillic', Arab: 'Arabic', Grek: 'Greek', Hebr: 'Hebrew', Hans: 'Han', Hant: 'Han', Deva: 'Devanagari' },
  ...{ Beng: 'Bengali', Geor: 'Georgian', Armn: 'Armenian', Khmr: 'Khmer', Mymr: 'Myanmar', Laoo: 'Lao', Thai: 'Thai' },
};

/** Scripts other than Latin that a country writes its places in, its main one first. */
export function scriptsOf(country: string): readonly Script[] {
  let known = scripts.get(country);
  if (known === undefined) {
    const code = /^[A-Z]{2}$/.test(country) ? new Intl.Locale(`und-${country}`).maximize().script : undefined;
    const main = CODES[code ?? ''];
    known = COUNTRY_SCRIPTS[country] ?? (main === undefined ? [] : [main]);
    scripts.set(country, known);
  }
  return known;
}

const RUSSIAN = 'абвгдеёжзийклмнопрстуфхцчшщъыьэюя';
const ARABIC = 'ابتثجحخدذرزسشصضطظعغفقكلمنهويىةءآأؤإئ';
const PERSIAN = 'اآبپتثجچحخدذرزژسشصضطظعغفقکگلمنوهیئءأؤ';

/** Letters of the languages of countries whose script has letters of many languages. */
const ALPHABETS: Record<string, string> = {
  UA: 'абвгґдеєжзиіїйклмнопрстуфхцчшщьюя’ʼ',
  BY: 'абвгдеёжзійклмнопрстуўфхцчшыьэюя’ʼ',
  BG: 'абвгдежзийклмнопрстуфхцчшщъьюя',
  MK: 'абвгдѓежзѕијклљмнњопрстќуфхцчџш',
  ...Object.fromEntries(['RS', 'BA', 'ME', 'XK'].map((country) => [country, 'абвгдђежзијклљмнњопрстћуфхцчџш'])),
  KZ: `${RUSSIAN}әғқңөұүһі`,
  KG: `${RUSSIAN}ңөү`,
  MN: `${RUSSIAN}өү`,
  TJ: `${RUSSIAN}ғӣқӯҳҷ`,
  UZ: `${RUSSIAN}ўқғҳ`,
  ...Object.fromEntries(['AF', 'IR'].map((country) => [country, PERSIAN])),
  PK: 'اآبپتٹثجچحخدڈذرڑزژسشصضطظعغفقکگلمنںوہھءیےئؤۂ',
};

const alphabet = (letters: string) => new Set(letters.normalize('NFC'));

/** Letters of the language that most readers of a script know. */
const COMMON: Partial<Record<Script, ReadonlySet<string>>> = {
  Cyrillic: alphabet(RUSSIAN),
  Arabic: alphabet(ARABIC),
  // English, French, Spanish, Portuguese, German, Italian, Dutch, Polish, Turkish.
  Latin: alphabet('abcdefghijklmnopqrstuvwxyzàâäáãçéèêëîïíìñôöóòõùûüúßąćęłńśźżğış'),
};
const alphabets = new Map(Object.entries(ALPHABETS).map(([country, letters]) => [country, alphabet(letters)]));

/** Whether a name keeps to the letters of its country's language, or else of the script's most read one. */
export function inAlphabet(name: string, script: Script, country: string | null): boolean {
  const at = country !== null && scriptsOf(country)[0] === script ? alphabets.get(country) : undefined;
  const letters = at ?? COMMON[script];
  if (letters === undefined) return true;
  return [...name.normalize('NFC').toLowerCase()].every((letter) => !/\p{L}/u.test(letter) || letters.has(letter));
}
