// The address of a list of changes: the parameters of the changelog, except that without `attribute` it has
// the main attributes (`all`: every one), without `type` changed values only, and without `days` a year.
import type { ChangesModel } from './model.ts';

/** Parameters with a field in the form, besides the attribute that groups the records. */
export const FORM_FIELDS = ['attribute', 'q', 'direction', 'min_change_percent', 'days', 'type'] as const;

const DEFAULTS: Readonly<Record<string, string>> = { type: 'changed', days: '365' };

/** The filters of an address: without empty and default values, and without the page. */
export function filtersOf(search: string): URLSearchParams {
  const query = new URLSearchParams(search);
  const kept = [...query].filter(([name, value]) => name !== 'page' && value.trim() !== '' && DEFAULTS[name] !== value);
  return new URLSearchParams(kept.map(([name, value]) => [name, value.trim()]));
}

/** The page of an address, from 1. */
export function pageNumber(search: string): number {
  const page = new URLSearchParams(search).get('page') ?? '';
  return /^[1-9]\d{0,6}$/.test(page) ? Number(page) : 1;
}

/** The address of a page of a view, as a query with `?`; '' without filters on the first page. */
export function viewSearch(filters: URLSearchParams, page = 1): string {
  const query = new URLSearchParams(filters);
  if (page > 1) query.set('page', String(page));
  return query.size === 0 ? '' : `?${query}`;
}

/** The query of the changelog for a view; `more` are parameters such as `limit`. */
export function changelogQuery(
  { main }: Pick<ChangesModel, 'main'>,
  filters: URLSearchParams,
  more: Record<string, string> = {},
): string {
  const query = new URLSearchParams({ ...DEFAULTS, attribute: main.join(',') });
  for (const name of new Set(filters.keys())) query.delete(name);
  for (const [name, value] of filters) query.append(name, value);
  if (query.get('attribute') === 'all') query.delete('attribute');
  for (const [name, value] of Object.entries(more)) query.set(name, value);
  return `?${query.toString().replaceAll('%2C', ',')}`;
}
