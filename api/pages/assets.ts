// The shared style sheet and scripts of pages, with a content hash in their names. The API serves them and the nightly
// build writes them.
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parse } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, stop } from 'esbuild';
import type { AssetPaths } from './frame.ts';

/** A file with immutable content. */
export interface Asset {
  /** Path of its URL, without the base: `/assets/page.0f3a….css`. */
  path: string;
  content_type: string;
  text: string;
}

const SITE = new URL('../../site/', import.meta.url);

/** Each entry with all that it imports is one file. */
const { outputFiles } = await build({
  absWorkingDir: fileURLToPath(SITE),
  entryPoints: [
    { in: 'style/page.css', out: 'page' },
    { in: 'page.js', out: 'page' },
    { in: 'keys.js', out: 'keys' },
    { in: 'compare/main.ts', out: 'compare' },
    { in: 'record/paid.ts', out: 'record' },
  ],
  outdir: '.',
  write: false,
  bundle: true,
  minify: true,
  // The scripts of a page share their global names.
  format: 'iife',
  // tsconfig.json is for the type checker.
  tsconfigRaw: {},
});
// Ends its process.
await stop();

/** The file of an entry. */
function assetOf(file: string): Asset {
  // Every entry has one: otherwise the build throws.
  const { text } = outputFiles.find(({ path }) => parse(path).base === file)!;
  const { name, ext } = parse(file);
  return {
    path: `/assets/${name}.${hash('sha256', text, 'hex').slice(0, 12)}${ext}`,
    content_type: `text/${ext === '.css' ? 'css' : 'javascript'}; charset=utf-8`,
    text,
  };
}

/** The style sheet of every page. */
export const STYLE_ASSET = assetOf('page.css');
/** The script of every page: copy buttons. Pages work without it. */
export const SCRIPT_ASSET = assetOf('page.js');
/** The script of the page that creates keys. */
export const KEYS_ASSET = assetOf('keys.js');
/** The script of comparisons. */
export const COMPARE_ASSET = assetOf('compare.js');
/** The script of records. */
export const RECORD_ASSET = assetOf('record.js');

/** All of them. */
export const ASSETS: readonly Asset[] = [STYLE_ASSET, SCRIPT_ASSET, KEYS_ASSET, COMPARE_ASSET, RECORD_ASSET];

/** The style sheet and script of every page, for its head. */
export const PAGE_ASSETS: AssetPaths = { style: STYLE_ASSET.path, script: SCRIPT_ASSET.path };

/** The icon of the site: 32 × 32 pixels. */
export const FAVICON = new Uint8Array(readFileSync(new URL('favicon.ico', SITE)));
