// The frame of the operators' pages: that of all pages of the API, with a navigation of their own, htmx, and their own small style.

import { readFileSync } from 'node:fs';
import { SCRIPT_ASSET } from '../../pages/assets.ts';
import { prefixOf } from '../../pages/frame.ts';
import { type Html, html } from '../../pages/html.ts';
import { shellOf } from '../../pages/shell.ts';
import { HTMX_PATH } from './assets.ts';

const shell = shellOf({
  style: readFileSync(new URL('./ops.css', import.meta.url), 'utf8'),
  scripts: [SCRIPT_ASSET.path, HTMX_PATH],
});

/** Headers of every page, and of the pieces that htmx puts into one. */
export const FRAME_HEADERS = shell.headers;

/** Where a page stands in the navigation. */
export type Place = 'overview' | 'review' | 'nights' | 'money' | 'keys' | 'opt-outs' | 'log';

const NAVIGATION: readonly [Place, string, string][] = [
  ['overview', 'Overview', '/ops'],
  ['review', 'Review', '/ops/review'],
  ['nights', 'Nights', '/ops/nights'],
  ['money', 'Money', '/ops/money'],
  ['keys', 'Keys', '/ops/keys'],
  ['opt-outs', 'Opt-outs', '/ops/opt-outs'],
  ['log', 'Log', '/ops/log'],
];

export interface OpsPage {
  title: string;
  body: Html;
  /** Above the title: where the page belongs. */
  above?: Html;
  /** Where it stands, and who looks at it; absent where nobody is signed in. */
  at?: { place: Place; who: string };
}

/** htmx without anything that a policy without inline style and script forbids. */
const CONFIG = html`<meta name="htmx-config" content="${JSON.stringify({ includeIndicatorCSS: false, history: false, defaultTimeout: 20_000 })}">`;

/** A whole page as text. */
export function printPage(base_url: string, { title, body, above, at }: OpsPage): string {
  const nav =
    at === undefined
      ? html`<span class="where">Operations</span>`
      : html`<nav class="desk" aria-label="Operations">${NAVIGATION.map(
          ([place, name, path]) =>
            html`<a href="${path}"${place === at.place ? html` aria-current="page"` : ''}>${name}</a>`,
        )}</nav>
<form class="out" method="post" action="/ops/logout"><span class="who">operator ${at.who}</span> <button type="submit" class="link">Sign out</button></form>`;
  return withPrefix(
    base_url,
    shell.page(base_url, {
      title,
      head: CONFIG,
      nav,
      wide: at !== undefined,
      ...(above && { above }),
      body,
    }),
  );
}

/** Our own addresses with what stands before them, where the base URL has a path; values on a page have no quotes of this sort. */
export function withPrefix(base_url: string, text: string): string {
  const prefix = prefixOf(base_url);
  if (prefix === '') return text;
  return text.replace(/((?:href|action|hx-get|hx-post)=")\/ops(?=[/?"])/g, `$1${prefix}/ops`);
}
