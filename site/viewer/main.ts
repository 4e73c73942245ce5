// The viewer of a dataset: the table with its URL, filters, columns, selection, downloads and map. The service answers
// the public rows, free; paid values are fetched after a click that shows the price.

import { downloadText, matchText, NO_RESULTS } from '../../api/pages/dataset-table.ts';
import { type Model, PAGE_ROWS } from '../../api/pages/viewer-model.ts';
import {
  addressProblem,
  callOf,
  columnsOf,
  listText,
  pageOf,
  paidNames,
  readState,
  rowsKey,
  selectionOf,
  sortOf,
  withValue,
} from '../../api/pages/viewer-state.ts';
import { plural, printEuro, printNumber } from '../../api/render/print.ts';
import { drawFollow } from '../account/draw-follow.ts';
import { connectFollow } from '../account/follow.ts';
import { isSignedIn } from '../account/offer.ts';
import { byId, copyWithFeedback, createElement } from '../lib/dom.ts';
import { type Language, type OperationCall, snippet } from '../lib/snippets.ts';
import { callOfRequest } from '../reference/model.ts';
import { drawFacets } from './facets.ts';
import { connectFilterForm, listFilters } from './filters.ts';
import { NoService, PageRows, requestRows } from './page-rows.ts';
import { PaidRows } from './paid.ts';
import { openRecord } from './row-panel.ts';
import { connectTable, drawTable, prepareTable, shownRows, showPaid, type TableEvents } from './table.ts';
import { viewQuery } from './view-sql.ts';

/** Most rows that an address lists (`ids` of the API). */
const MOST = 100;

class Picked {
  readonly slugs = new Set<string>();
  readonly #compare: Model['compare'];
  readonly #alone: (slugs: string[]) => void;
  #page: readonly string[] = [];

  /** `alone` shows only some rows. */
  constructor(compare: Model['compare'], alone: (slugs: string[]) => void) {
    this.#compare = compare;
    this.#alone = alone;
  }

  set(slug: string, on: boolean): void {
    if (on) this.slugs.add(slug);
    else this.slugs.delete(slug);
    this.#update();
  }

  /** The rows of the page in view. */
  shown(slugs: readonly string[]): void {
    this.#page = slugs;
    this.#update();
  }

  #update(): void {
    const count = this.slugs.size;
    const here = this.#page.filter((slug) => this.slugs.has(slug)).length;
    const all = byId<HTMLInputElement>('viewer-all');
    all.checked = here > 0 && here === this.#page.length;
    all.indeterminate = here > 0 && here < this.#page.length;
    const line = byId('viewer-picked');
    line.hidden = count === 0;
    const clear = createElement('button', { type: 'button', className: 'viewer-chip plain' }, 'Clear');
    clear.onclick = () => {
      this.slugs.clear();
      prepareTable(model, this.slugs);
      this.#update();
    };
    const only = createElement(
      'button',
      { type: 'button', className: 'viewer-chip plain', disabled: count > MOST },
      'Show only these',
    );
    only.onclick = () => this.#alone([...this.slugs]);
    line.replaceChildren(
      this.#compareLink(),
      ` ${plural(count, 'row')} selected; Download saves these. `,
      only,
      ' ',
      clear,
    );
  }

  /** The link to the comparison of the selected rows, as far as they fit. */
  #compareLink(): Node | string {
    const count = this.slugs.size;
    if (count === 1) return 'Select another row to compare.';
    const { path, most } = this.#compare;
    if (count > most) return `At most ${most} rows can be compared.`;
    const href = `${path}?ids=${[...this.slugs].map(encodeURIComponent).join(',')}`;
    return createElement('a', { href, className: 'button viewer-compare' }, `Compare ${count}`);
  }
}

/** The search of the view. */
function searchCall(state: ReturnType<typeof readState>, model: Model, keyed: boolean): OperationCall {
  const parameters = { ds: model.dataset, ...Object.fromEntries(callOf(state, model)) };
  const names = Object.keys(parameters).filter((name) => !model.filters.some((filter) => filter.name === name));
  const types = Object.fromEntries(names.map((name) => [name, name === 'limit' ? 'integer' : 'string']));
  const path = '/v1/{ds}/entities';
  const base_url = model.api.slice(0, -`/v1/${model.dataset}`.length);
  return callOfRequest(
    { name: 'entity_search', method: 'GET', path, tool: true, types },
    { parameters },
    base_url,
    keyed,
  );
}

