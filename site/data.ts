// The data of the pages, which build/static/pages-site.ts writes to the standard input of the compiled pages.
import { text } from 'node:stream/consumers';
import type { SiteData, SiteDataset } from '../api/pages/site.ts';

/** Read once; the first page waits until it is complete. */
export const data = JSON.parse(await text(process.stdin)) as SiteData;

/** Path of the base URL without a trailing slash, so that links stay on the host that serves the page. */
const prefix = new URL(data.base_url).pathname.replace(/\/+$/, '');

/** A link to a path of the site, such as `/v1/datasets`. */
export function href(path: string): string {
  return prefix + path;
}

/** Ids of the datasets, for pages with one address for each. */
export const datasetIds = (): string[] => data.datasets.map(({ id }) => id);

/** The dataset with an id, from the address of a page. */
export function datasetOf(id: string | undefined): SiteDataset {
  const entry = data.datasets.find((dataset) => dataset.id === id);
  if (entry === undefined) throw new Error(`no dataset ${id}`);
  return entry;
}
