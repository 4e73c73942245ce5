// Text comparison for build and API: folding for equality and order, words for search.

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
 * The form in which texts are searched, compared, counted and sorted: `foldKey` without the signs that writers of
 * Hebrew and Arabic leave out, so that `أبوظبي` and `ابوظبي` are equal.
 */
export function fold(text: string): string {
  const folded = foldKey(text);
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
