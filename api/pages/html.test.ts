// The HTML dialect: values are escaped once, wherever they are put.
import { expect, test } from 'vitest';
import { fileListHtml } from './file-list.ts';
import { html, joinHtml, raw } from './html.ts';

const HOSTILE = `"><script>alert('x')</script>&`;
const ESCAPED = '&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;';

test('values are escaped once, in text, attributes, arrays and nested templates', () => {
  const item = html`<li title="${HOSTILE}">${HOSTILE}</li>`;
  const text = `<li title="${ESCAPED}">${ESCAPED}</li>`;
  expect(String(item)).toBe(text);
  expect(String(html`<ul>${[item, HOSTILE, 2]}</ul>`)).toBe(`<ul>${text}${ESCAPED}2</ul>`);
  expect(String(joinHtml([item, item]))).toBe(`${text}\n${text}`);
  expect(String(html`${raw('<br>')}${false}${null}${undefined}`)).toBe('<br>');
});

test('the list of files escapes every value', () => {
  const text = HOSTILE;
  const file = { name: text, url: text, description: text, media_type: text, bytes: 1, sha256: text };
  const files = [{ ...file, last_modified: '2026-11-20T00:00:00Z' }];
  const list = { dataset: text, title: text, release: text, files, license: text, attribution: text };
  const page = fileListHtml(list, 'https://register.example');
  expect(page).toContain(ESCAPED);
  expect(page).not.toContain('<script>');
});
