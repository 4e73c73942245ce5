// The guides: the documents of docs/ as pages in reading order, and the sections for their search.
import { data, href } from './data.ts';

interface MarkdownModule {
  getHeadings(): { depth: number; slug: string; text: string }[];
  compiledContent(): string | Promise<string>;
  rawContent(): string;
}

const files = import.meta.glob<MarkdownModule>('../docs/*.md', { eager: true });

/** Headings with the names of their files. Other files are listed under the last heading. */
const PARTS: readonly (readonly [string, readonly string[]])[] = [
  ['Start', ['start-agent', 'start-analyst', 'start-publisher', 'start-operator']],
  ['Use the API', ['api', 'authentication', 'paying', 'x402', 'errors', 'analysts', 'mcp', 'a2a', 'discovery']],
  ['Publish', ['packs', 'packs-sources', 'packs-reference', 'install', 'owners', 'releases']],
  ['Run', ['settings', 'operators', 'nights', 'static-hosting', 'checkout', 'metrics']],
  ['Background', []],
];

export interface Guide {
  name: string;
  title: string;
  path: string;
  part: string;
  /** The first sentence, for lists. */
  about: string;
  headings: { slug: string; text: string; depth: number }[];
  html: string;
  /** Markdown by section, for the search. */
  sections: { slug: string; heading: string; text: string }[];
}

const names = Object.keys(files)
  .map((file) => /\/([^/]+)\.md$/.exec(file)?.[1] ?? '')
  .filter((name) => name !== 'README');
const listedNames = PARTS.flatMap(([, list]) => list);
const partOf = (name: string) => PARTS.find(([, list]) => list.includes(name))?.[0] ?? PARTS.at(-1)![0];
const rank = (name: string) => (listedNames.includes(name) ? listedNames.indexOf(name) : listedNames.length);

export const guides: Guide[] = await Promise.all(
  names
    .toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
    .map(async (name) => {
      const written = files[`../docs/${name}.md`]!;
      const headings = written.getHeadings();
      const raw = written.rawContent().replaceAll('http://localhost:8787', data.base_url);
      return {
        name,
        title: headings.find(({ depth }) => depth === 1)?.text ?? name,
        path: `/guides/${name}/`,
        part: partOf(name),
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

export const guideParts = PARTS.map(([part]) => ({
  part,
  guides: guides.filter((guide) => guide.part === part),
})).filter(({ guides: own }) => own.length > 0);

/**
 * Turns links between documents into links between pages and removes links to other files. Makes wide
 * elements scrollable by keyboard.
 */
function pageHtml(html: string): string {
  let tables = 0;
  return html
    .replaceAll('http://localhost:8787', data.base_url)
    .replace(/<a href="([^"]*)">(.*?)<\/a>/gs, (whole, address: string, text: string) => {
      if (/^(https?:|mailto:)/.test(address)) return whole;
      if (address.startsWith('#')) return whole;
      const [, other, at = ''] = /^([\w-]+)\.md(#.*)?$/.exec(address) ?? [];
      return other !== undefined && names.includes(other)
        ? `<a href="${href(`/guides/${other}/`)}${at}">${text === `${other}.md` ? titleOf(other) : text}</a>`
        : text;
    })
    .replace(/<pre[^>]*>/g, '<pre tabindex="0">')
    .replaceAll(
      '<table>',
      () => `<div class="scroll" tabindex="0" role="region" aria-label="Table ${++tables}"><table>`,
    )
    .replaceAll('</table>', '</table></div>')
    .replace(/<th( align="\w+")?>/g, '<th scope="col">')
    .replace(/<td align="\w+">/g, '<td>');
}

/** Title of a document for use in a sentence. */
function titleOf(name: string): string {
  const title = files[`../docs/${name}.md`]?.getHeadings().find(({ depth }) => depth === 1)?.text ?? name;
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
