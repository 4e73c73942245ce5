// Filters and pages of the lists of changes. Every view is an address; without filters the HTML has its rows.
import type { SiteChange, SiteDataset } from '../../api/pages/site.ts';
import { printDate, printNumber } from '../../api/render/print.ts';
import { sumOfDays } from '../../data/plan/history.ts';
import { drawFollow } from '../account/draw-follow.ts';
import { connectFollow } from '../account/follow.ts';
import { byId, createElement, createSvg } from '../lib/dom.ts';
import { countText, dayBars } from './chart.ts';
import { type ChangesModel, cellsOf } from './model.ts';
import { changelogQuery, FORM_FIELDS, filtersOf, pageNumber, viewSearch } from './view.ts';

interface Answer {
  items: SiteChange[];
  total: number;
  days: SiteDataset['changes']['days'];
}

const form = byId<HTMLFormElement>('change-filters');
const lists = [...document.querySelectorAll<HTMLElement>('[data-changes]')];
const PERIODS: Record<string, string> = {
  '7': 'in 7 days',
  '30': 'in 30 days',
  '90': 'in 90 days',
  '365': 'in a year',
};

/** Fetches the changes of a view. Throws an error whose message is for the visitor. */
async function load(model: ChangesModel, filters: URLSearchParams, page: number, signal: AbortSignal): Promise<Answer> {
  const paging = { by_day: 'true', limit: String(model.limit), offset: String((page - 1) * model.limit) };
  const response = await fetch(model.api + changelogQuery(model, filters, paging), {
    signal,
    credentials: 'omit',
  }).catch((error) => {
    throw signal.aborted ? error : new Error('The API does not respond. Try again in a moment.');
  });
  const body = (await response.json().catch(() => ({}))) as Answer & { message?: string };
  if (!response.ok) throw new Error(body.message ?? `The API answered ${response.status}.`);
  return body;
}

const away = (text: string) => createElement('span', { className: 'away' }, text);

/** A name with line breaks after dots and underscores. */
function nameCode(name: string): HTMLElement {
  const parts = name.split(/(?<=[._])/);
  return createElement('code', {}, ...parts.flatMap((part, at) => (at === 0 ? [part] : [createElement('wbr'), part])));
}

function changeRow(item: SiteChange, { attributes, records }: ChangesModel): HTMLTableRowElement {
  const { attribute, note, was, now, move } = cellsOf(item, attributes);
  const before =
    was === null ? [] : [away('was '), createElement('span', { className: 'was' }, was), ' ', away('now ')];
  const after = now ?? createElement('span', { className: 'quiet' }, note ?? '');
  const size = move
    ? [createElement('span', { className: `move ${move.mark}` }, away(`${move.word} `), move.text)]
    : [];
  return createElement(
    'tr',
    {},
    createElement('td', {}, createElement('a', { href: records + item.slug }, item.name)),
    createElement('td', {}, nameCode(attribute)),
    createElement('td', {}, ...before, after),
    createElement('td', { className: 'figure' }, ...size),
  );
}

function showRows(list: HTMLElement, { items, days }: Answer, model: ChangesModel): void {
  const table = list.querySelector<HTMLTableElement>('table.changes')!;
  const counts = new Map(days.map((day) => [day.date, day]));
  const groups = Map.groupBy(items, ({ observed_at }) => observed_at.slice(0, 10));
  for (const body of [...table.tBodies]) body.remove();
  for (const [day, items] of groups) {
    const time = createElement('time', { dateTime: day }, printDate(day));
    const count = createElement(
      'span',
      { className: 'quiet' },
      countText(counts.get(day) ?? { ...sumOfDays([]), changes: items.length }),
    );
    const heading = createElement('th', { colSpan: 4, scope: 'rowgroup' }, time, ' ', count);
    const first = createElement('tr', { className: 'day' }, heading);
    table.append(createElement('tbody', {}, first, ...items.map((item) => changeRow(item, model))));
  }
  list.querySelector<HTMLElement>('.scroll')!.hidden = items.length === 0;
  const empty = list.querySelector<HTMLElement>('.empty')!;
  empty.hidden = items.length > 0;
  empty.textContent = 'No change matches. Choose a longer period, all attributes, or clear the filters.';
}

function showChart(list: HTMLElement, { days }: Answer, text: string): void {
  const figure = list.querySelector<HTMLElement>('.change-chart')!;
  const bars = dayBars(days);
  figure.hidden = bars.length === 0;
  const svg = figure.querySelector('svg')!;
  svg.setAttribute('aria-label', `Changes of each day: ${text}`);
  svg.replaceChildren(
    ...bars.map(({ kind, title, ...box }) => {
      const name = createSvg('title', {});
      name.textContent = title;
      return createSvg('rect', { class: kind, ...box }, name);
    }),
  );
  figure.querySelector('.change-from')!.textContent = days.length > 0 ? printDate(days.at(-1)!.date) : '';
  figure.querySelector('.change-to')!.textContent = days.length > 0 ? printDate(days[0]!.date) : '';
}

function showPages(
  list: HTMLElement,
  { items, total }: Answer,
  limit: number,
  filters: URLSearchParams,
  page: number,
): void {
  const all = list.querySelector<HTMLAnchorElement>('.change-all');
  if (all) {
    all.firstChild!.textContent = `All ${printNumber(total)} ${total === 1 ? 'change' : 'changes'}`;
    return;
  }
  const link = (rel: string, to: number, there: boolean) => {
    const anchor = list.querySelector<HTMLAnchorElement>(`[rel=${rel}]`)!;
    anchor.href = `${location.pathname}${viewSearch(filters, to)}`;
    anchor.hidden = !there;
  };
  const first = (page - 1) * limit;
  link('prev', page - 1, page > 1);
  link('next', page + 1, first + items.length < total && items.length > 0);
  list.querySelector('.change-range')!.textContent =
    items.length > 0
      ? `${printNumber(first + 1)} to ${printNumber(first + items.length)} of ${printNumber(total)}`
      : '';
}

