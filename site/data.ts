// The data of the pages, read once from the file that build/static/pages-site.ts writes.
import { readFileSync } from 'node:fs';
import type { SiteData } from '../api/pages/site.ts';

export const data = JSON.parse(readFileSync(process.env['SITE_DATA'] ?? '', 'utf8')) as SiteData;

/** Path of the base URL without a trailing slash, so that links stay on the host that serves the page. */
const prefix = new URL(data.base_url).pathname.replace(/\/+$/, '');

/** A link to a path of the site, such as `/v1/datasets`. */
export function href(path: string): string {
  return prefix + path;
}