/** Connects the panel, which follows `view`. */
function connectApiPanel(model: Model, view: () => URLSearchParams): void {
  const panel = byId<HTMLDetailsElement>('viewer-api');
  let language: Language = 'curl';
  const fill = () => {
    const state = view();
    const hidden = columnsOf(state, model).filter(
      (name) => !model.attributes.find((attribute) => attribute.name === name)?.public,
    );
    const names = [...new Set([...paidNames(state, model), ...hidden])];
    const withKey = isSignedIn() || names.length > 0;
    byId('api-price').textContent =
      `${printEuro(model.price)} a call with a key${names.length > 0 ? ` (${names.join(', ')}: paid)` : '; without one, 20 records a day are free'}.`;
    byId('api-code').textContent = snippet(language, searchCall(state, model, withKey));
  };
  panel.addEventListener('toggle', () => {
    if (panel.open) fill();
  });
  for (const button of panel.querySelectorAll<HTMLElement>('[data-language]'))
    button.addEventListener('click', () => {
      language = button.dataset['language'] as Language;
      for (const languageButton of panel.querySelectorAll<HTMLElement>('[data-language]'))
        languageButton.ariaPressed = String(languageButton === button);
      fill();
    });
  byId('api-copy').addEventListener('click', (event) => {
    void copyWithFeedback(event.currentTarget as HTMLElement, byId('api-code').textContent ?? '');
  });
}

const root = byId('viewer');
const model = JSON.parse(byId('viewer-model').textContent ?? '{}') as Model;
const allStats = model.stats;
let state = readState(location.search, model);
let turn = 0;
let [matched, records] = [model.records, model.records];
/** The rows of the HTML are those of this key, while they are shown; null: of no address. */
let shownKey: string | null = location.search === '' ? '' : null;
const pages = new PageRows(root, model);
let drawing: Promise<void> = Promise.resolve();

const events: TableEvents = {
  sort: (column) => {
    const sort = sortOf(state, model) === `-${column}` ? column : `-${column}`;
    go(withValue(state, 'sort', sort === sortOf(withValue(state, 'sort', ''), model) ? '' : sort));
  },
  filter: (filters) => go(Object.entries(filters).reduce((next, [name, value]) => withValue(next, name, value), state)),
  pick: (slug, on) => picked.set(slug, on),
  open: (name, address) => void openRecord(name, address),
};
const picked = new Picked(model.compare, (refs) => go(withValue(new URLSearchParams(), 'ids', listText(refs))));
/** Connects the panel with the feeds and subscriptions of `view`: its selection and, if the address names any, its columns. */
function connectFollowPanel(model: Model, view: () => URLSearchParams): void {
  const panel = byId<HTMLDetailsElement>('viewer-follow');
  const base_url = model.api.slice(0, -`/v1/${model.dataset}`.length);
  const prefix = model.pages.replace(/\/datasets\/[^/]+\/$/, '');
  panel.addEventListener('toggle', () => {
    if (!panel.open) return;
    const state = view();
    const query = selectionOf(state);
    const columns = state.has('fields') ? columnsOf(state, model) : [];
    const named = model.attributes.filter((attribute) => columns.includes(attribute.name) && !attribute.public);
    const names = [...new Set([...paidNames(query, model), ...named.map(({ name }) => name)])];
    if (columns.length > 0) query.set('attribute', listText(columns));
    const path = `/datasets/${model.dataset}/${location.search}`;
    drawFollow(panel, { base_url, prefix, dataset: model.dataset, path, query, paid: names });
  });
  connectFollow();
}

const paid = new PaidRows(model, async () => void (await show()));
const columns = () =>
  columnsOf(state, model).map((name) => model.attributes.find((attribute) => attribute.name === name)!);

/** Sets a new state in the URL and shows it. */
function go(changed: URLSearchParams): void {
  const next = readState(changed.toString(), model);
  const query = next.toString();
  if (query === state.toString()) return;
  history.pushState(null, '', query === '' ? location.pathname : `?${query}`);
  state = next;
  void show();
}

/** Shows the state: controls at once, then the rows. */
async function show(): Promise<void> {
  const requestTurn = ++turn;
  showControls();
  const wrong = addressProblem(location.search, model);
  problem(wrong?.text ?? '');
  paid.close();
  const names = paidNames(state, model);
  if (names.length > 0 || wrong?.empty) {
    showNoRows();
    status('');
    if (names.length > 0) searchPaid();
    return;
  }
  const key = rowsKey(state);
  if (shownKey === key && !(await pages.areOutdated())) return showServed();
  if (requestTurn !== turn) return;
  root.ariaBusy = 'true';
  shownKey = null;
  try {
    await pages.load(state);
    if (requestTurn !== turn) return;
    shownKey = key;
    showServed();
  } catch (error) {
    if (requestTurn === turn) showFailure(error);
  } finally {
    if (requestTurn === turn) root.ariaBusy = null;
  }
}

/** Shows why there are no rows. */
function showFailure(error: unknown): void {
  showNoRows();
  status('');
  if (error instanceof NoService) problem(filesOnly());
  else problem((error as Error).message, () => void show());
}

