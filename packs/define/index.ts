// Exports for the files of a pack: `import { definePack, defineCollector, slugify, z } from
// 'dataset-register/pack'`.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Collector, CrawledPage } from './model.ts';

export { default as slugify } from '@sindresorhus/slugify';
export { definePack } from './define.ts';
export type {
  CollectContext,
  Collector,
  CrawledPage,
  Geo,
  Identity,
  Observed,
  PriceRange,
  Reading,
  Value,
} from './model.ts';
export { csv, http, json, jsonl, npm, parquet, postgres, type SourceRow, sqlite, xlsx } from './sources.ts';
export { foldKey as fold, words } from './text.ts';
export { z };

/** Declares a collector, so that its type is checked where it is defined. */
export function defineCollector(collector: Collector): Collector {
  return collector;
}

const Pages = z.array(
  z.object({ url: z.string(), sha256: z.string(), content_type: z.string(), fetched_at: z.string() }),
);

/** Every page of a reading in the order of fetching, with its bytes. `folder` is that of the reading. */
export async function* readPages(folder: string): AsyncGenerator<CrawledPage & { body: Buffer }> {
  const pages = Pages.parse(JSON.parse(await readFile(join(folder, 'pages.json'), 'utf8')));
  for (const page of pages) yield { ...page, body: await readFile(join(folder, page.sha256)) };
}
