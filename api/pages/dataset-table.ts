// The table of a dataset as HTML, and the offers of its paid rows and columns.
import { attributeLabel } from '../../packs/define/labels.ts';
import { plural, printNumber, typeWord, webAddress } from '../render/print.ts';
import { type Html, html, raw } from './html.ts';
import { offerHtml } from './offer.ts';
import { barsOf, CHART, FIGURES, SORTED, sourceText, spreadText, viewCell } from './viewer-cells.ts';
import { MOST_ROWS, type Model, type ModelAttribute, PAGE_ROWS, type TableRow } from './viewer-model.ts';
import { callOf, columnsOf, listText, pageOf, paidNames, readState, sortOf } from './viewer-state.ts';

/** The head of a column: sort button, type, small chart whose bars filter, range. */
function columnHead(model: Model, attribute: ModelAttribute, sort: string): Html {
  const { name, type, unit, description, public: open } = attribute;
  const order = sort === name ? 'ascending' : sort === `-${name}` ? 'descending' : null;
  const label = attributeLabel(attribute);
  const title =
    open && SORTED.includes(type)
      ? html`<button type="button" class="viewer-sort" data-sort="${name}" disabled>${label}</button>`
      : html`<span class="viewer-name">${label}</span>`;
  const stats = model.stats[name];
  const bars = barsOf(name, type, stats).map(
    (bar, at) =>
      html`<rect x="${bar.x.toFixed(1)}" y="${bar.y.toFixed(1)}" width="${bar.width.toFixed(1)}" height="${bar.height.toFixed(1)}" fill-opacity="${bar.opacity.toFixed(2)}" data-bar="${at}"/>`,
  );
  const chart = html`<svg class="column-chart" viewBox="0 0 ${CHART.width} ${CHART.height}" width="${CHART.width}" height="${CHART.height}" aria-hidden="true" focusable="false">${bars}</svg><span class="spread">${stats && spreadText(type, stats)}</span>`;
  return html`<th scope="col" data-column="${name}" class="${FIGURES.includes(type) && 'figure'}" title="${name}: ${description}"${order !== null && html` aria-sort="${order}"`}>${title}<span class="unit">${unit ?? typeWord(type)}</span>${open ? chart : html`<span class="tag paid">paid</span>`}</th>`;
}

/** A cell; `linked`: the sources of values are links. */
export function tableCell(
  column: ModelAttribute,
  record: Pick<TableRow, 'attributes' | 'provenance'>,
  linked: boolean,
): Html {
  const { name, type } = column;
  const value = record.attributes[name] ?? null;
  const source = record.provenance[name] ?? null;
  const text = viewCell(value, column);
  const url = type === 'url' && value !== null ? webAddress(String(value)) : null;
  const at = linked && source !== null ? webAddress(source.source_url) : null;
  const shown = url === null ? text : html`<a href="${url}" rel="nofollow noopener">${text}</a>`;
  const from = source !== null && value !== null && sourceText(source);
  const line = at === null ? from : html`<a href="${at}" rel="nofollow noopener">${from}</a>`;
  const isLocked = !column.public && !(name in record.attributes);
  return html`<td class="${FIGURES.includes(type) && 'figure'}">${isLocked ? html`<span class="viewer-lock">locked</span>` : shown}${from && html`<span class="from">${line}</span>`}</td>`;
}

function tableRow(
  model: Model,
  columns: readonly ModelAttribute[],
  record: TableRow,
  index: number,
  linked: boolean,
): Html {
  const { slug, name } = record;
  const cells = columns.map((column) => tableCell(column, record, linked));
  // The marks let the API take out a record that was removed or changed (api/http/static-overlay.ts).
  return html`${raw(`<!--record ${model.dataset}/${slug}-->`)}<tr aria-rowindex="${index + 2}" data-slug="${slug}"><th scope="row"><input type="checkbox" class="viewer-pick" aria-label="Select ${name}"> <a href="${model.pages}${slug}">${name}</a></th>${cells}</tr>${raw('<!--/record-->')}`;
}

/** The table with the rows of a state; `matched` is the number of all rows of it. */
export function tableHtml(model: Model, state: URLSearchParams, rows: readonly TableRow[], matched: number): Html {
  const columns = columnsOf(state, model).map((name) => model.attributes.find((column) => column.name === name)!);
  const from = (pageOf(state) - 1) * PAGE_ROWS;
  const sort = sortOf(state, model);
  return html`<table id="viewer-table" class="viewer-table${state.has('sources') && ' with-sources'}" aria-rowcount="${matched + 1}"><thead><tr aria-rowindex="1"><th scope="col" class="viewer-record"><input type="checkbox" id="viewer-all" class="viewer-pick" aria-label="Select all rows of this page"> record</th>${columns.map((column) => columnHead(model, column, sort))}</tr></thead><tbody>${rows.map((record, at) => tableRow(model, columns, record, from + at, state.has('sources')))}</tbody></table>`;
}

/** The offer of rows or values of an address, which a search with `args` answers; `search` is its query. */
function searchOffer(
  { pages, dataset, price }: Model,
  search: string,
  offer: { what: string; about: string; args: Record<string, string> },
): Html {
  const prefix = pages.replace(/\/datasets\/[^/]+\/$/, '');
  const path = `/datasets/${dataset}/${search}`;
  return offerHtml({ prefix, path, operation: 'entity_search', dataset, price, ...offer, about: html`${offer.about}` });
}

/** The offer of rows that the service selects by paid attributes: the first, or those after a cursor. */
export function selectionOffer(model: Model, search: string, cursor = ''): Html {
  const state = readState(search, model);
  const what = cursor === '' ? `${PAGE_ROWS} rows` : `the next ${PAGE_ROWS} rows`;
  const args = { ...Object.fromEntries(callOf(state, model)), ...(cursor === '' ? {} : { cursor }) };
  const names = paidNames(state, model);
  const labels = model.attributes.filter(({ name }) => names.includes(name)).map(attributeLabel);
  const about = `${labels.join(', ')}: not public, so the service selects the rows. Paid once for each release.`;
  return searchOffer(model, search, { what, about, args });
}

/** The offer of the paid columns of an address for the rows of `slugs`. Empty: no column is paid, or there is no row. */
export function columnsOffer(model: Model, search: string, slugs: readonly string[]): Html | '' {
  const names = columnsOf(readState(search, model), model);
  const paid = model.attributes.filter((column) => !column.public && names.includes(column.name));
  if (paid.length === 0 || slugs.length === 0) return '';
  const what = `${plural(paid.length, 'column')} of ${plural(slugs.length, 'row')}`;
  const about = `${paid.map(attributeLabel).join(', ')}: locked. Paid once for each release.`;
  const fields = listText(paid.map(({ name }) => name));
  return searchOffer(model, search, { what, about, args: { ids: listText(slugs), fields, limit: String(PAGE_ROWS) } });
}

/** The state of a table without rows. */
export const NO_RESULTS = 'No results. Remove a filter or search for fewer words.';

/** The text above the table. */
export const matchText = (matched: number, records: number): string =>
  matched === records ? plural(matched, 'row') : `${printNumber(matched)} of ${plural(records, 'row')}`;

/** What a download of a view contains. */
export function downloadText(matched: number, records: number): string {
  if (matched > MOST_ROWS) return `The first ${printNumber(MOST_ROWS)} of ${printNumber(matched)} rows, shown columns`;
  return `${matched === records ? 'All' : 'The'} ${plural(matched, 'row')} of this view, shown columns`;
}
