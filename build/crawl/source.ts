// One night's look at a source on the web: its pages, fetched politely, become a folder that a collector reads like any other.
import { createHash } from 'node:crypto';
import { link, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { putInPlace, replaceFile, UNFINISHED, unfinished } from '../../data/model/atomic.ts';
import { paths } from '../../data/model/layout.ts';
import { isoTime } from '../../data/model/time.ts';
import type { Crawl, CrawledPage } from '../../packs/define/model.ts';
import { Crawler, type Known } from './polite.ts';
import type { Web } from './web.ts';

/** What is remembered of a page between two nights. */
type Remembered = Known & { sha256: string; content_type: string };

/** What to crawl, and where it is kept. */
export interface CrawlWork {
  dataDir: string;
  dataset: string;
  source: string;
  crawl: Crawl;
  /** Further pages that a page leads to. */
  follow: (url: string, body: Buffer) => Iterable<string>;
  /** Told after every page: how many are done and how many are known of. */
  progress: (done: number, known: number) => void;
}

/** The package name by which readings of a crawled source go. */
export const crawlPackage = (source: string) => `crawl:${source}`;

/** Folder of the readings of a crawled source. */
export const crawlFolder = (dataDir: string, dataset: string, source: string) =>
  join(paths.sources(dataDir), 'crawl', dataset, source);

/**
 * Fetches every page of a source. Answers the version of the reading, which names its folder: the time of the crawl and a hash of what it found. Throws
 * when any page could not be had, except those that are gone (404, 410): half a source must not pass for a whole one. What was fetched is
 * remembered all the same, so that the next try asks only for what changed.
 */
export async function crawlSource(web: Web, work: CrawlWork): Promise<{ version: string; observed_at: string }> {
  const { dataDir, dataset, source, crawl } = work;
  const folder = crawlFolder(dataDir, dataset, source);
  const note = join(folder, 'known.json');
  await mkdir(folder, { recursive: true });
  const known = new Map(Object.entries(await remembered(note)));
  const began = web.options.now();
  const pages: CrawledPage[] = [];
  const crawler = new Crawler(web);
  try {
    const queue = [...new Set(crawl.urls)];
    for (let i = 0; i < queue.length; i++) {
      if (i === crawl.max_pages) throw new Error(`more than ${crawl.max_pages} pages`);
      const address = queue[i]!;
      const page = await fetchPage(crawler, work, known, address);
      work.progress(i + 1, queue.length);
      if (page === null) continue;
      pages.push({ ...page.told, fetched_at: isoTime(web.options.now().getTime()) });
      for (const next of work.follow(address, page.body)) {
        const url = new URL(next, page.told.url).href;
        if (!queue.includes(url)) queue.push(url);
      }
    }
  } finally {
    await replaceFile(note, `${JSON.stringify(Object.fromEntries(known))}\n`);
  }
  const found = createHash('sha256').update(JSON.stringify(pages.map(({ url, sha256 }) => [url, sha256])));
  const version = `${isoTime(began.getTime()).replace(/[-:]/g, '')}-${found.digest('hex').slice(0, 12)}`;
  await keepReading(dataDir, folder, version, pages);
  return { version, observed_at: isoTime(began.getTime()) };
}

/** A page with its bytes, from the web or, unchanged, from what is kept; null when there is none any more. */
async function fetchPage(
  crawler: Crawler,
  { dataDir, crawl }: CrawlWork,
  known: Map<string, Remembered>,
  address: string,
): Promise<{ told: Omit<CrawledPage, 'fetched_at'>; body: Buffer } | null> {
  const manners = { delay: crawl.delay_seconds * 1000, max_bytes: crawl.max_bytes };
  const before = known.get(address);
  // Without its bytes a page that did not change is of no use.
  const kept = before === undefined ? null : await readEvidence(dataDir, before.sha256);
  const page = await crawler.page(address, kept === null ? {} : before!, manners);
  if (page.status === 404 || page.status === 410) {
    known.delete(address);
    return null;
  }
  if (page.status === 304) {
    if (before === undefined || kept === null) throw new Error(`${address} answered 304 without being asked to`);
    const { sha256, content_type } = before;
    return { told: { url: page.url.href, sha256, content_type }, body: kept };
  }
  if (page.status !== 200) throw new Error(`${address} answered ${page.status}`);
  const sha256 = await keepEvidence(dataDir, page.body);
  const content_type = page.headers['content-type'] ?? '';
  known.set(address, {
    etag: page.headers['etag'],
    last_modified: page.headers['last-modified'],
    sha256,
    content_type,
  });
  return { told: { url: page.url.href, sha256, content_type }, body: page.body };
}

/** Puts the folder of a reading together: `pages.json`, and every page under its hash, sharing the bytes of the evidence. */
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

async function remembered(path: string): Promise<Record<string, Remembered>> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Record<string, Remembered>;
  } catch {
    return {};
  }
}

/** Path of a kept page. */
export function evidencePath(dataDir: string, sha256: string): string {
  return join(paths.evidence(dataDir), sha256.slice(0, 2), sha256);
}

/** Keeps a page; answers its hash, 64 hex digits. It appears as a whole. */
async function keepEvidence(dataDir: string, body: Buffer): Promise<string> {
  const sha256 = createHash('sha256').update(body).digest('hex');
  const path = evidencePath(dataDir, sha256);
  if ((await stat(path).catch(() => null))?.size === body.length) return sha256;
  await mkdir(dirname(path), { recursive: true });
  const temporary = unfinished(path);
  await writeFile(temporary, body);
  await putInPlace(temporary, path);
  return sha256;
}

/** A kept page, or null when it is gone or no longer what it was. */
async function readEvidence(dataDir: string, sha256: string): Promise<Buffer | null> {
  const body = await readFile(evidencePath(dataDir, sha256)).catch(() => null);
  return body !== null && createHash('sha256').update(body).digest('hex') === sha256 ? body : null;
}
