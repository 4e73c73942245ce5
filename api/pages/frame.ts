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

/** The cookie that marks a signed-in visitor; scripts may read it. */
export const SIGNED_IN_COOKIE = 'register_signed_in';

/**
 * The script of the colour scheme and of the key `/`, which focuses the search, in the head of every page: a stored choice applies before the first paint,
 * which no file could guarantee. The button of the header changes the choice. Without storage the choice
 * lasts while the page is open. The class `queried` marks an address with a query, whose rows replace the
 * first ones of a table. The class `signed-in` follows a cookie without a secret, for the header: pages are
 * static files, and the session cookie is sent to the account pages only.
 */
const THEME_SCRIPT = `{
const root = document.documentElement, schemes = ['system', 'light', 'dark'];
let scheme = 'system';
try { scheme = localStorage.getItem('scheme') } catch {}
if (!schemes.includes(scheme)) scheme = 'system';
const apply = () => { if (scheme === 'system') delete root.dataset.theme; else root.dataset.theme = scheme };
apply();
root.classList.toggle('queried', location.search !== '');
try { root.classList.toggle('signed-in', /(^|; )${SIGNED_IN_COOKIE}=1/.test(document.cookie)) } catch {}
addEventListener('keydown', (event) => {
const field = document.querySelector('.seek input, .finder input');
if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || !field) return;
if (event.target.closest('input, textarea, select, [contenteditable=true]')) return;
event.preventDefault();
field.focus();
});
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
 * scheme. `more` extends single directives: `{ 'connect-src': 'https://api.example' }`.
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
  ['/changes/', 'Changes'],
  ['/pricing/', 'Pricing'],
  ['/guides/', 'Docs'],
  ['/docs', 'API'],
];

/** The way to an account. The style sheet shows one side, by the class `signed-in`. */
const ACCOUNT_PLACES: readonly (readonly [path: string, name: string, classes: string])[] = [
  ['/account', 'Sign in', 'visitor sign-in'],
  ['/keys', 'Get an API key', 'visitor get-key'],
  ['/account', 'Account', 'owner get-key'],
];

/** Pages with the larger search in their text, in place of that in the header. */
const WITH_SEARCH = ['/', '/search/', '/404.html'];

/** Attribute of the link to the current page, or to the section that contains it. */
const currentMark = (path: string, current: string): Html | false =>
  current.startsWith(path) && html` aria-current="${current === path ? 'page' : 'true'}"`;

/**
 * Skip link and header. `here` is the path of the page, which marks the current link; `nav` replaces the main
 * navigation and the links to the account.
 */
export function headerHtml(prefix: string, here = '', nav?: Html): Html {
  const current = /^\/(datasets|compare|explore|sql|files)\//.test(here) ? '/#datasets' : here;
  const links = PLACES.map(([path, name]) => html`<a href="${prefix}${path}"${currentMark(path, current)}>${name}</a>`);
  const account = ACCOUNT_PLACES.map(
    ([path, name, classes]) =>
      html`<a class="${classes}" href="${prefix}${path}"${currentMark(path, current)}>${name}</a>`,
  );
  return html`<a class="skip" href="#main">Skip to the content</a>
<header class="bar">
<a class="mark" href="${prefix}/">Dataset Register</a>
${
  nav ??
  html`${
    !WITH_SEARCH.includes(here) &&
    html`<search aria-label="All datasets"><form class="seek" action="${prefix}/search/"><input type="search" name="q" aria-label="Search all datasets" aria-keyshortcuts="/" placeholder="Search" autocomplete="off" required><button type="submit" hidden>Search</button></form></search>
`
  }<nav aria-label="Main">${joinHtml(links, ' ')}</nav>\n<nav class="enter" aria-label="Account">${joinHtml(account, ' ')}</nav>`
}
<button class="theme" type="button" data-theme-switch>Scheme</button>
</header>`;
}

/** Links of the footer, in order. */
const FOOTER_PLACES: readonly (readonly [string, string])[] = [
  ['/account', 'Account'],
  ['/status/', 'Status'],
  ['/docs', 'Reference'],
  ['/llms.txt', 'llms.txt for agents'],
  ['/v1/datasets', 'Catalogue as JSON'],
  ['/v1/datasets.md', 'Catalogue as Markdown'],
  ['/openapi.json', 'OpenAPI'],
  ['/sitemap.xml', 'Sitemap'],
];

/** The footer. `here` is the path of the page, which marks the current link. */
export function footerHtml(prefix: string, here = ''): Html {
  const links = FOOTER_PLACES.map(
    ([path, name]) =>
      html`<li><a href="${prefix}${path}"${path === here && html` aria-current="page"`}>${name}</a></li>`,
  );
  return html`<footer>
<p>Each dataset names its licence on its page. Values are those of the linked sources on the date shown; check the source before you rely on one.</p>
<ul>${links}</ul>
</footer>`;
}