/** Links of a list that carry its filters, and the feed in the head of the page. */
function showLinks(list: HTMLElement, model: ChangesModel, filters: URLSearchParams): void {
  const set = (selector: string, href: string) => {
    for (const anchor of list.querySelectorAll<HTMLAnchorElement>(selector)) anchor.href = href;
  };
  const feed = model.api + changelogQuery(model, filters, { format: 'atom' });
  const prefix = model.api.slice(0, -`/v1/${model.dataset}/changelog`.length);
  drawFollow(list.querySelector('.follow-view')!, {
    ...{ prefix, base_url: location.origin + prefix, dataset: model.dataset },
    path: model.page.slice(prefix.length) + viewSearch(filters),
    query: new URLSearchParams(changelogQuery(model, filters)),
  });
  set('.as-json', model.api + changelogQuery(model, filters));
  set('.as-markdown', model.api + changelogQuery(model, filters, { format: 'md' }));
  set('.change-all', model.page + viewSearch(filters));
  document.querySelector(`link[data-feed="${model.dataset}"]`)?.setAttribute('href', feed);
}

let loading = new AbortController();

async function showList(list: HTMLElement, filters: URLSearchParams, page: number, signal: AbortSignal): Promise<void> {
  const model = JSON.parse(list.dataset['changes']!) as ChangesModel;
  const [count, problem] = [list.querySelector('.change-count')!, list.querySelector<HTMLElement>('.problem')!];
  showLinks(list, model, filters);
  list.ariaBusy = 'true';
  try {
    const answer = await load(model, filters, page, signal);
    const days = filters.get('days') ?? '365';
    const text = `${countText({ ...sumOfDays(answer.days), changes: answer.total })} ${PERIODS[days] ?? `in ${days} days`}`;
    count.textContent = text;
    showRows(list, answer, model);
    showChart(list, answer, text);
    showPages(list, answer, model.limit, filters, page);
    problem.hidden = true;
  } catch (error) {
    if (signal.aborted) return;
    count.textContent = '';
    problem.textContent = (error as Error).message;
    problem.hidden = false;
    showRows(list, { items: [], total: 0, days: [] }, model);
    list.querySelector<HTMLElement>('.empty')!.hidden = true;
    list.querySelector<HTMLElement>('.change-chart')!.hidden = true;
  }
  list.ariaBusy = null;
  list.classList.add('shown');
}

/** Names of filters with a field in the form. */
const fields = () => [...form.elements].flatMap((input) => ('name' in input && input.name ? [String(input.name)] : []));

/** Puts the filters of the address into the form, and the others into a list from which they can be removed. */
function showFilters(filters: URLSearchParams): void {
  const names = new Set(fields());
  for (const name of names) {
    const field = form.elements.namedItem(name) as HTMLInputElement | HTMLSelectElement;
    const value = filters.get(name) ?? ({ days: '365', type: 'changed' } as Record<string, string>)[name] ?? '';
    if (field instanceof HTMLSelectElement && ![...field.options].some((option) => option.value === value))
      field.add(new Option(value, value));
    field.value = value;
  }
  byId('change-chips').replaceChildren(
    ...[...filters]
      .filter(([name]) => !names.has(name))
      .map(([name, value]) => {
        const rest = new URLSearchParams([...filters].filter(([other, text]) => other !== name || text !== value));
        const label = `Remove the filter ${name}: ${value}`;
        return createElement(
          'li',
          {},
          createElement('a', { href: location.pathname + viewSearch(rest), ariaLabel: label }, `${name}: ${value} ×`),
        );
      }),
  );
  const clear = byId<HTMLAnchorElement>('change-clear');
  clear.href = location.pathname;
  clear.hidden = filters.size === 0;
}

/** Shows the view of the address. */
function show(): void {
  loading.abort();
  loading = new AbortController();
  const [filters, page] = [filtersOf(location.search), pageNumber(location.search)];
  showFilters(filters);
  for (const list of lists) void showList(list, filters, page, loading.signal);
}

function open(address: string): void {
  if (address === location.pathname + location.search) return;
  history.pushState(null, '', address);
  show();
}

/** The filters of the form, and those of the address that have no field. */
function entered(): URLSearchParams {
  const names = new Set(fields());
  const others = [...filtersOf(location.search)].filter(([name]) => !names.has(name));
  const values = [...new FormData(form)].map(([name, value]) => [name, String(value)] as [string, string]);
  const order = ([name]: [string, string]) => FORM_FIELDS.indexOf(name as (typeof FORM_FIELDS)[number]);
  return filtersOf(String(new URLSearchParams([...values.toSorted((a, b) => order(a) - order(b)), ...others])));
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  open(location.pathname + viewSearch(entered()));
});
form.addEventListener('change', () => form.checkValidity() && open(location.pathname + viewSearch(entered())));
document.addEventListener('click', (event) => {
  const anchor = (event.target as Element).closest<HTMLAnchorElement>('#main a[href]');
  if (!anchor || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey)
    return;
  if (anchor.origin !== location.origin || anchor.pathname !== location.pathname || anchor.hash !== '') return;
  event.preventDefault();
  open(anchor.pathname + anchor.search);
  if (anchor.rel !== '') document.querySelector('.change-count')?.scrollIntoView();
});
addEventListener('popstate', show);
connectFollow();
if (location.search !== '') show();
