// The guides: the documents of docs/, with their tables (build/static/pages-program.ts), as pages in reading order, and
// the sections for their search.
import { basename } from 'node:path';
import { html } from '../api/pages/html.ts';
import { LANGUAGES as PROGRAMS } from '../api/pages/viewer-model.ts';
import { data, href } from './data.ts';
import { snippet } from './lib/snippets.ts';
import { callOfCommand } from './reference/model.ts';
import { TRACKS, trackOf } from './tracks.ts';

interface MarkdownModule {
  getHeadings(): { depth: number; slug: string; text: string }[];
  compiledContent(): string | Promise<string>;
  rawContent(): string;
}

const files = Object.fromEntries(
  Object.entries(import.meta.glob<MarkdownModule>('guides/*.md', { eager: true })).map(([path, file]) => [
    basename(path, '.md'),
    file,
  ]),
);

/** Names of the languages of code blocks. */
const LANGUAGES: Readonly<Record<string, string>> = {
  ...{ sh: 'Shell', ts: 'TypeScript', js: 'JavaScript', python: 'Python' },
  ...{ json: 'JSON', sql: 'SQL', r: 'R' },
};

export interface Guide {
  name: string;
  title: string;
  path: string;
  /** Title of its track. */
  track: string;
  /** The first sentence, for lists. */
  about: string;
  headings: { slug: string; text: string; depth: number }[];
  html: string;
  /** Markdown by section, for the search. */
  sections: { slug: string; heading: string; text: string }[];
}

const names = Object.keys(files).filter((name) => name !== 'README');
const order = TRACKS.flatMap(({ guides }) => guides);
const rank = (name: string) => order.indexOf(name);

export const guides: Guide[] = await Promise.all(
  names
    .toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
    .map(async (name) => {
      const written = files[name]!;
      const headings = written.getHeadings();
      const raw = written.rawContent().replaceAll('http://localhost:8787', data.base_url);
      return {
        name,
        title: headings.find(({ depth }) => depth === 1)?.text ?? name,
        path: `/guides/${name}/`,
        track: trackOf(name).title,
        about: plain(
          raw
            .replace(/^#.*$/m, '')
            .trim()
            .split(/\n\s*\n/)[0] ?? '',
        )
          .replace(/\. .*$/s, '.')
          .replace(/:$/, '.'),
        headings: headings.filter(({ depth }) => depth === 2),
        html: pageHtml(await written.compiledContent()),
        sections: sectionsOf(raw, headings),
      };
    }),
);

export const guideTracks = TRACKS.map((track) => ({
  ...track,
  guides: guides.filter((guide) => guide.track === track.title),
}));

/**
 * Turns links between documents into links between pages and removes links to other files, and pictures. Makes
 * wide elements scrollable by keyboard.
 */
function pageHtml(html: string): string {
  let tables = 0;
  let blocks = 0;
  return html
    .replaceAll('http://localhost:8787', data.base_url)
    .replace(/(<p>)?<img [^>]*>(<\/p>)?/g, '')
    .replace(/<a href="([^"]*)">(.*?)<\/a>/gs, (whole, address: string, text: string) => {
      if (/^(https?:|mailto:)/.test(address)) return whole;
      if (address.startsWith('#')) return whole;
      const [, other, at = ''] = /^([\w-]+)\.md(#.*)?$/.exec(address) ?? [];
      return other !== undefined && names.includes(other)
        ? `<a href="${href(`/guides/${other}/`)}${at}">${text === `${other}.md` ? titleOf(other) : text}</a>`
        : text;
    })
    .replace(/<pre[^>]*>(.*?)<\/pre>/gs, (_, code: string) => codeBlock(code, ++blocks))
    .replaceAll(
      '<table>',
      () => `<div class="scroll" tabindex="0" role="region" aria-label="Table ${++tables}"><table>`,
    )
    .replaceAll('</table>', '</table></div>')
    .replace(/<th( align="\w+")?>/g, '<th scope="col">')
    .replace(/<td align="\w+">/g, '<td>');
}

/** A code block with its language and a button that copies it; a call of an operation has a tab for each client. */
function codeBlock(code: string, number: number): string {
  const [, language = ''] = /class="language-(\w+)"/.exec(code) ?? [];
  const label = `${LANGUAGES[language] ?? 'Text'}, block ${number}`;
  const call = language === 'sh' ? callOfCommand(textOf(code), data.reference.operations, data.base_url) : null;
  if (call === null)
    return `<div class="code"><button class="copy" type="button" aria-label="Copy: ${label}">Copy</button><pre tabindex="0" role="group" aria-label="${label}">${code}</pre></div>`;
  const tabs = PROGRAMS.map(
    (name, at) =>
      `<label><input type="radio" name="block-${number}" value="${name}"${at === 0 ? ' checked' : ''}> ${name}</label>`,
  );
  const blocks = PROGRAMS.map((name) => {
    const text = name === 'curl' ? code : html`<code>${snippet(name, call)}</code>`;
    return `<pre tabindex="0" role="group" aria-label="${name}, block ${number}" data-language="${name}">${text}</pre>`;
  });
  return `<div class="code language-tabs"><fieldset class="languages"><legend class="away">Language of block ${number}</legend>${tabs.join('')}</fieldset><button class="copy" type="button" aria-label="Copy: block ${number}">Copy</button>${blocks.join('')}</div>`;
}

/** The text of a code element. */
function textOf(html: string): string {
  return html
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replace(/&(?:quot|#x22|#34);/g, '"')
    .replace(/&(?:#39|#x27);/g, "'")
    .replaceAll('&amp;', '&');
}

/** Title of a document for use in a sentence. */
function titleOf(name: string): string {
  const title = files[name]?.getHeadings().find(({ depth }) => depth === 1)?.text ?? name;
  return title.replace(/:.*$/, '');
}

/** Text without Markdown markup. */
function plain(markdown: string): string {
  return markdown
    .replace(/```\w*\n?|[`*]|(?<!\w)_(?=\w)|(?<=\w)_(?!\w)|^[|\s:-]+$/gm, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('|', ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

function sectionsOf(raw: string, headings: readonly { slug: string; text: string }[]): Guide['sections'] {
  let fenced = false;
  const lines: string[][] = [];
  for (const line of raw.split('\n')) {
    if (line.startsWith('```')) fenced = !fenced;
    if (!fenced && /^#{1,6} /.test(line)) lines.push([]);
    else lines.at(-1)?.push(line);
  }
  return headings.map(({ slug, text }, i) => ({
    slug,
    heading: text,
    text: plain((lines[i] ?? []).join('\n')).slice(0, 1500),
  }));
}
