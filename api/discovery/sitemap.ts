// /sitemap.xml: the pages of the site and of every record, in files of 50,000 as the protocol allows
// (sitemaps.org).
import { readdirSync } from 'node:fs';
import type { RecordHead } from '../../data/plan/plan.ts';
import { nextTurn } from '../../data/plan/slices.ts';
import { derive } from '../../packs/define/derive.ts';
import { datasetUrl, recordUrl } from '../../packs/define/links.ts';
import type { Context } from '../contract/operation.ts';
import type { Document, View } from './document.ts';

type Release = NonNullable<Context['release']>;

/** Maximum number of addresses per file. */
const PART = 50_000;
/** Records read per turn of the event loop. */
const CHUNK = 200;

const XML = '<?xml version="1.0" encoding="UTF-8"?>\n';
const NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"';

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const entry = (name: 'url' | 'sitemap', at: string, modified: string) =>
  `<${name}><loc>${escaped(at)}</loc><lastmod>${modified}</lastmod></${name}>\n`;

/** The dataset's page comes first, then those of its records. */
const partsOf = ({ manifest }: Release) => Math.ceil((manifest.records + 1) / PART);

/** The slugs of a release's records, best first, as in searches. */
async function* slugs({ engine }: Release): AsyncGenerator<RecordHead> {
  let after: Awaited<ReturnType<Release['engine']['search']>>['next'] = null;
  do {
    const sort = { key: 'quality', descending: true } as const;
    const page = await engine.search({ where: [], sort, after, limit: CHUNK, total: false });
    yield* await engine.heads(page.ordinals);
    // The awaits above may all be microtasks, which let no other request run.
    await nextTurn();
    after = page.next;
  } while (after !== null);
}

/** The files of a dataset, built in one pass over its records. */
async function filesOf(view: View, release: Release): Promise<Buffer<ArrayBuffer>[]> {
  const { id } = release.pack;
  const files: Buffer<ArrayBuffer>[] = [];
  let lines = [entry('url', datasetUrl(view.base_url, id), release.manifest.created_at)];
  // As bytes: a text would be encoded for every client.
  const close = () => files.push(Buffer.from(`${XML}<urlset ${NAMESPACE}>\n${lines.join('')}</urlset>\n`));
  for await (const { slug, updated_at } of slugs(release)) {
    if (lines.length === PART) {
      close();
      lines = [];
    }
    // The page's own canonical address; its Markdown is an alternate of it.
    lines.push(entry('url', recordUrl(view.base_url, id, slug), updated_at));
  }
  close();
  return files;
}

/** Names of the guides: one page per document. */
const GUIDES = readdirSync(new URL('../../docs/', import.meta.url))
  .flatMap((name) => (name.endsWith('.md') && name !== 'README.md' ? [name.slice(0, -3)] : []))
  .sort();

/** Paths of the pages without a single record, except those of the datasets (`filesOf`). */
function pagesOf({ releases }: View): string[] {
  const guides = ['', 'contents/', ...GUIDES.map((name) => `${name}/`)].map((path) => `/guides/${path}`);
  const tools = releases.flatMap(({ pack: { id } }) => [
    ...['sql', 'changes', 'files'].map((page) => `/${page}/${id}/`),
    `/compare/${id}`,
  ]);
  return ['/', '/docs', '/llms.txt', '/status/', '/changes/', '/pricing/', '/connect/', '/files/', ...tools, ...guides];
}

const released = ({ releases }: View) => releases.map(({ manifest }) => manifest.created_at).sort();

export const sitemap: Document = {
  path: '/sitemap.xml',
  title: 'Every page',
  rel: 'sitemap',
  content_type: 'application/xml',
  text: (view) => {
    const newest = released(view).at(-1) ?? view.now.toISOString();
    const files = view.releases.flatMap((release) =>
      Array.from({ length: partsOf(release) }, (_, at) =>
        entry('sitemap', `${view.base_url}/sitemap/${release.pack.id}-${at + 1}.xml`, release.manifest.created_at),
      ),
    );
    const pages = entry('sitemap', `${view.base_url}/sitemap/pages.xml`, newest);
    return `${XML}<sitemapindex ${NAMESPACE}>\n${pages}${files.join('')}</sitemapindex>\n`;
  },
};

export const sitemapParts: Document = {
  path: '/sitemap/:part',
  title: 'Pages of one dataset',
  content_type: 'application/xml',
  each: ({ releases }) => [
    { part: 'pages.xml' },
    ...releases.flatMap((release) =>
      Array.from({ length: partsOf(release) }, (_, at) => ({ part: `${release.pack.id}-${at + 1}.xml` })),
    ),
  ],
  text: async (view, params) => {
    if (params['part'] === 'pages.xml') {
      const newest = released(view).at(-1) ?? view.now.toISOString();
      const pages = pagesOf(view).map((path) => entry('url', view.base_url + path, newest));
      return `${XML}<urlset ${NAMESPACE}>\n${pages.join('')}</urlset>\n`;
    }
    const [, id, number] = /^(.+)-([1-9]\d{0,3})\.xml$/.exec(params['part'] ?? '') ?? [];
    const release = view.releases.find(({ pack }) => pack.id === id);
    if (!release || Number(number) > partsOf(release)) return null;
    const files = await derive(release, `sitemap of ${view.base_url}`, () => filesOf(view, release));
    return files[Number(number) - 1] ?? null;
  },
};
