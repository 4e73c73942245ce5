// Search of the home page: a combobox with a list of results (WAI-ARIA pattern, list autocomplete with manual
// selection). The query is in the address.
import { NameIndex, type SearchResult } from './name-index.ts';

/** Results in the list. */
const LIMIT = 10;

const form = document.querySelector<HTMLFormElement>('#search')!;
const input = form.querySelector<HTMLInputElement>('[role=combobox]')!;
const list = form.querySelector<HTMLElement>('[role=listbox]')!;
const status = form.querySelector<HTMLElement>('[role=status]')!;
const { prefix = '', titles = '{}', words } = form.dataset;
/** Where a page of all results is (site/pages/search.astro), and whether this is it. */
const RESULTS = '/search/';
const isResults = location.pathname === prefix + RESULTS;
const datasets = JSON.parse(titles) as Record<string, string>;

const index = new NameIndex(async (name) => {
  const response = await fetch(`${prefix}/search/${name}`);
  if (!response.ok) throw new Error(`${response.status}`);
  return response.text();
});

let results: SearchResult[] = [];
/** Position of the active option; -1: none. */
let active = -1;
/** Number of the newest search: older ones are dropped. */
let newest = 0;

function option({ name, hint, path }: SearchResult, at: number): HTMLAnchorElement {
  const link = document.createElement('a');
  link.id = `result-${at}`;
  link.href = prefix + path;
  link.tabIndex = -1;
  link.setAttribute('role', 'option');
  link.setAttribute('aria-selected', 'false');
  const [, , dataset = ''] = path.split('/');
  const title = document.createElement('b');
  title.textContent = name;
  const about = document.createElement('span');
  about.textContent = hint;
  const from = document.createElement('small');
  from.textContent = datasets[dataset] ?? '';
  link.append(title, about, from);
  return link;
}

function open(shown: boolean): void {
  list.hidden = !shown;
  input.setAttribute('aria-expanded', String(shown));
  if (!shown) choose(-1);
}

function choose(at: number): void {
  active = at;
  for (const [i, item] of [...list.children].entries()) item.setAttribute('aria-selected', String(i === at));
  if (at < 0) input.removeAttribute('aria-activedescendant');
  else input.setAttribute('aria-activedescendant', `result-${at}`);
  list.children[at]?.scrollIntoView({ block: 'nearest' });
}

async function search(): Promise<void> {
  newest += 1;
  const request = newest;
  const query = input.value.trim();
  if (!isResults && words === undefined)
    history.replaceState(null, '', query === '' ? location.pathname : `?q=${encodeURIComponent(query)}`);
  let message = '';
  try {
    const entries = query === '' ? [] : await index.find(query, LIMIT);
    if (request !== newest) return;
    results = [...entries];
    if (entries.length === LIMIT && !isResults)
      results.push({ name: `All results for “${query}”`, hint: '', path: `${RESULTS}?q=${encodeURIComponent(query)}` });
    if (query !== '')
      message =
        entries.length === 0 ? 'No results.' : `${entries.length} ${entries.length === 1 ? 'result' : 'results'}`;
  } catch {
    if (request !== newest) return;
    results = [];
    message = 'Search is not available.';
  }
  list.replaceChildren(...results.map(option));
  choose(-1);
  open(results.length > 0);
  status.textContent = message;
}

input.addEventListener('focus', () => index.ready().catch(() => {}));
input.addEventListener('input', search);
input.addEventListener('keydown', (event) => {
  const { key } = event;
  if (key === 'Escape') {
    if (list.hidden) input.value = '';
    open(false);
  } else if ((key === 'ArrowDown' || key === 'ArrowUp') && results.length > 0) {
    const from = list.hidden ? -1 : active;
    open(true);
    // Past either end, no option is active: the text is edited.
    const count = results.length + 1;
    choose(((from + 1 + (key === 'ArrowDown' ? 1 : -1) + count) % count) - 1);
  } else return;
  event.preventDefault();
});
form.addEventListener('submit', async (event) => {
  // The service shows all results, and the form leads to them.
  if (isResults && active < 0) return;
  event.preventDefault();
  const at = Math.max(0, active);
  await search();
  const result = results[at];
  if (result) location.assign(prefix + result.path);
});
form.addEventListener('focusout', ({ relatedTarget }) => {
  if (!(relatedTarget instanceof Node && form.contains(relatedTarget))) open(false);
});
// A press on an option must not move the focus, which would close the list first.
list.addEventListener('pointerdown', (event) => event.preventDefault());

/** The last part of an unknown address as words: `Zürich HB` for `/x/zürich-hb.html`. */
function addressWords(): string {
  const part = location.pathname.split('/').filter(Boolean).at(-1) ?? '';
  return decodeURI(part)
    .replace(/\.\w+$/, '')
    .replace(/[-_+]+/g, ' ');
}

const text = words === undefined ? new URLSearchParams(location.search).get('q') : addressWords();
if (text) {
  input.value = text;
  // The service has put the results below the form.
  if (!document.querySelector('#found > *')) search();
}