/** What a host without the service has. */
function filesOnly(): Node {
  const first = createElement('a', { href: location.pathname }, `the first ${PAGE_ROWS} rows`);
  const files = createElement('a', { href: model.pages.replace('/datasets/', '/files/') }, 'files with all rows');
  return createElement(
    'span',
    {},
    'Sorting, filters and the map need the service, which this host lacks. It has ',
    first,
    ' and ',
    files,
    '.',
  );
}

/** Shows what belongs to the rows of the HTML. */
function showServed(): void {
  ({ matched, records } = pages.served ?? { matched: model.records, records: model.records });
  showMatches(pages.served?.problem ?? '');
}

/** Shows the number of rows, and where they are in the table; `wrong`: what is wrong with the address. */
function showMatches(wrong: string): void {
  const rows = shownRows();
  // The charts of the table are those of its rows, where the service counted them.
  model.stats = pages.served?.stats ?? allStats;
  prepareTable(model, picked.slugs);
  const isWhole = selectionOf(state).size === 0;
  const choices = isWhole ? model.choices : pages.served?.choices;
  const lists = { choices: choices ?? model.choices, counted: choices !== undefined };
  drawFacets(model, lists, selectionOf(state), (name, value) => go(withValue(state, name, value)));
  picked.shown(rows.map(({ slug }) => slug));
  showPaid(columns(), paid.values);
  paid.offer(rows, columns());
  if (wrong !== '') problem(wrong);
  status(matched === 0 && wrong === '' ? NO_RESULTS : '');
  showPages(rows.length);
}

/** Removes rows that may not be those of the state. */
function showNoRows(): void {
  shownKey = null;
  drawTable(model, state, [], 0);
  prepareTable(model, picked.slugs);
  byId('viewer-count').textContent = '';
  byId('viewer-pages').hidden = true;
}

/** A filter or sort by a paid attribute: the API selects the rows. */
function searchPaid(): void {
  const requestTurn = turn;
  paid.search((rows, isLast) => {
    if (requestTurn !== turn) return;
    drawTable(model, state, rows, rows.length);
    prepareTable(model, picked.slugs);
    picked.shown(rows.map(({ slug }) => slug));
    byId('viewer-count').textContent = `${plural(rows.length, 'row')}${isLast ? '' : ' and more'}`;
    byId('viewer-pages').hidden = true;
  });
}

/** Brings the controls to the state. */
function showControls(): void {
  listFilters(model, selectionOf(state), (name) => {
    go(
      name === ''
        ? [...selectionOf(state).keys()].reduce((next, filterName) => withValue(next, filterName, ''), state)
        : withValue(state, name, ''),
    );
    byId('viewer-scroll').focus({ preventScroll: true });
  });
  const search = byId<HTMLInputElement>('viewer-q');
  if (document.activeElement !== search) search.value = state.get('q') ?? '';
  for (const box of byId('viewer-fields').querySelectorAll('input'))
    box.checked = columnsOf(state, model).includes(box.value);
  byId('viewer-sources').ariaPressed = String(state.has('sources'));
  const consoleLink = byId<HTMLAnchorElement>('viewer-sql');
  // As site/sql/address.ts reads it.
  consoleLink.hash = String(new URLSearchParams({ q: viewQuery(state, model) }));
  drawing = showMap().catch((error) => problem(error instanceof NoService ? filesOnly() : (error as Error).message));
}

/** Shows the place in the table, with links to the pages before and after. */
function showPages(shown: number): void {
  const page = pageOf(state);
  const pages = Math.max(1, Math.ceil(matched / PAGE_ROWS));
  byId('viewer-pages').hidden = false;
  byId('viewer-count').textContent = shown === 0 && matched > 0 ? '' : matchText(matched, records);
  byId('download-what').textContent = downloadText(matched, records);
  byId('page-count').textContent = printNumber(pages);
  const input = byId<HTMLInputElement>('page-number');
  input.value = String(page);
  input.max = String(pages);
  const first = (page - 1) * PAGE_ROWS;
  byId('page-rows').textContent =
    shown === 0 ? '' : `Rows ${printNumber(first + 1)} to ${printNumber(first + shown)} of ${printNumber(matched)}`;
  for (const [id, to] of [
    ['page-before', page - 1],
    ['page-after', page + 1],
  ] as const) {
    const link = byId<HTMLAnchorElement>(id);
    link.hidden = to < 1 || to > pages;
    link.href = `?${withValue(state, 'page', to === 1 ? '' : String(to))}`;
  }
}

const status = (text: string) => {
  byId('viewer-status').textContent = text;
};

/** Shows a problem, with a button that retries; an empty text: none. */
function problem(text: string | Node, onRetry?: () => void): void {
  const box = byId('viewer-problem');
  box.hidden = text === '';
  box.replaceChildren(text, ' ');
  if (onRetry === undefined) return;
  const button = document.createElement('button');
  Object.assign(button, { type: 'button', className: 'button plain', textContent: 'Retry', onclick: onRetry });
  box.append(button);
}

