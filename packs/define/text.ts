// Texts: the form in which they are stored, folding for equality and order, words for search.

/** The most characters of identity and enum members, and the most bytes of any other text in UTF-8. */
export const LONGEST_TEXT = { member: 1_000, bytes: 1_000_000 };

/** Texts that are stored as they are: printable ASCII, tabs and line feeds. */
const STORED_ASCII = /^[\t\n -~]*$/;

/** Control characters that are dropped: all but NUL, tab, line feed and carriage return. */
const DROPPED = /[\u0001-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

/**
 * The form in which every text is stored, of a source or of a pack: NFC; CR LF and CR become LF; NUL and lone
 * surrogates become U+FFFD; other control characters but tab and LF are dropped. `normalizeText` of the result is the
 * result.
 */
export function normalizeText(text: string): string {
  if (STORED_ASCII.test(text)) return text;
  return text.toWellFormed().replace(/\r\n?/g, '\n').replaceAll('\0', '\ufffd').replace(DROPPED, '').normalize('NFC');
}

/** The number of characters that `normalizeText` drops. */
export const droppedCharacters = (text: string): number =>
  STORED_ASCII.test(text) ? 0 : (text.match(DROPPED)?.length ?? 0);

/**
 * Invisible characters that change the text direction, also of the page around a value, or have no width and
 * make different texts look equal. Those that letters and emoji need stay: joiners (U+200C, U+200D),
 * variation selectors, tags.
 */
const UNSEEN = /[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]/gu;

/** A visible character: joiners and selectors are invisible on their own. */
const SEEN = /[^\s\p{Default_Ignorable_Code_Point}]/u;

/** A value as it is stored: `normalizeText` without surrounding white space; empty without visible characters. */
export function storedText(text: string): string {
  return SEEN.test(text) ? normalizeText(text).trim() : '';
}

/**
 * A text on one line, for names and titles: white space becomes single spaces, invisible marks are removed. Empty
 * without visible characters.
 */
export function lineText(text: string): string {
  return storedText(normalizeText(text).replace(UNSEEN, '')).replace(/\s+/gu, ' ');
}

/** Whether a text has at most so many characters, counted as code points. */
export const hasAtMost = (text: string, characters: number): boolean =>
  text.length <= characters || (text.length <= 2 * characters && [...text].length <= characters);

/** Letters that NFKD does not decompose but readers type without marks. */
const PLAIN: Record<string, string> = { ß: 'ss', ø: 'o', ł: 'l', đ: 'd', æ: 'ae', œ: 'oe', þ: 'th', ð: 'd', ı: 'i' };

/** Texts that only need lower case: most are ASCII with single spaces. */
const ASCII_WORDS = /^(?:[!-~]+(?: [!-~]+)*)?$/;

/**
 * Signs that writers of Hebrew and Arabic leave out: points and cantillation; vowel marks, hamza and madda on a
 * letter (after NFKD), signs of the Quran, and the line that stretches a word (tatweel). Marks of Indic and other
 * scripts are letters of their words, and stay.
 */
const OPTIONAL_SIGNS =
  /[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed]/gu;

/** Arabic letters that are written for each other: other alefs, teh marbuta, alef maqsura. */
const ARABIC: Record<string, string> = { ٱ: 'ا', ٲ: 'ا', ٳ: 'ا', ة: 'ه', ى: 'ي' };

const HEBREW_OR_ARABIC = /[\u0591-\u06ff]/u;

/**
 * The form in which texts are searched, compared, counted and sorted: `foldKey` without invisible marks and
 * the signs that writers of Hebrew and Arabic leave out, so that `أبوظبي` and `ابوظبي` are equal.
 */
export function fold(text: string): string {
  const key = foldKey(text);
  if (ASCII_WORDS.test(key)) return key;
  const folded = key.replace(UNSEEN, '').replace(/ {2,}/g, ' ').trim();
  if (!HEBREW_OR_ARABIC.test(folded)) return folded;
  return folded
    .replace(OPTIONAL_SIGNS, '')
    .replace(/[ٱٲٳةى]/gu, (letter) => ARABIC[letter]!)
    .trim();
}

/**
 * Lower case without accents: `Zürich` and `zurich` are equal. Combining marks of the Latin, Greek and
 * Cyrillic range are dropped; marks of other scripts stay. Surrounding and repeated white space is dropped. Keys of
 * records are made of it, so it never changes.
 */
export function foldKey(text: string): string {
  if (ASCII_WORDS.test(text)) return text.toLowerCase();
  return text
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/gu, '')
    .replace(/[ßøłđæœþðı]/gu, (c) => PLAIN[c] ?? c)
    .replace(/\s+/gu, ' ')
    .trim();
}

/** The folded words of a text, in order, with repeats: runs of letters, marks and digits. */
export function words(text: string): string[] {
  return fold(text).match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}

/**
 * Orders two strings by code point, as DuckDB's binary collation does (UTF-16 order differs beyond the BMP).
 */
export function byCodePoint(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
