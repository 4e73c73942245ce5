// /docs: the API as a page for people. Swagger UI, served from this host under a strict
// Content-Security-Policy.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { SCRIPT_ASSET, STYLE as SITE_STYLE } from '../pages/assets.ts';
import { footerHtml, headerHtml, headHtml, prefixOf, THEME_SOURCE } from '../pages/frame.ts';
import { html } from '../pages/html.ts';
import type { Document, View } from './document.ts';

/** The page loads everything from this host; it cannot be framed and sends no forms. */
const POLICY = [
  "default-src 'none'",
  `script-src 'self' ${THEME_SOURCE}`,
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
];

const headers = () => ({
  'Content-Security-Policy': [...POLICY, "frame-ancestors 'none'"].join('; '),
  'Referrer-Policy': 'no-referrer',
});

/** The page. Links keep the path of the base URL, whatever host serves them. */
function page({ base_url }: View): string {
  const prefix = prefixOf(base_url);
  return String(html`<!doctype html>
<html lang="en">
  <head>
${headHtml(prefix, { style: '/docs/page.css', script: SCRIPT_ASSET.path }, POLICY.join('; '))}
    <title>API reference · Dataset Register</title>
    <meta name="description" content="Every operation, parameter and answer of the Dataset Register">
    <link rel="stylesheet" href="${prefix}/docs/swagger-ui.css">
    <script src="${prefix}/docs/swagger-ui-bundle.js" defer></script>
    <script src="${prefix}/docs/init.js" data-openapi="${prefix}/openapi.json" defer></script>
  </head>
  <body>
${headerHtml(prefix, '/docs')}
    <div id="main" role="main">
      <section aria-labelledby="docs-title">
      <h1 id="docs-title">Try every operation</h1>
      <p class="lead">From <a href="${prefix}/openapi.json">openapi.json</a>. For reading, <a href="${prefix}/guides/reference/">every operation on one page</a> is shorter.</p>
      <noscript><p class="note">This page needs JavaScript. <a href="${prefix}/guides/reference/">The reference</a>, <a href="${prefix}/llms.txt">the guide</a> and <a href="${prefix}/openapi.json">openapi.json</a> have the same content.</p></noscript>
      </section>
      <div id="docs"></div>
    </div>
${footerHtml(prefix)}
  </body>
</html>
`);
}

const INIT = `{
// Shows the description that this page names, in the colour scheme of the page.
const root = document.documentElement;
const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => root.classList.toggle('dark-mode', root.dataset.theme ? root.dataset.theme === 'dark' : dark.matches);
follow();
dark.addEventListener('change', follow);
new MutationObserver(follow).observe(root, { attributeFilter: ['data-theme'] });
const url = document.querySelector('script[data-openapi]').dataset.openapi;
// The list of operations is its main part; what it draws in addition has neither a name nor its place among
// the headings.
const fit = () => {
  // Until the operations are drawn, the page itself is the main part.
  if (document.querySelector('#docs main')) document.getElementById('main').removeAttribute('role');
  for (const [part, name] of [['.information-container', 'About'], ['.scheme-container', 'Server and key'], ['.filter', 'Filter']])
    for (const one of document.querySelectorAll('#docs ' + part)) one.setAttribute('role', 'region'), one.setAttribute('aria-label', name);
  for (const tag of document.querySelectorAll('#docs .opblock-tag')) tag.setAttribute('aria-level', '2'), tag.setAttribute('role', 'heading');
  const all = (selector, mend) => { for (const one of document.querySelectorAll('#docs ' + selector)) mend(one); };
  all('#servers', (one) => one.setAttribute('aria-label', 'Server'));
  all('h4', (one) => one.setAttribute('aria-level', '3'));
  all('h5', (one) => one.setAttribute('aria-level', '4'));
  // The button that opens an operation holds a link to itself.
  all('.opblock-summary-control a[href]', (one) => one.removeAttribute('href'));
  all('.opblock-summary-control [tabindex]', (one) => one.removeAttribute('tabindex'));
  all('pre', (one) => (one.tabIndex = 0));
  all('table.responses-table', (one) => one.setAttribute('aria-label', 'Answers of ' + one.id.replace(/_responses$/, '')));
  all('textarea', (one) => one.setAttribute('aria-label', 'Request body'));
  all('select:not([aria-label], [id])', (one) => one.setAttribute('aria-label', one.closest('tr')?.dataset.paramName ?? 'Example'));
};
new MutationObserver(fit).observe(document.getElementById('docs'), { childList: true, subtree: true });
SwaggerUIBundle({ url, dom_id: '#docs', deepLinking: true, docExpansion: 'none', defaultModelsExpandDepth: -1, filter: true, validatorUrl: null });
}
`;

