// The explorer: form, URL, counts, table, map and code sample, all from the model of the page. Counting is
// free and follows every change; records are fetched only after a click, never by a link, because they cost
// money or quota.
import { cachedPage, examples, facet, type Item, type ResultPage, searchRecords } from './ask.ts';
import { WorldMap } from './map.ts';
import { LISTED_VALUES, type Model } from './model.ts';
import { needsKey, showProblem } from './problem.ts';
import { copies, fillTable, listFilters, unknownAttribute } from './show.ts';
import { type Language, snippet } from './snippets.ts';
import { callOf, columnsOf, facetsArePaid, listOf, listText, readState, selectionOf, withValue } from './state.ts';
import { countedValues, fillValues, keepRoom } from './values.ts';

const by = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;
const root = by('explore');
const model = JSON.parse(root.dataset['model'] ?? '{}') as Model;
const form = by<HTMLFormElement>('explore-form');
const inputs = [...form.querySelectorAll<HTMLInputElement | HTMLSelectElement>('[data-param]')];
const keyInput = by<HTMLInputElement>('explore-key');
const near = ['near-lat', 'near-lng', 'near-km'].map((id) => document.getElementById(id) as HTMLInputElement | null);
const svg = document.getElementById('explore-map') as unknown as SVGSVGElement | null;
const map = svg === null ? null : new WorldMap(svg, choosePoint);

let state = readState(location.search, model);
let key: string | null = sessionStorage.getItem('register key');
let language: Language = 'curl';
let counting: AbortController | null = null;
let lastCall = 0;
/** Number of matching records at the last count; null: fewer than five, undefined: not counted yet. */
let matched: number | null | undefined;
/** Source of the shown problem: the next count clears one of counting, a key clears one of the offer. */
let trouble: 'count' | 'offer' | 'answer' | null = null;
/** Attributes of the offer that need a key. */
let keyNeededFor = '';

const url = (path: string, parameters: URLSearchParams) => `${model.api}/${path}?${parameters}`;

/**
 * Applies a new state to the URL, the form, the code sample and the count. `keep`: the URL is already set.
 */
function go(next: URLSearchParams, keep = false): void {
  if (!keep && next.toString() === state.toString()) return;
  state = next;
  if (!keep) {
    const query = state.toString();
    history.pushState(null, '', query === '' ? location.pathname : `?${query}`);
    markOutdated();
  }
  matched = undefined;
  fill();
  showCall();
  updateOffer();
  void count();
}

/** Greys out records of an earlier state and shows a note. */
function markOutdated(): void {
  if (root.classList.contains('offering')) return;
  root.classList.add('outdated');
  by('explore-status').textContent = 'Results are out of date. Search to update.';
}

/** Writes the state into the form. */
function fill(): void {
  for (const input of inputs) {
    const value = state.get(input.dataset['param'] ?? '') ?? '';
    if (input.value !== value && document.activeElement !== input) input.value = value;
  }
  const point = (state.get('near') ?? '').split(',');
  near.forEach((input, at) => {
    if (input !== null && document.activeElement !== input) input.value = point[at] ?? '';
  });
  for (const mark of form.querySelectorAll<HTMLElement>('[data-set]')) {
    const set = model.filters.filter(({ attribute, name }) => attribute === mark.dataset['set'] && state.has(name));
    mark.textContent = set.length > 0 ? 'set' : '';
  }
  const shown = columnsOf(state, model, key !== null);
  for (const box of by('explore-fields').querySelectorAll<HTMLInputElement>('input'))
    box.checked = shown.includes(box.value);
  chips();
}

/** The active filters, each with a button that removes it. */
function chips(): void {
  const set = [...selectionOf(state)];
  by('explore-count-filters').textContent =
    set.length === 0 ? 'Filters' : set.length === 1 ? '1 filter' : `${set.length} filters`;
  listFilters(by('explore-chips'), set, (name) => {
    go(withValue(state, name, ''));
    by('explore-run').focus();
  });
}

