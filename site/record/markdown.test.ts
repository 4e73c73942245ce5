// What the program writes as Markdown is drawn as the same text, with its links and nothing else.
import fc from 'fast-check';
import { parseHTML } from 'linkedom';
import { expect, test } from 'vitest';
import { escapeText, link, table } from '../../api/render/markdown.ts';
import { drawMarkdown } from './markdown.ts';

const { document } = parseHTML('<!doctype html><html><body></body></html>');
Object.assign(globalThis, { document, location: new URL('https://register.example/datasets/tools/a') });

const draw = (markdown: string): HTMLElement => {
  const place = document.createElement('div');
  place.append(...drawMarkdown(markdown));
  return place;
};

/** Texts with every character that Markdown could read as markup. */
const texts = fc
  .array(fc.constantFrom(...'ab é1_*`[]()<>|~\\#-+=.&;!"\'{}'.split(''), 'amp;', '  ', '![x](y)', '<b>', '1. ', '# '), {
    maxLength: 12,
  })
  .map((parts) => parts.join('').replace(/\s+/g, ' ').trim());

test('escaped text reads the same in a paragraph, a cell and a link', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const cell = draw(table(['name', 'source'], [[text, link(text, 'https://a.example/x')]]));
      expect([...cell.querySelectorAll('td')].map(({ textContent }) => textContent.trim())).toEqual([text, text]);
      expect(cell.querySelectorAll('td *').length).toBe(1);
      const paragraph = draw(escapeText(text));
      expect(paragraph.textContent).toBe(text);
      expect(paragraph.querySelectorAll('p *').length).toBe(0);
    }),
    { numRuns: 300 },
  );
});

test('addresses become links, other schemes and HTML stay text', () => {
  const place = draw(
    'See https://a.example/b?c=1&amp;d=2. [x](javascript:alert(1)) <img src=x onerror=alert(1)>\n\n- **one** `two`\n- three',
  );
  expect([...place.querySelectorAll('a')].map((a) => a.getAttribute('href'))).toEqual(['https://a.example/b?c=1&d=2']);
  expect(place.querySelector('img')).toBeNull();
  expect([...place.querySelectorAll('li')].map(({ textContent }) => textContent)).toEqual(['one two', 'three']);
});

test('blocks: heading, table, list, quote and code', () => {
  const place = draw(
    '# Title\n\n> quoted\n> text\n\n```text\n<b> *not* |bold|\n```\n\n1. one\n2. two\n\n|a|b|\n|-|-|\n|1|2|\nend',
  );
  expect([...place.children].map(({ tagName }) => tagName)).toEqual(['H1', 'BLOCKQUOTE', 'PRE', 'OL', 'DIV', 'P']);
  expect(place.querySelector('pre')?.textContent).toBe('<b> *not* |bold|');
});
