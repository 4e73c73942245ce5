// The viewer of a dataset as HTML: with the first rows in the page that the build writes, and with the rows of an address
// in the page that the service sends in its place.
import { attributeLabel } from '../../packs/define/labels.ts';
import { plural, printEuro, printNumber } from '../render/print.ts';
import { columnsOffer, downloadText, matchText, NO_RESULTS, selectionOffer, tableHtml } from './dataset-table.ts';
import { type Html, html, joinHtml, raw } from './html.ts';
import { LANGUAGES, type Model, PAGE_ROWS, type ServedRows, type TableRow } from './viewer-model.ts';
import {
  columnsOf,
  filterText,
  pageOf,
  paidNames,
  readState,
  rowsKey,
  selectionOf,
  withValue,
} from './viewer-state.ts';

/** Marks around the viewer in a page. Its model is between the first two. */
const [MODEL, SECTION, END] = [
  '<!--viewer--><script type="application/json" id="viewer-model">',
  '</script>',
  '<!--/viewer-->',
];

/** The rows of an address. */
export interface ViewerRows extends Omit<ServedRows, 'key'> {
  rows: readonly TableRow[];
  /** Whether they are the answer of the service; the script of the page requests it otherwise. */
  served: boolean;
}

/** The viewer in the page that the build writes, with its model. */
export function viewerPart(model: Model, rows: readonly TableRow[]): string {
  const { records } = model;
  const section = viewerHtml(model, '', { rows, matched: records, records, problem: '', served: false });
  return MODEL + JSON.stringify(model).replaceAll('<', '\\u003c') + SECTION + section + END;
}

/** A page around its viewer. */
interface ViewerPage {
  model: Model;
  before: string;
  after: string;
}

/** Takes the viewer out of a page; null: the page has none. */
export function splitPage(page: string): ViewerPage | null {
  const start = page.indexOf(MODEL);
  if (start < 0) return null;
  const from = start + MODEL.length;
  const to = page.indexOf(SECTION, from);
  const model = JSON.parse(page.slice(from, to)) as Model;
  return { model, before: page.slice(0, to + SECTION.length), after: page.slice(page.indexOf(END, to)) };
}

/** A menu of the bar. */
const menu = (id: string, title: string, panel: Html): Html =>
  html`<details class="viewer-menu" name="viewer-menu" id="${id}"><summary>${title}</summary>${panel}</details>
`;

const toggle = (id: string, text: string, pressed: boolean): Html =>
  html`<button type="button" class="viewer-toggle" id="${id}" aria-pressed="${String(pressed)}">${text}</button>
`;

const saveButton = (format: string, text: string): Html =>
  html`<button type="button" class="button plain" data-format="${format}">${text}</button> `;