/** The code sample, its price, and the label of the button. */
function showCall(): void {
  const call = callOf(state, model, key !== null);
  by('explore-price').textContent = call.price;
  by('explore-code').textContent = snippet(
    language,
    `${model.api}/entities`,
    call.parameters,
    key !== null || call.needs_key !== undefined,
  );
  by('explore-run').textContent = state.has('cursor') ? 'Show this page' : 'Search';
}

/** Counts the matching records and the values of every open list; free. */
async function count(): Promise<void> {
  counting?.abort();
  counting = new AbortController();
  const { signal } = counting;
  const head = by('explore-head');
  head.classList.add('waiting');
  const open = [...form.querySelectorAll<HTMLElement>('details[open] > [data-facet]')].map(
    (list) => list.dataset['facet'] ?? '',
  );
  try {
    const first =
      model.attributes.find(({ name, public: open }) => open && name === model.group_by)?.name ?? facetable();
    if (first !== undefined) head.textContent = await countText(facetOf(first, 1), signal);
    for (const attribute of open) await fillFacet(attribute, signal);
    if (trouble === 'count') problem(null);
    updateOffer();
  } catch (error) {
    if (signal.aborted) return;
    head.textContent = 'Not counted';
    if (trouble === null) problem(error, 'count');
  } finally {
    if (!signal.aborted) head.classList.remove('waiting');
  }
}

/** Returns the text of the heading. */
async function countText(question: URLSearchParams, signal: AbortSignal): Promise<string> {
  // Counting is automatic, so it never spends credit.
  if (facetsArePaid(question, model)) return 'Not counted';
  ({ matched } = await facet(url('facets', question), key, signal));
  return `${matched.toLocaleString('en')} ${matched === 1 ? 'record' : 'records'}`;
}

const facetable = () =>
  model.attributes.find(({ type, public: open }) => open && ['enum', 'boolean', 'string'].includes(type))?.name;

function facetOf(attribute: string, limit: number, without = ''): URLSearchParams {
  const parameters = selectionOf(state);
  if (without !== '') parameters.delete(without);
  parameters.set('by', attribute);
  parameters.set('limit', String(limit));
  return parameters;
}

/** Lists the values of an attribute, counted under the other filters. */
async function fillFacet(attribute: string, signal: AbortSignal): Promise<void> {
  const list = form.querySelector<HTMLElement>(`[data-facet="${CSS.escape(attribute)}"]`);
  const parameter = listParameter(attribute);
  if (list === null || parameter === '') return;
  const question = facetOf(attribute, LISTED_VALUES, parameter);
  const { values, note } = facetsArePaid(question, model)
    ? { values: [], note: 'Not counted: with these filters it costs a search.' }
    : countedValues(await facet(url('facets', question), key, signal));
  fillValues(list, values, note, listOf(state.get(parameter) ?? ''), (value, on) => {
    const others = listOf(state.get(parameter) ?? '').filter((each) => each !== value);
    go(withValue(state, parameter, listText(on ? [...others, value] : others)));
  });
}

const listParameter = (attribute: string) =>
  model.filters.find((each) => each.attribute === attribute && each.operator === 'any')?.name ?? '';

/** Prepares the call of the URL and waits for a click: a link must not spend quota or balance. */
function offer(): void {
  root.classList.remove('outdated', 'unasked');
  root.classList.add('offering');
  by('explore-table').replaceChildren();
  by('explore-next').hidden = true;
  by('explore-attribution').textContent = '';
  drawMap([]);
  updateOffer();
}

/** Updates the offer from the state and the last count. */
function updateOffer(): void {
  const offering = root.classList.contains('offering');
  by('explore-records').hidden = offering;
  by('explore-offer').hidden = !offering || matched === 0;
  if (!offering) return;
  by('explore-none').hidden = matched !== 0;
  const call = callOf(state, model, key !== null);
  const before = trouble === 'offer' ? keyNeededFor : '';
  keyNeededFor = call.needs_key?.join(', ') ?? '';
  // Only once: filling the box again would announce it again and move the focus from its buttons.
  if (keyNeededFor !== before) problem(keyNeededFor === '' ? null : needsKey(keyNeededFor), 'offer');
  const unspent = key === null ? 'your free records of the day' : 'your balance';
  if (root.ariaBusy !== 'true')
    by('explore-status').textContent =
      matched === 0 ? 'No results.' : `No record shown yet: a link does not spend ${unspent}.`;
  by('explore-cost').textContent = call.price;
  by('explore-take').textContent = by('explore-run').textContent;
}

