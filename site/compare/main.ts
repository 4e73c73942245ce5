// The script of a comparison: records are added and removed without a reload, the search answers while the
// visitor types, and the state of the page is its address. The page works without it.

import { amountText, BEST_LABEL, bestOf, rowState, totalText } from '../../api/render/comparison.ts';
import { readInput, type TermResult, type Total, termAmount, totalAmount } from '../../packs/define/calculator.ts';
import type { Better, Calculator } from '../../packs/define/model.ts';
import { connectOffer } from '../account/offer.ts';
import { byId, createElement } from '../lib/dom.ts';
import { connectCharts } from '../record/charts.ts';

// The calculator of a comparison: amounts from the numbers in the table and the inputs of the form.

const section = (): HTMLElement | null => document.querySelector('[data-calculator]');

const calculatorOf = (element: HTMLElement): Calculator =>
  JSON.parse(element.dataset['calculator'] ?? '') as Calculator;

const field = (element: HTMLElement, name: string): HTMLInputElement | null =>
  element.querySelector(`input[name="${CSS.escape(name)}"]`);

/** The inputs that differ from their defaults, as parameters of the address; '' removes one. */
function changedInputs(): Record<string, string> {
  const element = section();
  if (element === null) return {};
  return Object.fromEntries(
    calculatorOf(element).inputs.map((input) => {
      const value = readInput(field(element, input.name)?.value, input.default);
      return [input.name, value === input.default ? '' : String(value)];
    }),
  );
}

/** The number of a cell in the table. */
function numberIn(attribute: string, slug: string): TermResult {
  const row = document.querySelector(`#comparison tr[data-attribute="${CSS.escape(attribute)}"]`);
  const cell = row?.querySelector<HTMLElement>(`td[data-slug="${CSS.escape(slug)}"]`);
  if (cell?.classList.contains('locked')) return 'locked';
  const { min, max } = cell?.dataset ?? {};
  return min === undefined || max === undefined ? 'missing' : { min: Number(min), max: Number(max) };
}

/** Computes all amounts again. */
function computeAmounts(): void {
  const element = section();
  if (element === null) return;
  const calculator = calculatorOf(element);
  const { unit, better, terms } = calculator;
  const inputs = Object.fromEntries(
    calculator.inputs.map((input) => [input.name, readInput(field(element, input.name)?.value, input.default)]),
  );
  for (const cell of element.querySelectorAll<HTMLElement>('tr[data-term] td[data-slug]')) {
    const term = terms[Number(cell.parentElement?.dataset['term'])];
    if (term === undefined) continue;
    const amount = termAmount(term, inputs, (name) => numberIn(name, cell.dataset['slug'] ?? ''));
    cell.textContent = amount === 'locked' ? 'Locked' : amount === 'missing' ? 'No value' : amountText(amount, unit);
  }
  const cells = [...element.querySelectorAll<HTMLElement>('tr.total td[data-slug]')];
  const totals = cells.map((cell) =>
    totalAmount(calculator, inputs, (name) => numberIn(name, cell.dataset['slug'] ?? '')),
  );
  const complete = totals.every(({ locked, missing }) => locked.length + missing.length === 0);
  const best = complete ? bestOf(totals, better) : [];
  sortBy(cells, totals, better === 'high' ? -1 : 1);
  for (const [i, cell] of cells.entries()) {
    cell.replaceChildren(createElement('span', { className: 'value-text' }, totalText(totals[i]!, unit)));
    if (best[i] && better)
      cell.append(' ', createElement('span', { className: 'tag public best' }, BEST_LABEL[better]));
  }
}

/** Makes the link that sorts by the total follow what is known now; records without a complete total are last. */
function sortBy(cells: readonly HTMLElement[], totals: readonly Total[], sign: number): void {
  const link = document.getElementById('sort-total') as HTMLAnchorElement | null;
  if (link === null) return;
  const amountOf = ({ max, locked, missing }: Total) => (locked.length + missing.length > 0 ? Infinity : sign * max);
  const order = totals.map((total, i) => ({ amount: amountOf(total), slug: cells[i]?.dataset['slug'] ?? '' }));
  const slugs = order.sort((a, b) => (a.amount < b.amount ? -1 : Number(a.amount > b.amount))).map(({ slug }) => slug);
  const url = new URL(link.href);
  url.searchParams.set('ids', slugs.join());
  link.href = url.href.replaceAll('%2C', ',');
}

/** Loaded cells by attribute and slug, kept while this page is open. */
const loaded = new Map<string, HTMLElement>();

const lockedCells = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>('#comparison td.locked')];

const keyOf = (cell: HTMLElement): string =>
  `${cell.closest('tr')?.dataset['attribute'] ?? ''} ${cell.dataset['slug'] ?? ''}`;

/** Connects the offer of new content, and fills the cells that were loaded before. */
function connectPaid(): void {
  fill();
  if (document.getElementById('load') === null) return;
  const lockedSlugs = () => [...new Set(lockedCells().map((cell) => cell.dataset['slug'] ?? ''))];
  connectOffer((answer) => {
    const page = new DOMParser().parseFromString(answer, 'text/html');
    for (const cell of page.querySelectorAll<HTMLElement>('#comparison td[data-slug]'))
      loaded.set(keyOf(cell), document.adoptNode(cell.cloneNode(true) as HTMLElement));
    fill();
    byId('load').focus({ preventScroll: true });
  }, lockedSlugs);
}

