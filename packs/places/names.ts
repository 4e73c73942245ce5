// Other names of a place: GeoNames lists up to some hundred in every script and language, without their
// language.
import { fold, slugify } from 'dataset-register/pack';

/** Number of published names of a place; `q` finds the others too. */
export const PUBLISHED_NAMES = 40;

/** Of these at most this many in each script of the country, and in all scripts of other countries. */
const IN_COUNTRY_SCRIPT = 8;
const IN_OTHER_SCRIPTS = 14;

/** Machine transliterations, which GeoNames has in lower case, and links. */
function isNoise(entry: string, script: Script | null): boolean {
  return script === null || entry.includes('://') || (script === 'Latin' && !/\p{Lu}/u.test(entry));
}

const WRITTEN_TWICE = 1.2;

interface Name {
  text: string;
  script: Script;
  /** Number of spellings that differ only by accents and case. */
  spellings: number;
}

/** Names by folded text, each in its spelling with the most accents, which is the last in the list. */
function namesIn(list: string, nameFold: string): Name[] {
  const names = new Map<string, Name>();
  for (const entry of list.split(',')) {
    const script = entry === '' ? null : scriptOf(entry);
    if (script === null || isNoise(entry, script)) continue;
    const key = fold(entry);
    if (key === nameFold) continue;
    names.set(key, { text: entry, script, spellings: (names.get(key)?.spellings ?? 0) + 1 });
  }
  return [...names.values()];
}

/** Pairs of letters of a name, in Latin letters if it has any. */
function pairsOf({ text, script }: Name): Set<string> {
  const latin = slugify(text, { decamelize: false, separator: '' });
  const letters = latin === '' ? `${script}${text}` : ` ${latin} `;
  return new Set(Array.from({ length: Math.max(0, letters.length - 1) }, (_, i) => letters.slice(i, i + 2)));
}

function likeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0;
  for (const pair of a) if (b.has(pair)) shared++;
  return (2 * shared) / (a.size + b.size);
}

/** How similar each name is to all others: names in use are similar in many languages, rare ones are not. */
function commonness(names: readonly Name[]): Map<Name, number> {
  const pairs = names.map(pairsOf);
  const sum = (set: ReadonlySet<string>) => pairs.reduce((total, other) => total + likeness(set, other), 0);
  // A name that occurs with and without its accents is in use.
  return new Map(names.map((name, i) => [name, sum(pairs[i]!) * (name.spellings > 1 ? WRITTEN_TWICE : 1)]));
}

/**
 * All other names of a place, without those that fold like its own name, machine transliterations, links and
 * mixed scripts. The first forty are published: if there are more, names in the scripts of the country, one
 * in each other script, then Latin ones; within a script first those in the alphabet of the country's
 * language, and of these the ones most similar to all others.
 */
export function otherNames(list: string, name: string, country: string): string[] | undefined {
  const names = namesIn(list, fold(name));
  if (names.length === 0) return undefined;
  if (names.length <= PUBLISHED_NAMES) return names.map(({ text }) => text);
  const common = commonness(names);
  const ranked = (script: Script, at: string | null) =>
    names
      .filter((candidate) => candidate.script === script)
      .map((form) => ({ form, fit: Number(isInAlphabet(form.text, script, at)) }))
      .sort(
        (a, b) => b.fit - a.fit || common.get(b.form)! - common.get(a.form)! || a.form.text.length - b.form.text.length,
      )
      .map(({ form }) => form);
  const home = scriptsOf(country);
  const first = home.flatMap((script) => ranked(script, country).slice(0, IN_COUNTRY_SCRIPT));
  const others = OTHER_SCRIPTS.filter((script) => !home.includes(script))
    .flatMap((script) => ranked(script, null)[0] ?? [])
    .slice(0, IN_OTHER_SCRIPTS);
  const room = Math.max(0, PUBLISHED_NAMES - first.length - others.length);
  const chosen = new Set([...first, ...ranked('Latin', null).slice(0, room), ...others]);
  return [...chosen, ...names.filter((candidate) => !chosen.has(candidate))].map(({ text }) => text);
}