/** Fetches the records and shows them. */
async function show(): Promise<void> {
  const call = callOf(state, model, key !== null);
  const turn = ++lastCall;
  const question = state;
  root.ariaBusy = 'true';
  by('explore-status').textContent = 'Loading …';
  try {
    if (call.needs_key) throw needsKey(call.needs_key.join(', '));
    const page = await searchRecords(url('entities', call.parameters), key);
    if (turn !== lastCall) return;
    problem(null);
    render(page.items, page);
    if (state !== question) markOutdated();
  } catch (error) {
    if (turn !== lastCall) return;
    by('explore-status').textContent = '';
    problem(error);
    by('explore-problem').scrollIntoView({ block: 'nearest' });
  } finally {
    if (turn === lastCall) root.ariaBusy = null;
  }
}

function render(items: readonly Item[], page: ResultPage | null): void {
  const pressed = document.activeElement === by('explore-take');
  root.classList.remove('outdated', 'unasked', 'offering');
  updateOffer();
  const cells = columnsOf(state, model, key !== null);
  const columns = cells.map((name) => model.attributes.find((each) => each.name === name) ?? unknownAttribute(name));
  fillTable(by<HTMLTableElement>('explore-table'), items, columns, {
    pages: model.pages,
    sort: state.get('sort') ?? '',
    sorted: (sort) => {
      go(withValue(state, 'sort', sort));
      void show();
    },
    pointed: (slug) => map?.point(slug),
  });
  if (pressed) by('explore-records').focus({ preventScroll: true });
  drawMap(items);
  const next = by('explore-next');
  next.hidden = page?.next_cursor == null;
  next.onclick = () => {
    go(withValue(state, 'cursor', page?.next_cursor ?? ''));
    void show();
  };
  by('explore-attribution').textContent = page?.attribution ?? '';
  const paid = page?.charged ? ` Charged €${page.charged}, balance €${page.balance}.` : '';
  const shown = `${items.length} ${items.length === 1 ? 'record' : 'records'} shown.`;
  by('explore-none').hidden = items.length > 0;
  by('explore-status').textContent =
    page === null
      ? `${items.length} sample rows. Search or filter to see others.`
      : items.length === 0
        ? 'No results.'
        : shown + paid;
}

/** Draws the dots and the circle on the map. */
function drawMap(items: readonly Item[]): void {
  const { geo } = model;
  const dots = items.flatMap(({ slug, name, attributes }) => {
    const at = geo === null ? undefined : (attributes[geo] as { lat: number; lng: number } | undefined);
    return at ? [{ slug, name, lat: at.lat, lng: at.lng }] : [];
  });
  const [lat, lng, km] = (state.get('near') ?? '').split(',').map(Number);
  map?.draw(dots, lat !== undefined && lng !== undefined && km !== undefined ? { lat, lng, km } : null);
  const zoom = document.getElementById('explore-zoom');
  if (zoom) zoom.hidden = !map?.fits;
}

/** Shows an error and what to do about it. */
function problem(error: unknown, from: typeof trouble = 'answer'): void {
  trouble = error === null ? null : from;
  const box = by('explore-problem');
  box.hidden = error === null;
  if (error === null) return;
  root.classList.remove('unasked');
  showProblem(box, error, model, () => {
    (form.querySelector('.explore-key') as HTMLDetailsElement).open = true;
    keyInput.focus();
  });
}

function choosePoint(lat: number, lng: number): void {
  const km = state.get('near')?.split(',')[2] ?? '250';
  go(withValue(state, 'near', `${lat.toFixed(2)},${lng.toFixed(2)},${km}`));
  const point = { lat, lng, km: Number(km) };
  map?.draw([], point);
}

