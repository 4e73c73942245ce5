// Markdown that external values cannot forge: escaped text, links, tables (contract section 6).

/** Text that is Markdown already and must not be escaped again. */
export class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  toString(): string {
    return this.text;
  }
}

/** Line breaks and other control characters, which could start a new block. */
const BREAKS = /[\s\p{Cc}\u2028\u2029]+/gu;
/** Directional overrides, which can make text read as something else. */
const OVERRIDES = /[\u202a-\u202e\u2066-\u2069]/gu;
/** Characters that open or close inline markup anywhere. */
const INLINE = /[\\`*[\]<>|~]/g;
/** An underscore inside a word is never emphasis; at a word's edge it may be. */
const EDGE_UNDERSCORE = /(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu;
const ENTITY = /&(?=#?\w+;)/g;
/** Marks that make a block where a line begins with them: heading, quote, list, rule, setext underline. */
const LINE_START = /^(?:#{1,6}(?=\s|$)|[-+](?=\s|$)|-{2,}|=+)/;
const NUMBERED = /^(\d{1,9})([.)])(?=\s|$)/;
/** A heading ends before these marks. */
const HEADING_END = /(?<= )#+$/;
/** Text that needs no escape, matched first for speed: most values of most records. */
const PLAIN = /^(?!\d{1,9}[.)](?: |$))[\p{L}\p{N}](?: ?[\p{L}\p{N}\p{M},()'’/%°€-]|(?<!w)\.)*$/iu;

/**
 * Escapes text so that it reads the same and cannot become a table cell, link, heading or any other markup.
 * White space of every kind becomes one space. Text without special characters is unchanged, to save tokens.
 * A bare web address stays as it is: a reader that links it uses the address itself.
 */
export function escapeText(text: string): string {
  return isPlainAscii(text) || PLAIN.test(text) ? text : escapeMarks(text);
}

/** Kinds of ASCII characters for `isPlainAscii`; other ones may be markup. */
const [OTHER, WORD, PUNCTUATION, SPACE, UNDERSCORE] = [0, 1, 2, 3, 4] as const;
const KINDS = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[a-z\d]/i.test(character)) return WORD;
  if (character === ' ') return SPACE;
  if (character === '_') return UNDERSCORE;
  return '!"$%\'()+,-./:;=?@^{}'.includes(character) ? PUNCTUATION : OTHER;
});

/**
 * Whether a text needs no escape because of its ASCII characters; false also for some texts that need none. One
 * pass over the characters: dates, codes and most names take a tenth of the time of the expressions.
 */
export function isPlainAscii(text: string): boolean {
  // As if a space preceded: a text begins with a letter or a digit.
  let before: number = SPACE;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    const kind = code < 128 ? KINDS[code]! : OTHER;
    if (kind !== WORD) {
      // An underscore needs a letter or a digit on both sides.
      if (kind === OTHER || before === UNDERSCORE) return false;
      if (before === SPACE && (kind !== PUNCTUATION || i === 0)) return false;
      if (kind === UNDERSCORE && before !== WORD) return false;
    }
    before = kind;
  }
  return before !== SPACE && before !== UNDERSCORE && !NUMBERED.test(text);
}

/** The same without the shortcut for plain text. */
export function escapeMarks(text: string): string {
  return text
    .toWellFormed()
    .replace(OVERRIDES, '')
    .replace(BREAKS, ' ')
    .trim()
    .replace(INLINE, '\\$&')
    .replace(ENTITY, '\\&')
    .replace(EDGE_UNDERSCORE, '\\_')
    .replace(LINE_START, '\\$&')
    .replace(NUMBERED, '$1\\$2')
    .replace(HEADING_END, '\\$&');
}

/** A value as Markdown: markup is unchanged, null and undefined are '', everything else is escaped. */
export function markdown(value: unknown): string {
  if (value instanceof Markup) return value.text;
  return value === null || value === undefined ? '' : escapeText(String(value));
}

/** Characters that could end a link destination or a table cell, although a URL may contain them. */
const UNSAFE_IN_URL = /[\s()<>[\]{}|\\`"'*~^]/g;

/**
 * Web addresses that URL.parse does not change: a lower-case host name, no default port, a path without dot
 * segments, and no character that must be encoded.
 */
const PLAIN_URL =
  /^https?:\/\/(?!xn--)[a-z][a-z\d-]*(?:\.(?!xn--)[a-z][a-z\d-]*)*(?::[1-9]\d{3})?\/(?:[\w-][\w.-]*(?:\/[\w-][\w.-]*)*\/?)?$/;

/** An http(s) URL that is safe as a link destination, in a cell or as plain text; null for anything else. */
export function linkTarget(url: string): string | null {
  if (PLAIN_URL.test(url)) return url;
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return null;
  return parsed.href
    .replace(UNSAFE_IN_URL, (c) => '%' + c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0'))
    .replace(ENTITY, '&amp;');
}

/** `[text](url)`, or the text alone when the URL is not a web address. */
export function link(text: string, url: string): Markup {
  const target = linkTarget(url);
  return new Markup(target === null ? escapeText(text) : `[${escapeText(text)}](${target})`);
}

/** A bare web address, or ''. */
export function bareUrl(url: string): Markup {
  return new Markup(linkTarget(url) ?? '');
}

/** A bare URL at the end of a cell: parsers that detect URLs before cells would include the next bar. */
const OPEN_ADDRESS = /(?::\/\/|www\.)\S*$/i;

function cellText(value: unknown): string {
  const text = markdown(value);
  const link = value instanceof Markup && text.startsWith('[');
  return !link && OPEN_ADDRESS.test(text) ? `${text} ` : text;
}

/**
 * A compact GFM table: no padding, short delimiter row. Cells are escaped unless they are Markup.
 *
 * @example
 * ```ts
 * table(['name', 'height'], [['Alp', 2_100]]); // |name|height|\n|-|-|\n|Alp|2100|
 * ```
 */
export function table(columns: readonly unknown[], rows: readonly (readonly unknown[])[]): string {
  return tableOf(columns, rows.map(tableRow));
}

/** One row of a table. */
export const tableRow = (cells: readonly unknown[]): string => `|${cells.map(cellText).join('|')}|`;

/** A table of rows that `tableRow` wrote. */
export function tableOf(columns: readonly unknown[], rows: readonly string[]): string {
  return [tableRow(columns), `|${columns.map(() => '-').join('|')}|`, ...rows].join('\n');
}

/** Joins blocks with an empty line between them and one line end at the end; empty blocks are omitted. */
export function blocks(...parts: (string | null | undefined | false)[]): string {
  return parts.filter((part) => typeof part === 'string' && part !== '').join('\n\n') + '\n';
}

/** Citation and licence below records of one dataset. The citation ends with the address of its page. */
export const listFooter = (attribution: string, license: string): string =>
  `${escapeText(attribution)} (a record: /<slug>) License: ${escapeText(license)}`;

/** The licence notice of a pack as blocks: its text unchanged, in a code block. None without a notice. */
export function noticeBlocks({ notice }: { notice?: string }): string[] {
  if (notice === undefined) return [];
  const longest = Math.max(2, ...[...notice.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return ['Notice that must accompany copies of the data:', `${fence}text\n${notice}\n${fence}`];
}
