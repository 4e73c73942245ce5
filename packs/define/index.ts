// What a pack's own files import: `import { definePack, defineCollector, slugify, z } from 'dataset-register/pack'`.
import { z } from 'zod';
import type { Collector } from './model.ts';

export { default as slugify } from '@sindresorhus/slugify';
export { csvRows } from './csv.ts';
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
export { readPages } from './pages.ts';
export { fold, words } from './text.ts';
export { z };

/** Names a collector, so that its shape is checked where it is written. */
export function defineCollector(collector: Collector): Collector {
  return collector;
}
