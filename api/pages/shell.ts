// The shell of pages that the API renders itself, such as a checkout: the style of site/, by default no
// script but the colour scheme, no external resources.
import { createHash } from 'node:crypto';
import { STYLE_ASSET } from './assets.ts';
import { footerHtml, headerHtml, prefixOf, THEME_ELEMENT, THEME_SOURCE } from './frame.ts';
import { type Html, html, raw } from './html.ts';

/** Style shared by these pages in addition to that of the site. */
const COMMON_STYLE = `
.slip { max-width: 34rem; overflow-wrap: anywhere; }
.play { margin: 0 0 1.5rem; padding: 0.7rem 1rem; border: 2px solid var(--paid); border-radius: 6px; color: var(--paid); max-width: none; }
.play strong { display: block; font-size: 1.1rem; }
.sum { margin: 0 0 1.5rem; border-block: 3px double var(--rule); }
.sum div { display: flex; justify-content: space-between; gap: 1.5rem; padding: 0.6rem 0; }
.sum div + div { border-top: 1px dotted var(--rule); }
.sum dt { color: var(--quiet); }
.sum dd { text-align: right; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
.sum .total dd { font: 600 1.4rem / 1.2 var(--serif); font-variant-numeric: lining-nums tabular-nums; }
.sum .total dt { color: inherit; font-weight: 600; }
main form { display: flex; flex-wrap: wrap; gap: 0.75rem; margin: 0 0 1.5rem; }
button { min-height: 2.9rem; padding: 0.6rem 1.3rem; border: 1px solid var(--accent); border-radius: 4px; background: none; color: var(--accent); font: 600 1rem / 1.2 var(--sans); cursor: pointer; }
button.button { background: var(--accent); color: var(--on-accent); }
button:hover { text-decoration: underline; }
@media (width < 30rem) { form button { flex: 1 1 100%; } }
`;

/** Style of forms about keys and money. */
export const FORM_STYLE = `
form.ask { display: block; }
form.ask label { display: block; margin-bottom: 0.3rem; font-weight: 600; }
main input:not([type=hidden], [type=checkbox], [type=radio]) { width: 100%; min-height: 2.9rem; padding: 0.5rem 0.75rem; border: 1px solid var(--quiet); border-radius: 4px; background: var(--sheet); color: inherit; font: 1rem / 1.5 var(--mono); }
main input[aria-invalid] { border: 2px solid var(--paid); }
.money { display: flex; align-items: center; gap: 0.6rem; }
main .money input:not([type=hidden], [type=checkbox], [type=radio]) { width: 9rem; }
.buttons { display: flex; flex-wrap: wrap; gap: 0.75rem; margin: 1.5rem 0 1rem; }
button.link { min-height: 0; padding: 0.4rem 0; border: 0; color: var(--accent); font-weight: 400; text-decoration: underline; text-underline-offset: 0.18em; flex: none; }
.warn, .wrong { margin: 0 0 1.25rem; padding: 0.1rem 0 0.1rem 1rem; border-left: 3px solid var(--paid); }
.wrong { color: var(--paid); font-weight: 600; }
.hint { margin: 0.4rem 0 0; color: var(--quiet); font-size: 0.9rem; }
`;

/** The additions of one kind of page. */
export interface ShellKind {
  /** CSS after the common style. */
  style?: string;
  /**
   * Its forms lead to other sites. The policy then has no `form-action`, which browsers also apply to
   * redirects; and its forms must send `Origin`, which `no-referrer` prevents.
   */
  external_forms?: boolean;
  /**
   * Paths of our scripts, for pages that also work without them. Their forms stay on this site, and send
   * `Origin`.
   */
  scripts?: readonly string[];
}

export interface Shell {
  headers: Readonly<Record<string, string>>;
  /** The complete page. */
  page(base_url: string, page: ShellPage): string;
}

/** The shell of one kind of page. */
export function shellOf({ style = '', external_forms = false, scripts = [] }: ShellKind): Shell {
  const css = STYLE_ASSET.text + COMMON_STYLE + style;
  const hash = createHash('sha256').update(css).digest('base64');
  const live = scripts.length > 0;
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${hash}'`,
    live ? `script-src 'self' ${THEME_SOURCE}` : `script-src ${THEME_SOURCE}`,
    ...(live ? ["connect-src 'self'"] : []),
    ...(external_forms ? [] : ["form-action 'self'"]),
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ];
  return {
    // The URL or the page may contain a secret: no cache, external resource, frame or Referer header may leak
    // it.
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'no-store',
      'Referrer-Policy': external_forms || live ? 'same-origin' : 'no-referrer',
      'X-Frame-Options': 'DENY',
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': policy.join('; '),
    },
    page: (base_url, page) => wholePage(base_url, css, scripts, page),
  };
}

/** The shell without additions. */
export const PLAIN_SHELL = shellOf({});

export interface ShellPage {
  title: string;
  /** The page below its title. */
  body: Html;
  /** Above the title. */
  above?: Html;
  /** Seconds after which a page that waits for something reloads. */
  refresh_seconds?: number;
  /** A navigation that replaces the site's, and its footer. */
  nav?: Html;
  /** Path of the page, for the links of the header. */
  path?: string;
  /** As wide as the site's pages. */
  wide?: boolean;
  /** More elements of the head. */
  head?: Html;
}

function wholePage(base_url: string, style: string, scripts: readonly string[], page: ShellPage): string {
  const { title, body, above, refresh_seconds, wide = false, head } = page;
  const prefix = prefixOf(base_url);
  const loaded = scripts.map((path) => html`\n<script src="${prefix + path}" defer></script>`);
  const refresh = refresh_seconds !== undefined && html`<meta http-equiv="refresh" content="${refresh_seconds}">`;
  return String(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">${refresh}
<title>${title} · Dataset Register</title>
${THEME_ELEMENT}
<style>${raw(style)}</style>${head}${loaded}
</head>
<body>
${headerHtml(base_url, page.path, page.nav)}
<main id="main"${!wide && html` class="slip"`}>
${above}
<h1>${title}</h1>
${body}
</main>
${page.nav === undefined && footerHtml(base_url, page.path)}
</body>
</html>
`);
}
