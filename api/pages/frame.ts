// The frame of every page: head, header and footer, for the pages of the API and those of Astro.
import { createHash } from 'node:crypto';
import { type Html, html, joinHtml, raw } from './html.ts';

/** Paths of the shared files, relative to the base URL. */
export interface AssetPaths {
  style: string;
  script: string;
}

/** The icon as a data URL, which needs no request. */
const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='3' fill='%230b5c4d'/%3E%3Cpath d='M4 5h8M4 8h8M4 11h5' stroke='%23fff' stroke-width='1.4'/%3E%3C/svg%3E";

/**
 * The script of the colour scheme, in the head of every page: a stored choice applies before the first paint,
 * which no file could guarantee. The button of the header changes the choice. Without storage the choice
 * lasts while the page is open. The class `queried` marks an address with a query, whose rows replace the
 * first ones of a table.
 */
const THEME_SCRIPT = `{
const root = document.documentElement, schemes = ['system', 'light', 'dark'];
let scheme = 'system';
try { scheme = localStorage.getItem('scheme') } catch {}
if (!schemes.includes(scheme)) scheme = 'system';
const apply = () => { if (scheme === 'system') delete root.dataset.theme; else root.dataset.theme = scheme };
apply();
root.classList.toggle('queried', location.search !== '');
addEventListener('DOMContentLoaded', () => {
root.classList.add('scripted');
const button = document.querySelector('[data-theme-switch]');
if (!button) return;
const label = () => {
button.textContent = scheme[0].toUpperCase() + scheme.slice(1);
button.setAttribute('aria-label', 'Colour scheme: ' + scheme + '. Change it');
};
label();
button.addEventListener('click', () => {
scheme = schemes[(schemes.indexOf(scheme) + 1) % 3];
try { localStorage.setItem('scheme', scheme) } catch {}
apply();
label();
});
});
}`;

/** Source of the script in a Content-Security-Policy: no other inline code may run. */
export const THEME_SOURCE = `'sha256-${createHash('sha256').update(THEME_SCRIPT).digest('base64')}'`;

/** Goes below the policy and above the style sheet. */
export const THEME_ELEMENT = html`<script id="theme">${raw(THEME_SCRIPT)}</script>`;

/**
 * The Content-Security-Policy of a page: files of this host only, no inline code or style except the colour
 * scheme. `more` extends single directives for pages that compute in the browser: `{ 'script-src':
 * "'wasm-unsafe-eval'", 'worker-src': "'self'" }`.
 */
export function pagePolicy(more: Readonly<Record<string, string>> = {}): string {
  const policy: Record<string, string> = {
    'default-src': "'none'",
    'style-src': "'self'",
    'script-src': `'self' ${THEME_SOURCE}`,
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

/** The common part of the head. `prefix` is the path of the base URL, `policy` a constant of the source. */
export function headHtml(prefix: string, { style, script }: AssetPaths, policy = pagePolicy()): Html {
  return html`<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${raw(policy)}">
<meta name="color-scheme" content="light dark">
${THEME_ELEMENT}
<link rel="icon" href="${raw(ICON)}">
<link rel="stylesheet" href="${prefix + style}">
<script src="${prefix + script}" defer></script>`;
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
export function headerHtml(prefix: string, here = '', nav?: Html): Html {
  const current = /^\/(datasets|explore|sql|files)\//.test(here) ? '/#datasets' : here;
  const links = PLACES.map(([path, name]) => {
    const is = path !== '/' && current.startsWith(path);
    const mark = is && html` aria-current="${current === path ? 'page' : 'true'}"`;
    return html`<a href="${prefix}${path}"${mark}>${name}</a>`;
  });
  return html`<a class="skip" href="#main">Skip to the content</a>
<header class="bar">
<a class="mark" href="${prefix}/">Dataset Register</a>
${nav ?? html`<nav aria-label="Main">${joinHtml(links, ' ')}</nav>`}
<button class="theme" type="button" data-theme-switch>Scheme</button>
</header>`;
}

export function footerHtml(prefix: string): Html {
  const links = [
    ['/llms.txt', 'llms.txt for agents'],
    ['/v1/datasets', 'Catalogue as JSON'],
    ['/v1/datasets.md', 'Catalogue as Markdown'],
    ['/openapi.json', 'OpenAPI'],
    ['/sitemap.xml', 'Sitemap'],
  ].map(([path, name]) => html`<li><a href="${prefix}${path}">${name}</a></li>`);
  return html`<footer>
<p>Each dataset names its licence on its page. Values are those of the linked sources on the date shown; check the source before you rely on one.</p>
<ul>${links}</ul>
</footer>`;
}