/** The style of all pages in a cascade layer, so that Swagger UI's own style has priority. */
const STYLE = `@layer site {
${SITE_STYLE}
}
#main { flex: 1 0 auto; width: 100%; padding-top: 2rem; }
#main > section { margin: 0; }
#docs { min-height: 100vh; }
#docs .info { margin: 1rem 0; }
#docs .info hgroup { display: none; }
#docs .wrapper { padding: 0; max-width: none; }
#docs .scheme-container { padding: 1rem 0; background: none; box-shadow: none; }
#docs section { margin: 0; }
#docs p { max-width: none; }
@media (width < 40rem) { #docs .response-col_links { display: none; } }
#docs .responses-inner { overflow-x: auto; }
#docs :is(p, a, label, h3, small, select, input, .btn, .opblock-summary-description) { font-family: var(--sans); }
html:not(.dark-mode) #docs .opblock-get .opblock-summary-method { background: #1d5fa8; }
html:not(.dark-mode) #docs .opblock-post .opblock-summary-method { background: #1c7049; }
html:not(.dark-mode) #docs .opblock-put .opblock-summary-method { background: #8a5200; }
html:not(.dark-mode) #docs .opblock-delete .opblock-summary-method { background: #b3261e; }
html.dark-mode #docs :is(.header-col, .col_header, td) { color: var(--ink); }
#docs .btn { transition: none; }
#docs .btn.execute { background: #1d5fa8; border-color: #1d5fa8; color: #fff; }
#docs .download-contents { background: #4a4e5c; }
#docs .microlight span { color: #f0d9a0 !important; }
html:not(.dark-mode) #docs .btn.cancel { color: #b3261e; border-color: #b3261e; }
html:not(.dark-mode) #docs :is(.parameter__in, .parameter__type, .prop-format, .response-col_links, .tab li, .model-hint) { color: var(--quiet); }
html.dark-mode:root, html.dark-mode #docs .swagger-ui { background: var(--paper); }
html:not(.dark-mode) #docs .info a { color: var(--accent); }
html:not(.dark-mode) #docs .btn.authorize { color: var(--accent); border-color: var(--accent); }
html:not(.dark-mode) #docs .btn.authorize svg { fill: var(--accent); }
`;

const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
const shipped = new Map<string, Promise<Uint8Array<ArrayBuffer>>>();

/** A file of the package, read once. */
function file(name: string): Promise<Uint8Array<ArrayBuffer>> {
  const known = shipped.get(name) ?? readFile(join(folder, name)).then((bytes) => new Uint8Array(bytes));
  shipped.set(name, known);
  return known;
}

const JS = 'text/javascript; charset=utf-8';
const CSS = 'text/css; charset=utf-8';
const PART = { title: 'Piece of the API reference', part: true } as const;

/** The page and its files. */
export const docs: readonly Document[] = [
  {
    path: '/docs',
    title: 'API reference for people',
    rel: 'service-doc',
    file: 'docs/index.html',
    content_type: 'text/html; charset=utf-8',
    headers,
    text: page,
  },
  { path: '/docs/init.js', ...PART, content_type: JS, text: () => INIT },
  { path: '/docs/page.css', ...PART, content_type: CSS, text: () => STYLE },
  { path: '/docs/swagger-ui.css', ...PART, content_type: CSS, text: () => file('swagger-ui.css') },
  { path: '/docs/swagger-ui-bundle.js', ...PART, content_type: JS, text: () => file('swagger-ui-bundle.js') },
];
