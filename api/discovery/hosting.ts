// What headers static files go out with: one table, which our own server obeys and which host configurations are written from.

import type { Operation } from '../contract/operation.ts';
import { pagePolicy } from '../pages/frame.ts';
import { DOCUMENTS } from './index.ts';
import { rootLinks } from './map.ts';
import { CONTENT_SIGNAL } from './robots.ts';

/** A header of the files whose URL path matches. */
export interface HostingRule {
  /** A path with `:name` segments, or one that ends in `/*`; several rules may match a path, never two for one header. */
  path: string;
  header: string;
  value: string;
}

/** Caching of a published file: what is named by its content may be kept for ever, the rest is asked for again each time. */
export const CACHING = { for_ever: 'public, max-age=31536000, immutable', asked_again: 'public, no-cache' };

/** Where compressed copies lie below DIST_DIR: each at the path of its file, with an ending. */
export const COPIES = '.build/compressed';

/** Endings of compressed copies, by content coding; the smallest first. */
export const COPY_ENDINGS = { br: 'br', gzip: 'gz' } as const;

/** A folder of files that are named by their content; a page may load them from caches of any age. */
export const FOR_EVER = '/assets/*';

/**
 * The widest policy that any page has: those of single pages stand in the pages and are narrower. What the SQL console computes with is allowed,
 * and the API where the files stand on another host.
 */
function widestPolicy(base_url: string): string {
  const more = {
    'script-src': "'wasm-unsafe-eval'",
    'worker-src': "'self'",
    'connect-src': new URL(base_url).origin,
  };
  return `${pagePolicy(more)}; frame-ancestors 'none'`;
}

/** What every published file says beside its type, as our own server sends it too. */
export function fileHeaders(base_url: string): Record<string, string> {
  return {
    'Content-Security-Policy': widestPolicy(base_url),
    'Referrer-Policy': 'strict-origin-when-cross-origin',
    'X-Content-Type-Options': 'nosniff',
  };
}

/** The whole table: for everything, for what is named by content, for `/`, and the types that no extension tells. */
export function hostingRules({
  base_url,
  operations,
}: {
  base_url: string;
  operations: readonly Operation[];
}): HostingRule[] {
  const everywhere = {
    ...fileHeaders(base_url),
    'Access-Control-Allow-Origin': '*',
    'Content-Signal': CONTENT_SIGNAL,
  };
  const links = rootLinks(base_url).map(({ rel, href, type }) => `<${href}>; rel="${rel}"; type="${type}"`);
  return [
    ...Object.entries(everywhere).map(([header, value]) => ({ path: '/*', header, value })),
    { path: FOR_EVER, header: 'Cache-Control', value: CACHING.for_ever },
    { path: '/', header: 'Link', value: links.join(', ') },
    ...bareTypes(operations).map(({ path, type }) => ({ path, header: 'Content-Type', value: type })),
  ];
}

/** Files without an extension, as paths with `:name` segments, and their types: answers as JSON, and documents. */
function bareTypes(operations: readonly Operation[]): { path: string; type: string }[] {
  const answers = operations.flatMap(({ route, prerender, formats }) =>
    prerender && formats[0] === 'json' ? [{ path: route.path, type: 'application/json' }] : [],
  );
  const documents = DOCUMENTS.filter(({ live, file, path }) => !live && file === undefined && !/\.\w+$/.test(path)).map(
    ({ path, content_type }) => ({ path, type: content_type }),
  );
  return [...answers, ...documents];
}