for (const input of inputs) {
  input.addEventListener('change', () => go(withValue(state, input.dataset['param'] ?? '', input.value.trim())));
}
for (const input of near)
  input?.addEventListener('change', () => {
    const values = near.map((each) => each?.value ?? '');
    if (values.every((value) => value !== '')) go(withValue(state, 'near', values.join(',')));
    else if (values.every((value) => value === '')) go(withValue(state, 'near', ''));
  });
form.addEventListener('submit', (event) => {
  event.preventDefault();
  (document.activeElement as HTMLElement | null)?.dispatchEvent(new Event('change', { bubbles: true }));
  void show();
});
by('explore-take').addEventListener('click', () => void show());
by('explore-clear').addEventListener('click', () => {
  go(new URLSearchParams());
  void begin();
});
for (const details of form.querySelectorAll<HTMLDetailsElement>('details.explore-filter'))
  details.addEventListener('toggle', () => {
    const attribute = details.dataset['attribute'] ?? '';
    if (details.open) void fillFacet(attribute, new AbortController().signal).catch(problem);
  });
by('explore-fields').addEventListener('change', () => {
  const chosen = [...by('explore-fields').querySelectorAll<HTMLInputElement>('input:checked')].map(
    ({ value }) => value,
  );
  go(withValue(state, 'fields', listText(chosen)));
});
document.getElementById('explore-zoom')?.addEventListener('click', (event) => {
  (event.currentTarget as HTMLElement).textContent = map?.toggle() ? 'World' : 'Only the records';
});
for (const button of document.querySelectorAll<HTMLElement>('[data-language]'))
  button.addEventListener('click', () => {
    language = button.dataset['language'] as Language;
    for (const each of document.querySelectorAll('[data-language]'))
      each.setAttribute('aria-pressed', String(each === button));
    showCall();
  });
copies(by('explore-copy'), by('explore-code'));
const keep = by<HTMLInputElement>('explore-keep');
function takeKey(): void {
  key = keyInput.value.trim() || null;
  if (keep.checked && key !== null) sessionStorage.setItem('register key', key);
  else sessionStorage.removeItem('register key');
  fill();
  showCall();
  updateOffer();
  if (matched === undefined) void count();
}
keyInput.addEventListener('change', takeKey);
keep.addEventListener('change', takeKey);
addEventListener('popstate', () => {
  go(readState(location.search, model), true);
  void begin();
});

/** Records in a page of the API. */
const SHOWCASE = 20;

/** Shows the page of a URL: cached records, or else the offer; without parameters the showcase. */
async function begin(): Promise<void> {
  problem(null);
  // Cancels the busy state of an earlier call.
  root.ariaBusy = null;
  by('explore-status').textContent = '';
  if (state.size > 0) {
    lastCall += 1;
    const { parameters, needs_key } = callOf(state, model, key !== null);
    const page = needs_key ? null : cachedPage(url('entities', parameters), key);
    if (page === null) offer();
    else render(page.items, page);
    return;
  }
  root.classList.remove('offering');
  updateOffer();
  const turn = ++lastCall;
  try {
    const items = await examples(model.api);
    if (turn === lastCall) render(items.slice(0, SHOWCASE), null);
  } catch (error) {
    if (turn === lastCall) problem(error);
  }
}

if (key !== null) {
  keyInput.value = key;
  keep.checked = true;
}
const filters = by<HTMLDetailsElement>('explore-more');
// Opened by the script and not closed by it, so that nothing shifts on a phone.
if (matchMedia('(width >= 60rem)').matches) filters.open = true;
for (const list of form.querySelectorAll<HTMLElement>('[data-facet]'))
  keepRoom(list, listOf(state.get(listParameter(list.dataset['facet'] ?? '')) ?? '').length);
if (selectionOf(state).size > 0) by('explore-head').textContent = 'Counting …';
go(state, true);
void begin();
// The form is complete and can be shown.
root.classList.remove('unread');