/** Search, menus and links above the table. */
function barHtml(model: Model, state: URLSearchParams, matched: number): Html {
  const { attributes, filters, dataset, pages, files, geo, records } = model;
  const prefix = pages.slice(0, -`/datasets/${dataset}/`.length);
  const shown = columnsOf(state, model);
  const filtered = attributes.filter(({ name }) => filters.some(({ attribute }) => attribute === name));
  const options = filtered.map(
    (attribute) =>
      html`<option value="${attribute.name}">${attributeLabel(attribute)}${!attribute.public && ' (paid)'}</option>`,
  );
  const boxes = attributes.map(
    (
      attribute,
    ) => html`<label><input type="checkbox" value="${attribute.name}"${shown.includes(attribute.name) && raw(' checked')}> <span title="${attribute.name}">${attributeLabel(attribute)}${!attribute.public && html`<span class="tag paid">paid</span>`}</span></label>
`,
  );
  const links = [...files, { name: '', title: 'all files' }].map(
    ({ name, title }) =>
      html`<a href="${prefix}/files/${dataset}/${name}"${name !== '' && html` download="${dataset}-${name}"`}>${title}</a>`,
  );
  const languages = LANGUAGES.map(
    (
      language,
      at,
    ) => html`<button type="button" class="viewer-toggle" data-language="${language}" aria-pressed="${String(at === 0)}">${language}</button>
`,
  );
  return html`<div class="viewer-bar">
<form class="viewer-search" id="viewer-search" role="search" aria-label="Records">
<label class="away" for="viewer-q">Search</label>
<input id="viewer-q" name="q" type="search" placeholder="Search names and words" autocomplete="off" value="${state.get('q') ?? ''}">
<button type="submit" class="button">Search</button>
</form>
${menu(
  'viewer-filter',
  'Filter',
  html`<div class="viewer-panel">
<form class="viewer-add" id="viewer-add" aria-label="Add a filter">
<label>Column <select id="add-attribute">${options}</select></label>
<label>Condition <select id="add-operator"></select></label>
<label id="add-value-label">Value <input id="add-value" list="add-values" autocomplete="off"></label>
<datalist id="add-values"></datalist>
<button type="submit" class="button">Add filter</button>
</form>
<p class="quiet small" id="add-hint"></p>
</div>`,
)}${menu(
  'viewer-columns',
  'Columns',
  html`<div class="viewer-panel">
<fieldset class="viewer-fields" id="viewer-fields"><legend class="away">Columns shown</legend>
${boxes}</fieldset>
<p class="actions"><button type="button" class="button plain" id="viewer-default">Default columns</button></p>
</div>`,
)}${toggle('viewer-sources', 'Sources', state.has('sources'))}${geo !== null && toggle('viewer-map', 'Map', state.has('map'))}${menu(
  'viewer-download',
  'Download',
  html`<div class="viewer-panel">
<p class="small" id="download-what">${downloadText(matched, records)}</p>
<p class="actions">${saveButton('csv', 'CSV')}${saveButton('json', 'JSON')}${geo !== null && saveButton('geojson', 'GeoJSON')}</p>
<p class="small quiet">Complete files: ${joinHtml(links, ', ')}</p>
</div>`,
)}${menu(
  'viewer-api',
  'API',
  html`<div class="viewer-panel viewer-call">
<p class="small" id="api-price"></p>
<div role="group" aria-label="Language" class="viewer-languages">${languages}<button type="button" class="viewer-toggle" id="api-copy">Copy</button></div>
<pre tabindex="0" role="group" aria-label="The call of this view"><code id="api-code"></code></pre>
<p class="small"><a href="${prefix}/v1/${dataset}/llms.txt">Every parameter</a>, <a href="${prefix}/sql/${dataset}/">SQL console</a></p>
</div>`,
)}${menu(
  'viewer-follow',
  'Follow',
  html`<div class="viewer-panel viewer-call"><p class="small">Changes of the rows that this view selects, also of those on other pages.</p><div class="follow-panel"></div></div>`,
)}<a class="viewer-toggle" id="viewer-sql" href="${prefix}/sql/${dataset}/">Open in SQL</a>
<button type="button" class="viewer-toggle" id="viewer-link">Copy link</button>
</div>`;
}

/** The active filters; the script of the page makes their buttons usable. */
function chipsHtml(model: Model, state: URLSearchParams): Html {
  const texts = [...selectionOf(state)].map(([name, value]) => filterText(name, value, model));
  const chips = texts.map(
    (text) =>
      html`<li><button type="button" class="viewer-chip">${text} <span aria-hidden="true">×</span></button></li>`,
  );
  if (chips.length > 1) chips.push(html`<li><button type="button" class="viewer-chip plain">Remove all</button></li>`);
  return html`<ul class="viewer-chips" id="viewer-chips" aria-label="Active filters">${chips}</ul>`;
}

