// Text comparison for build and API: folding for equality and order, words for search.

/** Letters that NFKD does not decompose but readers type without marks. */
const PLAIN: Record<string, string> = { ß: 'ss', ø: 'o', ł: 'l', đ: 'd', æ: 'ae', œ: 'oe', þ: 'th', ð: 'd', ı: 'i' };

/** Texts that only need lower case: most are ASCII with single spaces. */
const ASCII_WORDS = /^(?:[!-~]+(?: [!-~]+)*)?$/;

/**
 * Lower case without accents: `Zürich` and `zurich` are equal. Combining marks of the Latin, Greek and
 * Cyrillic range are dropped; vowel signs of other scripts stay. Surrounding and repeated white space is
 * dropped.
 */
export function fold(text: string): string {
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