/** The code of the map is loaded when it is first opened. */
async function showMap(): Promise<void> {
  const open = state.has('map');
  const button = document.getElementById('viewer-map');
  if (button === null) return;
  button.ariaPressed = String(open);
  byId('viewer-map-figure').hidden = !open;
  if (!open) return;
  const { drawMap } = await import('./map.ts');
  await drawMap(model, selectionOf(state), (bbox) => go(withValue(state, 'bbox', bbox)));
}

/** Moves to a page and its first row. */
function turnPage(page: number): void {
  go(withValue(state, 'page', page === 1 ? '' : String(page)));
  byId('viewer-scroll').scrollTo({ top: 0 });
}

/** A menu closes with Escape, and by a click elsewhere. */
function connectMenus(): void {
  const close = (menu: HTMLDetailsElement) => {
    menu.open = false;
  };
  const open = () => root.querySelectorAll<HTMLDetailsElement>('.viewer-menu[open]');
  document.addEventListener('click', ({ target }) => {
    for (const menu of open()) if (!menu.contains(target as Node)) close(menu);
  });
  document.addEventListener('keydown', ({ key: pressed }) => {
    if (pressed !== 'Escape') return;
    for (const menu of open()) {
      close(menu);
      menu.querySelector('summary')?.focus();
    }
  });
}

function connect(): void {
  connectMenus();
  byId('viewer-search').addEventListener('submit', (event) => {
    event.preventDefault();
    go(withValue(state, 'q', byId<HTMLInputElement>('viewer-q').value.trim()));
  });
  connectFilterForm(model, (name, value) => go(withValue(state, name, value)));
  byId('viewer-fields').addEventListener('change', () => {
    const boxes = [...byId('viewer-fields').querySelectorAll<HTMLInputElement>('input:checked')].map(
      ({ value }) => value,
    );
    const kept = columnsOf(state, model).filter((name) => boxes.includes(name));
    const fields = [...kept, ...boxes.filter((name) => !kept.includes(name))];
    go(withValue(state, 'fields', fields.join() === model.columns.join() ? '' : listText(fields)));
  });
  byId('viewer-default').addEventListener('click', () => go(withValue(state, 'fields', '')));
  byId('viewer-sources').addEventListener('click', () =>
    go(withValue(state, 'sources', state.has('sources') ? '' : '1')),
  );
  document
    .getElementById('viewer-map')
    ?.addEventListener('click', () => go(withValue(state, 'map', state.has('map') ? '' : '1')));
  byId('viewer-link').addEventListener(
    'click',
    (event) => void copyWithFeedback(event.currentTarget as HTMLElement, location.href),
  );
  byId('page-number').addEventListener('change', (event) => {
    const input = event.currentTarget as HTMLInputElement;
    turnPage(Math.min(Math.max(1, Math.trunc(Number(input.value)) || 1), Number(input.max) || 1));
  });
  for (const id of ['page-before', 'page-after'])
    byId<HTMLAnchorElement>(id).addEventListener('click', (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      turnPage(pageOf(state) + (id === 'page-after' ? 1 : -1));
    });
  for (const button of byId('viewer-download').querySelectorAll<HTMLElement>('[data-format]'))
    button.addEventListener('click', () => void download(button.dataset['format'] as 'csv'));
  connectApiPanel(model, () => state);
  connectFollowPanel(model, () => state);
  connectTable(model, events);
  byId<HTMLDetailsElement>('viewer-facets').open = matchMedia('(width >= 75rem)').matches;
  addEventListener('popstate', () => {
    state = readState(location.search, model);
    void show();
  });
}

/** Saves the rows of the view, or the selected ones, as a file. */
async function download(format: 'csv' | 'json' | 'geojson'): Promise<void> {
  problem('');
  status('Preparing the file …');
  const query = picked.slugs.size > 0 ? new URLSearchParams({ ids: listText([...picked.slugs]) }) : selectionOf(state);
  query.set('sort', sortOf(state, model));
  query.set('fields', listText(columnsOf(state, model)));
  try {
    const response = await requestRows(model, `rows/${format}`, query);
    const name = /filename="(.*)"/.exec(response.headers.get('content-disposition') ?? '')?.[1];
    const link = document.createElement('a');
    link.href = URL.createObjectURL(await response.blob());
    link.download = name ?? `${model.dataset}.${format}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  } catch (error) {
    if (error instanceof NoService) problem(filesOnly());
    else problem((error as Error).message, () => void download(format));
  }
  status('');
}

if (pages.served !== null) shownKey = pages.served.key;
connect();
root.classList.add('ready');
// The rows of an address with a query are hidden until then.
void show()
  .then(() => drawing)
  .then(() => root.classList.add('shown'));
