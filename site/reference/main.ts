// The API reference: language and dataset of the code, the list of operations, requests with the visitor's
// key. Without it the page shows all operations and programs.
import { LANGUAGES } from '../../api/pages/viewer-model.ts';
import { printEuro } from '../../api/render/print.ts';
import { byId } from '../lib/dom.ts';
import type { Language } from '../lib/snippets.ts';
import { wordsOf } from '../search/words.ts';
import { fillRequest, programOf, type ReferenceModel, SLUG } from './model.ts';
import { TryPanel } from './try.ts';

const root = byId('reference');
const model = JSON.parse(root.dataset['model'] ?? '{}') as ReferenceModel;
const bar = root.querySelector<HTMLElement>('.reference-bar')!;
const languages = [...bar.querySelectorAll<HTMLInputElement>('[name=lang]')];
const LANGUAGE = 'code language';

/** Slugs of two records by dataset: of the free examples, so that they cost nothing. */
const slugs = new Map<string, Promise<string[]>>();
function slugsOf(dataset: string): Promise<string[]> {
  let datasetSlugs = slugs.get(dataset);
  if (datasetSlugs === undefined) {
    datasetSlugs = fetch(`${model.base_url}/v1/${dataset}/examples?limit=2`)
      .then(async (response) =>
        ((await response.json()) as { items: { slug: string }[] }).items.map(({ slug }) => slug),
      )
      .catch(() => []);
    slugs.set(dataset, datasetSlugs);
  }
  return datasetSlugs;
}

let dataset = model.dataset;
const panel = new TryPanel(model, { dataset: () => dataset, slugs: slugsOf });

/** Writes the language and dataset into the address, for links. */
function setAddress(): void {
  const address = new URL(location.href);
  const language = languages.find(({ checked }) => checked)?.value ?? LANGUAGES[0];
  for (const [name, value, usual] of [
    ['lang', language, LANGUAGES[0]],
    ['dataset', dataset, model.dataset],
  ] as const)
    if (value === usual) address.searchParams.delete(name);
    else address.searchParams.set(name, value);
  history.replaceState(null, '', address);
}

/** Writes programs, prices and links for the dataset. */
async function showDataset(): Promise<void> {
  const chosen = dataset;
  const records = await slugsOf(chosen);
  if (chosen !== dataset) return;
  for (const name of root.querySelectorAll('[data-dataset-name]')) name.textContent = chosen;
  for (const price of root.querySelectorAll<HTMLElement>('[data-price]')) {
    const eur = model.prices[chosen]?.[price.dataset['price'] ?? ''];
    price.textContent = eur === undefined ? 'not offered' : printEuro(eur);
  }
  for (const link of root.querySelectorAll<HTMLAnchorElement>('[data-dataset-link]'))
    link.href = model.base_url + (link.dataset['datasetLink'] ?? '').replace('{ds}', chosen);
  for (const article of root.querySelectorAll<HTMLElement>('[data-operation]')) {
    const operation = model.operations[article.dataset['operation'] ?? ''];
    const request = operation?.requests[chosen];
    if (operation === undefined || request === undefined) continue;
    const filled = fillRequest(request, chosen, records.length > 0 ? records : [SLUG]);
    for (const code of article.querySelectorAll<HTMLElement>('[data-language] code'))
      code.textContent = programOf(
        code.parentElement?.dataset['language'] as Language,
        operation,
        filled,
        model.base_url,
      );
  }
}

/** Reads language and dataset from the address, or the language that was chosen last. */
function restore(): void {
  const query = new URLSearchParams(location.search);
  const stored = query.get('lang') ?? localStorage.getItem(LANGUAGE);
  const language = LANGUAGES.find((candidate) => candidate.toLowerCase() === stored?.toLowerCase());
  for (const field of languages) if (field.value === language) field.checked = true;
  const wanted = query.get('dataset');
  const select = bar.querySelector<HTMLSelectElement>('select');
  if (select !== null && wanted !== null && wanted in model.prices && wanted !== dataset) {
    dataset = wanted;
    select.value = wanted;
    void showDataset();
  }
}

bar.addEventListener('change', ({ target }) => {
  const { name, value } = target as HTMLInputElement;
  if (name === 'lang') localStorage.setItem(LANGUAGE, value);
  if (name === 'dataset') {
    dataset = value;
    panel.close();
    void showDataset();
  }
  setAddress();
});
restore();

/* The list of operations. */
const find = byId<HTMLInputElement>('reference-find');
const links = [...root.querySelectorAll<HTMLAnchorElement>('.reference-nav a[data-words]')];
const filter = () => {
  const words = wordsOf(find.value);
  for (const link of links)
    link.hidden = !words.every((forms) => forms.some((form) => link.dataset['words']!.includes(form)));
  for (const group of root.querySelectorAll<HTMLElement>('.reference-group'))
    group.hidden = group.querySelector('a:not([hidden])') === null;
  const shown = links.filter(({ hidden }) => !hidden).length;
  byId('reference-found').textContent =
    words.length === 0 ? '' : shown === 0 ? 'No operation found.' : `${shown} of ${links.length}`;
};
find.addEventListener('input', filter);
find.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter') return;
  event.preventDefault();
  links.find(({ hidden }) => !hidden)?.click();
});

/* Marks the operation on the screen in the list. */
const watcher = new IntersectionObserver(
  (entries) => {
    const seen = entries.find(({ isIntersecting }) => isIntersecting)?.target.id;
    if (seen === undefined) return;
    for (const link of links)
      if (link.hash === `#${seen}`) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
  },
  { rootMargin: '-15% 0px -70% 0px' },
);
for (const article of root.querySelectorAll('[data-operation]')) watcher.observe(article);

root.addEventListener('click', ({ target }) => {
  const button = (target as Element).closest<HTMLElement>('.try-open, .try-task');
  const article = button?.closest<HTMLElement>('[data-operation]');
  if (!button || !article) return;
  const parameters = button.dataset['request'];
  void panel.open(article, parameters === undefined ? null : (JSON.parse(parameters) as Record<string, string>));
});
