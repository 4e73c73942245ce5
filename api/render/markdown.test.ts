// The escaper: text reads the same and cannot forge cells, links or headings.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../tests/support/verifies.ts';
import { bareUrl, blocks, escapeMarks, escapeText, link, linkTarget, Markup, markdown, table } from './markdown.ts';

verifies('markdown.escaped');

describe('escapeText', () => {
  test.each([
    ['plain words, 12.5 EUR (net) – ok!', 'plain words, 12.5 EUR (net) – ok!'],
    ['model_id and gpt-5.1', 'model_id and gpt-5.1'],
    ['-3 m', '-3 m'],
    ['a | b', 'a \\| b'],
    ['# heading', '\\# heading'],
    ['line\n# heading', 'line # heading'],
    ['[x](https://evil.example)', '\\[x\\](https://evil.example)'],
    ['<script>', '\\<script\\>'],
    ['*bold* _it_ `code` ~~no~~', '\\*bold\\* \\_it\\_ \\`code\\` \\~\\~no\\~\\~'],
    ['back\\slash', 'back\\\\slash'],
    ['=====', '\\====='],
    ['---', '\\---'],
    ['- item', '\\- item'],
    ['1. item', '1\\. item'],
    ['&lt;b&gt; & co', '\\&lt;b\\&gt; & co'],
    ['see https://a.example/b_c.', 'see https://a.example/b_c.'],
    ['a\u202Eb', 'ab'],
    ['nul\0 and\u2028 break', 'nul and break'],
    ['\ud800', '\ufffd'],
  ])('%j', (text, escaped) => {
    expect(escapeText(text)).toBe(escaped);
  });

  const hostile = fc.string({
    unit: fc.constantFrom(...'|[]()<>#*_`~\\-+=.!&;:/\n\r\t 1aw', '\u2028', '\0', 'https://', 'www.', '&lt;', '| '),
    maxLength: 40,
  });

  test('no character that opens markup is left bare, and no line break is left', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const escaped = escapeText(text);
        expect(escaped).not.toMatch(/[\n\r\0\u2028]/);
        expect(escaped.replace(/\\[!-/:-@[-`{-~]/g, 'x')).not.toMatch(/[\\`*[\]<>|~]|^#{1,6}\s|^[-+]\s|^=/);
      }),
      { seed: 20261120, numRuns: 2000 },
    );
  });

  test('a reader who undoes the escapes has the text back', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), (text) => {
        const read = escapeText(text).replace(/\\([!-/:-@[-`{-~])/g, '$1');
        expect(read).toBe(text.replace(/[\s\p{Cc}]+/gu, ' ').trim());
      }),
      { seed: 20261120, numRuns: 1000 },
    );
  });

  test('a table keeps its shape whatever the cells hold', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(hostile, hostile), { minLength: 1, maxLength: 4 }), (rows) => {
        const lines = table(['a', 'b'], rows).split('\n');
        expect(lines).toHaveLength(rows.length + 2);
        for (const line of lines) expect(line.replace(/\\[\\|]/g, '').split('|')).toHaveLength(4);
      }),
      { seed: 20261120, numRuns: 1000 },
    );
  });
});

describe('links', () => {
  test('only web addresses become links', () => {
    expect(link('a [b]', 'https://ok.example/x').text).toBe('[a \\[b\\]](https://ok.example/x)');
    expect(link('name', 'javascript:alert(1)').text).toBe('name');
    expect(bareUrl('data:text/html,x').text).toBe('');
    expect(linkTarget('not an address')).toBeNull();
  });

  test('a destination cannot end early, split a cell or open another link', () => {
    expect(linkTarget('https://e.example/a) [x](https://evil.example)')).toBe(
      'https://e.example/a%29%20%5Bx%5D%28https://evil.example%29',
    );
    expect(linkTarget('https://e.example/?q=a|b `c`')).toBe('https://e.example/?q=a%7Cb%20%60c%60');
    expect(linkTarget('https://e.example/?a=1&lt;b')).toBe('https://e.example/?a=1&amp;lt;b');
  });
});

test('markup is not escaped twice, and nothing is empty', () => {
  expect(markdown(new Markup('**b**'))).toBe('**b**');
  expect(markdown(null)).toBe('');
  expect(markdown(undefined)).toBe('');
  expect(markdown(12.5)).toBe('12.5');
  expect(table(['h'], [[new Markup('[a](https://b.example)')]])).toBe('|h|\n|-|\n|[a](https://b.example)|');
  expect(blocks('# a', '', null, false, 'b')).toBe('# a\n\nb\n');
});

test('a plain web address is the address that URL.parse returns', () => {
  const parts = [
    'https://',
    'http://',
    'HTTP://',
    'ftp://',
    'a.example',
    'A.example',
    'localhost',
    'xn--a',
    '1.2',
    '10',
  ];
  const others = [
    ':80',
    ':443',
    ':8787',
    ':0080',
    '/',
    '//',
    'a',
    'b-c_d.e',
    '.',
    '..',
    '%41',
    ' ',
    'é',
    '?',
    '#',
    '@',
    '\\',
  ];
  const urls = fc.array(fc.constantFrom(...parts, ...others), { maxLength: 8 }).map((all) => all.join(''));
  fc.assert(
    fc.property(
      fc.oneof(
        urls,
        urls.map((rest) => `https://a.example/${rest}`),
      ),
      (url) => {
        const parsed = URL.parse(url);
        const expected = parsed === null || !/^https?:$/.test(parsed.protocol) ? null : parsed.href;
        // A character that must be encoded is encoded in addition.
        const encoded = linkTarget(url);
        expect(encoded?.replaceAll('%5C', '\\').replaceAll('%5E', '^') ?? null).toBe(expected);
      },
    ),
    { numRuns: 3000 },
  );
  expect(linkTarget('http://localhost:8787/datasets/a/b-1')).toBe('http://localhost:8787/datasets/a/b-1');
});

test('plain text is told from the rest without changing the answer', () => {
  const letters = fc.constantFrom(...'aZé字12 .,()/%-_:*[<|&#wW\t\u0301!"$\'+;=?@^{}~`\\>]\n\0');
  const texts = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.array(letters, { maxLength: 12 }).map((all) => all.join('')),
  );
  fc.assert(
    fc.property(texts, (text) => {
      expect(escapeText(text)).toBe(escapeMarks(text));
    }),
    { numRuns: 2000 },
  );
});
