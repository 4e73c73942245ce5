// /docs: the interface as a page for people. Swagger UI, served from here alone under a policy that lets nothing else in.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Document, View } from './document.ts';

/** Everything the page may load comes from this host; it cannot be framed and sends no forms. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
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

/** The page. Addresses keep the path of the base URL, whatever host serves them. */
function page({ base_url }: View): string {
  const prefix = new URL(base_url).pathname.replace(/\/+$/, '');
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta http-equiv="Content-Security-Policy" content="${POLICY.join('; ')}">
    <title>API reference · Dataset Register</title>
    <meta name="description" content="Every operation, parameter and answer of the Dataset Register">
    <link rel="icon" href="${prefix}/favicon.ico">
    <link rel="stylesheet" href="${prefix}/docs/swagger-ui.css">
    <link rel="stylesheet" href="${prefix}/docs/page.css">
    <script src="${prefix}/docs/swagger-ui-bundle.js" defer></script>
    <script src="${prefix}/docs/init.js" data-openapi="${prefix}/openapi.json" defer></script>
  </head>
  <body>
    <header>
      <a href="${prefix}/">Dataset Register</a>
      <nav aria-label="Main"><a href="${prefix}/llms.txt">Guide</a> <a href="${prefix}/openapi.json">openapi.json</a></nav>
    </header>
    <main id="docs">
      <noscript><p>This page needs JavaScript. <a href="${prefix}/llms.txt">The guide</a> and <a href="${prefix}/openapi.json">openapi.json</a> say the same without.</p></noscript>
    </main>
  </body>
</html>
`;
}

const INIT = `// Shows the description that this page names; light or dark as the reader's system is.
const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
follow();
dark.addEventListener('change', follow);
const url = document.querySelector('script[data-openapi]').dataset.openapi;
SwaggerUIBundle({ url, dom_id: '#docs', deepLinking: true, docExpansion: 'none', defaultModelsExpandDepth: -1, filter: true, validatorUrl: null });
`;

const STYLE = `body { margin: 0; background: #fff; }
html.dark-mode body { background: #1c2022; }
header { display: flex; flex-wrap: wrap; gap: 0.5rem 1.5rem; justify-content: space-between; padding: 0.9rem 1.25rem; background: #0b5c4d; font: 16px/1.4 system-ui, sans-serif; }
header a { color: #fff; text-decoration: none; margin-right: 1rem; }
header > a { font-weight: 600; }
header a:hover, header a:focus-visible { text-decoration: underline; }
noscript p { font: 16px/1.5 system-ui, sans-serif; padding: 1rem; }
.swagger-ui .info { margin: 1.5rem 0; }
html:not(.dark-mode) .swagger-ui .info a { color: #1f5fae; }
html:not(.dark-mode) .swagger-ui .btn.authorize { color: #0b5c4d; border-color: #0b5c4d; }
html:not(.dark-mode) .swagger-ui .btn.authorize svg { fill: #0b5c4d; }
`;

const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
const shipped = new Map<string, Promise<Uint8Array<ArrayBuffer>>>();

/** A file of the package as it was published, read once. */
function file(name: string): Promise<Uint8Array<ArrayBuffer>> {
  const known = shipped.get(name) ?? readFile(join(folder, name)).then((bytes) => new Uint8Array(bytes));
  shipped.set(name, known);
  return known;
}

const JS = 'text/javascript; charset=utf-8';
const CSS = 'text/css; charset=utf-8';
const PART = { title: 'Piece of the API reference', part: true } as const;

/** The page and its parts. */
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
