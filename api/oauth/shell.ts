// The shell of the OAuth pages: the common shell with styles for forms.
import { type Html, html } from '../pages/html.ts';
import { FORM_STYLE, shellOf } from '../pages/shell.ts';

const STYLE = `
h1 { font-size: clamp(1.7rem, 1.3rem + 1.8vw, 2.3rem); }
dl.sum { margin-bottom: 1.25rem; }
.rules { margin: 0 0 1.25rem; padding-left: 1.1rem; list-style: disc; }
.item { margin-block: 0; padding-block: 1.1rem; border-top: 1px solid var(--rule); }
.item .hint { margin-bottom: 0.7rem; }
.item form { margin: 0; }
.item h2, .aside h2 { margin-bottom: 0.3rem; font-size: 1.15rem; }
.aside { margin-top: 2.5rem; padding-top: 1rem; border-top: 3px double var(--rule); color: var(--quiet); font-size: 0.9rem; }
.aside h2 { color: var(--ink); }
pre { white-space: pre-wrap; }
`;

export const OAUTH_SHELL = shellOf({ style: FORM_STYLE + STYLE, external_forms: true });

/** A complete page; `aside` is a separate part below. */
export function page(base_url: string, title: string, body: Html, aside?: Html): string {
  return OAUTH_SHELL.page(base_url, { title, body: html`${body}${aside && html`<div class="aside">${aside}</div>`}` });
}