/** Puts loaded cells in place of locked ones. */
function fill(): void {
  const rows = new Set<HTMLTableRowElement>();
  for (const cell of lockedCells()) {
    const loadedCell = loaded.get(keyOf(cell));
    if (loadedCell === undefined) continue;
    const row = cell.closest('tr');
    cell.replaceWith(loadedCell.cloneNode(true));
    if (row) rows.add(row);
  }
  for (const row of rows) showState(row);
  computeAmounts();
  showOffer();
}

/** Marks the row as equal or different, and its best value. */
function showState(row: HTMLTableRowElement): void {
  const cells = [...row.querySelectorAll<HTMLElement>('td')];
  row.className = rowState(
    cells.map((cell) =>
      cell.classList.contains('locked') ? undefined : (cell.querySelector('.value-text')?.textContent ?? null),
    ),
  );
  const better = row.dataset['better'] as Better | undefined;
  const numbers = cells.map(({ dataset: { min, max } }) =>
    min === undefined || max === undefined ? null : { min: Number(min), max: Number(max) },
  );
  const best = bestOf(numbers, row.className === 'locked' ? undefined : better);
  for (const [i, cell] of cells.entries()) {
    cell.querySelector('.best')?.remove();
    if (best[i] && better)
      cell
        .querySelector('.value-text')
        ?.after(' ', createElement('span', { className: 'tag public best' }, BEST_LABEL[better]));
  }
}

/** Shows the offer while something is locked. */
function showOffer(): void {
  const locked = lockedCells().length > 0;
  for (const part of document.querySelectorAll<HTMLElement>('#load .offer')) part.hidden = !locked;
}

/** Milliseconds after a key press before the search begins. */
const PAUSE = 200;

const content = byId('compare-content');
/** Number of the newest request: older answers are dropped. */
let newest = 0;
let typing: ReturnType<typeof setTimeout> | undefined;

/** A page of this dataset as a document; null when a newer request has begun. */
async function fetchPage(url: URL): Promise<Document | null> {
  newest += 1;
  const turn = newest;
  const response = await fetch(url, { headers: { Accept: 'text/html' }, credentials: 'omit' });
  if (!response.ok) throw new Error(`${response.status}`);
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  return turn === newest ? page : null;
}

/** The address with the calculator's inputs and the switch of this page. */
function withState(url: URL): URL {
  const next = new URL(url);
  const only = document.getElementById('differences') as HTMLInputElement | null;
  const state = { ...changedInputs(), ...(only === null ? {} : { differences: only.checked ? '1' : '' }) };
  for (const [name, value] of Object.entries(state)) {
    if (value === '') next.searchParams.delete(name);
    else next.searchParams.set(name, value);
  }
  // A comma needs no escape in a query.
  next.search = next.search.replaceAll('%2C', ',');
  return next;
}

const replaceAddress = (url: URL): void => history.replaceState(null, '', url);

/** Shows another set of records. A failed request loads the page in the ordinary way. */
async function show(url: URL, push: boolean): Promise<void> {
  const page = await fetchPage(url).catch(() => location.assign(url));
  const next = page?.getElementById('compare-content');
  if (!page || !next) return;
  if (push) history.pushState(null, '', url);
  document.title = page.title;
  content.replaceChildren(...[...next.childNodes].map((node) => document.adoptNode(node)));
  connectPaid();
  const heading = content.querySelector('h1');
  byId('compare-status').textContent = heading?.textContent ?? '';
  heading?.focus({ preventScroll: true });
}

/** Replaces the results of the search. */
async function search(form: HTMLFormElement): Promise<void> {
  const text = new FormData(form).get('add');
  const url = withState(new URL(location.href));
  if (typeof text !== 'string' || text.trim() === '') url.searchParams.delete('add');
  else url.searchParams.set('add', text.trim());
  url.search = url.search.replaceAll('%2C', ',');
  const page = await fetchPage(url).catch(() => null);
  if (page === null) return;
  replaceAddress(url);
  for (const id of ['add-results', 'add-status']) {
    const [current, next] = [document.getElementById(id), page.getElementById(id)];
    if (current && next) current.replaceChildren(...[...next.childNodes].map((node) => document.adoptNode(node)));
  }
}

content.addEventListener('click', (event) => {
  const link = (event.target as Element).closest<HTMLAnchorElement>('a[data-swap]');
  if (link === null || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
  event.preventDefault();
  void show(withState(new URL(link.href)), true);
});
content.addEventListener('input', ({ target }) => {
  const form = (target as HTMLInputElement).form;
  if (form?.id === 'calculator-form') {
    computeAmounts();
    replaceAddress(withState(new URL(location.href)));
  }
  if (form?.id !== 'add-form') return;
  clearTimeout(typing);
  typing = setTimeout(() => void search(form), PAUSE);
});
content.addEventListener('change', ({ target }) => {
  if ((target as Element).id === 'differences') replaceAddress(withState(new URL(location.href)));
});
content.addEventListener('submit', (event) => {
  const form = event.target as HTMLFormElement;
  if (form.id === 'calculator-form') {
    event.preventDefault();
    computeAmounts();
  } else if (form.id === 'add-several') {
    event.preventDefault();
    const url = new URL(form.action);
    url.search = `ids=${new FormData(form).getAll('ids').join()}`;
    void show(withState(url), true);
  } else if (form.id === 'add-form') {
    event.preventDefault();
    clearTimeout(typing);
    void search(form);
  }
});
addEventListener('popstate', () => void show(new URL(location.href), false));
connectPaid();
connectCharts();
