// The shell of the operators' pages: the common shell with their navigation, style and htmx.

import { readFileSync } from 'node:fs';
import { SCRIPT_ASSET } from '../../pages/assets.ts';
import { CHART_STYLE } from '../../pages/charts.ts';
import { prefixOf } from '../../pages/frame.ts';
import { html } from '../../pages/html.ts';
import { type Shell, type ShellPage, shellOf } from '../../pages/shell.ts';
import { OPS_SCRIPTS } from './assets.ts';

const shell = shellOf({
  style: CHART_STYLE + readFileSync(new URL('./ops.css', import.meta.url), 'utf8'),
  scripts: [SCRIPT_ASSET.path, ...OPS_SCRIPTS],
});

/** The pages of the navigation. */
export type Place = 'overview' | 'review' | 'nights' | 'money' | 'keys' | 'opt-outs' | 'log';

const NAVIGATION: readonly [Place, string, string][] = [
  ['overview', 'Overview', '/ops'],
  ['review', 'Review', '/ops/review'],
  ['nights', 'Nightly runs', '/ops/nights'],
  ['money', 'Money', '/ops/money'],
  ['keys', 'Keys', '/ops/keys'],
  ['opt-outs', 'Opt-outs', '/ops/opt-outs'],
  ['log', 'Log', '/ops/log'],
];

/** A page; `at`: its place in the navigation, and the signed-in operator. */
export interface OpsPage extends ShellPage {
  at?: { place: Place; who: string };
}

/** Turns off what the Content-Security-Policy forbids: inline style and script. */
const CONFIG = html`<meta name="htmx-config" content="${JSON.stringify({ includeIndicatorCSS: false, history: false, defaultTimeout: 20_000 })}">`;

/** The frame of the pages; without `at` they have no navigation. */
export const OPS_SHELL: Shell = {
  headers: shell.headers,
  page(base_url, { at, ...page }: OpsPage) {
    const nav =
      at === undefined
        ? html`<span class="where">Operations</span>`
        : html`<nav class="sections" aria-label="Operations">${NAVIGATION.map(
            ([place, name, path]) =>
              html`<a href="${path}"${place === at.place ? html` aria-current="page"` : ''}>${name}</a>`,
          )}</nav>
<form class="out" method="post" action="/ops/logout"><span class="who">operator ${at.who}</span> <button type="submit" class="link">Sign out</button></form>`;
    return withPrefix(base_url, shell.page(base_url, { ...page, head: CONFIG, nav, wide: at !== undefined }));
  },
};

/** Adds the path of the base URL to our links. Escaped values have no `"`, so nothing else can match. */
export function withPrefix(base_url: string, text: string): string {
  const prefix = prefixOf(base_url);
  if (prefix === '') return text;
  return text.replace(/((?:href|action|hx-get|hx-post)=")\/ops(?=[/?"])/g, `$1${prefix}/ops`);
}
