// The escaper, checked with a real Markdown parser: every value stays text in its place.
import { createRequire } from 'node:module';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { verifies } from '../../tests/support/verifies.ts';
import { blocks, escapeText, link, table } from './markdown.ts';

verifies('markdown.escaped');

interface Node {
  type: string;
  value?: string;
  url?: string;
  depth?: number;
  children?: Node[];
}

/**
 * The parser of Astro (CommonMark and GFM): not a direct dependency, so it is resolved from Astro's package.
 */
const astro = createRequire(createRequire(import.meta.url).resolve('astro/package.json'));
const { markdownToMdast } = astro('satteri') as { markdownToMdast: (text: string) => Node };

const parse = (text: string): Node[] => markdownToMdast(text).children ?? [];

/** All characters with a meaning in Markdown, and texts that imitate markup. */
const hostile = fc.oneof(
  fc.string({
    unit: fc.constantFrom(
      ...'|[]()<>#*_`~\\-+=.!&;:/"\'^$@{}%\n\r\t 1awü東',
      '\u2028',
      '\u00a0',
      '\0',
      '\u202e',
      '| ',
      '\\|',
    ),
    maxLength: 30,
  }),
  fc
    .array(
      fc.constantFrom(
        ...[
          '[x](javascript:alert(1))',
          '![i](https://e.example/x.png)',
          '<script>alert(1)</script>',
          '</td>',
          '<!--',
          '-->',
        ],
        ...[
          '\n# heading',
          '\n\n---\n',
          '\n> quote',
          '\n- item',
          '1. item',
          '[x] ',
          '[^1]',
          '[^1]: note',
          '\n[x]: https://e.example',
        ],
        ...[
          '&lt;b&gt;',
          '&#x5b;',
          '&amp;',
          '`code`',
          '```\n',
          '~~~',
          '\\',
          '\\\\',
          '|a|b|\n|-|-|',
          ':-',
          '**',
          '__',
          '~~',
          '==',
        ],
        ...[
          'https://e.example/a_b?c=d&e',
          'www.e.example',
          'a@e.example',
          'mailto:a@e.example',
          'http://',
          '(',
          ')',
          '<https://e.example>',
        ],
        ...[
          'word',
          'snake_case_word',
          '2 * 3',
          'a|b',
          '$x$',
          ' ',
          '#',
          '##',
          '+++',
          '---',
          '===',
          ':::note',
          '{#id}',
          '%%',
        ],
      ),
      { maxLength: 6 },
    )
    .map((parts) => parts.join('')),
);

/** A text without white space and invisible characters: the words that must survive the round trip. */
const plain = (text: string) =>
  text
    .toWellFormed()
    .replace(/[\u202a-\u202e\u2066-\u2069]/gu, '')
    .replace(/[\s\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim();

/** The text of nodes that contain text only; the target of an autolink must equal its text. */
function textOf(nodes: readonly Node[] | undefined, markdown: string): string {
  return (nodes ?? [])
    .map((node) => {
      if (node.type === 'text') return node.value ?? '';
      expect(node.type, markdown).toBe('link');
      const shown = textOf(node.children, markdown);
      expect([shown, `http://${shown}`, `mailto:${shown}`].map(decoded), markdown).toContain(decoded(node.url ?? ''));
      return shown;
    })
    .join('');
}

/** Parsers differ in percent-encoding and in case; both are the same URL. */
function decoded(url: string): string {
  try {
    return decodeURI(url).toLowerCase();
  } catch {
    return url.toLowerCase();
  }
}

/**
 * White space at the ends and repeated is ignored; near a URL, parsers differ in what they read as an escape.
 */
function same(found: string, wanted: string, markdown: string): void {
  const address = /:\/\/|www\./i.test(wanted);
  const read = (text: string) => plain(address ? text.replace(/&(lt|gt|amp|#x5b);|[\\<>&[\]]/g, '') : text);
  expect(read(found), markdown).toBe(read(wanted));
}

const runs = { seed: 20261120, numRuns: 1500 };

test('between two paragraphs it is a paragraph of text', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const markdown = blocks('before', escapeText(text), 'after');
      const found = parse(markdown);
      const [first, ...rest] = found;
      expect(
        found.map(({ type }) => type),
        markdown,
      ).toEqual(found.map(() => 'paragraph'));
      expect(found.length, markdown).toBe(plain(text) === '' ? 2 : 3);
      expect([textOf(first?.children, markdown), textOf(rest.at(-1)?.children, markdown)]).toEqual(['before', 'after']);
      if (found.length === 3) same(textOf(rest[0]?.children, markdown), text, markdown);
    }),
    runs,
  );
});

test('alone in a document it is no front matter, heading, rule or list', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const markdown = `${escapeText(text)}\n`;
      const found = parse(markdown);
      expect(
        found.map(({ type }) => type),
        markdown,
      ).toEqual(plain(text) === '' ? [] : ['paragraph']);
      same(textOf(found[0]?.children, markdown), text, markdown);
    }),
    runs,
  );
});

test('in a table every cell stays in its place', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(hostile, hostile), { minLength: 1, maxLength: 3 }), hostile, (rows, title) => {
      const markdown = blocks(table(['a', title], rows), 'after');
      const [found, after, ...none] = parse(markdown);
      expect([found?.type, after?.type, none.length], markdown).toEqual(['table', 'paragraph', 0]);
      const cells = found?.children?.map((row) => row.children?.map((each) => textOf(each.children, markdown)) ?? []);
      expect(
        cells?.map((row) => row.length),
        markdown,
      ).toEqual([2, ...rows.map(() => 2)]);
      for (const [y, row] of [['a', title], ...rows].entries())
        for (const [x, wanted] of row.entries()) same(cells?.[y]?.[x] ?? '', wanted, markdown);
    }),
    runs,
  );
});

test('in a heading, a list and a quote it stays text', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      fc.pre(plain(text) !== '');
      for (const [mark, types] of [
        ['## ', ['heading']],
        ['- ', ['list', 'listItem', 'paragraph']],
        ['> ', ['blockquote', 'paragraph']],
      ] as const) {
        const markdown = `${mark}${escapeText(text)}\n`;
        let nodes = parse(markdown);
        for (const type of types) {
          expect(
            nodes.map((node) => node.type),
            markdown,
          ).toEqual([type]);
          nodes = nodes[0]?.children ?? [];
        }
        same(textOf(nodes, markdown), text, markdown);
      }
    }),
    runs,
  );
});

test('a link leads where it was made to lead, and has the text it was given', () => {
  const url = fc.oneof(
    hostile.map((text) => `https://good.example/${text}`),
    hostile.map((text) => `https://good.example/?q=${encodeURIComponent(text.toWellFormed())}`),
    hostile.map((text) => `https://good.example/#${text}`),
  );
  fc.assert(
    fc.property(hostile, url, (text, target) => {
      fc.pre(URL.canParse(target) && plain(text) !== '');
      for (const markdown of [`${link(text, target)}\n`, `${table(['a'], [[link(text, target)]])}\n`]) {
        const [found] = parse(markdown);
        const inner = found?.type === 'table' ? found.children?.[1]?.children?.[0] : found;
        expect(
          inner?.children?.map(({ type }) => type),
          markdown,
        ).toEqual(['link']);
        const [made] = inner?.children ?? [];
        expect(new URL(made?.url ?? '').origin, markdown).toBe('https://good.example');
        for (const node of made?.children ?? []) expect(node.type, markdown).toBe('text');
        same((made?.children ?? []).map(({ value }) => value).join(''), text, markdown);
      }
    }),
    runs,
  );
});
