// The results of a search of all datasets, for the page of results.
import { plural, printNumber } from '../render/print.ts';
import { type Html, html } from './html.ts';

/** Matches of one dataset. */
export interface DatasetResults {
  id: string;
  title: string;
  /** All records that match. */
  total: number;
  /** The best of them: the path of the page below the base URL, and what distinguishes the record. */
  records: readonly { name: string; hint: string; path: string }[];
}

/** The results; `chosen` is the dataset that they are limited to, or empty. `prefix` is the path of the base URL. */
export function resultsHtml(prefix: string, q: string, chosen: string, datasets: readonly DatasetResults[]): Html {
  const all = datasets.reduce((sum, { total }) => sum + total, 0);
  const address = (dataset: string) =>
    `${prefix}/search/?${new URLSearchParams({ q, ...(dataset === '' ? {} : { dataset }) })}`;
  const filter = (id: string, title: string, total: number) =>
    html`<a href="${address(id)}"${id === chosen && html` aria-current="page"`}>${title} <small>${printNumber(total)}</small></a>`;
  const sections = datasets.filter(({ id, total }) => total > 0 && (chosen === '' || id === chosen));
  return html`<p role="status">${all === 0 ? `No results for “${q}”. Search for fewer words, or for a code.` : `${plural(all, 'result')} for “${q}”`}</p>
<nav class="tabs" aria-label="Datasets">${filter('', 'All datasets', all)} ${datasets.map(({ id, title, total }) => filter(id, title, total))}</nav>
${sections.map(
  ({ id, title, total, records }) => html`<section aria-labelledby="in-${id}"><h2 id="in-${id}">${title}</h2>
<ul class="matches">${records.map(({ name, hint, path }) => html`<li><a href="${prefix}${path}">${name}</a>${hint !== '' && html`<p>${hint}</p>`}</li>`)}</ul>
${total > records.length && html`<p><a href="${prefix}/datasets/${id}/?${new URLSearchParams({ q }).toString()}">All ${printNumber(total)} in the table</a></p>`}</section>`,
)}`;
}