/** The place of the rows in the table, with links to the pages before and after. */
function pagesHtml(state: URLSearchParams, shown: number, matched: number): Html {
  const [page, pages] = [pageOf(state), Math.max(1, Math.ceil(matched / PAGE_ROWS))];
  const first = (page - 1) * PAGE_ROWS;
  const link = (id: string, rel: string, to: number, text: string) =>
    html`<a id="${id}" rel="${rel}" href="?${withValue(state, 'page', String(to)).toString()}"${(to < 1 || to > pages) && raw(' hidden')}>${text}</a>
`;
  return html`<nav class="viewer-pages" id="viewer-pages" aria-label="Pages of the table">
${link('page-before', 'prev', page - 1, 'Previous')}<label>Page <input id="page-number" type="number" min="1" max="${pages}" value="${page}" inputmode="numeric"> of <span id="page-count">${printNumber(pages)}</span></label>
${link('page-after', 'next', page + 1, 'Next')}<span class="quiet small" id="page-rows">${shown > 0 && `Rows ${printNumber(first + 1)} to ${printNumber(first + shown)} of ${printNumber(matched)}`}</span>
</nav>`;
}

/** The columns that are not public, as links to views with them. */
function paidHtml({ attributes, columns, price, pages, dataset }: Model): Html | '' {
  const paid = attributes.filter((attribute) => !attribute.public);
  if (paid.length === 0) return '';
  const links = paid.map(
    (attribute) =>
      html`<a href="?fields=${[...columns, attribute.name].join()}" rel="nofollow">${attributeLabel(attribute)}</a>`,
  );
  const prices = `${pages.slice(0, -`/datasets/${dataset}/`.length)}/pricing/`;
  return html`<details class="viewer-paid"><summary>${plural(paid.length, 'more column')}, paid</summary>
<p class="small">${joinHtml(links, ', ')}. ${printEuro(price)} for each page of ${PAGE_ROWS} rows, after a click that shows it. <a href="${prices}">Prices</a></p>
</details>`;
}

/** The viewer with the rows of an address, or with their offer where the address selects by paid attributes. */
export function viewerHtml(model: Model, search: string, { rows, served, ...answer }: ViewerRows): Html {
  const { matched, records, problem } = answer;
  const state = readState(search, model);
  const isPaid = paidNames(state, model).length > 0;
  const key: ServedRows = { key: rowsKey(state), ...answer };
  const slugs = rows.map(({ slug }) => slug);
  const offer = served && (isPaid ? selectionOffer(model, search) : columnsOffer(model, search, slugs));
  const hasNone = rows.length === 0 && (isPaid || problem !== '');
  const status = !hasNone && matched === 0 && records > 0 && NO_RESULTS;
  const table = tableHtml({ ...model, stats: answer.stats ?? model.stats }, state, rows, matched);
  return html`<section class="viewer" id="viewer" aria-labelledby="records"${served && html` data-rows="${JSON.stringify(key)}"`}>
<h2 id="records" class="away">Records</h2>
${barHtml(model, state, matched)}
${chipsHtml(model, state)}
<div class="viewer-problem" id="viewer-problem" role="alert"${problem === '' && raw(' hidden')}>${problem}</div>
<div id="viewer-offer">${offer}</div>
${model.geo !== null && html`<figure class="viewer-map" id="viewer-map-figure"${!state.has('map') && raw(' hidden')}></figure>`}
<div class="viewer-head">
<p id="viewer-count" class="viewer-count">${!hasNone && matchText(matched, records)}</p>
<p id="viewer-status" role="status" class="quiet small">${status}</p>
<p class="viewer-picked small" id="viewer-picked" hidden></p>
</div>
${records === 0 && html`<p class="empty">No record has been published yet.</p>`}
<div class="viewer-main">
<details class="viewer-facets" id="viewer-facets"><summary>Filter by value</summary><div id="viewer-facets-lists"></div></details>
<div class="viewer-scroll" tabindex="0" role="region" aria-label="Table of records" id="viewer-scroll">${table}</div>
</div>
<noscript><p class="quiet small">${plural(rows.length, 'row')} of ${printNumber(matched)}. Sorting and filters need JavaScript; <a href="${model.pages.replace('/datasets/', '/files/')}public.parquet">public.parquet</a> has all rows.</p></noscript>
${pagesHtml(state, rows.length, matched)}
${paidHtml(model)}
</section>`;
}
