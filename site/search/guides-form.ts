// The form of the guide search: results while typing. Without it the form opens a list of all headings.
import { createElement } from '../lib/dom.ts';
import { excerpt, guideSearch, type Section } from './guides.ts';

const form = document.querySelector<HTMLFormElement>('form[data-guides]')!;
const input = form.querySelector<HTMLInputElement>('input')!;
const list = form.parentElement!.querySelector<HTMLElement>('[data-found]')!;
const status = form.parentElement!.querySelector<HTMLElement>('[role=status]')!;

let loading: Promise<(query: string) => Section[]> | undefined;
const load = () => {
  loading ??= fetch(form.dataset['guides'] ?? '').then(async (response) =>
    guideSearch(response.ok ? ((await response.json()) as Section[]) : []),
  );
  return loading;
};

/** Shows the results of the query in the field. */
async function search(): Promise<void> {
  const query = input.value;
  const find = await load();
  if (query !== input.value) return;
  const sections = find(query);
  list.replaceChildren(
    ...sections.map(({ page, heading, at, text }) =>
      createElement(
        'li',
        {},
        createElement('a', { href: at }, heading === page ? page : `${page}: ${heading}`),
        createElement('p', {}, excerpt(text, query)),
      ),
    ),
  );
  const count = sections.length === 1 ? '1 section' : `${sections.length} sections`;
  status.textContent = query.trim() === '' ? '' : sections.length === 0 ? 'No results.' : count;
  list.hidden = sections.length === 0;
}

input.addEventListener('input', () => void search());
form.addEventListener('submit', (event) => {
  event.preventDefault();
  void search().then(() => list.querySelector('a')?.click());
});
const query = new URLSearchParams(location.search).get('q');
if (query) {
  input.value = query;
  void search();
}