/** Scripts of names of places, the most common first. Japanese combines three. */
const SCRIPTS = [
  ...['Latin', 'Han', 'Cyrillic', 'Arabic', 'Devanagari', 'Katakana', 'Hangul', 'Bengali', 'Greek', 'Hebrew', 'Thai'],
  ...['Tamil', 'Telugu', 'Georgian', 'Armenian', 'Gujarati', 'Kannada', 'Malayalam', 'Gurmukhi', 'Oriya', 'Myanmar'],
  ...['Khmer', 'Sinhala', 'Ethiopic', 'Lao', 'Tibetan', 'Thaana', 'Mongolian', 'Syriac', 'Cherokee', 'Tifinagh'],
] as const;
export type Script = (typeof SCRIPTS)[number];

/** Scripts other than Latin, the most common first. */
const OTHER_SCRIPTS: readonly Script[] = SCRIPTS.slice(1);

/** Other characters in names: marks, punctuation, symbols, digits, spaces, modifier letters. */
const NEUTRAL = '\\p{Lm}\\p{M}\\p{P}\\p{S}\\p{Zs}\\p{Cf}\\d';

const of = (...scripts: string[]) =>
  new RegExp(`^[${scripts.map((script) => `\\p{Script=${script}}`).join('')}${NEUTRAL}]+$`, 'u');

/** Names in one script. Kanji with kana are Japanese, and hanja with hangul Korean. */
const PURE: readonly (readonly [Script, RegExp])[] = SCRIPTS.map((script) => {
  if (script === 'Katakana') return [script, of('Katakana', 'Hiragana', 'Han')];
  return [script, script === 'Hangul' ? of('Hangul', 'Han') : of(script)];
});

/** Most Latin names; classes of scripts are slower to test. */
const LATIN = /^[A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f][A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f '.-]*$/;

/** The script of all letters of a name; null for several scripts, as in look-alikes. */
export function scriptOf(name: string): Script | null {
  if (LATIN.test(name)) return 'Latin';
  if (!/\p{L}/u.test(name)) return null;
  return PURE.find(([, pattern]) => pattern.test(name))?.[0] ?? null;
}

/** Countries with more scripts than that of their main language, or another. */
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

/** ISO 15924 codes from CLDR's likely subtags that differ from the names here. */
const CODES: Record<string, Script> = {
  ...{ Cyrl: 'Cyrillic', Arab: 'Arabic', Grek: 'Greek', Hebr: 'Hebrew', Hans: 'Han', Hant: 'Han', Deva: 'Devanagari' },
  ...{ Beng: 'Bengali', Geor: 'Georgian', Armn: 'Armenian', Khmr: 'Khmer', Mymr: 'Myanmar', Laoo: 'Lao', Thai: 'Thai' },
};

/** Scripts other than Latin for places of a country, the main one first. */
export function scriptsOf(country: string): readonly Script[] {
  let script = scripts.get(country);
  if (script === undefined) {
    const code = /^[A-Z]{2}$/.test(country) ? new Intl.Locale(`und-${country}`).maximize().script : undefined;
    const main = CODES[code ?? ''];
    script = COUNTRY_SCRIPTS[country] ?? (main === undefined ? [] : [main]);
    scripts.set(country, script);
  }
  return script;
}

const RUSSIAN = 'абвгдеёжзийклмнопрстуфхцчшщъыьэюя';
const ARABIC = 'ابتثجحخدذرزسشصضطظعغفقكلمنهويىةءآأؤإئ';
const PERSIAN = 'اآبپتثجچحخدذرزژسشصضطظعغفقکگلمنوهیئءأؤ';

/** Letters of the main languages of countries whose script serves many languages. */
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

/** Letters of the most widely read language of a script. */
const COMMON: Partial<Record<Script, ReadonlySet<string>>> = {
  Cyrillic: alphabet(RUSSIAN),
  Arabic: alphabet(ARABIC),
  // English, French, Spanish, Portuguese, German, Italian, Dutch, Polish, Turkish.
  Latin: alphabet('abcdefghijklmnopqrstuvwxyzàâäáãçéèêëîïíìñôöóòõùûüúßąćęłńśźżğış'),
};
const alphabets = new Map(Object.entries(ALPHABETS).map(([country, letters]) => [country, alphabet(letters)]));

/**
 * Whether a name uses only letters of its country's language, or else of the script's most widely read one.
 */
export function isInAlphabet(name: string, script: Script, country: string | null): boolean {
  const at = country !== null && scriptsOf(country)[0] === script ? alphabets.get(country) : undefined;
  const letters = at ?? COMMON[script];
  if (letters === undefined) return true;
  return [...name.normalize('NFC').toLowerCase()].every((letter) => !/\p{L}/u.test(letter) || letters.has(letter));
}
