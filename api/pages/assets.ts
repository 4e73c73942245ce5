// The shared style sheet and script of all pages, with a content hash in their names. The API serves them and
// the nightly build writes them.
import { readdirSync, readFileSync } from 'node:fs';
import { type Asset, assetPath, scriptAsset } from './modules.ts';

const SITE = new URL('../../site/', import.meta.url);

/** The style sheet of every page: the files of site/style in order of their names. */
export const STYLE = readdirSync(new URL('style/', SITE))
  .filter((name) => name.endsWith('.css'))
  .sort()
  .map((name) => readFileSync(new URL(`style/${name}`, SITE), 'utf8'))
  .join('\n');

/** The script of every page: copy buttons. Pages work without it. */
const SCRIPT = readFileSync(new URL('page.js', SITE), 'utf8');

/** The icon of the site: 32 × 32 pixels. */
export const FAVICON = new Uint8Array(readFileSync(new URL('favicon.ico', SITE)));

const asset = (name: string, extension: string, content_type: string, text: string): Asset => ({
  path: assetPath(name, extension, text),
  content_type,
  text,
});

/** The script of the page that creates keys. */
const KEYS_SCRIPT = readFileSync(new URL('keys.js', SITE), 'utf8');

export const STYLE_ASSET = asset('page', 'css', 'text/css; charset=utf-8', STYLE);
export const SCRIPT_ASSET = asset('page', 'js', 'text/javascript; charset=utf-8', SCRIPT);
export const KEYS_ASSET = asset('keys', 'js', 'text/javascript; charset=utf-8', KEYS_SCRIPT);

/** The script of comparisons. */
export const COMPARE_ASSET = scriptAsset(new URL('compare/main.ts', SITE));

/** The script of records. */
export const RECORD_ASSET = scriptAsset(new URL('record/paid.ts', SITE));
