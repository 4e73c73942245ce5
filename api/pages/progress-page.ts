// The pages in place of static files that are not written yet: what is being built, and what answers already. They
// refresh themselves until the files exist.
import type { RegisterProgress } from '../../data/releases/night-state.ts';
import { printNumber } from '../render/print.ts';
import { type Html, html, joinHtml } from './html.ts';
import { type ShellPage, shellOf } from './shell.ts';

/** Seconds between two loads of a page. */
const REFRESH = 3;

const STYLE = `
.building { margin: 0 0 2rem; padding: 0; list-style: none; }
.building li { padding: 1rem 0; border-top: 1px solid var(--rule); }
.building h2 { margin: 0; font-size: 1.15rem; }
.building p { margin: 0.3rem 0 0; }
.building progress { display: block; width: 100%; height: 0.6rem; margin-top: 0.6rem; accent-color: var(--accent); }
.building .state { font-variant-numeric: tabular-nums; }
`;

const shell = shellOf({ style: STYLE });
export const PROGRESS_HEADERS = { ...shell.headers, 'Retry-After': String(REFRESH) };

type DatasetProgress = RegisterProgress['datasets'][number];

/** Links to what a dataset answers without files. */
function answers(base_url: string, { id }: DatasetProgress): Html {
  const links = [
    [`/v1/${id}/entities?limit=5`, 'Search (JSON)'],
    [`/v1/${id}/examples`, 'Example records'],
    [`/v1/${id}/schema`, 'Attributes and filters'],
    [`/v1/${id}/llms.txt`, 'Guide for agents'],
  ].map(([path, name]) => html`<a href="${base_url}${path}">${name}</a>`);
  return html`<p>${joinHtml(links, ' · ')}</p>`;
}

function datasetItem(base_url: string, dataset: DatasetProgress): Html {
  const { id, title, records, build } = dataset;
  const percent = Math.floor(build.share * 100);
  const state =
    records === null
      ? html`<p class="state">${build.text[0]!.toUpperCase() + build.text.slice(1)}</p>${build.expected && html`<progress max="100" value="${percent}" aria-label="${title}">${percent} %</progress>`}`
      : html`<p class="state">Answers now: ${printNumber(records)} records</p>${answers(base_url, dataset)}`;
  return html`<li><h2><a href="${base_url}/datasets/${id}/">${title}</a></h2>${state}</li>`;
}

/** What happens now, in one sentence. */
function intro({ datasets, running, files }: RegisterProgress): string {
  const missing = datasets.filter(({ records }) => records === null).length;
  if (!running && missing > 0) return 'No run is in progress. The operator starts one with the command nightly.';
  if (missing > 0)
    return 'The datasets are collected and built, the smallest first. Each one answers as soon as it is built; the pages are written after the last one.';
  if (running) return `Every dataset answers. The pages are being written${files === null ? '' : `: ${files}`}.`;
  return 'Every dataset answers. Their pages are written by the next nightly run.';
}

/**
 * The page at `path`. `dataset`: its page alone; absent: all datasets.
 *
 *     progressPage(base_url, '/', progress)
 */
export function progressPage(base_url: string, path: string, progress: RegisterProgress, dataset?: string): string {
  const { datasets } = progress;
  const shown = datasets.filter(({ id }) => dataset === undefined || id === dataset);
  const single = dataset === undefined ? undefined : shown[0];
  const ready = datasets.filter(({ records }) => records !== null).length;
  const title =
    single?.title ?? (ready < datasets.length ? 'The datasets are being built' : 'The pages are being written');
  const page: ShellPage = {
    title,
    body: html`<p>${intro(progress)}</p>
<p role="status">${ready} of ${datasets.length} datasets answer. This page loads again every ${REFRESH} seconds.</p>
<ul class="building">${shown.map((item) => datasetItem(base_url, item))}</ul>
<p>For programs: <a href="${base_url}/readyz">/readyz</a> has the same state, <a href="${base_url}/v1/datasets">/v1/datasets</a> the datasets that answer.</p>`,
    path,
    refresh_seconds: REFRESH,
    wide: true,
  };
  return shell.page(base_url, page);
}
