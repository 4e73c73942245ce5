// The frame of every page: head, header and footer. Plain text functions, so that Astro can use them too.

/** Paths of the shared files, relative to the base URL. */
export interface AssetPaths {
  style: string;
  script: string;
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes text for HTML, including attributes. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (one) => ESCAPES[one] ?? one);

/** The icon as a data URL, which needs no request. */
const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='3' fill='%230b5c4d'/%3E%3Cpath d='M4 5h8M4 8h8M4 11h5' stroke='%23fff' stroke-width='1.4'/%3E%3C/svg%3E";

/**
 * The Content-Security-Policy of a page: files of this host only, no inline code or style. `more` extends
 * single directives for pages that compute in the browser: `{ 'script-src': "'wasm-unsafe-eval'",
 * 'worker-src': "'self'" }`.
 */
export function pagePolicy(more: Readonly<Record<string, string>> = {}): string {
  const policy: Record<string, string> = {
    'default-src': "'none'",
    'style-src': "'self'",
    'script-src': "'self'",
    'img-src': "'self' data:",
    'connect-src': "'self'",
    'base-uri': "'none'",
    'form-action': "'self'",
  };
  for (const [directive, sources] of Object.entries(more))
    policy[directive] = [policy[directive], sources].filter(Boolean).join(' ');
  return Object.entries(policy)
    .map(([directive, sources]) => `${directive} ${sources}`)
    .join('; ');
}

/** Path of a base URL, without a trailing slash. Links with it work on every host that serves the page. */
export const prefixOf = (base_url: string): string => new URL(base_url).pathname.replace(/\/+$/, '');

/** The common part of the head. `prefix` is the path of the base URL. */
export function headHtml(prefix: string, { style, script }: AssetPaths, policy = pagePolicy()): string {
  return `<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="${escapeHtml(prefix + style)}">
<script src="${escapeHtml(prefix + script)}" defer></script>`;
}

/** Links of the main navigation, in order. */
const PLACES: readonly (readonly [string, string])[] = [
  ['/#datasets', 'Datasets'],
  ['/guides/', 'Guides'],
  ['/docs', 'API'],
  ['/changes/', 'Changes'],
  ['/status/', 'Status'],
];

/**
 * Skip link and header. `here` is the path of the page, which marks the current link; `nav` replaces the main
 * navigation.
 */
export function headerHtml(prefix: string, here = '', nav?: string): string {
  const at = escapeHtml(prefix);
  const current = /^\/(datasets|explore|sql|files)\//.test(here) ? '/#datasets' : here;
  const links = PLACES.map(([path, name]) => {
    const is = path !== '/' && current.startsWith(path);
    return `<a href="${at}${path}"${is ? ` aria-current="${current === path ? 'page' : 'true'}"` : ''}>${name}</a>`;
  });
  return `<a class="skip" href="#main">Skip to the content</a>
<header class="bar">
<a class="mark" href="${at}/">Dataset Register</a>
${nav ?? `<nav aria-label="Main">${links.join(' ')}</nav>`}
<button class="theme" type="button" data-theme-switch>Scheme</button>
</header>`;
}

export function footerHtml(prefix: string): string {
  const at = escapeHtml(prefix);
  const links = [
    ['/llms.txt', 'llms.txt, for agents'],
    ['/v1/datasets', 'Catalogue as JSON'],
    ['/v1/datasets.md', 'Catalogue as Markdown'],
    ['/openapi.json', 'OpenAPI'],
    ['/sitemap.xml', 'Sitemap'],
  ].map(([path, name]) => `<li><a href="${at}${path}">${name}</a></li>`);
  return `<footer>
<p>Each dataset has a licence of its own, named on its page. Values are what the linked sources said on the date shown; check the source before you rely on one.</p>
<ul>${links.join('')}</ul>
</footer>`;
}
