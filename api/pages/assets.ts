// The shared style sheet and script of all pages, with a content hash in their names. The API serves them and
// the nightly build writes them.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

const SITE = new URL('../../site/', import.meta.url);

/** The style sheet of every page: the files of site/style in order of their names. */
export const STYLE = readdirSync(new URL('style/', SITE))
  .filter((name) => name.endsWith('.css'))
  .sort()
  .map((name) => readFileSync(new URL(`style/${name}`, SITE), 'utf8'))
  .join('\n');

/** The script of every page: copy buttons, search of the guides. Pages work without it. */
const SCRIPT = readFileSync(new URL('page.js', SITE), 'utf8');

/** The icon of the site: 32 × 32 pixels. */
export const FAVICON = new Uint8Array(readFileSync(new URL('favicon.ico', SITE)));

/** A file with immutable content. */
export interface Asset {
  /** Path of its URL, without the base: `/assets/page.0f3a….css`. */
  path: string;
  content_type: string;
  text: string;
}

function asset(name: string, extension: string, content_type: string, text: string): Asset {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12);
  return { path: `/assets/${name}.${hash}.${extension}`, content_type, text };
}

export const STYLE_ASSET = asset('page', 'css', 'text/css; charset=utf-8', STYLE);
export const SCRIPT_ASSET = asset('page', 'js', 'text/javascript; charset=utf-8', SCRIPT);
