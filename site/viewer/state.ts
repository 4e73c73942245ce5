// The state of the viewer is the query of its URL: the parameters of the API by the same names, and `page`
// and `sources` of its own.
import { escapeListValue, splitList } from '../../data/input/parse-values.ts';
import { type Model, PAGE_ROWS } from './model.ts';

/** Parameters of the API that select records, besides the filters of the dataset. */
const SELECTING = ['q', 'near', 'bbox', 'ids', 'min_quality', 'updated_since'];
/** Parameters that change the presentation only; a change of these keeps the page. */
const PRESENTING = ['sort', 'fields', 'page', 'sources', 'map'];

/** The known parameters of a URL in a fixed order, without empty values. */
export function readState(search: string, { filters }: Pick<Model, 'filters'>): URLSearchParams {
  const query = new URLSearchParams(search);
  const state = new URLSearchParams();
  for (const name of [...SELECTING, ...filters.map((filter) => filter.name), ...PRESENTING]) {
    const value = query.get(name)?.trim() ?? '';
    if (value !== '') state.set(name, value);
  }
  return state;
}

/** Parameters of a URL that no dataset view has. */
export function unknownNames(search: string, state: URLSearchParams): string[] {
  return [...new Set(new URLSearchParams(search).keys())].filter(
    (name) => !state.has(name) && !name.startsWith('utm_') && !['limit', 'cursor'].includes(name),
  );
}

/** The state with one parameter set, or removed by an empty value. Another selection or sort is on page 1. */
export function withValue(state: URLSearchParams, name: string, value: string): URLSearchParams {
  const next = new URLSearchParams(state);
  if (value === '') next.delete(name);
  else next.set(name, value);
  if (!['fields', 'page', 'sources', 'map'].includes(name)) next.delete('page');
  return next;
}

/** The parameters that select records. */
export function selectionOf(state: URLSearchParams): URLSearchParams {
  const selection = new URLSearchParams(state);
  for (const name of PRESENTING) selection.delete(name);
  return selection;
}

/** Values of a list parameter; a comma inside a value is written `\,`. */
export const listOf = splitList;

/** Joins a list into the value of a parameter. */
export const listText = (values: readonly string[]): string => values.map(escapeListValue).join(',');

/** The columns of a view: those in `fields` that exist, else the default ones. */
export function columnsOf(
  state: URLSearchParams,
  { attributes, columns }: Pick<Model, 'attributes' | 'columns'>,
): string[] {
  const named = listOf(state.get('fields') ?? '').filter((name) =>
    attributes.some((attribute) => attribute.name === name),
  );
  return named.length > 0 ? [...new Set(named)] : columns;
}

/** Keys of sorting besides the attributes. */
const SORT_KEYS = ['quality', 'updated'];

/** The order of a view with `q` and without another sort. */
export const RELEVANCE = 'relevance';

/** The sort of a view; the API's `distance` is no order of the whole table. */
export function sortOf(state: URLSearchParams, { sort, attributes }: Pick<Model, 'sort' | 'attributes'>): string {
  const usual = state.has('q') ? RELEVANCE : sort;
  const requested = state.get('sort') ?? usual;
  const key = requested.replace(/^-/, '');
  return SORT_KEYS.includes(key) || attributes.some(({ name }) => name === key) ? requested : usual;
}

/** The page of a view, from 1. */
export function pageOf(state: URLSearchParams): number {
  const page = Number(state.get('page'));
  return Number.isInteger(page) && page > 0 ? page : 1;
}

/** Attributes that a selection or sort names and that are not public. */
export function paidNames(state: URLSearchParams, model: Pick<Model, 'attributes' | 'filters' | 'sort'>): string[] {
  const paid = new Set(model.attributes.filter((attribute) => !attribute.public).map(({ name }) => name));
  const filtered = model.filters.filter(({ name }) => state.has(name)).map(({ attribute }) => attribute);
  const sorted = sortOf(state, model).replace(/^-/, '');
  return [...new Set([...filtered, sorted])].filter((name) => paid.has(name));
}

/** The parameters of the API call that returns the rows of a view. */
export function callOf(state: URLSearchParams, model: Model): URLSearchParams {
  const parameters = selectionOf(state);
  parameters.set('sort', sortOf(state, model));
  parameters.set('fields', listText(columnsOf(state, model)));
  parameters.set('limit', String(PAGE_ROWS));
  return parameters;
}
