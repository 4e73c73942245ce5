// Headers of static files: one table for our own server and for the host configurations that the build
// writes.

import type { Operation } from '../contract/operation.ts';
import { pagePolicy } from '../pages/frame.ts';
import { BULK_TYPES } from '../render/data-files.ts';
import { DOCUMENTS } from './index.ts';
import { rootLinks } from './map.ts';
import { CONTENT_SIGNAL } from './robots.ts';

/** A header of the files whose URL path matches. */
export interface HostingRule {
  /**
   * A path with `:name` segments, or one that ends in `/*`; several rules may match a path, but at most one
   * per header.
   */
  path: string;
  header: string;
  value: string;
}

/**
 * Caching of published files: those with a hash in their name are immutable, all others are revalidated each
 * time.
 */
export const CACHING = { for_ever: 'public, max-age=31536000, immutable', asked_again: 'public, no-cache' };

/** Folder of compressed copies below DIST_DIR: each at the path of its file, with an extension. */
export const COPIES = '.build/compressed';

/** Extensions of compressed copies, by content coding; the smallest first. */
export const COPY_ENDINGS = { br: 'br', gzip: 'gz' } as const;

/** Files that are worth a compressed copy: other types are compressed formats already. */
export const COMPRESSIBLE = /(^|\/)[^./]+$|\.(html|css|js|json|jsonld|geojson|md|ttl|txt|xml|svg|csv|tsv|wasm)$/;

/** Types by extension that hosts may not know. */
export const EXTENSION_TYPES: Readonly<Record<string, string>> = {
  md: 'text/markdown; charset=utf-8',
  jsonld: 'application/ld+json',
  ttl: 'text/turtle; charset=utf-8',
  ...Object.fromEntries([...BULK_TYPES].filter(([, type]) => type !== 'application/octet-stream')),
};

/** Folder of files with a hash in their name; pages may load them from any cache. */
export const FOR_EVER = '/assets/*';

/**
 * Paths that only the API answers, as in `HostingRule`. Besides these, the API answers what is no file below `/v1/`
 * (docs/static-hosting.md).
 */
export const API_PATHS: readonly string[] = [
  '/files/:dataset/edits.json',
  '/datasets/:dataset/rows/*',
  '/datasets/:dataset/points.json',
  ...[
    '/mcp',
    '/mcp/*',
    '/a2a/*',
    '/ogc',
    '/ogc/*',
    '/oauth/*',
    '/.well-known/*',
    '/compare/*',
    '/checkout/*',
    '/webhooks/*',
  ],
  ...['/keys', '/keys/*', '/account', '/account/*', '/optout/*', '/claim/*', '/ops', '/ops/*', '/healthz', '/readyz'],
];

/**
 * The least strict policy of all pages: single pages contain stricter ones. Allows the API if the files are on another
 * host.
 */
function widestPolicy(base_url: string, framed: boolean): string {
  const more = { 'connect-src': new URL(base_url).origin };
  return `${pagePolicy(more)}; frame-ancestors ${framed ? '*' : "'none'"}`;
}

/** Browsers use https alone for a year once they saw this (RFC 6797); without https they must not see it. */
export const transportHeaders = (base_url: string): Record<string, string> =>
  base_url.startsWith('https:') ? { 'Strict-Transport-Security': 'max-age=31536000' } : {};

/**
 * Headers of every published file besides its type, the same as on our own server. `framed`: other sites may show it
 * in a frame.
 */
export function fileHeaders(base_url: string, framed = false): Record<string, string> {
  return {
    'Content-Security-Policy': widestPolicy(base_url, framed),
    'Referrer-Policy': 'strict-origin-when-cross-origin',
    'X-Content-Type-Options': 'nosniff',
    ...transportHeaders(base_url),
  };
}

/** The whole table: for all files, for hashed files, for `/`, and the types that no extension determines. */
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

/**
 * Files without an extension, as paths with `:name` segments, with their types: answers as JSON, and
 * documents.
 */
function bareTypes(operations: readonly Operation[]): { path: string; type: string }[] {
  const answers = operations.flatMap(({ rest, formats }) =>
    rest.prerender && formats[0] === 'json' ? [{ path: rest.path, type: 'application/json' }] : [],
  );
  const documents = DOCUMENTS.filter(({ live, file, path }) => !live && file === undefined && !/\.\w+$/.test(path)).map(
    ({ path, content_type }) => ({ path, type: content_type }),
  );
  return [...answers, ...documents];
}
