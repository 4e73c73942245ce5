// The shell of the OAuth pages: the common shell with styles for forms.
import { type Html, html } from '../pages/html.ts';
import { shellOf } from '../pages/shell.ts';

const STYLE = `
h1 { font-size: clamp(1.7rem, 1.3rem + 1.8vw, 2.3rem); }
dl.sum { margin-bottom: 1.25rem; }
form.ask { display: block; }
form.ask label { display: block; margin-bottom: 0.3rem; font-weight: 600; }
input:not([type=hidden]) { width: 100%; min-height: 2.9rem; padding: 0.5rem 0.75rem; border: 1px solid var(--quiet); border-radius: 4px; background: var(--sheet); color: inherit; font: 1rem / 1.5 var(--mono); }
input[aria-invalid] { border: 2px solid var(--paid); }
.money { display: flex; align-items: center; gap: 0.6rem; }
.money input:not([type=hidden]) { width: 9rem; }
.buttons { display: flex; flex-wrap: wrap; gap: 0.75rem; margin: 1.5rem 0 1rem; }
button.link { min-height: 0; padding: 0.4rem 0; border: 0; color: var(--accent); font-weight: 400; text-decoration: underline; text-underline-offset: 0.18em; flex: none; }
.warn, .wrong { margin: 0 0 1.25rem; padding: 0.1rem 0 0.1rem 1rem; border-left: 3px solid var(--paid); }
.wrong { color: var(--paid); font-weight: 600; }
.hint { margin: 0.4rem 0 0; color: var(--quiet); font-size: 0.9rem; }
.rules { margin: 0 0 1.25rem; padding-left: 1.1rem; list-style: disc; }
.item { margin-block: 0; padding-block: 1.1rem; border-top: 1px solid var(--rule); }
.item .hint { margin-bottom: 0.7rem; }
.item form { margin: 0; }
.item h2, .aside h2 { margin-bottom: 0.3rem; font-size: 1.15rem; }
.aside { margin-top: 2.5rem; padding-top: 1rem; border-top: 3px double var(--rule); color: var(--quiet); font-size: 0.9rem; }
.aside h2 { color: var(--ink); }
pre { white-space: pre-wrap; }
`;

const shell = shellOf({ style: STYLE, external_forms: true });

/** Headers of every page. */
export const PAGE_HEADERS = shell.headers;

/** A complete page; `aside` is a separate part below. */
export function page(base_url: string, title: string, body: Html, aside?: Html): string {
  return shell.page(base_url, { title, body: html`${body}${aside && html`<div class="aside">${aside}</div>`}` });
}
