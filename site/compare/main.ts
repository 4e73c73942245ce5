// The script of a comparison: records are added and removed without a reload, the search answers while the
// visitor types, and the state of the page is its address. The page works without it.
import { byId } from '../viewer/dom.ts';
import { changedInputs, computeAmounts } from './calculator.ts';
import { connectPaid } from './paid.ts';

/** Milliseconds after a key press before the search begins. */
const PAUSE = 200;

const content = byId('compare-content');
/** Number of the newest request: older answers are dropped. */
let newest = 0;
let typing: ReturnType<typeof setTimeout> | undefined;

/** A page of this dataset as a document; null when a newer request has begun. */
async function fetchPage(url: URL): Promise<Document | null> {
  newest += 1;
  const own = newest;
  const response = await fetch(url, { headers: { Accept: 'text/html' }, credentials: 'omit' });
  if (!response.ok) throw new Error(`${response.status}`);
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  return own === newest ? page : null;
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
    const [own, next] = [document.getElementById(id), page.getElementById(id)];
    if (own && next) own.replaceChildren(...[...next.childNodes].map((node) => document.adoptNode(node)));
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
  } else if (form.id === 'add-form') {
    event.preventDefault();
    clearTimeout(typing);
    void search(form);
  }
});
addEventListener('popstate', () => void show(new URL(location.href), false));
connectPaid();
