// Crawls a source on the web once: stores its pages in a folder that a collector reads like any other source.
import { createHash } from 'node:crypto';
import { link, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { putInPlace, replaceFile, temporaryPath, UNFINISHED } from '../../data/model/atomic.ts';
import { paths } from '../../data/model/layout.ts';
import { isoTime } from '../../data/model/time.ts';
import type { Crawl, CrawledPage } from '../../packs/define/model.ts';
import { Crawler } from './polite.ts';
import type { Web } from './web.ts';

/** Stored validators, hash and type of the pages between two nights, by URL. */
const KnownPages = z.record(
  z.string(),
  z.object({
    etag: z.string().optional(),
    last_modified: z.string().optional(),
    sha256: z.string(),
    content_type: z.string(),
  }),
);
type KnownPage = z.infer<typeof KnownPages>[string];

/** What to crawl, and where to store it. */
export interface CrawlWork {
  dataDir: string;
  dataset: string;
  source: string;
  crawl: Crawl;
  /** The URLs that a page links to and that are crawled too. */
  follow: (url: string, body: Buffer) => Iterable<string>;
  /** Called after every page with the number of crawled pages and of known ones. */
  progress: (done: number, total: number) => void;
}

/** The package name of the readings of a crawled source. */
export const crawlPackage = (source: string) => `crawl:${source}`;

/** Folder of the readings of a crawled source. */
export const crawlFolder = (dataDir: string, dataset: string, source: string) =>
  join(paths.sources(dataDir), 'crawl', dataset, source);

/**
 * Fetches every page of a source. Returns the version of the reading, which names its folder: the time of the
 * crawl and a hash of the pages. Throws when a page fails, except with 404 or 410, because an incomplete
 * reading would withdraw values. Fetched pages are stored also then, so that the next try requests only
 * changed ones.
 *
 * @example
 * ```ts
 * const { version, observed_at } = await crawlSource(web, { dataDir, dataset: 'tools', source: 'site', crawl, follow, progress });
 * ```
 */
export async function crawlSource(web: Web, work: CrawlWork): Promise<{ version: string; observed_at: string }> {
  const { dataDir, dataset, source, crawl } = work;
  const folder = crawlFolder(dataDir, dataset, source);
  const note = join(folder, 'known.json');
  await mkdir(folder, { recursive: true });
  const knownPages = new Map(Object.entries(await readKnownPages(note)));
  const began = web.options.now();
  const pages: CrawledPage[] = [];
  const crawler = new Crawler(web);
  try {
    const queue = [...new Set(crawl.urls)];
    for (let i = 0; i < queue.length; i++) {
      if (i === crawl.max_pages) throw new Error(`more than ${crawl.max_pages} pages`);
      const address = queue[i]!;
      const page = await fetchPage(crawler, work, knownPages, address);
      work.progress(i + 1, queue.length);
      if (page === null) continue;
      pages.push({ ...page.entry, fetched_at: isoTime(web.options.now().getTime()) });
      for (const next of work.follow(address, page.body)) {
        const url = new URL(next, page.entry.url).href;
        if (!queue.includes(url)) queue.push(url);
      }
    }
  } finally {
    await replaceFile(note, `${JSON.stringify(Object.fromEntries(knownPages))}\n`);
  }
  const digest = createHash('sha256').update(JSON.stringify(pages.map(({ url, sha256 }) => [url, sha256])));
  const version = `${isoTime(began.getTime()).replace(/[-:]/g, '')}-${digest.digest('hex').slice(0, 12)}`;
  await keepReading(dataDir, folder, version, pages);
  return { version, observed_at: isoTime(began.getTime()) };
}

/**
 * A page with its bytes, from the web or, when it is unchanged, from the evidence; null when the page is
 * gone.
 */
async function fetchPage(
  crawler: Crawler,
  { dataDir, crawl }: CrawlWork,
  knownPages: Map<string, KnownPage>,
  address: string,
): Promise<{ entry: Omit<CrawledPage, 'fetched_at'>; body: Buffer } | null> {
  const policy = { delay: crawl.delay_seconds * 1000, max_bytes: crawl.max_bytes };
  const before = knownPages.get(address);
  // A validator is useless without the stored bytes.
  const kept = before === undefined ? null : await readEvidence(dataDir, before.sha256);
  const page = await crawler.page(address, kept === null ? {} : before!, policy);
  if (page.status === 404 || page.status === 410) {
    knownPages.delete(address);
    return null;
  }
  if (page.status === 304) {
    if (before === undefined || kept === null) throw new Error(`${address} answered 304 to an unconditional request`);
    const { sha256, content_type } = before;
    return { entry: { url: page.url.href, sha256, content_type }, body: kept };
  }
  if (page.status !== 200) throw new Error(`${address} answered ${page.status}`);
  const sha256 = await keepEvidence(dataDir, page.body);
  const content_type = page.headers['content-type'] ?? '';
  knownPages.set(address, {
    etag: page.headers['etag'],
    last_modified: page.headers['last-modified'],
    sha256,
    content_type,
  });
  return { entry: { url: page.url.href, sha256, content_type }, body: page.body };
}

/**
 * Makes the folder of a reading: `pages.json`, and each page under its hash as a hard link to the evidence.
 */
async function keepReading(
  dataDir: string,
  folder: string,
  version: string,
  pages: readonly CrawledPage[],
): Promise<void> {
  const inside = await mkdtemp(join(paths.sources(dataDir), UNFINISHED));
  try {
    for (const sha256 of new Set(pages.map((page) => page.sha256)))
      await link(evidencePath(dataDir, sha256), join(inside, sha256));
    await writeFile(join(inside, 'pages.json'), `${JSON.stringify(pages)}\n`);
    const place = join(folder, version);
    await rm(place, { recursive: true, force: true });
    await putInPlace(inside, place);
  } finally {
    await rm(inside, { recursive: true, force: true });
  }
}

/** The pages of earlier nights; none when the file does not exist or is damaged. */
async function readKnownPages(path: string): Promise<z.infer<typeof KnownPages>> {
  try {
    return KnownPages.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch {
    return {};
  }
}

/** Path of a stored page. */
export function evidencePath(dataDir: string, sha256: string): string {
  return join(paths.evidence(dataDir), sha256.slice(0, 2), sha256);
}

/** Stores a page atomically; returns its hash, 64 hex digits. */
async function keepEvidence(dataDir: string, body: Buffer): Promise<string> {
  const sha256 = createHash('sha256').update(body).digest('hex');
  const path = evidencePath(dataDir, sha256);
  if ((await stat(path).catch(() => null))?.size === body.length) return sha256;
  await mkdir(dirname(path), { recursive: true });
  const temporary = temporaryPath(path);
  await writeFile(temporary, body);
  await putInPlace(temporary, path);
  return sha256;
}

/** A stored page, or null when it is missing or damaged. */
async function readEvidence(dataDir: string, sha256: string): Promise<Buffer | null> {
  const body = await readFile(evidencePath(dataDir, sha256)).catch(() => null);
  return body !== null && createHash('sha256').update(body).digest('hex') === sha256 ? body : null;
}
