// The pages of a crawled source, for the collector that reads them.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CrawledPage } from './model.ts';

/** Every page of a reading in the order it was fetched, with its bytes. `folder` is that of the reading. */
export async function* readPages(folder: string): AsyncGenerator<CrawledPage & { body: Buffer }> {
  const pages = JSON.parse(await readFile(join(folder, 'pages.json'), 'utf8')) as CrawledPage[];
  for (const page of pages) yield { ...page, body: await readFile(join(folder, page.sha256)) };
}
