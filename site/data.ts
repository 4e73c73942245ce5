// The data of the pages, which build/static/pages-site.ts writes to the standard input.
import { text } from 'node:stream/consumers';
import type { SiteData } from '../api/pages/site.ts';

/** Read once, when the pages are compiled; the first page waits until it is complete. */
export const data = JSON.parse(await text(process.stdin)) as SiteData;

/** Path of the base URL without a trailing slash, so that links stay on the host that serves the page. */
const prefix = new URL(data.base_url).pathname.replace(/\/+$/, '');

/** A link to a path of the site, such as `/v1/datasets`. */
export function href(path: string): string {
  return prefix + path;
}
